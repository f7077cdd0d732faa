/* SPDX-License-Identifier: MIT
 *
 * What is written down of a run: in the journal, in the tuned file, and its signature, by which an
 * interrupted run is found again.
 */
#ifndef CLI_RUN_RECORD_H
#define CLI_RUN_RECORD_H

#include "base/hash.h"
#include "base/json.h"
#include "engine/context.h"
#include "format/run.h"

enum {
	RUN_ID_SIZE = 40
};

struct run_description {
	const struct context *context;
	const char *operation;
	const struct problem_list *problems;
	const char *effort;
	const char *const *families; /* NULL or empty: all */
	const char *where;
	const char *strategy;
	const char *objective;
	double budget_s;
	uint64_t seed;
};

/* Problems, families and their sources, effort, device, toolchain: two runs with the same signature
 * measure the same things. */
void run_signature(const struct run_description *run, char signature[HASH_SIZE]);
/* Date, process and some randomness: "20260131T120000-1a2b3c". */
void run_new_id(char id[RUN_ID_SIZE]);
struct json *run_journal_line(
	const struct run_description *run, const char *id, const char *signature);
/* Date, command, toolchain, driver, clocks. */
struct run run_of(const struct context *context, const char *id);
/* The same with an id of its own: "run" of documents. */
struct run run_now(const struct context *context);
struct json *run_json(const struct context *context);

#endif
