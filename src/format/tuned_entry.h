/* SPDX-License-Identifier: MIT
 *
 * The entry of a problem. A row is a configuration with its measurements.
 */
#ifndef FORMAT_TUNED_ENTRY_H
#define FORMAT_TUNED_ENTRY_H

#include "format/result.h"

struct tuned_launch {
	char *source, *entry;
	struct launch_shape shape;
	struct value *arguments; /* numbers, names of buffers and tensor maps */
	size_t argument_count;
	/* -1: not compiled */
	int64_t smem_static_bytes, regs_per_thread, spill_bytes, blocks_per_sm;
};

/* Why a candidate lost (tune/selection.h). */
enum reject_reason {
	REJECT_SLOWER,  /* by more than noise and the tie width */
	REJECT_UNTIED,  /* but the winner's kernel has a tied launch */
	REJECT_EARLIER, /* tied, in an earlier pass of the final measurement */
	/* tied, in the order of preference: */
	REJECT_INCUMBENT,
	REJECT_PREDICTION,
	REJECT_PLANNED, /* every run tries the winner */
	REJECT_SMEM,
	REJECT_REGISTERS,
	REJECT_ORDER,
};
extern const char *const reject_reason_names[];

struct tuned_rejection {
	enum reject_reason by;
	double ratio;                 /* over the winner's time or energy */
	double ratio_low, ratio_high; /* 95%; NaN: not known */
	uint64_t rounds;              /* in which both were timed */
	/* Of this candidate and of the winner: bytes, registers, predicted microseconds; for
	 * REJECT_UNTIED the time over the fastest. NaN: none. */
	double value, winner_value;
};

struct tuned_row {
	/* Only of a winner with score and verification. */
	struct result result;
	struct named_values configuration;
	struct named_values defines; /* items NULL: not stored */
	char **options;              /* in addition to the defines, or NULL */
	struct tuned_launch *launches;
	size_t launch_count;
	/* NaN, -1: not known */
	double tflops, gb_per_s;
	int64_t regs_per_thread, smem_bytes, spill_bytes, workspace_bytes;
	struct plan_buffer *workspaces; /* their name, bytes and init */
	size_t workspace_count;
	struct plan_tensor_map *tensor_maps;
	size_t tensor_map_count;
	char *run;                    /* which measured it; NULL: the entry's */
	bool is_dram_bound;           /* of a row without a score */
	struct json *why;             /* by explain, lookup and advise, or NULL */
	struct tuned_rejection *lost; /* NULL: not known, or this is the winner */
	struct json *unknown;         /* of a newer version, or NULL */
};
RECORD_DECLARE(struct tuned_launch, tuned_launch_record);
RECORD_DECLARE(struct tuned_row, tuned_row_record);
void tuned_row_release(struct tuned_row *row);
struct tuned_row tuned_row_copy(const struct tuned_row *row);
void tuned_row_forget_rejection(struct tuned_row *row);
bool tuned_row_is_clock_bound(const struct tuned_row *row);
/* Keeps what `lookup`, `check` and `report` read of rows that are no winner. */
void tuned_row_shorten(struct tuned_row *row);
/* "BM=128,..."; the caller frees it. */
char *tuned_row_configuration(const struct tuned_row *row);

struct tuned_space {
	double product;
	uint64_t legal, evaluated;
	uint64_t outcomes[OUTCOME_COUNT];
};

struct tuned_model {
	uint64_t measured;       /* outcome ok */
	double rank_correlation; /* Spearman; NaN: not known */
	uint64_t rank_of_best;   /* from 1 */
};

/* Losses relative to the free choice (0.02 is 2% slower): of this problem, of the geometric mean,
 * of the worst problem. NaN: not known. */
struct tuned_bits {
	char *rule; /* "same", "invariant=M" */
	double loss, mean_loss, worst_loss;
};

/* Part of an entry's identity. */
enum objective {
	OBJECTIVE_TIME,
	OBJECTIVE_ENERGY,         /* energy of one run, in joules */
	OBJECTIVE_WARM_TIME,      /* with the inputs in the L2 cache */
	OBJECTIVE_SUSTAINED_TIME, /* with a cold L2 */
};
extern const char *const objective_names[];

/* when a timed run begins */
enum l2_state {
	L2_UNKNOWN,
	L2_COLD,
	L2_WARM,
};
extern const char *const l2_state_names[];

struct tuned_entry {
	char *operation;
	struct named_values problem;
	enum objective objective;
	enum l2_state l2;
	bool predicted;
	bool unfinished; /* the search was stopped */
	/* tolerances, reference, inputs; "": not known */
	char verification_hash[HASH_SIZE];
	char *run;
	struct tuned_row winner;
	/* With configuration, time and `lost`. Family NULL: the winner's, and only values that
	 * differ. */
	struct tuned_row *tied;
	size_t tied_count;
	struct tuned_row *runner_up; /* like `tied`; or NULL */
	struct tuned_row *families;  /* the best of each other one, shortened */
	size_t family_count;
	struct tuned_space *space; /* these may be NULL */
	struct tuned_model *model;
	struct tuned_bits *bits;
	struct json *unknown; /* of a newer version, or NULL */
};
RECORD_DECLARE(struct tuned_entry, tuned_entry_record);
void tuned_entry_release(struct tuned_entry *entry);
struct tuned_entry tuned_entry_copy(const struct tuned_entry *entry);
/* Takes ownership of the row. */
void tuned_entry_add_tied(struct tuned_entry *entry, struct tuned_row *row);
void tuned_entry_set_runner_up(struct tuned_entry *entry, struct tuned_row *row);
/* Completes a tied row. The caller releases the configuration; the family is borrowed. */
struct tuned_row tuned_entry_tied(const struct tuned_entry *entry, const struct tuned_row *tied);
struct tuned_row *tuned_entry_row(struct tuned_entry *entry, const char *family);
/* Drops comparisons with the old winner. */
void tuned_entry_promote(struct tuned_entry *entry, size_t which);

#endif
