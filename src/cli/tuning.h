/* SPDX-License-Identifier: MIT
 *
 * What a run of `tune` reads and writes: the tuned file, the journal and the interrupted run in it.
 */
#ifndef CLI_TUNING_H
#define CLI_TUNING_H

#include "cli/common.h"
#include "tune/bits.h"
#include "tune/shard.h"
#include "advise/suite.h"

struct tune_command {
	struct common_options common;
	struct context_options device;
	struct string_list problems, families, known;
	const char *suite, *shard, *where, *config, *effort, *strategy, *objective, *output,
		*journal, *shared, *bits, *l2;
	double budget_s;
	unsigned seed, evaluations;
	bool fresh, dry_run, compile_only, progress, no_journal;
};

/* Everything of one run. */
struct tuning {
	struct tune_command *options;
	struct folders folders;
	struct suite suite;
	struct shard shard;
	struct context context;
	const struct operation *operation;
	struct problem_list problems; /* to be tuned */
	struct problem_list taken;    /* known, and so not tuned */
	struct known known;
	struct tuned tuned;
	struct journal_record record; /* what stood in the journal */
	char *output, *journal_path;
	bool journal_is_hidden; /* in the cache */
	int journal_lock;       /* of such a journal, shared while a run uses it; -1: none */
	char signature[HASH_SIZE];
	char run_id[RUN_ID_SIZE];
	struct journal *journal; /* NULL: none */
	struct tune_options request;
	struct tune_run run; /* refers to the members above */
	double started;      /* clock_seconds() */
};

/* Problems, families and their sources, effort, device, toolchain: two runs with the same signature
 * measure the same things. Known problems are still among the run's. */
void tuning_sign(struct tuning *tuning);
bool tuning_to_stdout(const struct tuning *tuning);
/* The tuned file that is saved while the run goes on; NULL: a stream, which is written to once. */
const char *tuning_saved_path(const struct tuning *tuning);
void tuning_choose_files(struct tuning *tuning);
/* Found out before anything is opened or measured. */
enum status tuning_check_files(
	const struct tuning *tuning, const struct string_list *inputs, struct error *err);
/* The tuned file that exists, if it is one of this GPU model; else an empty one. */
enum status tuning_open_tuned(struct tuning *tuning, struct error *err);
/* What --known names; known problems go into the tuned file, and are not tuned. */
enum status tuning_open_known(struct tuning *tuning, enum objective objective, struct error *err);
/* Opens the journal, finds what is resumed, begins the run; run and options are filled in. */
enum status tuning_begin(struct tuning *tuning, struct error *err);
/* outcome: what the run ended with. */
enum status tuning_finish(struct tuning *tuning, enum status outcome, struct error *err);
void tuning_release(struct tuning *tuning);

#endif
