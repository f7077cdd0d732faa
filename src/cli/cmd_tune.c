/* SPDX-License-Identifier: MIT
 *
 * tiletune tune: the main job.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "cli/common.h"
#include "cli/show.h"
#include "tune/suite.h"
#include "search/strategy.h"

struct tune_options {
	struct common_options common;
	struct device_choice device;
	struct string_list problems, families;
	const char *suite, *where, *effort, *strategy, *objective, *output, *journal;
	double budget_s;
	unsigned seed, evaluations;
	bool fresh, dry_run, progress, no_journal;
};

#define AT(member) offsetof(struct tune_options, member)

static const char *effort_choice(size_t index, const char **summary)
{
	(void)summary;
	return efforts[index].name;
}

static const char *strategy_choice(size_t index, const char **summary)
{
	if (!strategies[index])
		return NULL;
	*summary = strategies[index]->summary;
	return strategies[index]->name;
}

static const struct option tune_option_table[] = {
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM",
		"M=4096,N=4096,K=4096,dtype=bf16; lists and ranges per key"),
	OPTION("suite", 's', STRING, suite, "FILE", "a list of problems (configs/suites)"),
	OPTION("family", 'f', STRINGS, families, "NAME", "only this family; may be repeated"),
	OPTION("where", 'w', STRING, where, "EXPR", "only configurations for which this holds"),
	CHOICE("effort", 'e', STRING, effort, "EFFORT", "how much is tried; default quick",
		effort_choice),
	OPTION("budget", 'b', BUDGET, budget_s, "TIME",
		"time per problem, the re-measurement of the best included"),
	OPTION("evaluations", 0, COUNT, evaluations, "N", "at most so many candidates per problem"),
	CHOICE("strategy", 0, WORD, strategy, "NAME",
		"not the effort's; rule:NAME: that rule alone", strategy_choice),
	CHOICE("objective", 0, STRING, objective, "WHAT",
		"what the winner is the best in; default time", common_objective_choice),
	OPTION("seed", 0, COUNT, seed, "N", "of the search and of the inputs; default 1"),
	OPTION("output", 'o', STRING, output, "FILE", "the tuned file; default tuned.json"),
	OPTION("journal", 0, STRING, journal, "FILE",
		"default: beside the tuned file, X.journal.jsonl"),
	OPTION("no-journal", 0, FLAG, no_journal, NULL, "write none: nothing can be resumed"),
	OPTION("fresh", 0, FLAG, fresh, NULL, "start anew even if a run was interrupted"),
	OPTION("dry-run", 'n', FLAG, dry_run, NULL,
		"print the size of the space and what each constraint removes"),
	OPTION("progress", 0, FLAG, progress, NULL, "show progress even if this is no terminal"),
	DEVICE_OPTIONS,
	COMMON_OPTIONS,
	{0},
};

/* Everything of one run. */
struct tuning {
	struct tune_options *options;
	struct folders folders;
	struct suite suite;
	struct context context;
	struct problem_list problems;
	struct tuned tuned;
	struct journal *journal;
	struct journal_record record;
	char *output, *journal_path;
	char *journal_folder; /* NULL, or that in the cache where the journal is */
	int journal_lock;     /* of such a journal; -1: none */
	char run_id[RUN_ID_SIZE], signature[HASH_SIZE];
	double started; /* clock_seconds() */
};

static enum status read_problems(struct tuning *tuning, const char *operation_name_,
	const struct operation **operation, struct error *err)
{
	TRY(catalogue_operation(&tuning->context.catalogue, operation_name_, operation, err));
	return common_problems(*operation, &tuning->options->problems, tuning->suite.problems,
		"tune", "-p M=4096,N=4096,K=4096,dtype=bf16, or --suite FILE", &tuning->problems,
		err);
}

/* The effort's row, with what the command line changes of it. */
static enum status choose_effort(
	const struct tuning *tuning, struct effort *effort, struct error *err)
{
	const char *name = tuning->options->effort ? tuning->options->effort
			   : tuning->suite.effort  ? tuning->suite.effort
						   : "quick";
	const struct effort *row = effort_find(name);

	if (!row)
		return error_set(err, STATUS_BAD_INPUT,
			"effort: expected estimate, quick, thorough or exhaustive, found \"%s\"",
			name);
	*effort = *row;
	if (tuning->options->evaluations) {
		effort->evaluations = tuning->options->evaluations;
		effort->of_each_family = 0; /* so many, and no more */
		effort->is_strict = true;
	}
	return STATUS_OK;
}

