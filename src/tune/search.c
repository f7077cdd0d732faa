/* SPDX-License-Identifier: MIT */
#include "tune/search.h"

#include <math.h>

#include "base/clock.h"
#include "tune/bits.h"
#include "format/journal_line.h"
#include "engine/strategy_program.h"

/* limit of a first look; the device batches short kernels itself */
static const double first_look_seconds = 0.03;

void search_add(struct search *search, size_t candidate, struct result *result)
{
	struct evaluated_list *list = &search->evaluated;
	double time_us = result->outcome == OUTCOME_OK ? result->time.median : INFINITY;

	if (time_us < search->budget.best_us)
		search->best = list->count;
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = (struct evaluated){.candidate = candidate, .result = *result};
	*result = (struct result){0};
	search->known[candidate] = search->asked[candidate] = true;
	budget_count(&search->budget, time_us);
	if (isfinite(search->budget.best_us))
		search->evaluator.first_look.give_up_us =
			search->budget.best_us * search->options->effort->give_up_ratio;
	search->strategy->tell(search->strategy_state, candidate, time_us);
}

enum status search_journal(const struct search *search, const char *event,
	const struct result *result, struct error *err)
{
	struct json *line;

	if (!search->run->journal)
		return STATUS_OK;
	line = record_to_json(&result_record, result);
	json_put_int(line, "problem", (int64_t)search->number);
	return journal_write(search->run->journal, event, line, err);
}

enum status search_take_result(
	struct search *search, size_t candidate, struct result *result, struct error *err)
{
	/* rounded to milliseconds */
	result->at_s = rint(1e3 * (clock_seconds() - search->budget.started)) / 1e3;
	TRY(search_journal(search, "evaluation", result, err));
	search_add(search, candidate, result);
	search_show(search, false);
	return STATUS_OK;
}

enum status search_add_trial(struct search *search, size_t candidate, enum trial_stage goal,
	struct trial **trial, struct error *err)
{
	const struct candidate chosen = candidates_at(&search->pool, candidate);
	struct trial *added;

	TRY(evaluator_add(&search->evaluator, &chosen, goal, &added, err));
	added->number = candidate;
	if (trial)
		*trial = added;
	return STATUS_OK;
}

void search_show(const struct search *search, bool remeasuring)
{
	const struct tune_observer *observer = &search->options->observer;
	const struct budget *budget = &search->budget;
	struct tune_progress progress = {.problem = search->number,
		.problem_count = search->run->problems->count,
		.evaluated = search->evaluated.count,
		.total = budget->effort->evaluations < search->pool.count
				 ? budget->effort->evaluations
				 : search->pool.count,
		.compiling = evaluator_count(&search->evaluator, TRIAL_COMPILING, TRIAL_COMPILING),
		.seconds = clock_seconds() - budget->started,
		.best_us = budget->best_us,
		.remeasuring = remeasuring};

	progress.seconds_left = budget->seconds - progress.seconds;
	if (isfinite(budget->best_us)) {
		progress.best_family = search->evaluated.items[search->best].result.family;
		progress.best_configuration =
			search->evaluated.items[search->best].result.configuration;
	}
	if (observer->progress)
		observer->progress(observer->context, &progress);
}

static struct journal_family describe_family(const struct family_candidates *family)
{
	const struct space *space = family->bound->space;
	struct journal_family described = {.name = string_copy(family->bound->family->name),
		.parameters =
			memory_zeroed(space->parameter_count + 1, sizeof(*described.parameters)),
		.parameter_count = space->parameter_count,
		.product = family->product,
		.legal = family->count};

	for (size_t i = 0; i < space->parameter_count; i++) {
		const struct value_list *values = &space->parameters[i].values;
		struct journal_parameter *parameter = &described.parameters[i];

		parameter->name = string_copy(space_parameter_name(space, i));
		parameter->values = memory_zeroed(values->count + 1, sizeof(*parameter->values));
		for (size_t k = 0; k < values->count; k++) {
			struct text text = {0};

			value_format(values->items[k], &text);
			parameter->values[k] = text_detach(&text);
		}
	}
	return described;
}

