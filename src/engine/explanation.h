/* SPDX-License-Identifier: MIT
 *
 * One configuration looked at closely: its score, the compiled kernel's resources, the operation's
 * facts.
 */
#ifndef ENGINE_EXPLANATION_H
#define ENGINE_EXPLANATION_H

#include "candidate/candidate.h"
#include "engine/context.h"
#include "learn/prediction.h"
#include "format/run.h"

/* From a partial configuration ("BM=256,BN=128") to a whole one: the model's best legal completion.
 * Beside given ones, parameters that change the number of independent units (SPLIT_K) keep their
 * default where that is legal: asked for a tile shape, nobody expects the tile count of another
 * decomposition. Where none is given, it is what `tune` would predict best. */
struct completion {
	struct candidate candidate;           /* bound is borrowed */
	bool filled_in[SPACE_PARAMETERS_MAX]; /* per parameter: not given */
	size_t legal;                         /* how many completions were legal */
};

/* text: "" for none given. *found is false if no legal configuration agrees with text (why, may be
 * NULL, says so). Errors: an unknown parameter, a value that is not in its list. */
enum status completion_find(struct bound_family *bound, const char *text, bool *found,
	struct completion *completion, struct text *why, struct error *err);

struct explanation {
	struct completion completion; /* its bound family is borrowed */
	struct value *slots;
	struct score score;                 /* by physics */
	struct kernel_resources *resources; /* per launch; NULL: not compiled */
	size_t launch_count;
	char *compile_problem; /* why there are no resources, or NULL */
	char *warnings;        /* the compiler's, or NULL */
	struct fact_list facts;
	struct explanation *steps; /* of a composite family, in their order */
	size_t step_count;
};

/* Compiles where there is a compiler. completion's bound family must outlive it; of a composite
 * family every step must be chosen. */
enum status explanation_make(struct context *context, const struct completion *completion,
	struct explanation *explanation, struct error *err);
/* What the model would serve the steps of a composite family with: for each the candidate with the
 * shortest predicted time, of all plain families that apply. *found is false where none does; why
 * (may be NULL) says for which step. Opens the composite. */
enum status explanation_choose_steps(struct context *context, struct bound_family *bound,
	bool *found, struct text *why, struct error *err);
void explanation_release(struct explanation *explanation);

/* ---- as tiletune.explain/1 ---- */
struct explained_fact {
	const char *name, *unit, *source;
	struct json *value;
};

/* Of all launches together: what crosses the L2 cache's and the memory's ports. */
struct explained_traffic {
	double l2_bytes, dram_bytes;
};

struct explained {
	const char *family;
	struct named_values configuration;
	struct prediction_basis basis;
	double predicted_us;
	char **filled_in; /* names of parameters; ends with NULL */
	struct score score;
	struct explained_traffic traffic;
	struct kernel_resources *resources; /* per launch; none: not compiled */
	size_t launch_count;
	char *compile_problem, *warnings;
	struct explained_fact *facts;
	size_t fact_count;
	struct explained *steps;
	size_t step_count;
	const char *operation; /* of a step; else NULL */
	struct named_values problem;
};

struct explain_document {
	const char *operation;
	struct named_values problem;
	struct gpu_model device;
	struct explained *candidates;
	size_t candidate_count;
};
RECORD_DECLARE(struct explain_document, explain_document_record);

/* Takes score, resources, compile_problem and warnings; names are borrowed from the catalogue. */
struct explained explanation_describe(struct explanation *explanation);

#endif
