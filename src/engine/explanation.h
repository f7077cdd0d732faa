/* SPDX-License-Identifier: MIT
 *
 * One configuration looked at closely: its score, the compiled kernel's resources, the operation's
 * facts.
 */
#ifndef ENGINE_EXPLANATION_H
#define ENGINE_EXPLANATION_H

#include "engine/complete.h"
#include "engine/context.h"

struct explanation {
	const struct bound_family *bound; /* borrowed */
	choice *configuration;
	bool *filled_in;
	struct value *slots;
	struct score score;
	struct kernel_resources *resources; /* per launch; NULL: not compiled */
	size_t launch_count;
	char *compile_problem; /* why there are no resources, or NULL */
	struct fact_list facts;
	struct explanation *steps; /* of a composite family, in their order */
	size_t step_count;
};

/* Compiles where the bench has a compiler. Takes the completion's arrays. bound must outlive it; of
 * a composite family every step must be chosen. */
enum status explanation_make(struct context *bench, const struct bound_family *bound,
	struct completion *completion, struct explanation *explanation, struct error *err);
void explanation_release(struct explanation *explanation);
struct json *explanation_to_json(const struct explanation *explanation);

#endif
