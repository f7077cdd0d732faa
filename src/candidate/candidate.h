/* SPDX-License-Identifier: MIT
 *
 * A family bound to a problem on a device: its space, and for each configuration what to compile
 * (build), how to run it (plan) and what it does (candidate_work.h).
 *
 * A composite family (`steps`) has one configuration, the empty one; what it builds and launches
 * follows from what its steps are served by (candidate/composite.h).
 */
#ifndef CANDIDATE_CANDIDATE_H
#define CANDIDATE_CANDIDATE_H

#include "candidate/build.h"
#include "family/catalogue.h"
#include "family/plan.h"
#include "candidate/resources.h"
#include "space/space.h"
#include "spec/device_spec.h"

struct composite; /* candidate/composite.h */

struct bound_family {
	const struct family *family;
	const struct problem *problem;
	const struct device_spec *device;
	struct space *space;         /* owned, bound to the problem and the device */
	struct bound_model *model;   /* owned; candidate/bound_model.h */
	struct composite *composite; /* owned; of a composite family: composite_open() */
};

/* Whether the family's `requires` hold; if not, why (the first false expression) in why_not
 * (may be NULL). */
enum status family_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *applies, struct text *why_not, struct error *err);

/* where: an extra constraint (`--where`), or NULL. */
enum status family_bind(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct error *err);
/* The same without an extra constraint; that it does not apply is an error, which says why. */
enum status family_bind_applicable(const struct family *family, const struct problem *problem,
	const struct device_spec *device, struct bound_family **bound, struct error *err);
void bound_family_free(struct bound_family *bound);

/* What the model says of a candidate before it is compiled. */
struct prediction {
	double time_us;             /* infinite: not one block fits */
	double units, useful_ratio; /* of the longest launch, as in struct launch_score */
	int regs_per_thread;        /* estimated, of the longest launch */
};

/* One of a bound family's configurations: a family and a configuration for a problem on a device.
 */
struct candidate {
	struct bound_family *bound; /* who made the candidate says whose it is */
	choice choices[SPACE_PARAMETERS_MAX];
	struct prediction prediction; /* where it was asked for */
	bool is_winner;               /* it won a search, of this problem or of another */
};

/* Frees bound: for candidates that own theirs. */
void candidate_release(struct candidate *candidate);
/* Values of all slots; caller frees. NULL: an expression failed. */
struct value *candidate_values(const struct candidate *candidate, struct error *err);

/* "BM=128,BN=256,...": canonical, every parameter in the family's order. */
void configuration_format(
	const struct bound_family *bound, const choice *configuration, struct text *text);
struct json *configuration_to_json(const struct bound_family *bound, const choice *configuration);
/* Partial or full: values (all slots, space_slot_count() of them) gets those of the parameters that
 * are named, given[i] says which those are. Numbers need not be in the lists. Errors: unknown names
 * (nearest offered), strings that are not in the list. */
enum status configuration_parse(const struct bound_family *bound, const char *text,
	struct value *values, bool *given, struct error *err);
enum status configuration_from_json(const struct bound_family *bound, const struct json_at *object,
	choice *configuration, struct error *err);
/* The family's defaults where they are legal here; else the legal configuration nearest to them.
 * *found false if the space is empty. */
enum status configuration_default(
	const struct bound_family *bound, choice *configuration, bool *found, struct error *err);

/* Everything below takes values of all slots (space_values(), or filled by hand for `--config`
 * with values outside the lists). */
enum status candidate_build(const struct bound_family *bound, const struct value *slots,
	struct build *build, struct error *err);
enum status candidate_plan(const struct bound_family *bound, const struct value *slots,
	struct plan *plan, struct error *err);
/* {"BM": 128, "DTYPE_bf16": 1, ...}: the -D list of the first unit. */
struct json *candidate_defines(const struct bound_family *bound, const struct value *slots);

/* The family's prune rules on a compiled kernel: index of the first that holds, or -1; why is
 * borrowed from the family. resources: one per launch; the longest launch decides. */
enum status candidate_prune(const struct bound_family *bound, const struct value *slots,
	const struct kernel_resources *resources, size_t launch_count, int *rule, const char **why,
	struct error *err);

/* The operation's reference for a problem. */
enum status problem_reference(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, struct build *build, struct reference_plan *reference,
	struct error *err);

/* ---- facts and rules of the operation ---- */
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
enum status candidate_facts(const struct bound_family *bound, const struct value *slots,
	int64_t smem_bytes, int64_t blocks_per_sm, struct fact_list *facts, struct error *err);
void fact_list_release(struct fact_list *facts);

#endif
