/* SPDX-License-Identifier: MIT
 *
 * Strategies: which candidate next. Behind ask / tell; they see numbers only, never a device.
 *
 * A strategy is one file that ends in STRATEGY() (walk.c: one function), and one line in
 * strategy.c.
 */
#ifndef SEARCH_STRATEGY_H
#define SEARCH_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space/space.h"

struct search_parameter {
	choice levels;    /* number of values; choices are below that */
	bool is_ordered;  /* values are numbers: neighbours make sense */
	bool is_argument; /* of the launch: the kernel is the same */
};

/* A family's candidates: a contiguous range of indices; configurations in lexicographic order,
 * parameter_count choices each. */
struct search_family {
	size_t first, count;
	size_t parameter_count;
	const choice *configurations;
	const struct search_parameter *parameters;
};

/* The candidates of one problem, all families together, as the strategy sees them. */
struct search_view {
	size_t count;
	const double *predicted_us; /* of every candidate; infinite: cannot run */
	const uint32_t *family;     /* index of each candidate's family */
	size_t family_count;
	const struct search_family *families;
	uint64_t seed;
	size_t budget; /* how many evaluations the effort allows; SIZE_MAX: all */
};

enum ask_result {
	ASK_CANDIDATE,
	ASK_WAIT, /* tell me the pending results first */
	ASK_DONE,
};

struct strategy {
	const char *name; /* symbol name = user-visible name */
	const char *summary;
	void *(*open)(const struct search_view *view); /* view outlives the strategy */
	enum ask_result (*ask)(void *state, size_t *candidate);
	/* time_us: median, or infinite if it failed. Also for candidates that were not asked for
	 * (known from an earlier run): they will not be. */
	void (*tell)(void *state, size_t candidate, double time_us);
	void (*close)(void *state);
};

/* strategy_ID of ID_open() and a shape's ask and tell. */
#define STRATEGY(id, shape, closing, text)                                                         \
	const struct strategy strategy_##id = {.name = #id,                                        \
		.summary = text,                                                                   \
		.open = id##_open,                                                                 \
		.ask = shape##_ask,                                                                \
		.tell = shape##_tell,                                                              \
		.close = closing}

extern const struct strategy *const strategies[];       /* NULL-terminated */
const struct strategy *strategy_find(const char *name); /* NULL if unknown */

/* The choices of a candidate. */
const choice *search_view_configuration(const struct search_view *view, size_t candidate);
/* The candidate with this configuration in a family (binary search), or -1. */
ptrdiff_t search_view_find(
	const struct search_view *view, size_t family, const choice *configuration);

#endif
