/* SPDX-License-Identifier: MIT
 *
 * tiletune tune: tunes problems and writes a tuned file.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/gpus.h"
#include "cli/show.h"
#include "cli/tuning.h"
#include "device/selection.h"
#include "search/strategy.h"
#include "tune/bits.h"
#include "tune/search.h"
#include "engine/strategy_program.h"
#include "tune/shared.h"

#define AT(member) offsetof(struct tune_command, member)

static const char *effort_choice(size_t index, const char **summary)
{
	(void)summary;
	return efforts[index].name;
}

static const char *strategy_choice(size_t index, const char **summary)
{
	size_t count = 0;

	while (strategies[count])
		count++;
	if (index > count)
		return NULL;
	*summary = index < count ? strategies[index]->summary : strategy_program.summary;
	return index < count ? strategies[index]->name : "program:CMD";
}

static const char *shared_choice(size_t index, const char **summary)
{
	static const char *const summaries[] = {
		"best geometric mean of the times", "smallest maximum loss"};

	if (!shared_goal_names[index])
		return NULL;
	*summary = summaries[index];
	return shared_goal_names[index];
}

static const struct option tune_option_table[] = {
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM"),
	OPTION("suite", 's', STRING, suite, "FILE"),
	OPTION("known", 0, STRINGS, known, "FILE"),
	OPTION("learned", 0, STRING, device.learned.file, "FILE"),
	OPTION("shard", 0, STRING, shard, "I/N"),
	OPTION("family", 'f', STRINGS, families, "NAME"),
	OPTION("where", 'w', STRING, where, "EXPR"),
	OPTION("config", 'c', STRING, config, "CONFIG"),
	CHOICE("effort", 'e', STRING, effort, "EFFORT", effort_choice),
	OPTION("budget", 'b', BUDGET, budget_s, "TIME"),
	OPTION("evaluations", 0, COUNT, evaluations, "N"),
	CHOICE("strategy", 0, STRING, strategy, "NAME", strategy_choice),
	CHOICE("objective", 0, STRING, objective, "WHAT", common_objective_choice),
	CHOICE("shared", 0, MAYBE, shared, "[WHAT]", shared_choice),
	OPTION("bits", 0, STRING, bits, "RULE"),
	CHOICE("l2", 0, STRING, l2, "STATE", common_l2_choice),
	CHOICE("load", 0, STRING, load, "LOAD", common_load_choice),
	OPTION("seed", 0, COUNT, seed, "N"),
	OPTION("output", 'o', STRING, output, "FILE"),
	OPTION("journal", 0, STRING, journal, "FILE"),
	OPTION("no-journal", 0, FLAG, no_journal, NULL),
	OPTION("fresh", 0, FLAG, fresh, NULL),
	OPTION("dry-run", 'n', FLAG, dry_run, NULL),
	OPTION("compile-only", 0, FLAG, compile_only, NULL),
	OPTION("progress", 0, FLAG, progress, NULL),
	DEVICE_OPTIONS,
	COMMON_OPTIONS,
	{0},
};

static enum status read_problems(struct tuning *tuning, const char *operation, struct error *err)
{
	TRY(catalogue_operation(&tuning->context.catalogue, operation, &tuning->operation, err));
	catalogue_show_defaults(&tuning->context.catalogue, tuning->options->common.verbose);
	return common_problems(tuning->operation, &tuning->options->problems,
		tuning->suite.problems, &tuning->problems, err);
}

/* The effort with the changes from the command line. Names were checked when they were parsed. */
static struct effort choose_effort(const struct tuning *tuning)
{
	const struct tune_command *options = tuning->options;
	struct effort effort = *effort_find(options->effort        ? options->effort
					    : options->dry_run     ? "exhaustive"
					    : tuning->suite.effort ? tuning->suite.effort
								   : "quick");

	if (options->evaluations)
		effort_limit(&effort, options->evaluations, !options->strategy);
	return effort;
}

static struct candidates_options chosen_pool(const struct tuning *tuning, bool score)
{
	const struct tune_command *options = tuning->options;

	return (struct candidates_options){.families = options->families.count
							       ? options->families.items
							       : tuning->suite.families,
		.where = options->where ? options->where : tuning->suite.where,
		.config = options->config,
		.score = score};
}

