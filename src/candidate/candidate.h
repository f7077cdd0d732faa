/* SPDX-License-Identifier: MIT
 *
 * A configuration of a family for a problem on a device: plan, prune rules, facts.
 */
#ifndef CANDIDATE_CANDIDATE_H
#define CANDIDATE_CANDIDATE_H

#include "candidate/build.h"
#include "candidate/configuration.h"
#include "candidate/resources.h"
#include "plan/reference_plan.h"
#include "spec/device_spec.h"

/* Prediction for a candidate before compilation. */
struct prediction {
	double time_us;             /* infinite if no block fits on an SM */
	double units, useful_ratio; /* those of struct launch_score for the longest launch */
	int regs_per_thread;        /* estimate for the longest launch */
};

/* A configuration of a family that is bound to a problem on a device. */
struct candidate {
	/* Owned or borrowed, by the creator's contract; or NULL. */
	struct bound_family *bound;
	choice choices[SPACE_PARAMETERS_MAX];
	struct prediction prediction; /* set only if it was requested */
};

/* Also frees bound; only for candidates that own it. */
void candidate_release(struct candidate *candidate);
/* Returns the values of all names, which the caller frees, or NULL if an expression failed. */
struct value *candidate_values(const struct candidate *candidate, struct error *err);

/* values: all names, from space_values() or set by hand. */
enum status candidate_plan(const struct bound_family *bound, const struct value *values,
	struct plan *plan, struct error *err);
/* Sets the index of the first rule that holds, or -1; why is borrowed. resources: per launch.
 * Registers, blocks per SM and smem_bytes are those of the longest launch, spills and flags of all.
 */
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
	struct value_arena values; /* owns values that are lists */
};
/* Skips facts that read names the family lacks. smem_bytes and blocks_per_sm: of the main launch.
 */
enum status candidate_facts(const struct bound_family *bound, const struct value *values,
	int64_t smem_bytes, int64_t blocks_per_sm, struct fact_list *facts, struct error *err);
void fact_list_release(struct fact_list *facts);

#endif