static struct candidates_options chosen_pool(const struct tuning *tuning, bool score)
{
	const struct tune_options *options = tuning->options;

	return (struct candidates_options){.families = options->families.count
							       ? options->families.items
							       : tuning->suite.families,
		.where = options->where ? options->where : tuning->suite.where,
		.score = score};
}

static enum status dry_run(struct tuning *tuning, struct error *err)
{
	struct candidates_options options = chosen_pool(tuning, false);

	options.device = tuning->context.device;
	for (size_t i = 0; i < tuning->problems.count; i++) {
		struct candidates pool;

		TRY(candidates_open(&tuning->context.catalogue, tuning->problems.items[i],
			device_spec(tuning->context.device), &options, &pool, err));
		common_notices(&tuning->context);
		show_space(stdout, &pool);
		candidates_release(&pool);
	}
	return STATUS_OK;
}

static bool to_stdout(const struct tuning *tuning)
{
	return strcmp(tuning->output, "-") == 0;
}

static void choose_files(struct tuning *tuning)
{
	const struct tune_options *options = tuning->options;

	tuning->output = string_copy(options->output ? options->output : "tuned.json");
	if (options->journal)
		tuning->journal_path = string_copy(options->journal);
	else if (string_ends_with(tuning->output, ".json"))
		tuning->journal_path = string_format("%.*s.journal.jsonl",
			(int)(strlen(tuning->output) - strlen(".json")), tuning->output);
}

/* Found out before anything is opened or measured. */
static enum status check_files(const struct tuning *tuning, struct error *err)
{
	const char *journal = tuning->options->no_journal ? NULL : tuning->options->journal;
	struct stat a, b;

	TRY(common_expect_output("output", tuning->output, err));
	if (journal && (strcmp(journal, tuning->output) == 0 ||
			       (stat(journal, &a) == 0 && stat(tuning->output, &b) == 0 &&
				       S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
				       a.st_ino == b.st_ino)))
		return error_set(err, STATUS_BAD_INPUT,
			"--journal: expected another file than --output, found %s", journal);
	if (journal && !*journal)
		return error_set(err, STATUS_BAD_INPUT,
			"--journal: expected the name of a file, found an empty one");
	return STATUS_OK;
}

