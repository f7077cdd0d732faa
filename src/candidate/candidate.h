/* SPDX-License-Identifier: MIT
 *
 * A candidate is a configuration of a family for a problem on a device. Computes its plan, prune
 * rules and facts.
 */
#ifndef CANDIDATE_CANDIDATE_H
#define CANDIDATE_CANDIDATE_H

#include "candidate/build.h"
#include "candidate/configuration.h"
#include "candidate/resources.h"
#include "plan/reference_plan.h"
#include "spec/device_spec.h"

struct prediction {
	double time_us;             /* infinite if no block fits on an SM */
	double units, useful_ratio; /* tiles and tile_efficiency_ratio in struct launch_score of the
				       longest launch */
	int regs_per_thread;        /* estimate for the longest launch */
};

struct candidate {
	/* may be NULL; the function that creates the candidate states whether this is owned */
	struct bound_family *bound;
	choice choices[SPACE_PARAMETERS_MAX];
	struct prediction prediction; /* set only if it was requested */
};

/* Frees a candidate that owns `bound`, including `bound`. */
void candidate_release(struct candidate *candidate);
/* Returns the values of all names, which the caller frees, or NULL if an expression failed. */
struct value *candidate_values(const struct candidate *candidate, struct error *err);

/* `values` has one value per name, as from space_values(). */
enum status candidate_plan(const struct bound_family *bound, const struct value *values,
	struct plan *plan, struct error *err);
/* Sets *rule to the first prune rule that holds, or to -1; *why is borrowed. `resources` has one
 * item per launch. Rules read registers, blocks per SM and smem_bytes of the longest launch, and
 * spills and flags of all. */
enum status candidate_prune(const struct bound_family *bound, const struct value *values,
	const struct kernel_resources *resources, size_t launch_count, size_t longest,
	int64_t smem_bytes, int *rule, const char **why, struct error *err);

/* ---- facts of the operation ---- */
struct fact {
	const char *name, *unit, *source; /* borrowed from the operation */
	struct value value;
};
struct fact_list {
	struct fact *items;
	size_t count;
	struct value_arena values; /* owns the values that are lists */
};
/* Skips facts that read names that the family lacks. smem_bytes and blocks_per_sm belong to the
 * main launch. */
enum status candidate_facts(const struct bound_family *bound, const struct value *values,
	int64_t smem_bytes, int64_t blocks_per_sm, struct fact_list *facts, struct error *err);
void fact_list_release(struct fact_list *facts);

#endif
