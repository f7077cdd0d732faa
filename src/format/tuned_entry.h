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
	struct value *arguments; /* numbers, or names of buffers and tensor maps */
	size_t argument_count;
	/* These are -1 if not compiled. */
	int64_t smem_static_bytes, regs_per_thread, spill_bytes, blocks_per_sm;
};

/* Why a candidate lost (tune/selection.h). */
enum reject_reason {
	REJECT_SLOWER,  /* slower by more than noise and the tie width */
	REJECT_UNTIED,  /* not tied, whereas another launch of the winner's kernel is */
	REJECT_EARLIER, /* tied, but timed in an earlier pass of the final measurement */
	/* Tied, but the winner is preferred, in this order, because of: */
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
	double ratio;                 /* time (or energy) over the winner's */
	double ratio_low, ratio_high; /* 95%; NaN: not known */
	uint64_t rounds;              /* number of rounds in which both were timed */
	/* The criterion's value of this candidate and of the winner: bytes, registers, predicted
	 * microseconds, or for REJECT_UNTIED the time over the fastest. NaN: no value. */
	double value, winner_value;
};

struct tuned_row {
	/* only a winner's result has score and verification */
	struct result result;
	struct named_values configuration;
	struct named_values defines; /* items NULL: not stored */
	char **options;              /* compiler options besides the defines, or NULL */
	struct tuned_launch *launches;
	size_t launch_count;
	/* NaN or -1: not known */
	double tflops, gb_per_s;
	int64_t regs_per_thread, smem_bytes, spill_bytes, workspace_bytes;
	struct plan_buffer *workspaces; /* only name, bytes and init */
	size_t workspace_count;
	struct plan_tensor_map *tensor_maps;
	size_t tensor_map_count;
	char *run;                    /* run that measured the row; NULL: the entry's run */
	bool is_dram_bound;           /* only for a row without a score */
	struct json *why;             /* written by explain, lookup and advise; or NULL */
	struct tuned_rejection *lost; /* NULL: not known, or this is the winner */
	struct json *unknown;         /* members of a newer version, or NULL */
};
RECORD_DECLARE(struct tuned_launch, tuned_launch_record);
RECORD_DECLARE(struct tuned_row, tuned_row_record);
void tuned_row_release(struct tuned_row *row);
struct tuned_row tuned_row_copy(const struct tuned_row *row);
void tuned_row_forget_rejection(struct tuned_row *row);
bool tuned_row_is_clock_bound(const struct tuned_row *row);
/* Drops members that `lookup`, `check` and `report` do not need, except for winners. */
void tuned_row_shorten(struct tuned_row *row);
/* Returns "BM=128,..."; the caller frees the text. */
char *tuned_row_configuration(const struct tuned_row *row);

struct tuned_space {
	double product;
	uint64_t legal, evaluated;
	uint64_t outcomes[OUTCOME_COUNT];
};

struct tuned_model {
	uint64_t measured;       /* number of candidates with outcome ok */
	double rank_correlation; /* Spearman; NaN: not known */
	uint64_t rank_of_best;   /* from 1 */
};

/* Losses relative to the free choice (0.02 is 2% slower) for this problem, in the geometric mean,
 * and for the worst problem. NaN: not known. */
struct tuned_bits {
	char *rule; /* "same", "invariant=M" */
	double loss, mean_loss, worst_loss;
};

/* Part of an entry's identity. */
enum objective {
	OBJECTIVE_TIME,
	OBJECTIVE_ENERGY,         /* energy of one run, in joules */
	OBJECTIVE_WARM_TIME,      /* time with the inputs in the L2 cache */
	OBJECTIVE_SUSTAINED_TIME, /* time under sustained load with a cold L2 cache */
};
extern const char *const objective_names[];

/* state of the L2 cache when a timed run begins */
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
	/* hash of tolerances, reference and inputs; "": not known */
	char verification_hash[HASH_SIZE];
	char *run;
	struct tuned_row winner;
	/* Tied rows have only configuration, time and `lost`. Family NULL: the row has the winner's
	 * family, and only the values that differ. */
	struct tuned_row *tied;
	size_t tied_count;
	struct tuned_row *runner_up; /* like a tied row; or NULL */
	struct tuned_row *families;  /* the best row of each other family, shortened */
	size_t family_count;
	struct tuned_space *space; /* this and the next two may be NULL */
	struct tuned_model *model;
	struct tuned_bits *bits;
	struct json *unknown; /* members of a newer version, or NULL */
};
RECORD_DECLARE(struct tuned_entry, tuned_entry_record);
void tuned_entry_release(struct tuned_entry *entry);
struct tuned_entry tuned_entry_copy(const struct tuned_entry *entry);
/* Takes ownership of the row. */
void tuned_entry_add_tied(struct tuned_entry *entry, struct tuned_row *row);
void tuned_entry_set_runner_up(struct tuned_entry *entry, struct tuned_row *row);
/* Completes a tied row. The caller releases its configuration; its family is borrowed. */
struct tuned_row tuned_entry_tied(const struct tuned_entry *entry, const struct tuned_row *tied);
struct tuned_row *tuned_entry_row(struct tuned_entry *entry, const char *family);
/* Makes another family's row the winner, and drops comparisons with the old winner. */
void tuned_entry_promote(struct tuned_entry *entry, size_t which);

#endif