static void show_space(const struct candidates *pool)
{
	for (size_t f = 0; f < pool->family_count; f++) {
		const struct family_candidates *family = &pool->families[f];
		const struct space *space = family->bound->space;

		common_print(stdout, "%s: %s\n", family->bound->family->name, pool->problem->title);
		common_print(stdout, "  raw product  %15.0f\n", family->product);
		for (size_t i = 0; i < space->constraint_count; i++)
			if (family->removed.by_constraint[i] > 0)
				common_print(stdout, "  removed      %15.0f  by %s\n%32s(%s)\n",
					family->removed.by_constraint[i],
					space_constraint_text(space, i), "",
					space->constraints[i].why);
		common_print(stdout, "  legal        %15zu\n", family->count);
	}
	if (pool->left_out)
		common_print_lines(stdout, pool->left_out);
}

static enum status dry_run(struct tuning *tuning, struct error *err)
{
	struct candidates_options options = chosen_pool(tuning, false);

	options.device = tuning->context.device;
	options.compiler = tuning->context.compiler;
	for (size_t i = 0; i < tuning->problems.count; i++) {
		struct candidates pool;

		TRY(candidates_open(&tuning->context.catalogue, tuning->problems.items[i],
			tuning->context.device->spec, &options, &pool, err));
		common_notices(&tuning->context);
		show_space(&pool);
		candidates_release(&pool);
	}
	return STATUS_OK;
}

static void show_prices(
	FILE *out, const struct problem_list *problems, const struct shared_choice *shared)
{
	for (size_t i = 0; i < problems->count; i++)
		common_print(out, "  %10.2f us, %.1f%% slower than %.2f us: %s\n", shared->us[i],
			100 * (shared->us[i] / shared->best_us[i] - 1), shared->best_us[i],
			problems->items[i]->title);
}

/* The objective that --objective, --l2 and --load select together. */
static enum status choose_objective(struct tuning *tuning, struct error *err)
{
	const struct tune_command *options = tuning->options;
	const bool is_warm = tuning->context.l2_warm;
	const bool is_sustained = options->load && strcmp(options->load, "sustained") == 0;
	const enum objective by_state = is_sustained ? OBJECTIVE_SUSTAINED_TIME
					: is_warm    ? OBJECTIVE_WARM_TIME
						     : OBJECTIVE_TIME;
	const enum objective asked = common_objective(options->objective);
	const char *const given[] = {is_sustained ? "--load sustained" : NULL,
		is_warm ? "--l2 warm" : NULL,
		asked == OBJECTIVE_ENERGY ? "--objective energy" : NULL};
	const char *option = NULL;

	for (size_t i = 0; i < ARRAY_COUNT(given); i++) {
		if (option && given[i])
			return error_set(err, STATUS_BAD_INPUT, "%s cannot be combined with %s",
				option, given[i]);
		option = option ? option : given[i];
	}
	if (asked != by_state && asked != OBJECTIVE_TIME && asked != OBJECTIVE_ENERGY)
		return error_set(err, STATUS_BAD_INPUT, "--objective %s: add %s, which measures it",
			objective_names[asked],
			asked == OBJECTIVE_WARM_TIME ? "--l2 warm" : "--load sustained");
	tuning->request.objective = by_state == OBJECTIVE_TIME ? asked : by_state;
	if (tuning->request.objective != OBJECTIVE_TIME && !tuning->context.device->kind->measures)
		return error_set(err, STATUS_BAD_INPUT,
			"%s needs a GPU or a recording; times of %s are predicted", option,
			tuning->context.device->identity.name);
	if (is_sustained && tuning->context.program)
		return error_set(err, STATUS_BAD_INPUT,
			"--load sustained: a program times its kernels itself, so tiletune cannot "
			"keep the GPU busy");
	if (is_sustained && !tuning->context.device->kind->compiles)
		return error_set(err, STATUS_BAD_INPUT,
			"--load sustained needs a GPU; the times of a recording are as they were "
			"recorded");
	return STATUS_OK;
}

