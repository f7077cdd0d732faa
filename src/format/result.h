/* SPDX-License-Identifier: MIT
 *
 * The result of a candidate. A worker's reply holds a part of it, which the evaluator completes.
 * The journal stores it, and the selection, `check` and `report` read it.
 */
#ifndef FORMAT_RESULT_H
#define FORMAT_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "record/record.h"
#include "base/statistics.h"
#include "format/bits.h"
#include "candidate/resources.h"
#include "plan/reference_plan.h"
#include "score/score.h"

/* All possible outcomes of a candidate. */
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
extern const char *const outcome_names[OUTCOME_COUNT + 1]; /* NULL-terminated */
const char *outcome_name(enum outcome outcome);
const char *outcome_summary(enum outcome outcome);

/* How the output compares with the reference. */
struct verification {
	bool done;
	uint64_t points;                  /* output elements compared */
	uint64_t violations;              /* elements beyond the tolerance, including NaN */
	uint64_t first_bad;               /* linear index into the output; see `violations` */
	double first_out, first_expected; /* values at first_bad; NaN if there are no violations */
	double max_abs_error, max_rel_error;
};

/* Measurements in addition to the time. They travel together from the worker to the journal and
 * the tuned file. 0: not measured; NaN: the card does not report it. */
struct measured {
	double energy_j;                /* energy of one run, for the whole GPU */
	double power_w;                 /* power of the GPU while the kernel ran repeatedly */
	double energy_resolution_ratio; /* relative resolution of energy and power */
	/* While the kernel ran repeatedly: the SM clock, and the part of the readings (0 to 1) in
	 * which the power limit held it down. */
	double clock_hz, power_cap_ratio;
};

/* Host time of the measuring worker for one candidate, in milliseconds. 0: not known. */
struct spent {
	double load_ms;     /* loading the code, memory for workspaces, tensor maps */
	double expected_ms; /* inputs and expected values; most of it only for a problem's first job
			     */
	double verify_ms;   /* two verified runs and their checks */
	double digest_ms;   /* runs on probe inputs */
	double sample_ms;   /* warm-up, graphs and samples */
	double confirm_ms;  /* verification of timed runs, second timed series */
};

struct result {
	char *family;                /* "gemm/mma"; NULL in a reply */
	char *configuration;         /* "BM=128,...", canonical; NULL in a reply */
	char kernel_hash[HASH_SIZE]; /* "" in a reply */
	enum outcome outcome;
	char *detail; /* the message of the compiler or driver, or why the candidate was pruned; may
			 be NULL */
	char *warnings;                     /* the compiler's first warnings, or NULL */
	uint32_t flags;                     /* union over launches */
	struct kernel_resources *resources; /* one per launch; NULL if never compiled */
	size_t launch_count;
	struct score score; /* launch_count 0: not scored */
	struct verification verification;
	enum verified verified;     /* the reference that the output was compared with, if it was */
	struct output_digest *bits; /* digests of the outputs on probe inputs; NULL: not known */
	bool by_program;            /* compared and timed by the user's program */
	struct measured measured;
	struct spent spent;
	double *samples_us;
	size_t sample_count;
	struct summary time; /* of samples_us; count 0: not timed */
	bool is_timed;
	bool predicted; /* samples_us[0] is a prediction */
	double compile_seconds;
	bool from_cache;
	double at_s; /* seconds from the start of the problem to this result; 0: not known */
};

RECORD_DECLARE(struct verification, verification_record);
RECORD_DECLARE(struct measured, measured_record);
RECORD_DECLARE(struct spent, spent_record);
RECORD_DECLARE(struct result, result_record);
void result_release(struct result *result);
/* Adds the findings of another job of the same candidate and takes ownership of them: samples,
 * flags, verification, digests, energy. Identity, outcome, resources and score of `result` do
 * not change. */
void result_add(struct result *result, struct result *found);
/* Makes `time` from the samples. */
void result_summarise(struct result *result);
/* Replaces the samples. samples_us may point to the result's own samples. */
void result_set_samples(struct result *result, const double *samples_us, size_t count);
void result_add_samples(struct result *result, const double *samples_us, size_t count);

/* ---- parts that the tuned file shares ---- */
/* {median, ci95_low, ci95_high, samples} */
RECORD_DECLARE(struct summary, time_record);
extern const char *const timing_names[]; /* indexed by `predicted`: measured, predicted */
extern const struct record_rule family_name_rule, kernel_hash_rule;
/* Skips a name: letters, digits, '_' and, with_dashes, '-' except at the start. Returns the text
 * after the name, or NULL if the text does not begin with a name. */
const char *name_skip(const char *text, bool with_dashes);

#endif
