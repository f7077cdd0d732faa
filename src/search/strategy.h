/* SPDX-License-Identifier: MIT
 *
 * A search strategy proposes the next candidate to evaluate, through an ask/tell interface. It
 * sees only numbers and never a device.
 *
 * To add a strategy, write a file that ends in STRATEGY() (walk.c is the shortest example) and
 * add a line to strategy.c.
 */
#ifndef SEARCH_STRATEGY_H
#define SEARCH_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space/space.h"

struct search_parameter {
	choice levels;    /* number of values; every choice is smaller */
	bool is_ordered;  /* the values are numbers, so that adjacent values are similar */
	bool is_argument; /* a launch argument: all of its values share one kernel */
};

/* The candidates of a family are a contiguous range of indices. Their configurations are in
 * lexicographic order and have parameter_count choices each. */
struct search_family {
	size_t first, count;
	size_t parameter_count;
	const choice *configurations;
	const struct search_parameter *parameters;
};

/* All candidates of one problem, from all families, as a strategy sees them. */
struct search_view {
	size_t count;
	const double *predicted_us; /* one per candidate; infinite if it cannot run */
	const uint32_t *family;     /* index of the family, one per candidate */
	size_t family_count;
	const struct search_family *families;
	uint64_t seed;
	size_t budget; /* number of evaluations that the effort allows; SIZE_MAX: all */
};

enum ask_result {
	ASK_CANDIDATE,
	ASK_WAIT, /* the strategy needs results of pending candidates first */
	ASK_DONE,
};

struct strategy {
	const char *name; /* also the name that users write */
	const char *summary;
	void *(*open)(const struct search_view *view); /* the view outlives the state */
	enum ask_result (*ask)(void *state, size_t *candidate);
	/* time_us is the median, or infinite if the candidate failed. Results of candidates that
	 * were not proposed, because an earlier run measured them, are passed too; these will not
	 * be proposed. */
	void (*tell)(void *state, size_t candidate, double time_us);
	void (*close)(void *state);
};

/* Defines strategy_ID from ID_open() and the ask and tell functions that begin with `shape`. */
#define STRATEGY(id, shape, closing, text)                                                         \
	const struct strategy strategy_##id = {.name = #id,                                        \
		.summary = text,                                                                   \
		.open = id##_open,                                                                 \
		.ask = shape##_ask,                                                                \
		.tell = shape##_tell,                                                              \
		.close = closing}

extern const struct strategy *const strategies[];       /* NULL-terminated */
const struct strategy *strategy_find(const char *name); /* returns NULL if unknown */

const choice *search_view_configuration(const struct search_view *view, size_t candidate);
/* Finds the candidate with this configuration in a family by binary search. Returns -1 if there
 * is none. */
ptrdiff_t search_view_find(
	const struct search_view *view, size_t family, const choice *configuration);

#endif
