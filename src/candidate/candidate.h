/* SPDX-License-Identifier: MIT
 *
 * A candidate: one configuration of a family for a problem on a device; how to run it (plan), what
 * its family's rules and its operation's facts say of it. What to compile is in build.h, what it
 * does in candidate_work.h.
 */
#ifndef CANDIDATE_CANDIDATE_H
#define CANDIDATE_CANDIDATE_H

#include "candidate/build.h"
#include "candidate/configuration.h"
#include "candidate/resources.h"
#include "plan/reference_plan.h"
#include "spec/device_spec.h"

/* What the model says of a candidate before it is compiled. */
struct prediction {
	double time_us;             /* infinite: no block fits on an SM */
	double units, useful_ratio; /* of the longest launch, as in struct launch_score */
	int regs_per_thread;        /* estimated, of the longest launch */
};

/* One of a bound family's configurations: a family and a configuration for a problem on a device.
 */
struct candidate {
	struct bound_family *bound; /* owned or borrowed: its maker's contract says which */
	choice choices[SPACE_PARAMETERS_MAX];
	struct prediction prediction; /* where it was asked for */
};

/* Frees bound: for candidates that own theirs. */
void candidate_release(struct candidate *candidate);
/* Values of all names; caller frees. NULL: an expression failed. */
struct value *candidate_values(const struct candidate *candidate, struct error *err);

/* values: of all names (space_values(), or filled by hand for values outside the lists). */
enum status candidate_plan(const struct bound_family *bound, const struct value *values,
	struct plan *plan, struct error *err);
/* The family's prune rules on a compiled kernel: index of the first that holds, or -1; why is
 * borrowed from the family. resources: one per launch. Registers and blocks per SM are the
 * longest launch's, smem_bytes its static and dynamic shared memory; spills and flags of all
 * launches count. */
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
	struct value_arena values; /* those that are lists */
};
/* Facts that hold for this family (those that name what it lacks are skipped). extra: smem_bytes
 * and blocks_per_sm of the main launch. */
enum status candidate_facts(const struct bound_family *bound, const struct value *values,
	int64_t smem_bytes, int64_t blocks_per_sm, struct fact_list *facts, struct error *err);
void fact_list_release(struct fact_list *facts);

#endif