/* Selects one configuration for all problems (--shared); the run then tries only this one. */
static enum status choose_shared(
	const struct tuning *tuning, FILE *out, struct shared_choice *shared, struct error *err)
{
	const struct tune_command *options = tuning->options;

	if (options->shard)
		return error_set(err, STATUS_BAD_INPUT, "--shared cannot be combined with --shard");
	if (tuning->request.objective != OBJECTIVE_TIME)
		return error_set(err, STATUS_BAD_INPUT,
			"--shared compares times: it cannot be combined with the objective %s",
			objective_names[tuning->request.objective]);
	common_graceful = 1;
	TRY(shared_choose(&tuning->run, strcmp(options->shared, "worst") == 0, shared, err));
	common_print(out,
		"shared by %zu problems: %s {%s}\n  of %zu that were compared; %.1f%% slower than "
		"the "
		"best of each in the geometric mean, at most %.1f%%\n",
		tuning->problems.count, shared->members[0].family, shared->members[0].configuration,
		shared->compared, 100 * shared->mean_loss, 100 * shared->largest_loss);
	show_prices(out, &tuning->problems, shared);
	return STATUS_OK;
}

/* Determines the bits that may win (--bits). */
static enum status choose_bits(
	struct tuning *tuning, FILE *out, struct bits_rule *rule, struct error *err)
{
	const struct tune_command *options = tuning->options;
	const struct shared_choice *class = &rule->class;

	if (options->shared || (options->shard && bits_rule_compares_problems(options->bits)))
		return error_set(err, STATUS_BAD_INPUT, "--bits %s does not apply with --%s",
			options->bits, options->shared ? "shared" : "shard");
	common_graceful = 1;
	TRY(bits_rule_open(options->bits, &tuning->run, rule, err));
	tuning->request.bits = rule;
	if (!class->bits)
		return STATUS_OK;
	common_print(out,
		"%s: the best of %zu classes has %zu configurations of %zu that were compared\n"
		"  the same bits on %u inputs; %.1f%% slower than the best of each in the "
		"geometric mean, at most %.1f%%\n",
		rule->name, class->classes, class->member_count, class->compared,
		class->bits->inputs, 100 * class->mean_loss, 100 * class->largest_loss);
	show_prices(out, &tuning->problems, class);
	return STATUS_OK;
}

/* Reports a mistake in --where or --config before a tuned file is rejected. */
static enum status find_earlier_error(const struct tuning *tuning, struct error *err)
{
	const struct candidates_options options = chosen_pool(tuning, false);
	struct error reason = {0};
	struct candidates pool;

	if (!tuning->problems.count || (!options.where && !options.config))
		return err->status;
	if (candidates_open(&tuning->context.catalogue, tuning->problems.items[0],
		    tuning->context.device->spec, &options, &pool, &reason) == STATUS_OK)
		candidates_release(&pool);
	else
		*err = reason;
	return err->status;
}

static enum status begin_run(struct tuning *tuning, struct error *err)
{
	struct tune_options *request = &tuning->request;

	if (tuning_open_tuned(tuning, err) != STATUS_OK)
		return find_earlier_error(tuning, err);
	tuning_sign(tuning);
	TRY(tuning_open_known(tuning, request->objective, err));
	request->known = &tuning->known;
	return tuning_begin(tuning, err);
}

/* Fills in the members that the command line determines; the caller fills in the rest. */
static void open_request(struct tuning *tuning, const struct effort *effort, struct show *show)
{
	const struct tune_command *options = tuning->options;

	tuning->request = (struct tune_options){.effort = effort,
		.budget_s = options->budget_s,
		.candidates = chosen_pool(tuning, true),
		.strategy = options->strategy,
		.seed = options->seed ? options->seed : 1,
		.interrupted = &common_interrupted,
		.observer = show_observer(show),
		.keep_going = true};
	tuning->run = (struct tune_run){.options = &tuning->request,
		.context = &tuning->context,
		.problems = &tuning->problems,
		.tuned = &tuning->tuned};
}

/* journal may be NULL. */
static char *wrote_text(const char *tuned, const char *journal)
{
	return string_format("wrote %s%s%s", tuned, journal ? " and " : "", journal ? journal : "");
}

static enum status tune(struct tuning *tuning, struct error *err)
{
	const struct tune_command *options = tuning->options;
	struct effort effort = choose_effort(tuning);
	bool machine = options->common.json || tuning_to_stdout(tuning);
	struct show show = {.out = machine ? stderr : stdout,
		.context = &tuning->context,
		.shard = options->shard,
		.verbose = options->common.verbose,
		.progress = options->progress || (isatty(STDERR_FILENO) && isatty(STDOUT_FILENO))};
	struct tune_options *request = &tuning->request;
	CLEANUP(shared_choice_release) struct shared_choice shared = {0};
	CLEANUP(bits_rule_release) struct bits_rule rule = {0};
	const char *shared_family[2] = {NULL, NULL};
	struct error finish_error = {0};
	enum status status;
	bool names_journal;

