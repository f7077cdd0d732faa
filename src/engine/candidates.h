/* SPDX-License-Identifier: MIT
 *
 * The candidates of one problem: all legal configurations of all families that apply, scored
 * before anything is compiled, and numbered across families.
 */
#ifndef ENGINE_CANDIDATES_H
#define ENGINE_CANDIDATES_H

#include "device/device.h"
#include "format/tuned.h"
#include "score/prediction.h"
#include "search/strategy.h"
#include "space/enumerate.h"

struct family_candidates {
	struct bound_family *bound;
	choice *configurations; /* count x parameters */
	size_t first, count, capacity;
	size_t parameter_count;
	struct search_parameter *parameters;
	double product;
	struct space_removed removed;     /* configurations removed, per constraint */
	bool given[SPACE_PARAMETERS_MAX]; /* per parameter: given by the user */
	bool recorded;                    /* the space has only the configurations of a recording */
};

struct candidates {
	const struct problem *problem;
	const struct device_spec *device;
	struct family_candidates *families;
	size_t family_count;
	size_t count;
	double *predicted_us;
	uint32_t *family_of;
	char *left_out; /* families that do not apply and why, one per line */
	struct search_family *search_families;
	struct search_view view;
};

struct candidates_options {
	/* full names, or the parts after the slash; NULL or empty: all that apply and compete */
	const char *const *families;
	const char *const *excluded; /* full names; NULL: none */
	const char *where;           /* extra constraint, or NULL */
	const char *config;          /* fixed values "BM=128,...", or NULL */
	bool score;                  /* false: only count (--dry-run) */
	struct compiler *compiler;   /* NULL: families in CUDA Tile C++ must be named */
	const struct device *device; /* a replay limits the candidates to its results; NULL: all */
	const volatile int *interrupted; /* nonzero: stop with STATUS_INTERRUPTED; may be NULL */
};

/* ---- scoring.c ---- */
/* Fills in predicted_us, with several threads if the pool is large. The learned correction is slow,
 * so only the best candidates of each family get their own; the others get the mean of these.
 * Reports the error of the first candidate that fails. */
enum status score_all(
	const struct candidates *pool, const volatile int *interrupted, struct error *err);

/* ---- the pool ---- */
#define CANDIDATES_LEGAL_MAX 10000000

/* Fails if there are more than CANDIDATES_LEGAL_MAX legal configurations or none, if a named family
 * does not apply, or if an expression fails. */
enum status candidates_open(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct candidates_options *options,
	struct candidates *pool, struct error *err);
void candidates_release(struct candidates *pool);

const struct family_candidates *candidates_family_of(
	const struct candidates *pool, size_t candidate);
const choice *candidates_configuration(const struct candidates *pool, size_t candidate);
/* The bound family belongs to the pool. */
struct candidate candidates_at(const struct candidates *pool, size_t candidate);
/* Returns -1 if the pool does not contain the configuration. */
ptrdiff_t candidates_find_named(const struct candidates *pool, const char *family,
	const struct named_values *configuration);
/* Finds a configuration by its canonical text, as journals store it. */
ptrdiff_t candidates_find(
	const struct candidates *pool, const char *family, const char *configuration);
/* Returns how many candidates the model ranks before this one. */
size_t candidates_rank(const struct candidates *pool, size_t candidate);

struct evaluated {
	size_t candidate; /* number in the pool */
	/* The pass of the final measurement (tune/search.h), from 1, that measured the times; 0:
	 * the search measured them. */
	unsigned remeasure_pass;
	bool was_remeasured; /* took part in the final measurement, even if it failed there */
	unsigned loads;      /* number of loads over which the times are averaged */
	double search_us;    /* median time in the search, if a pass replaced it */
	struct result result;
};
/* Returns the median time in the search, in us. Times of a later pass can only be compared with
 * each other, because the GPU has become warm. */
static inline double evaluated_search_us(const struct evaluated *evaluated)
{
	return evaluated->remeasure_pass ? evaluated->search_us : evaluated->result.time.median;
}

struct evaluated_list {
	struct evaluated *items;
	size_t count, capacity;
};

#endif