static enum status record_problem(const struct search *search, struct error *err)
{
	const struct candidates *pool = &search->pool;
	struct journal_problem line = {.number = (int64_t)search->number};
	struct json *json;

	if (!search->run->journal)
		return STATUS_OK;
	line.operation = string_copy(pool->problem->operation->name);
	line.problem = string_copy(pool->problem->text);
	line.keys = problem_named_values(pool->problem);
	line.families = memory_zeroed(pool->family_count + 1, sizeof(*line.families));
	line.family_count = pool->family_count;
	for (size_t f = 0; f < pool->family_count; f++)
		line.families[f] = describe_family(&pool->families[f]);
	json = record_to_json(&journal_problem_record, &line);
	record_release(&journal_problem_record, &line);
	return journal_write(search->run->journal, "problem", json, err);
}

/* Finds the earlier winner, which wins again if tied. */
static ptrdiff_t find_incumbent(const struct search *search)
{
	const struct problem *problem = search->pool.problem;
	const struct tuned_entry *entry =
		tuned_find_problem(search->run->tuned, problem, search->options->objective);

	/* results of resumed runs are reused from the journal */
	for (const struct journal_run *earlier = search->options->resume; earlier && entry;
		earlier = journal_previous(search->options->record, earlier))
		if (strcmp(earlier->run.id, entry->run) == 0)
			entry = NULL;
	return entry ? candidates_find_named(&search->pool, entry->winner.result.family,
			       &entry->winner.configuration)
		     : -1;
}

static enum status choose_strategy(struct search *search, const char *name, struct error *err)
{
	const struct tune_run *run = search->run;
	struct search_view *view = &search->pool.view;

	view->seed = run->options->seed;
	view->budget = effort_attempts(run->options->effort);
	if (string_starts_with(name, "program:")) {
		search->strategy = &strategy_program;
		return strategy_program_open(name + strlen("program:"), run->context->worker_path,
			&search->pool, run->options->interrupted, &search->strategy_state, err);
	}
	search->strategy = strategy_find(name);
	if (!search->strategy)
		BUG("strategy %s", name);
	search->strategy_state = search->strategy->open(view);
	return STATUS_OK;
}

size_t search_default_candidate(const struct candidates *pool, size_t family)
{
	choice choices[SPACE_PARAMETERS_MAX];
	bool found = false;
	ptrdiff_t candidate = -1;

	if (configuration_default(pool->families[family].bound, choices, &found, NULL) ==
			STATUS_OK &&
		found)
		candidate = search_view_find(&pool->view, family, choices);
	return candidate < 0 ? SIZE_MAX : (size_t)candidate;
}

enum {
	LAUNCHES_LISTED = 16 /* assumed launches per kernel; one is listed */
};

/* An estimate also tries default configurations, as the model's first ones may not compile. */
static enum status plan_candidates(struct search *search, struct error *err)
{
	const struct tune_run *run = search->run;
	const struct candidates *pool = &search->pool;
	const struct bits_rule *rule = run->options->bits;
	size_t members;

	search->planned =
		memory_zeroed(SHORTLIST_COUNT + 2 * pool->family_count + 1 + KNOWN_NEAR_MAX +
				      (rule ? rule->class.member_count : 0),
			sizeof(*search->planned));
	/* only the user's strategy proposes candidates */
	if (run->options->effort->measures && !run->options->strategy &&
		!run->options->effort->is_strict)
		search->listed_count = shortlist_first(
			search, 0, pool->count, SHORTLIST_COUNT, LAUNCHES_LISTED, search->planned);
	search->planned_count = search->listed_count;
	if (search->incumbent >= 0)
		search->planned[search->planned_count++] = (size_t)search->incumbent;
	/* a program has no predictions, so this run's winners help, too */
	search->planned_count += known_near(run->options->known,
		run->context->program && !run->options->strategy ? run->tuned : NULL, pool,
		run->options->objective, search->planned + search->planned_count);
	for (size_t f = 0; f < pool->family_count && !run->options->effort->measures; f++) {
		size_t candidate = search_default_candidate(pool, f);

		if (candidate != SIZE_MAX)
			search->planned[search->planned_count++] = candidate;
	}
	TRY(bits_want(search, search->planned + search->planned_count, &members, err));
	search->planned_count += members;
	return STATUS_OK;
}