	if (!tuning->context.device->kind->measures)
		effort_predict(&effort);
	open_request(tuning, &effort, &show);
	TRY(choose_objective(tuning, err));
	request->tuned_path = tuning_saved_path(tuning);
	request->only_decided = true;
	request->keep_going = tuning->problems.count > 1;
	if (options->shared) {
		TRY(choose_shared(tuning, show.out, &shared, err));
		shared_family[0] = shared.members[0].family;
		request->candidates.families = shared_family;
		request->candidates.config = shared.members[0].configuration;
	}
	if (options->bits)
		TRY(choose_bits(tuning, show.out, &rule, err));
	TRY(begin_run(tuning, err));
	if (tuning->taken.count)
		common_print(show.out, "%zu of %zu problems are known\n", tuning->taken.count,
			tuning->taken.count + tuning->problems.count);
	names_journal = !options->no_journal && !tuning->journal_is_hidden;
	common_graceful = 1;
	status = tune_problems(&tuning->run, err);
	/* a shard without problems also writes a file */
	if (status == STATUS_OK && !tuning->problems.count)
		status = tune_save(&tuning->run, err);
	if (tuning_finish(tuning, status, &finish_error) != STATUS_OK && status == STATUS_OK) {
		*err = finish_error;
		status = finish_error.status;
	}
	/* bad input is reported only on stderr */
	if (!(status == STATUS_BAD_INPUT && !tuning->tuned.entry_count)) {
		struct error *reason = status == STATUS_OK ? err : &finish_error;
		enum status written = STATUS_OK;

		if (!request->tuned_path && !tuning_to_stdout(tuning))
			written = tuned_replace(&tuning->tuned, tuning->output, reason);
		if (machine && written == STATUS_OK)
			written = common_write_tuned(&tuning->tuned, reason);
		status = status == STATUS_OK ? written : status;
	}
	if (status == STATUS_OK && !machine) {
		CLEANUP(memory_free)
		char *wrote =
			wrote_text(tuning->output, names_journal ? tuning->journal_path : NULL);

		common_print(stdout, "%s\n", wrote);
	}
	return status;
}

/* Makes a temporary folder for the tuned file of several processes, if the result goes to a
 * stream. */
static enum status make_folder(char **folder, struct error *err)
{
	const char *parent = getenv("TMPDIR");

	*folder = string_format("%s/tiletune-XXXXXX", parent && *parent ? parent : "/tmp");
	return mkdtemp(*folder) ? STATUS_OK
				: error_set(err, STATUS_FAILED, "%s: %s", *folder, strerror(errno));
}

static enum status copy_to_stream(const char *from, const char *to, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	TRY(file_read(from, &text, err));
	return common_write(to, &text, err);
}

/* For --device cuda:all this process only starts others, which tune. */
static enum status tune_on_gpus(struct tuning *tuning, const char *operation, struct error *err)
{
	const struct tune_command *options = tuning->options;
	const char *saved = tuning_saved_path(tuning);
	const bool to_stdout = tuning_to_stdout(tuning);
	const bool progress = options->progress || (isatty(STDERR_FILENO) && isatty(STDOUT_FILENO));
	CLEANUP(memory_free) char *folder = NULL, *path = NULL, *wrote = NULL;
	struct error unread = {0};
	enum status status;

	if (options->shared || (options->bits && bits_rule_compares_problems(options->bits)))
		return error_set(err, STATUS_BAD_INPUT, "--%s works with one GPU, not with %s",
			options->shared ? "shared" : "bits invariant=KEY", options->device.device);
	TRY(catalogue_load(tuning->folders.templates, operation, &tuning->context.catalogue, err));
	TRY(read_problems(tuning, operation, err));
	TRY(catalogue_expect_families(&tuning->context.catalogue, tuning->operation,
		chosen_pool(tuning, false).families, err));
	if (!saved)
		TRY(make_folder(&folder, err));
	path = saved ? string_copy(saved) : path_join(folder, "tuned");
	wrote = wrote_text(path, options->no_journal ? NULL : tuning->journal_path);
	status = gpus_tune(tuning, path, wrote, options->common.json || to_stdout ? stderr : stdout,
		progress, err);
	if (file_exists(path) && (folder || options->common.json) &&
		copy_to_stream(path, options->common.json ? "-" : tuning->output,
			status == STATUS_OK ? err : &unread) != STATUS_OK)
		status = status == STATUS_OK ? err->status : status;
	if (folder) {
		unlink(path);
		rmdir(folder);
	}
	if (status == STATUS_OK && !options->common.json && !to_stdout)
		common_print(stdout, "%s\n", wrote);
	return status;
}

