/* SPDX-License-Identifier: MIT
 *
 * Every kernel of a choice launched exactly once, in a known order, with what the operation's facts
 * count for it: what a profiler's counters are compared with.
 */
#ifndef VERSUS_CHAIN_ONCE_H
#define VERSUS_CHAIN_ONCE_H

#include "base/json.h"
#include "bench/versus/setup.h"

/* Candidates of the chain, then those of each step. Pushes to rows, one per kernel launch:
 * {"problem", "family", "configuration", "kernel", "facts": {name: value}}. */
enum status chain_once(struct setup *setup, const struct json_at *chosen, struct json *rows,
	bool *fatal, struct error *err);

#endif
