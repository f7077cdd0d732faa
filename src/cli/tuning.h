/* SPDX-License-Identifier: MIT
 *
 * Files of a `tune` run: the tuned file, the journal, and the interrupted run in it.
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
		*journal, *shared, *bits, *l2, *load;
	double budget_s;
	unsigned seed, evaluations;
	bool fresh, dry_run, compile_only, progress, no_journal;
};

struct tuning {
	struct tune_command *options;
	struct folders folders;
	struct suite suite;
	struct shard shard;
	struct context context;
	const struct operation *operation;
	struct problem_list problems; /* problems to tune */
	struct problem_list taken;    /* known problems, which are not tuned */
	struct tuned known;           /* the files of --known, merged */
	struct tuned tuned;
	struct journal_record record; /* content of the journal before the run */
	char *output, *journal_path;
	bool journal_is_hidden; /* the journal is in the cache folder */
	int journal_lock;       /* shared lock of a hidden journal while a run uses it; -1: none */
	char signature[HASH_SIZE];
	char run_id[RUN_ID_SIZE];
	struct journal *journal; /* NULL: none */
	struct tune_options request;
	struct tune_run run; /* points to the members above */
	double started;      /* clock_seconds() */
};

/* Computes the signature from problems, families and their sources, effort, device and
 * toolchain. Two runs with the same signature measure the same. Must be called while known
 * problems are still among the run's. */
void tuning_sign(struct tuning *tuning);
bool tuning_to_stdout(const struct tuning *tuning);
/* The tuned file that is saved during the run. NULL if the output is a stream, which is written
 * once at the end. */
const char *tuning_saved_path(const struct tuning *tuning);
void tuning_choose_files(struct tuning *tuning);
/* Checks the files before anything is opened or measured. */
enum status tuning_check_files(
	const struct tuning *tuning, const struct string_list *inputs, struct error *err);
/* Opens the existing tuned file, or makes an empty one. Fails if the file is for another GPU
 * model. */
enum status tuning_open_tuned(struct tuning *tuning, struct error *err);
/* Reads the files of --known. Known problems go into the tuned file and are not tuned. */
enum status tuning_open_known(struct tuning *tuning, enum objective objective, struct error *err);
/* Opens the journal, finds the run to resume and begins the new run. Fills in run and options. */
enum status tuning_begin(struct tuning *tuning, struct error *err);
/* Finishes the run; outcome is its status. */
enum status tuning_finish(struct tuning *tuning, enum status outcome, struct error *err);
void tuning_release(struct tuning *tuning);

#endif
