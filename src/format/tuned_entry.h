/* SPDX-License-Identifier: MIT
 *
 * An entry of a tuned file has the results for one problem. A row is a configuration with its
 * measurements: the winner, candidates tied with it, or the best of a family.
 */
#ifndef FORMAT_TUNED_ENTRY_H
#define FORMAT_TUNED_ENTRY_H

#include "expr/named_values.h"
#include "plan/reference_plan.h"
#include "format/result.h"

struct tuned_launch {
	char *source, *entry;
	struct launch_shape shape;
	struct value *arguments; /* numbers, and names of buffers and tensor maps */
	size_t argument_count;
	/* -1: not compiled */
	int64_t smem_static_bytes, regs_per_thread, spill_bytes, blocks_per_sm;
};

/* The comparison that a candidate lost to the winner (tune/selection.h). */
enum reject_reason {
	REJECT_SLOWER,  /* slower than the winner by more than noise and the tie width */
	REJECT_UNTIED,  /* slower than the fastest; the winner's kernel has a launch that is tied */
	REJECT_EARLIER, /* tied with the winner, but measured only in an earlier pass of the final
			 measurement */
	/* The rest are tied with the winner, and lose in the order of preference: */
	REJECT_INCUMBENT, /* the winner of the previous entry is preferred */
	REJECT_PREDICTION,
	REJECT_PLANNED, /* the winner is a candidate that every run of the problem tries */
	REJECT_SMEM,
	REJECT_REGISTERS,
	REJECT_ORDER, /* the winner comes first in the space */
};
extern const char *const reject_reason_names[]; /* NULL-terminated */

struct tuned_rejection {
	enum reject_reason by;
	double ratio;                 /* time (or energy) divided by the winner's */
	double ratio_low, ratio_high; /* 95% interval over the common rounds; NaN: not known */
	uint64_t rounds; /* rounds in which both were timed; 0: they were not timed side by side */
	/* The values that decided, of this candidate and of the winner: bytes, registers or
	 * predicted microseconds. For REJECT_UNTIED, the time over that of the fastest. NaN if the
	 * comparison has no number. */
	double value, winner_value;
};

struct tuned_row {
	/* Its configuration is NULL, because a row has it with types. Resources are part of the
	 * launches, and samples are only in the journal. The score and the verification are those
	 * of a winner; other rows do not have them. */
	struct result result;
	struct named_values configuration;
	struct named_values defines; /* items NULL: not stored */
	char **options;              /* compiler options in addition to the defines, or NULL */
	struct tuned_launch *launches;
	size_t launch_count;
	/* NaN, -1: not known */
	double tflops, gb_per_s;
	int64_t regs_per_thread, smem_bytes, spill_bytes, workspace_bytes;
	struct plan_buffer *workspaces; /* their name, bytes and init */
	size_t workspace_count;
	struct plan_tensor_map *tensor_maps;
	size_t tensor_map_count;
	char *run;          /* the older run that measured this row; NULL: the entry's run */
	bool is_dram_bound; /* of a row without a score: its time does not follow the clock */
	struct json *why;   /* explanation in answers of explain, lookup and advise, or NULL */
	struct tuned_rejection *lost; /* why it lost; NULL: not known, or this is the winner */
	struct json *unknown;         /* members from a newer version, or NULL */
};
RECORD_DECLARE(struct tuned_launch, tuned_launch_record);
RECORD_DECLARE(struct tuned_row, tuned_row_record);
void tuned_row_release(struct tuned_row *row);
struct tuned_row tuned_row_copy(const struct tuned_row *row);
void tuned_row_forget_rejection(struct tuned_row *row);
/* Whether the time follows the GPU's clock according to the score. */
bool tuned_row_is_clock_bound(const struct tuned_row *row);
/* Releases what only a winner stores: how it is built and launched, its score, errors and
 * digests. The rest is what `lookup`, `check` and `report` read of other rows. */
void tuned_row_shorten(struct tuned_row *row);
/* "BM=128,..."; the caller frees it. */
char *tuned_row_configuration(const struct tuned_row *row);

struct tuned_space {
	double product;
	uint64_t legal, evaluated;
	uint64_t outcomes[OUTCOME_COUNT];
};

/* How well the model ranked the measured candidates. NaN: not known. */
struct tuned_model {
	uint64_t measured;       /* candidates with outcome ok */
	double rank_correlation; /* Spearman correlation of predicted and measured times */
	uint64_t rank_of_best; /* the fastest measured candidate's place in the model's order, from
				  1 */
};

/* The rule of a search that was restricted to certain bits (tune --bits). Losses are relative to
 * the free choice (0.02 is 2% slower): of this problem's time, of the geometric mean over all
 * problems, and of the worst problem. NaN: not known. */
struct tuned_bits {
	char *rule; /* "same", "invariant=M" */
	double loss, mean_loss, worst_loss;
};

/* The quantity that the winner minimises; part of an entry's identity. */
enum objective {
	OBJECTIVE_TIME,
	OBJECTIVE_ENERGY,         /* energy of one run, in joules */
	OBJECTIVE_WARM_TIME,      /* time with the inputs in the L2 cache */
	OBJECTIVE_SUSTAINED_TIME, /* time while the GPU is kept busy, with a cold L2 */
};
extern const char *const objective_names[]; /* NULL-terminated */

/* The state of the L2 cache at the start of each timed run. Older files do not say. */
enum l2_state {
	L2_UNKNOWN,
	L2_COLD,
	L2_WARM,
};
extern const char *const l2_state_names[]; /* NULL-terminated */

struct tuned_entry {
	char *operation;
	struct named_values problem;
	enum objective objective;
	enum l2_state l2; /* L2 state of measured times */
	bool predicted;
	bool unfinished; /* the search was stopped; the winner is the best so far */
	/* Hash of what the rows were verified with: tolerances, reference, inputs. "": not known */
	char verification_hash[HASH_SIZE];
	char *run;
	struct tuned_row winner;
	/* Configuration, time and `lost` of tied candidates. If the family is NULL, it is the
	 * winner's, and the configuration lists only values that differ from the winner's;
	 * tuned_entry_tied() returns the complete row. */
	struct tuned_row *tied;
	size_t tied_count;
	struct tuned_row *runner_up; /* the next fastest candidate, stored like `tied`; or NULL */
	struct tuned_row *families;  /* the best row of each other family, shortened */
	size_t family_count;
	struct tuned_space *space; /* these may be NULL */
	struct tuned_model *model;
	struct tuned_bits *bits;
	struct json *unknown; /* members from a newer version, or NULL */
};
RECORD_DECLARE(struct tuned_entry, tuned_entry_record);
void tuned_entry_release(struct tuned_entry *entry);
struct tuned_entry tuned_entry_copy(const struct tuned_entry *entry);
/* Appends a row to the tied ones, or makes it the runner-up; takes ownership of its content. */
void tuned_entry_add_tied(struct tuned_entry *entry, struct tuned_row *row);
void tuned_entry_set_runner_up(struct tuned_entry *entry, struct tuned_row *row);
/* The family, complete configuration and time of a tied row or the runner-up. The family is
 * borrowed; the caller releases the configuration. */
struct tuned_row tuned_entry_tied(const struct tuned_entry *entry, const struct tuned_row *tied);
/* Returns the row of a family, or NULL if the entry has no row of it. */
struct tuned_row *tuned_entry_row(struct tuned_entry *entry, const char *family);
/* Makes families[which] the winner, and swaps the winner into its place. Comparisons with the
 * old winner are dropped. */
void tuned_entry_promote(struct tuned_entry *entry, size_t which);

#endif
