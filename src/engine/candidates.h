/* SPDX-License-Identifier: MIT
 *
 * The candidates of one problem: every family that applies, every legal configuration, scored
 * before anything is compiled. Candidates are numbered through all families.
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
	bool given[SPACE_PARAMETERS_MAX]; /* per parameter: options->config names it */
	bool recorded;                    /* the space is what a recording holds, not the whole */
};

struct candidates {
	const struct problem *problem;
	const struct device_spec *device;
	struct family_candidates *families;
	size_t family_count;
	size_t count;
	double *predicted_us;
	uint32_t *family_of;
	char *left_out; /* families that do not apply and why; one a line */
	struct search_family *search_families;
	struct search_view view;
};

struct candidates_options {
	const char *const *families; /* names to take; NULL or empty: all that apply */
	const char *where;           /* extra constraint, or NULL */
	const char *config;        /* "BM=128,...": these parameters have these values; NULL: any */
	bool score;                /* false: sizes only (--dry-run) */
	struct compiler *compiler; /* NULL: families in CUDA Tile C++ only where they are named */
	const struct device *device;     /* only what it can answer for (replay); NULL: all */
	const volatile int *interrupted; /* STATUS_INTERRUPTED; NULL: nothing ends it */
};

/* ---- scoring.c ---- */
/* Fills in predicted_us; several threads share a large pool. Physics predicts all candidates. The
 * learned correction takes longer, so that only the best of each family get their own; the others
 * get the mean correction of these. Of several errors, that of the first candidate is returned.
 * interrupted: as in struct candidates_options. */
enum status score_all(
	const struct candidates *pool, const volatile int *interrupted, struct error *err);

/* ---- the pool ---- */
/* More cannot be held, nor would a search look at them. */
#define CANDIDATES_LEGAL_MAX 10000000

/* Errors: more than CANDIDATES_LEGAL_MAX legal configurations; a named family that does not apply
 * (and why); an expression that fails. A space without a legal configuration is an error
 * STATUS_BAD_INPUT that names the constraint which removed the last ones. */
enum status candidates_open(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct candidates_options *options,
	struct candidates *pool, struct error *err);
void candidates_release(struct candidates *pool);
/* Whether names (NULL or empty: all) has the family's full name or the part after the slash. */
bool candidates_family_wanted(const struct family *family, const char *const *names);

const struct family_candidates *candidates_family_of(
	const struct candidates *pool, size_t candidate);
const choice *candidates_configuration(const struct candidates *pool, size_t candidate);
/* Its bound family stays the pool's. */
struct candidate candidates_at(const struct candidates *pool, size_t candidate);
/* The candidate of this family and configuration, or -1. */
ptrdiff_t candidates_find_named(const struct candidates *pool, const char *family,
	const struct named_values *configuration);
/* The same by the configuration's canonical text, as a journal has it. */
ptrdiff_t candidates_find(
	const struct candidates *pool, const char *family, const char *configuration);
/* How many candidates the model ranks before this one. */
size_t candidates_rank(const struct candidates *pool, size_t candidate);

/* The result of a candidate of a search. */
struct evaluated {
	size_t candidate; /* its number */
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
