/* SPDX-License-Identifier: MIT
 *
 * The candidates of one problem: every family that applies, every legal configuration, scored
 * before anything is compiled. Candidates are numbered through all families.
 */
#ifndef TUNE_POOL_H
#define TUNE_POOL_H

#include "kernel/candidate.h"
#include "record/evaluation.h"
#include "search/strategy.h"

struct pool_family {
	struct bound_family *bound;
	choice *configurations; /* count x parameters */
	size_t first, count;
	size_t parameter_count;
	bool *ordered;
	double product;
	struct space_removed removed; /* by constraint */
};

struct pool {
	const struct problem *problem;
	const struct device_spec *device;
	struct pool_family *families;
	size_t family_count;
	size_t count;
	double *predicted_us;
	uint32_t *family_of;
	char *left_out; /* families that do not apply and why; one a line */
	struct search_family *search_families;
	struct search_view view;
};

struct pool_options {
	const char *const *families; /* names to take; NULL or empty: all that apply */
	const char *where;           /* extra constraint, or NULL */
	bool score;                  /* false: sizes only (--dry-run) */
};

/* Errors: a named family that does not apply (and why); an expression that fails. A space without
 * a legal configuration is an error STATUS_BAD_INPUT that names the constraint which removed the
 * last ones. */
enum status pool_open(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct pool_options *options, struct pool *pool,
	struct error *err);
void pool_release(struct pool *pool);

const struct pool_family *pool_family_of(const struct pool *pool, size_t candidate);
const choice *pool_configuration(const struct pool *pool, size_t candidate);
/* Values of all slots; caller frees. */
struct value *pool_values(const struct pool *pool, size_t candidate, struct error *err);
/* The candidate of this family and configuration (a JSON object), or -1. */
ptrdiff_t pool_find_json(
	const struct pool *pool, const char *family, const struct json_at *configuration);
/* How many candidates the model ranks before this one. */
size_t pool_rank(const struct pool *pool, size_t candidate);

#endif
