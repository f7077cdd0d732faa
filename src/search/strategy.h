/* SPDX-License-Identifier: MIT
 *
 * A strategy proposes candidates to evaluate and sees only numbers. To add one, write a file that
 * ends in STRATEGY() (or, for a fixed order, a function in walk.c) and a line in strategy.c.
 */
#ifndef SEARCH_STRATEGY_H
#define SEARCH_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space/space.h"

struct search_parameter {
	/* numbers: adjacent values are similar */
	choice levels;
	bool is_ordered;
	bool is_argument; /* all values share one kernel */
};

/* Consecutive candidates in lexicographic order. */
struct search_family {
	size_t first, count;
	size_t parameter_count;
	const choice *configurations;
	const struct search_parameter *parameters;
};

struct search_view {
	size_t count;
	const double *predicted_us; /* infinite if the candidate cannot run */
	const uint32_t *family;
	size_t family_count;
	const struct search_family *families;
	uint64_t seed;
	size_t budget; /* evaluations; SIZE_MAX allows all */
};

enum ask_result {
	ASK_CANDIDATE,
	ASK_WAIT, /* no proposal until a pending result arrives */
	ASK_DONE,
};

struct strategy {
	const char *name;
	const char *summary;
	void *(*open)(const struct search_view *view); /* the view outlives the state */
	enum ask_result (*ask)(void *state, size_t *candidate);
	/* time_us is infinite after a failure; also receives results of earlier runs */
	void (*tell)(void *state, size_t candidate, double time_us);
	void (*close)(void *state);
};

/* Defines strategy_ID from ID_open(), shape_ask() and shape_tell(). */
#define STRATEGY(id, shape, closing, text)                                                         \
	const struct strategy strategy_##id = {.name = #id,                                        \
		.summary = text,                                                                   \
		.open = id##_open,                                                                 \
		.ask = shape##_ask,                                                                \
		.tell = shape##_tell,                                                              \
		.close = closing}

extern const struct strategy *const strategies[];       /* NULL-terminated */
const struct strategy *strategy_find(const char *name); /* NULL if unknown */

const choice *search_view_configuration(const struct search_view *view, size_t candidate);
/* Returns -1 if there is no such candidate. */
ptrdiff_t search_view_find(
	const struct search_view *view, size_t family, const choice *configuration);

#endif