enum status search_prepare(
	struct tune_run *run, size_t number, struct search **search, struct error *err)
{
	const char *name =
		run->options->strategy ? run->options->strategy : run->options->effort->strategy;
	struct candidates_options options = run->options->candidates;
	CLEANUP(search_free) struct search *prepared = memory_zeroed(1, sizeof(*prepared));
	enum status status;

	prepared->run = run;
	prepared->options = run->options;
	prepared->number = number;
	options.device = run->context->device;
	options.interrupted = run->options->interrupted;
	options.compiler = run->context->compiler;
	status = candidates_open(&run->context->catalogue, run->problems->items[number],
		run->context->device->spec, &options, &prepared->pool, err);
	if (status != STATUS_OK)
		return status == STATUS_INTERRUPTED ? tune_interrupted(err) : status;
	TRY(choose_strategy(prepared, name, err));
	*search = prepared;
	prepared = NULL;
	return STATUS_OK;
}

static void limit_time(struct search *search)
{
	const struct budget *budget = &search->budget;

	if (search->options->budget_s > 0)
		search->evaluator.until_s = budget->started + budget->seconds;
	if (search->strategy == &strategy_program)
		strategy_program_until(search->strategy_state,
			clock_seconds() + budget_search_left_seconds(budget));
}

static void tell_notice(void *run, const char *text)
{
	tune_notice(run, text);
}

enum status search_open(struct search *search, struct error *err)
{
	struct tune_run *run = search->run;

	search->evaluator = (struct evaluator){.context = run->context,
		.notice = tell_notice,
		.notice_context = run,
		.interrupted = run->options->interrupted,
		.on_device_max = run->context->device->ahead,
		.keeps_pruned = run->options->candidates.config != NULL,
		.first_look = {
			.rounds = run->options->effort->rounds, .seconds_max = first_look_seconds}};
	TRY(evaluator_prepare_problem(&search->evaluator, search->pool.problem, err));
	TRY(record_problem(search, err));
	search->known = memory_zeroed(search->pool.count, sizeof(*search->known));
	search->asked = memory_zeroed(search->pool.count, sizeof(*search->asked));
	search->incumbent = find_incumbent(search);
	TRY(plan_candidates(search, err));
	budget_start(&search->budget, run->options->effort, run->options->budget_s,
		run->options->effort->measures && run->context->device->kind->measures);
	if (run->options->effort->evaluations < search->pool.count &&
		run->context->device->kind->measures && run->options->objective != OBJECTIVE_ENERGY)
		search->budget.kept = run->options->effort->kept;
	/* count finding the candidates, but leave a third for compiling */
	if (!run->context->device->kind->measures)
		search->budget.started -=
			fmin(search->waited_seconds, 2 * search->budget.seconds / 3);
	limit_time(search);
	resume_results(search);
	if (run->options->observer.begin)
		run->options->observer.begin(run->options->observer.context, &search->pool,
			search->number, run->problems->count);
	return STATUS_OK;
}

void search_free(struct search **freed)
{
	struct search *search = *freed;

	if (!search)
		return;
	evaluator_release(&search->evaluator);
	if (search->strategy_state)
		search->strategy->close(search->strategy_state);
	for (size_t i = 0; i < search->evaluated.count; i++)
		result_release(&search->evaluated.items[i].result);
	free(search->evaluated.items);
	free(search->known);
	free(search->asked);
	free(search->planned);
	output_digest_free(&search->bits);
	candidates_release(&search->pool);
	free(search);
}
