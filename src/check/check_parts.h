/* SPDX-License-Identifier: MIT
 *
 * Inside src/check only: what is compiled, loaded and measured of a row, and the steps of a
 * check.
 */
#ifndef CHECK_CHECK_PARTS_H
#define CHECK_CHECK_PARTS_H

#include "check/check.h"
#include "engine/blocks.h"
#include "engine/candidates.h"

/* A binary of an earlier check. */
struct check_kept {
	char *key; /* names its files; NULL: nothing is kept */
	struct binary binary;
};

struct check_work {
	struct problem *problem;
	struct candidates pool; /* the winner alone */
	struct trial *trial;    /* of today's kernel; the evaluator's; NULL: it cannot be built */
	bool can_run;           /* it compiled */
	uint32_t differs;       /* traits (check/check_identity.h) */
	bool updated;           /* the row's entry is today's kernel now */
	struct json *retuned;   /* the better entry, owned; NULL: none */
	struct check_kept kept;
	/* today's kernel (the first load is the trial) and the kept one; NULL: not loaded */
	struct trial *now_loads[CHECK_LOADS], *kept_loads[CHECK_LOADS];
	size_t loads;
	/* today's kernel and the kept one (NULL: none), while they are measured; borrowed */
	const struct block_series *now, *then;
};

/* ---- check_row.c ---- */
/* What the baseline says. */
void check_row_open(struct check *check, const struct json *entry, struct check_row *row);
/* Unless it is decided, on to a candidate that can be compiled; what is in the way of that is the
 * verdict. */
void check_row_build(struct check *check, struct check_row *row);
void check_row_release(struct check_row *row);
/* Decides, once: later calls for the same row change nothing. */
void check_row_decide(struct check_row *row, enum check_verdict verdict, const char *reason, ...)
	PRINTF_LIKE(3, 4);
bool check_row_is_decided(const struct check_row *row);
/* Compiled, and nothing is wrong with it so far. */
bool check_row_can_run(const struct check_row *row);
/* Submits all, waits for all. Rows that do not compile fail. */
enum status check_compile(struct check *check, struct error *err);

/* ---- check_resources.c ---- */
/* Compares what was compiled with the baseline's launches. Replaces row->differences. */
void check_resources(const struct check *check, struct check_row *row);
/* "registers 128 -> 168; spills 0 -> 96 B" into text; only_worse: no others. */
void check_differences_list(const struct check_row *row, bool only_worse, struct text *text);

/* ---- check_measure.c ---- */
/* Loads, verifies, times and judges all rows that can run, some at a time. */
enum status check_measure(struct check *check, struct error *err);

/* ---- check_time.c ---- */
/* The verdict of a row that was timed; anchor: sampled in the same blocks. */
void check_time(struct check *check, struct check_row *row, const struct block_series *anchor);
/* Whether the row's intervals are narrow enough for a verdict that more blocks would not change. */
bool check_time_is_settled(
	const struct check *check, struct check_row *row, const struct block_series *anchor);

/* ---- check_kept.c ---- */
/* What is kept of the row's baseline, if anything. A damaged file is as good as none: notice. */
void check_kept_load(const char *folder, struct check_row *row, struct text *notice);
enum status check_kept_save(const struct check *check, struct check_row *row, struct error *err);
void check_kept_release(struct check_kept *kept);

/* ---- check_reference.c ---- */
struct json *check_reference_to_json(
	const struct check_reference *reference, const char *kernel_hash, double confidence_ratio);
/* The entry's "check"; false if there is none, or it is of another kernel than its winner. */
bool check_reference_find(
	const struct json_at *entry, double confidence_ratio, struct check_reference *reference);

#endif
