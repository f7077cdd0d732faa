/* SPDX-License-Identifier: MIT
 *
 * The candidates of one problem: all legal configurations of all families that apply, scored
 * before anything is compiled. Candidates are numbered across families.
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
	struct space_removed removed;     /* by constraint */
	bool given[SPACE_PARAMETERS_MAX]; /* per parameter: the user gave its value */
	bool recorded; /* only configurations that a recording has, not the whole space */
};

struct candidates {
	const struct problem *problem;
	const struct device_spec *device;
	struct family_candidates *families;
	size_t family_count;
	size_t count;
	double *predicted_us;
	uint32_t *family_of;
	char *left_out; /* families that do not apply and the reasons, one per line */
	struct search_family *search_families;
	struct search_view view;
};

struct candidates_options {
	/* Families to use, by full name or the part after the slash; NULL or empty: all that apply
	 * and compete. */
	const char *const *families;
	const char *const *excluded; /* families to leave out, by full name; NULL: none */
	const char *where;         /* extra constraint, or NULL */
	const char *config;        /* fixed values "BM=128,..." of some parameters, or NULL */
	bool score;                /* false: count candidates without scoring them (--dry-run) */
	struct compiler *compiler; /* NULL: families in CUDA Tile C++ must be named to be used */
	const struct device
		*device; /* use only candidates that a replay has results of; NULL: all */
	const volatile int *interrupted; /* set to end with STATUS_INTERRUPTED; may be NULL */
};

/* ---- scoring.c ---- */
/* Fills in predicted_us, with several threads if the pool is large. The physical model predicts
 * all candidates. The learned correction is slower, so it is computed only for the best of each
 * family; the others get the mean correction of these. If several candidates fail, the error of
 * the first one is returned. interrupted is as in struct candidates_options. */
enum status score_all(
	const struct candidates *pool, const volatile int *interrupted, struct error *err);

/* ---- the pool ---- */
/* More candidates would not fit into memory, and no search would reach them. */
#define CANDIDATES_LEGAL_MAX 10000000

/* Errors: more than CANDIDATES_LEGAL_MAX legal configurations; a named family that does not
 * apply, with the reason; an expression that fails. If no configuration is legal, the error is
 * STATUS_BAD_INPUT and names the constraint that removed the last ones. */
enum status candidates_open(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct candidates_options *options,
	struct candidates *pool, struct error *err);
void candidates_release(struct candidates *pool);

const struct family_candidates *candidates_family_of(
	const struct candidates *pool, size_t candidate);
const choice *candidates_configuration(const struct candidates *pool, size_t candidate);
/* The candidate's bound family still belongs to the pool. */
struct candidate candidates_at(const struct candidates *pool, size_t candidate);
/* The number of the candidate with this family and configuration, or -1. */
ptrdiff_t candidates_find_named(const struct candidates *pool, const char *family,
	const struct named_values *configuration);
/* The same for a configuration in canonical text, as journals store it. */
ptrdiff_t candidates_find(
	const struct candidates *pool, const char *family, const char *configuration);
/* The number of candidates that the model ranks before this one. */
size_t candidates_rank(const struct candidates *pool, size_t candidate);

/* The result of a candidate of a search. */
struct evaluated {
	size_t candidate; /* number in the pool */
	/* The pass of the final measurement (tune/search.h), from 1, that measured its times; 0:
	 * the search measured them. */
	unsigned remeasure_pass;
	bool was_remeasured; /* it was in the final measurement, successfully or not */
	unsigned loads;      /* number of loads that the times are the mean of */
	double search_us;    /* the median of the search, if a pass replaced it; else 0 */
	struct result result;
};
/* Median time in the search, us, which all candidates have. The times of a pass can only be
 * compared with each other, because the GPU has become warm by then. */
static inline double evaluated_search_us(const struct evaluated *evaluated)
{
	return evaluated->remeasure_pass ? evaluated->search_us : evaluated->result.time.median;
}

struct evaluated_list {
	struct evaluated *items;
	size_t count, capacity;
};

#endif
