/* SPDX-License-Identifier: MIT
 *
 * The result of a candidate, which the worker's reply, the journal, the selection, `check` and
 * `report` use.
 */
#ifndef FORMAT_RESULT_H
#define FORMAT_RESULT_H

#include "base/hash.h"
#include "base/statistics.h"
#include "format/bits.h"
#include "plan/reference_plan.h"
#include "score/score.h"

/* clang-format off */
#define OUTCOMES(row) \
	row(OK, "ok", "measured (or predicted) and right") \
	row(PRUNED_BY_MODEL, "pruned_by_model", "the score or a prune rule dropped it") \
	row(COMPILE_FAILED, "compile_failed", "the compiler refused it") \
	row(COMPILE_CRASHED, "compile_crashed", "the compiler's process died") \
	row(COMPILE_TIMEOUT, "compile_timeout", "the compiler took too long") \
	row(LAUNCH_FAILED, "launch_failed", "the driver refused to load or launch it") \
	row(OUT_OF_MEMORY, "out_of_memory", "its workspace did not fit") \
	row(CRASHED, "crashed", "the kernel crashed (illegal access, trap)") \
	row(TIMED_OUT, "timed_out", "the kernel did not end in time") \
	row(WRONG_RESULT, "wrong_result", "it differs from the reference") \
	row(OUT_OF_BOUNDS, "out_of_bounds", "it wrote outside its buffers") \
	row(NONDETERMINISTIC, "nondeterministic", "two runs gave different bits") \
	row(OTHER_BITS, "other_bits", "its bits are not those that are wanted") \
	row(TOO_NOISY, "too_noisy", "its samples vary too much") \
	row(TOO_FAST, "too_fast", "its time is below what the hardware allows") \
	row(DEVICE_LOST, "device_lost", "the GPU stopped answering")
/* clang-format on */
enum outcome {
#define OUTCOME_ID(id, name, summary) OUTCOME_##id,
	OUTCOMES(OUTCOME_ID)
#undef OUTCOME_ID
	OUTCOME_COUNT
};
extern const char *const outcome_names[OUTCOME_COUNT + 1];
const char *outcome_name(enum outcome outcome);
const char *outcome_summary(enum outcome outcome);

struct verification {
	bool done;
	uint64_t points;
	uint64_t violations;              /* points beyond the tolerance, including NaN */
	uint64_t first_bad;               /* index into the output */
	double first_out, first_expected; /* NaN without violations */
	double max_abs_error, max_rel_error;
};

/* Measured in addition to time. 0: not measured; NaN: the GPU does not report the value. */
struct measured {
	double energy_j;                /* energy of one run, for the whole GPU */
	double power_w;                 /* power while the kernel ran repeatedly */
	double energy_resolution_ratio; /* relative resolution of energy and power */
	/* clock while it ran repeatedly; part of the readings (0 to 1) at the power limit */
	double clock_hz, power_cap_ratio;
};

/* Host time that the measuring worker spent, in milliseconds. 0: not known. */
struct spent {
	double load_ms;     /* loading, including workspaces and tensor maps */
	double expected_ms; /* computing inputs and expected outputs */
	double verify_ms;   /* verifying, with two runs */
	double digest_ms;   /* computing digests on probe inputs */
	double sample_ms;
	double confirm_ms; /* verifying again, with the second timed series */
};

struct result {
	char *family;                /* NULL in a reply */
	char *configuration;         /* "BM=128,...", canonical; NULL in a reply */
	char kernel_hash[HASH_SIZE]; /* "" in a reply */
	enum outcome outcome;
	char *detail;   /* message of the compiler or driver, reason for pruning, or NULL */
	char *warnings; /* compiler warnings, or NULL */
	uint32_t flags; /* union over launches */
	struct kernel_resources *resources; /* per launch; NULL: never compiled */
	size_t launch_count;
	struct score score; /* launch_count 0: not scored */
	struct verification verification;
	enum verified verified;     /* which reference the outputs were compared with, if any */
	struct output_digest *bits; /* NULL: not known */
	bool by_program;            /* the user's program measured it */
	struct measured measured;
	struct spent spent;
	double *samples_us;
	size_t sample_count;
	struct summary time; /* summary of samples_us; count 0: not timed */
	bool is_timed;
	bool predicted;
	double compile_seconds;
	bool from_cache;
	double at_s; /* seconds since the problem's start; 0: not known */
};

RECORD_DECLARE(struct verification, verification_record);
RECORD_DECLARE(struct measured, measured_record);
RECORD_DECLARE(struct spent, spent_record);
RECORD_DECLARE(struct result, result_record);
void result_release(struct result *result);
/* Adds the result of another job of the candidate, and takes ownership of it. */
void result_add(struct result *result, struct result *found);
void result_summarise(struct result *result);
/* samples_us may be result->samples_us. */
void result_set_samples(struct result *result, const double *samples_us, size_t count);
void result_add_samples(struct result *result, const double *samples_us, size_t count);

/* ---- parts that the tuned file shares ---- */
/* {median, ci95_low, ci95_high, samples} */
RECORD_DECLARE(struct summary, time_record);
extern const char *const timing_names[];
extern const struct record_rule family_name_rule, kernel_hash_rule;
/* Skips a name: letters, digits (not first), '_' and, with_dashes, '-' (not first). Returns NULL if
 * the text starts with no name. */
const char *name_skip(const char *text, bool with_dashes);

#endif
