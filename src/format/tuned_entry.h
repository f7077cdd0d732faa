/* SPDX-License-Identifier: MIT
 *
 * An entry of a tuned file: what was found for one problem. A row is a configuration with what is
 * known of it: the winner, those tied with it, the best of each family.
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

struct tuned_workspace {
	char *name;
	uint64_t bytes;
	enum buffer_init init;
};

struct tuned_errors {
	bool verified;
	int64_t points, violations;          /* -1: not verified */
	double max_abs_error, max_rel_error; /* NaN: not verified */
};

/* By what a candidate lost to the winner (tune/selection.h). */
enum lost_by {
	LOST_SLOWER,  /* than the winner, by more than the noise and the width of a tie */
	LOST_UNTIED,  /* slower by that than the fastest, which a launch of the winner's kernel is
			 not */
	LOST_EARLIER, /* tied, as far as an earlier round of the final measurement tells */
	/* these are tied, and differ in the order of preference */
	LOST_INCUMBENT, /* the winner of the entry that stood there stays */
	LOST_PREDICTION,
	LOST_PLANNED, /* the winner is one that every run of the problem tries */
	LOST_SMEM,
	LOST_REGISTERS,
	LOST_ORDER, /* of the space */
};
extern const char *const lost_by_names[]; /* NULL-terminated */

struct tuned_lost {
	enum lost_by by;
	double ratio;                 /* its time, or energy, over the winner's */
	double ratio_low, ratio_high; /* 95%, by the rounds that both have; NaN: not known */
	uint64_t rounds;              /* that both have; 0: they were not timed side by side */
	/* What decided, of it and of the winner: bytes, registers, predicted microseconds; of
	 * LOST_UNTIED the time over that of the fastest; NaN: it has no number. */
	double value, winner_value;
};

struct tuned_row {
	char *family; /* "gemm/mma" */
	struct named_values configuration;
	struct named_values defines; /* items NULL: there is no such list */
	char **options;              /* of the compiler, in addition to defines; NULL: none */
	struct tuned_launch *launches;
	size_t launch_count;
	struct summary time; /* microseconds */
	/* NaN, -1: not known */
	double tflops, gb_per_s;
	struct measured measured;
	int64_t regs_per_thread, smem_bytes, spill_bytes, workspace_bytes;
	uint32_t flags;
	struct tuned_workspace *workspaces;
	size_t workspace_count;
	char **tensor_maps; /* JSON of plan_tensor_map_record: a tree takes ten times as much */
	size_t tensor_map_count;
	struct score score; /* launch_count 0: not scored */
	char kernel_hash[HASH_SIZE];
	struct tuned_errors *errors; /* NULL: not known */
	enum verified verified;      /* what its output was compared with, if it was */
	struct bits *bits;           /* NULL: not known */
	bool by_program;             /* compared and timed by a program of the user's */
	char *run;                   /* of an older run that the row stayed of; NULL: the entry's */
	struct json *why;            /* in answers of explain, lookup and advise; NULL: nothing */
	struct tuned_lost *lost; /* to the entry's winner; NULL: not known, or it is the winner */
	struct json *unknown;    /* members that a newer version wrote; NULL: none */
};
RECORD_DECLARE(struct tuned_launch, tuned_launch_record);
RECORD_DECLARE(struct tuned_row, tuned_row_record);
void tuned_row_release(struct tuned_row *row);
struct tuned_row tuned_row_copy(const struct tuned_row *row);
void tuned_row_forget_lost(struct tuned_row *row);
/* Releases what only a winner has: how it is built and launched, its score, errors and bits. What
 * remains is what `lookup`, `check` and `report` read of another row. */
void tuned_row_shorten(struct tuned_row *row);
/* "BM=128,..."; the caller frees it. */
char *tuned_row_configuration(const struct tuned_row *row);

struct tuned_space {
	double product;
	uint64_t legal, evaluated;
	uint64_t outcomes[OUTCOME_COUNT];
};

/* How the model ranked what was measured; NaN: not known. */
struct tuned_model {
	uint64_t measured;       /* candidates with outcome ok */
	double rank_correlation; /* Spearman, predicted against measured */
	uint64_t rank_of_best; /* of the measured best among the measured, by prediction; from 1 */
};

/* By how much the winner's family is ahead of the next. */
struct tuned_margin {
	char *family;
	double ratio; /* that family's time over the winner's */
};

/* The rule by which only configurations with certain bits could win (tune --bits). Losses are of
 * the time of this problem, of the geometric mean, of the worst problem: 0.02 is 2% slower than the
 * free choice; NaN: not known. */
struct tuned_bits {
	char *rule; /* "same", "invariant=M" */
	double loss, mean_loss, worst_loss;
};

/* What the winner is the best in; part of an entry's identity. */
enum objective {
	OBJECTIVE_TIME,
	OBJECTIVE_ENERGY,    /* joules of one run */
	OBJECTIVE_WARM_TIME, /* what runs read is in the L2 already */
};
extern const char *const objective_names[]; /* NULL-terminated */

/* What runs found in the L2 of what they read; older files do not say. */
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
	enum l2_state l2; /* of measured times */
	bool predicted;
	bool unfinished; /* the winner is the best so far of a search that was stopped */
	char *run;
	struct tuned_row winner;
	/* Configuration, time, lost. If the family is NULL it is the winner's, and the
	 * configuration has only the values that are not the winner's: tuned_entry_tied() gives the
	 * whole. */
	struct tuned_row *tied;
	size_t tied_count;
	struct tuned_row *runner_up; /* the same members, of the next fastest; or NULL */
	struct tuned_row *families;  /* the best of each family but the winner's, shortened */
	size_t family_count;
	struct tuned_space *space; /* these may be NULL */
	struct tuned_model *model;
	struct tuned_margin *margin;
	struct tuned_bits *bits;
	struct json *unknown; /* members that a newer version wrote; NULL: none */
};
RECORD_DECLARE(struct tuned_entry, tuned_entry_record);
void tuned_entry_release(struct tuned_entry *entry);
struct tuned_entry tuned_entry_copy(const struct tuned_entry *entry);
/* Appends a row of the winner's family or of another to the tied ones, or makes it the runner-up;
 * takes what the row holds. */
void tuned_entry_add_tied(struct tuned_entry *entry, struct tuned_row *row);
void tuned_entry_set_runner_up(struct tuned_entry *entry, struct tuned_row *row);
/* Family, configuration and time of one of `tied`, or of the runner-up. It borrows the family; the
 * caller releases the configuration. */
struct tuned_row tuned_entry_tied(const struct tuned_entry *entry, const struct tuned_row *tied);
/* The row of a family, or NULL. */
struct tuned_row *tuned_entry_row(struct tuned_entry *entry, const char *family);
/* families[which] wins, and the winner takes its place. How the others compare with the new winner
 * is not known. */
void tuned_entry_promote(struct tuned_entry *entry, size_t which);

#endif