static void removed(void *context, const struct problem_result *result)
{
	(void)context;
	common_print(stdout, "%s, compiled:\n", result->pool->problem->title);
	show_removed(stdout, result);
}

/* Compiles the candidates that a search on the model tries until nothing better is found,
 * without a time limit. */
static enum status compile_only(struct tuning *tuning, struct error *err)
{
	const struct tune_command *options = tuning->options;
	const struct context *context = &tuning->context;
	const struct effort effort = choose_effort(tuning);
	struct show show = {.out = stderr,
		.context = &tuning->context,
		.shard = "1/1",
		.verbose = options->common.verbose,
		.progress = options->progress || isatty(STDERR_FILENO)};
	struct tune_options *request = &tuning->request;
	struct kernel_counts counts;
	enum status status;

	if (context->device->kind->measures || !context->device->kind->compiles) {
		error_set(err, STATUS_BAD_INPUT, "--compile-only needs a device model, not %s %s",
			context->device->identity.kind, context->device->identity.name);
		return error_hint(err, "name a device model, for example: --device model:h200-sxm");
	}
	common_notices(&tuning->context);
	open_request(tuning, &effort, &show);
	request->observer.end = options->dry_run ? removed : NULL;
	request->budget_s = options->budget_s > 0 ? options->budget_s : INFINITY;
	tuned_init(&tuning->tuned, "",
		gpu_model_of(context->device->spec, context->device->identity.name));
	common_graceful = 1;
	status = precompile_run(&tuning->run, err);
	counts = kernel_store_count(context->store);
	common_print(stdout, "%zu kernels, %zu of them compiled now in %.1f s of compilers\n",
		counts.kernels, counts.compiled, counts.seconds);
	if (counts.failed)
		common_print(stdout, "%zu of them %s not compile; the first: %.*s\n", counts.failed,
			counts.failed == 1 ? "does" : "do",
			(int)strcspn(counts.first_failed->log, "\n"), counts.first_failed->log);
	return status;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	struct tune_command *options = options_;
	CLEANUP(tuning_release)
	struct tuning tuning = {.options = options,
		.started = clock_seconds(),
		.journal_lock = -1,
		.folders = folders_find(&options->common.paths)};
	const char *name = positional->count ? positional->items[0] : NULL;

	if (options->suite)
		TRY(suite_load(options->suite, tuning.folders.roots, &tuning.suite, err));
	if (!name)
		name = tuning.suite.operation;
	if (!name) {
		error_set(err, STATUS_BAD_INPUT,
			"tune: the operation or the file of a kernel is missing");
		return error_hint(err, "`tiletune families` lists operations and families");
	}
	if (options->shard)
		TRY(shard_parse(options->shard, &tuning.shard, err));
	tuning_choose_files(&tuning);
	options->device.program_starts = common_say_program;
	options->device.machine.l2_warm = common_l2_warm(options->l2);
	options->device.allow_model = true;
	options->device.need_compiler = !options->dry_run || options->compile_only;
	options->device.describes = options->dry_run && !options->compile_only;
	if (!options->dry_run)
		TRY(tuning_check_files(&tuning, common_own_kernel(positional), err));
	if (options->device.device && device_is_several(options->device.device) &&
		!options->dry_run && !options->compile_only)
		return tune_on_gpus(&tuning, name, err);
	TRY(common_open(&options->device, name, &tuning.folders, &tuning.context, err));
	TRY(read_problems(&tuning, name, err));
	/* checked before anything is opened or compiled */
	TRY(catalogue_expect_families(&tuning.context.catalogue, tuning.operation,
		chosen_pool(&tuning, false).families, err));
	shard_keep(&tuning.shard, tuning.context.device->spec, &tuning.problems);
	if (options->dry_run)
		TRY(dry_run(&tuning, err));
	if (options->compile_only)
		return compile_only(&tuning, err);
	return options->dry_run ? STATUS_OK : tune(&tuning, err);
}

const struct command command_tune = {
	.name = "tune",
	COMMAND_OPTIONS(struct tune_command, tune_option_table),
	.positional_max = 1,
	.run = run,
};