static bool is_regular(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* The tuned file that exists, if it is one of this GPU model; else an empty one. */
static enum status open_tuned(struct tuning *tuning, struct error *err)
{
	const struct device_spec *spec = device_spec(tuning->context.device);
	CLEANUP(gpu_model_release)
	struct gpu_model device = gpu_model_of(spec, device_identity(tuning->context.device)->name);

	if (to_stdout(tuning) || !is_regular(tuning->output)) {
		tuned_init(&tuning->tuned, tuning->output, device);
		device = (struct gpu_model){0};
		return STATUS_OK;
	}
	if (tuned_load(tuning->output, &tuning->tuned, err) != STATUS_OK)
		return error_hint(err, "to replace a file that is no tuned file, remove it first");
	tuned_complete(&tuning->tuned, &tuning->context.catalogue);
	return tuned_expect_device(&tuning->tuned, &device, err);
}

/* A journal in the cache that is of this signature, and that no living process writes to: locked.
 */
static enum status take_journal(const char *name, void *context, struct error *err)
{
	struct tuning *tuning = context;
	CLEANUP(memory_free) char *path = path_join(tuning->journal_folder, name);

	(void)err;
	if (tuning->journal_path || !string_starts_with(name, tuning->signature))
		return STATUS_OK;
	tuning->journal_lock = open(path, O_RDWR | O_CLOEXEC);
	if (tuning->journal_lock >= 0 && flock(tuning->journal_lock, LOCK_EX | LOCK_NB) == 0)
		tuning->journal_path = string_copy(path);
	else
		file_unlock(&tuning->journal_lock);
	return STATUS_OK;
}

/* Where no file is named after which a journal could be, each run has one of its own in the cache;
 * an interrupted one is found again by its signature. */
static enum status choose_journal(struct tuning *tuning, struct error *err)
{
	CLEANUP(memory_free) char *cache = NULL;

	if (tuning->journal_path)
		return STATUS_OK;
	TRY(path_cache_folder(NULL, &cache, err));
	tuning->journal_folder = path_join(cache, "journals");
	TRY(directory_make(tuning->journal_folder, err));
	TRY(directory_list(tuning->journal_folder, take_journal, tuning, err));
	if (tuning->journal_path)
		return STATUS_OK;
	tuning->journal_path = string_format("%s/%s-%s.journal.jsonl", tuning->journal_folder,
		tuning->signature, tuning->run_id);
	tuning->journal_lock = open(tuning->journal_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (tuning->journal_lock >= 0)
		flock(tuning->journal_lock, LOCK_EX | LOCK_NB);
	return STATUS_OK;
}

static enum status open_journal(
	struct tuning *tuning, const struct journal_run **resume, struct error *err)
{
	*resume = NULL;
	if (tuning->options->no_journal)
		return STATUS_OK;
	if (choose_journal(tuning, err) != STATUS_OK)
		return error_hint(err, "--journal names another file, --no-journal none");
	/* a pipe or a device holds no earlier run */
	if (!tuning->options->fresh && is_regular(tuning->journal_path)) {
		if (journal_read(tuning->journal_path, &tuning->record, err) != STATUS_OK)
			return error_hint(err, "--journal names another file, --no-journal none");
		common_journal_notice(&tuning->record);
		*resume = journal_resumable(&tuning->record, tuning->signature);
	}
	if (journal_open(tuning->journal_path, &tuning->journal, err) != STATUS_OK)
		return error_hint(err, "--journal names another file, --no-journal none");
	return STATUS_OK;
}

static enum status begin_run(struct tuning *tuning, const struct operation *operation,
	struct session *session, struct error *err)
{
	const struct candidates_options *pool = &session->pool;
	struct run_description run = {.context = &tuning->context,
		.operation = operation->name,
		.problems = &tuning->problems,
		.effort = session->effort->name,
		.families = pool->families,
		.where = pool->where,
		.budget_s = session->budget_s,
		.seed = session->seed,
		.strategy = session->strategy,
		.objective = objective_names[session->objective]};
	struct run of_tuned;
	enum status status;

	run_signature(&run, tuning->signature);
	run_new_id(tuning->run_id);
	session->run_id = tuning->run_id;
	status = open_journal(tuning, &session->resume, err);
	session->journal = tuning->journal;
	session->record = &tuning->record;
	if (status == STATUS_OK && tuning->journal) {
		struct json *line = run_journal_line(&run, tuning->run_id, tuning->signature);

		json_put_string(line, "resumes", session->resume ? session->resume->run.id : NULL);
		status = journal_write(tuning->journal, "run", line, err);
	}
	of_tuned = run_of(run.context, tuning->run_id);
	tuned_put_run(&tuning->tuned, &of_tuned);
	return status;
}

static double milliseconds(double seconds)
{
	return rint(1e3 * seconds) / 1e3;
}

static enum status finish_run(struct tuning *tuning, const struct session *session,
	enum status outcome, struct error *err)
{
	const struct context *context = &tuning->context;
	struct json *line;

	/* what is not finished is resumed */
	if (!tuning->journal || session->unsaved || outcome == STATUS_INTERRUPTED ||
		outcome == STATUS_NO_DEVICE)
		return STATUS_OK;
	line = json_new_object();
	json_put_string(line, "run", tuning->run_id);
	json_put_int(line, "status", (int64_t)outcome);
	json_put_double(line, "elapsed_s", milliseconds(clock_seconds() - tuning->started));
	if (context->store) {
		json_put_double(
			line, "compile_s", milliseconds(kernel_store_seconds(context->store)));
		json_put_int(line, "workers", compiler_worker_count(context->compiler));
	}
	if (device_measures(context->device))
		json_put_double(
			line, "device_s", milliseconds(device_busy_seconds(context->device)));
	TRY(journal_write(tuning->journal, "finish", line, err));
	/* of a journal in the cache nobody knows */
	if (tuning->journal_folder)
		unlink(tuning->journal_path);
	return STATUS_OK;
}

/* The session, with the files that it writes opened; effort is what it points to. */
static enum status open_session(struct tuning *tuning, const struct operation *operation,
	struct effort *effort, struct session *session, struct error *err)
{
	TRY(choose_effort(tuning, effort, err));
	if (session->objective == OBJECTIVE_ENERGY && !device_measures(tuning->context.device))
		return error_set(err, STATUS_BAD_INPUT,
			"--objective energy: expected a device that measures, found %s, whose "
			"times are predicted",
			device_identity(tuning->context.device)->name);
	TRY(open_tuned(tuning, err));
	return begin_run(tuning, operation, session, err);
}

static enum status tune(struct tuning *tuning, const struct operation *operation, struct error *err)
{
	const struct tune_options *options = tuning->options;
	struct effort effort = {0};
	bool machine = options->common.json || to_stdout(tuning);
	struct show show = {.out = machine ? stderr : stdout,
		.context = &tuning->context,
		.progress = options->progress || (isatty(STDERR_FILENO) && isatty(STDOUT_FILENO))};
	struct session session = {.context = &tuning->context,
		.problems = &tuning->problems,
		.effort = &effort,
		.budget_s = options->budget_s,
		.pool = chosen_pool(tuning, true),
		.strategy = options->strategy,
		.seed = options->seed ? options->seed : 1,
		.objective = common_objective(options->objective),
		.tuned = &tuning->tuned,
		.tuned_path = to_stdout(tuning) ? NULL : tuning->output,
		.interrupted = &common_interrupted,
		.observer = show_observer(&show),
		.keep_going = tuning->problems.count > 1};
	struct error finish_error = {0};
	enum status status;
	bool names_journal;

	TRY(open_session(tuning, operation, &effort, &session, err));
	names_journal = tuning->journal && !tuning->journal_folder;
	common_graceful = 1;
	status = session_run(&session, err);
	if (finish_run(tuning, &session, status, &finish_error) != STATUS_OK &&
		status == STATUS_OK) {
		*err = finish_error;
		status = finish_error.status;
	}
	/* bad input is reported on stderr alone */
	if (machine && !(status == STATUS_BAD_INPUT && !tuning->tuned.entry_count)) {
		enum status written = common_write_record(
			&tuned_record, &tuning->tuned, status == STATUS_OK ? err : &finish_error);

		status = status == STATUS_OK ? written : status;
	}
	if (status == STATUS_OK && !machine)
		printf("wrote %s%s%s\n", tuning->output, names_journal ? " and " : "",
			names_journal ? tuning->journal_path : "");
	return status;
}

static void tuning_release(struct tuning *tuning)
{
	journal_close(tuning->journal);
	journal_record_release(&tuning->record);
	tuned_release(&tuning->tuned);
	problem_list_release(&tuning->problems);
	common_context_release(&tuning->context);
	suite_release(&tuning->suite);
	folders_release(&tuning->folders);
	free(tuning->output);
	free(tuning->journal_path);
	free(tuning->journal_folder);
	file_unlock(&tuning->journal_lock);
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	struct tune_options *options = options_;
	CLEANUP(tuning_release)
	struct tuning tuning = {.options = options,
		.started = clock_seconds(),
		.journal_lock = -1,
		.folders = folders_find(&options->common.paths)};
	const char *name = positional->count ? positional->items[0] : NULL;
	const struct operation *operation;

	if (options->suite)
		TRY(suite_load(options->suite, tuning.folders.roots, &tuning.suite, err));
	if (!name)
		name = tuning.suite.operation;
	if (!name) {
		error_set(err, STATUS_BAD_INPUT, "tune: expected an operation, found none");
		return error_hint(err, "`tiletune families` lists operations and families");
	}
	choose_files(&tuning);
	if (!options->dry_run)
		TRY(check_files(&tuning, err));
	TRY(common_open(&options->device, name, true, !options->dry_run, &tuning.folders,
		&tuning.context, err));
	TRY(read_problems(&tuning, name, &operation, err));
	/* before anything is opened or compiled */
	TRY(common_check_families(
		&tuning.context.catalogue, operation, chosen_pool(&tuning, false).families, err));
	if (options->dry_run)
		return dry_run(&tuning, err);
	return tune(&tuning, operation, err);
}

const struct command command_tune = {
	.name = "tune",
	.summary = "Find the fastest configuration of a problem and write it to the tuned file",
	.arguments = "OPERATION|FILE.json -p PROBLEM... | --suite FILE",
	.description =
		"Every family of the operation that applies competes. Candidates are scored by\n"
		"the model, compiled at run time, compared with a reference, timed; the fastest\n"
		"are timed again interleaved. A run that was interrupted goes on where it\n"
		"stopped. Without a GPU, --device auto uses the embedded device model: kernels\n"
		"are compiled for real, times are predicted and marked so.\n"
		"FILE.json: a kernel of your own (templates/README.md).",
	.examples =
		"  tiletune tune gemm -p M=4096,N=4096,K=4096,dtype=bf16\n"
		"  tiletune tune gemm -p M=1,16,128,N=4096,K=4096,dtype=bf16 --effort thorough -o "
		"gemm.json\n"
		"  tiletune tune my_kernel.json -p n=1000000\n"
		"  tiletune tune gemm -p M=1793,N=1793,K=1793,dtype=fp16 --device model:a100-sxm4",
	.options = tune_option_table,
	.options_size = sizeof(struct tune_options),
	.positional_max = 1,
	.run = run,
};
