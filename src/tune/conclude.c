/* SPDX-License-Identifier: MIT */
#include "tune/selection.h"

#include <math.h>

#include "base/clock.h"
#include "candidate/problem_reference.h"
#include "engine/row.h"
#include "tune/bits.h"

static enum status nothing_works(const struct search *search, struct error *err)
{
	size_t counts[OUTCOME_COUNT] = {0};
	const char *detail = NULL;
	CLEANUP(text_release) struct text text = {0};
	CLEANUP(memory_free) char *first = NULL;

	if (!search->evaluated.count)
		return error_set(err, STATUS_FAILED, "%s: no candidate was tried, because %s",
			search->pool.problem->text,
			search->stopped_because ? search->stopped_because : "the budget is spent");
	for (size_t i = 0; i < search->evaluated.count; i++) {
		const struct evaluated *evaluated = &search->evaluated.items[i];

		if (!evaluated->remeasure_pass || evaluated->result.outcome != OUTCOME_OK)
			continue;
		error_set(err, STATUS_FAILED, "%s: this GPU does not report energy",
			search->pool.problem->text);
		return error_hint(err, "tune for time instead: --objective time");
	}
	for (size_t i = 0; i < search->evaluated.count; i++) {
		const struct result *tried = &search->evaluated.items[i].result;

		counts[tried->outcome]++;
		if (!detail)
			detail = tried->detail;
	}
	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (counts[i])
			text_appendf(&text, "%s%zu %s", text.length ? ", " : "", counts[i],
				outcome_name((enum outcome)i));
	error_set(err, STATUS_FAILED,
		"%s: none of the %zu candidates works (%s); the message of the first: ",
		search->pool.problem->text, search->evaluated.count, text_string(&text));
	first = string_copy_bytes(detail ? detail : "(none)", detail ? strnlen(detail, 900) : 7);
	return error_lines(err, first);
}

/* An H200 updates its energy counter every 100 ms, with a delay of about 15 ms. The first duration
 * suffices to report energy, the second to select by energy. */
static const double energy_seconds_said = 0.2, energy_seconds_chosen = 1;

enum status conclude_energy(struct search *search, struct evaluated *evaluated, struct error *err)
{
	const struct sampling sampling = {.energy_s = search->options->objective != OBJECTIVE_ENERGY
							      ? energy_seconds_said
							      : energy_seconds_chosen};
	struct evaluator *evaluator = &search->evaluator;
	struct trial *trial = NULL;

	for (size_t i = 0; i < evaluator->count && !trial; i++)
		if (evaluator->trials[i]->number == evaluated->candidate &&
			evaluator->trials[i]->stage > TRIAL_COMPILED)
			trial = evaluator->trials[i];
	if (!trial && !evaluator->count && search->run->context->device->kind->measures) {
		TRY(search_add_trial(search, evaluated->candidate, TRIAL_LOADED, &trial, err));
		TRY(evaluator_run(evaluator, err));
	}
	if (!trial || trial->result.outcome != OUTCOME_OK)
		return STATUS_OK;
	trial->stage = TRIAL_LOADED;
	TRY(evaluator_sample(evaluator, &trial, 1, &sampling, err));
	TRY(evaluator_run(evaluator, err));
	if (trial->result.outcome == OUTCOME_OK)
		evaluated->result.measured = trial->result.measured;
	return STATUS_OK;
}

static struct tuned_space *space_of(
	const struct candidates *pool, const struct evaluated_list *evaluated)
{
	struct tuned_space *space = memory_zeroed(1, sizeof(*space));

	for (size_t f = 0; f < pool->family_count; f++)
		space->product += pool->families[f].product;
	for (size_t i = 0; i < evaluated->count; i++)
		space->outcomes[evaluated->items[i].result.outcome]++;
	space->legal = pool->count;
	space->evaluated = evaluated->count;
	return space;
}

static enum status row_of(
	const struct search *search, size_t which, struct tuned_row *row, struct error *err)
{
	const struct evaluated *evaluated = &search->evaluated.items[which];
	const struct candidate candidate = candidates_at(&search->pool, evaluated->candidate);

	return row_describe(&candidate, &evaluated->result, row, err);
}

static struct tuned_row tied_row(
	const struct search *search, const struct selection *selection, size_t which)
{
	const struct candidates *pool = &search->pool;
	const struct evaluated *evaluated = &search->evaluated.items[which];
	const struct bound_family *bound = candidates_family_of(pool, evaluated->candidate)->bound;

	return (struct tuned_row){.result.family = string_copy(evaluated->result.family),
		.configuration = configuration_named_values(
			bound, candidates_configuration(pool, evaluated->candidate)),
		.result.time = evaluated->result.time,
		.lost = selection_rejection(search, selection, which)};
}

/* Either all results are measured, or all are predicted. */
static enum status put_families(const struct search *search, const struct selection *selection,
	struct tuned_entry *entry, struct error *err)
{
	const struct evaluated *items = search->evaluated.items;
	const size_t winner = selection_winner(selection);
	CLEANUP(memory_free)
	size_t *best = memory_zeroed(search->pool.family_count + 1, sizeof(*best));

	for (size_t f = 0; f < search->pool.family_count; f++)
		best[f] = SIZE_MAX;
	for (size_t i = 0; i < search->evaluated.count; i++) {
		size_t *of_family = &best[search->pool.family_of[items[i].candidate]];

		if (items[i].result.outcome == OUTCOME_OK &&
			!items[i].remeasure_pass == !items[winner].remeasure_pass &&
			(*of_family == SIZE_MAX ||
				items[i].result.time.median < items[*of_family].result.time.median))
			*of_family = i;
	}
	best[search->pool.family_of[items[winner].candidate]] = SIZE_MAX;
	for (size_t f = 0; f < search->pool.family_count; f++) {
		struct tuned_row *row = &entry->families[entry->family_count];

		if (best[f] == SIZE_MAX)
			continue;
		TRY(row_of(search, best[f], row, err));
		tuned_row_shorten(row);
		row->lost = selection_rejection(search, selection, best[f]);
		entry->family_count++;
	}
	return STATUS_OK;
}

static enum status entry_new(const struct search *search, const struct selection *selection,
	struct tuned_entry *entry, struct error *err)
{
	const struct candidates *pool = &search->pool;
	const struct evaluated_list *evaluated = &search->evaluated;
	const struct tune_run *run = search->run;
	const bool predicted = !run->context->device->kind->measures;
	const size_t winner = selection_winner(selection);
	struct tuned_row tied;

	*entry = (struct tuned_entry){.operation = string_copy(pool->problem->operation->name),
		.problem = problem_named_values(pool->problem),
		.objective = run->options->objective,
		.predicted = predicted,
		.run = string_copy(run->run_id),
		.tied = memory_zeroed(1, sizeof(*entry->tied)),
		.families = memory_zeroed(pool->family_count + 1, sizeof(*entry->families)),
		.space = space_of(pool, evaluated),
		.bits = bits_of_entry(search)};
	TRY(row_of(search, winner, &entry->winner, err));
	for (size_t i = 0; i < selection->count; i++) {
		if (!selection->items[i].is_tied || i == selection->winner)
			continue;
		tied = tied_row(search, selection, selection->items[i].evaluated);
		tuned_entry_add_tied(entry, &tied);
	}
	if (selection->runner_up != SIZE_MAX) {
		tied = tied_row(search, selection, selection->runner_up);
		tuned_entry_set_runner_up(entry, &tied);
	}
	TRY(put_families(search, selection, entry, err));
	if (!predicted)
		problem_verification_hash(pool->problem, &run->context->catalogue,
			run->context->device->spec, run->options->seed, entry->verification_hash);
	if (!predicted && !run->context->program) {
		entry->l2 = evaluated->items[winner].result.flags & FLAG_MASK(WARM_L2) ? L2_WARM
										       : L2_COLD;
		entry->model = memory_zeroed(1, sizeof(*entry->model));
		*entry->model = model_quality(pool, evaluated);
	}
	return STATUS_OK;
}

static enum status store_entry(struct search *search, const struct tuned_entry *entry,
	struct journal *journal, const char **kept, struct error *err)
{
	struct tune_run *run = search->run;
	struct row_validity row_validity = {.context = run->context,
		.problem = search->pool.problem,
		.evaluated = &search->evaluated};
	const struct tuned_judge judge = {row_is_still_valid, &row_validity};
	struct tuned_entry copy = tuned_entry_copy(entry);
	enum status status = STATUS_OK;

	if (journal) {
		struct json *line = json_new_object();

		json_put_int(line, "problem", (int64_t)search->number);
		json_put(line, "entry", record_to_json(&tuned_entry_record, entry));
		status = journal_write(journal, "entry", line, err);
	}
	/* save the entry even if the journal cannot be written */
	TRY(tune_put_entry(run, &copy, &judge, kept, err));
	return status;
}

/* Returns whether time ran out before as many candidates as effort "estimate" tries. */
static bool is_cut_short(const struct search *search)
{
	const size_t least = effort_find("estimate")->evaluations;
	const size_t evaluated = search->evaluated.count;

	return search->stopped_because && strcmp(search->stopped_because, BUDGET_TIME_SPENT) == 0 &&
	       evaluated < least && evaluated < search->pool.count;
}

/* If FLOP are unknown, a prediction only covers moving the tensors. */
static bool is_unknown_work(const struct search *search, const struct score *score)
{
	return score->without_model && !(search->pool.families[0].bound->model.flop > 0);
}

/* Predictions without a model are too rough if the user wants a decision. */
static bool is_rough(const struct search *search, const struct selection *selection)
{
	return search->options->only_decided && !search->run->context->device->kind->measures &&
	       search->evaluated.items[selection_winner(selection)].result.score.without_model;
}

static bool is_undecided(const struct search *search, const struct selection *selection)
{
	const struct score *score =
		&search->evaluated.items[selection_winner(selection)].result.score;
	size_t tied = 0;

	if (!is_rough(search, selection) || selection->count < 2)
		return false;
	if (is_unknown_work(search, score))
		return true;
	for (size_t i = 0; i < selection->count; i++)
		tied += selection->items[i].is_tied;
	return 2 * tied >= selection->count;
}

static void append_resources(
	const struct search *search, const struct selection *selection, struct text *lines)
{
	enum {
		KINDS_SHOWN = 8
	};
	CLEANUP(memory_free) bool *seen = memory_zeroed(selection->count + 1, sizeof(*seen));
	size_t kinds = 0;

	for (size_t i = 0; i < selection->count; i++) {
		const struct result *first =
			&search->evaluated.items[selection->items[i].evaluated].result;
		const struct launch_score *launch = &first->score.launches[first->score.longest];
		size_t count = 0;

		for (size_t k = i; k < selection->count && !seen[i]; k++) {
			const struct score *score =
				&search->evaluated.items[selection->items[k].evaluated]
					 .result.score;
			const struct launch_score *other = &score->launches[score->longest];

			if (other->regs_per_thread == launch->regs_per_thread &&
				other->smem_bytes == launch->smem_bytes &&
				other->blocks_per_sm == launch->blocks_per_sm)
				count++, seen[k] = k > i;
		}
		if (count && ++kinds <= KINDS_SHOWN)
			text_appendf(lines,
				"  %6zu: %d registers, %.1f KiB shared memory, %d block%s per SM: "
				"{%s}%s\n",
				count, launch->regs_per_thread, (double)launch->smem_bytes / 1024,
				launch->blocks_per_sm, launch->blocks_per_sm == 1 ? "" : "s",
				first->configuration, count > 1 ? ", ..." : "");
	}
	if (kinds > KINDS_SHOWN)
		text_appendf(lines, "  and %zu more kinds\n", kinds - KINDS_SHOWN);
}

static enum status conclude_undecided(const struct search *search,
	const struct selection *selection, struct problem_result *result, struct error *err)
{
	const struct tune_observer *observer = &search->options->observer;
	const struct result *best = &search->evaluated.items[result->winner].result;
	const bool unknown = is_unknown_work(search, &best->score);
	CLEANUP(text_release) struct text lines = {0};

	if (unknown)
		text_append(&lines, "no winner: the kernel states neither \"flop\" nor a "
				    "\"model\", so its time "
				    "cannot be predicted\n");
	else
		text_appendf(&lines,
			"no winner: all predictions are alike, %.2f us (from FLOP, bytes and waves "
			"only, because there is no model)\n",
			best->time.median);
	append_resources(search, selection, &lines);
	result->undecided = text_string(&lines);
	if (observer->end)
		observer->end(observer->context, result);
	error_set(err, STATUS_INCONCLUSIVE,
		"%s: without %s the prediction cannot tell configurations apart, so there "
		"is no winner and no entry is written",
		search->pool.problem->text, unknown ? "\"flop\" or \"model\"" : "a \"model\"");
	return error_hint(err, "measure on a GPU, or describe the work of each launch with "
			       "\"model\" (see templates/README.md)");
}

static int compare_candidates(const void *a, const void *b)
{
	const struct evaluated *x = a, *y = b;

	return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

enum status search_conclude(struct search *search, struct error *err)
{
	const struct tune_observer *observer = &search->options->observer;
	size_t total = search->evaluated.count;

	/* the order in which kernels were compiled must not affect the result */
	if (total && !search->run->context->device->kind->measures)
		qsort(search->evaluated.items, total, sizeof(*search->evaluated.items),
			compare_candidates);
	CLEANUP(selection_release) struct selection selection = selection_of(search);
	struct problem_result result = {.pool = &search->pool,
		.evaluated = &search->evaluated,
		.selection = &selection,
		.number = search->number,
		.count = search->run->problems->count,
		.resumed = search->resumed,
		.stopped_because = search->stopped_because,
		.seconds = clock_seconds() - search->budget.started};
	CLEANUP(tuned_entry_release) struct tuned_entry entry = {0};
	CLEANUP(memory_free) char *contradiction = bits_contradiction(search);

	tune_notice(search->run, contradiction);
	if (!selection.count ||
		(search->run->context->device->kind->measures && !search->remeasure_pass))
		return nothing_works(search, err);
	result.winner = selection_winner(&selection);
	result.runner_up = selection.runner_up;
	for (size_t i = 0; i < total; i++)
		result.outcomes[search->evaluated.items[i].result.outcome]++;
	if (is_undecided(search, &selection))
		return conclude_undecided(search, &selection, &result, err);
	if (search->options->objective != OBJECTIVE_ENERGY &&
		budget_left_seconds(&search->budget) > energy_seconds_said)
		TRY(conclude_energy(search, &search->evaluated.items[result.winner], err));
	TRY(entry_new(search, &selection, &entry, err));
	entry.unfinished = is_cut_short(search);
	TRY(store_entry(search, &entry, search->run->journal, &result.kept, err));
	result.entry = &entry;
	if (observer->end)
		observer->end(observer->context, &result);
	if (search->options->sink.on_result)
		search->options->sink.on_result(search->options->sink.context, &result);
	return STATUS_OK;
}

/* Saves nothing if the predictions are too rough. */
enum status search_save_best(struct search *search, struct error *err)
{
	CLEANUP(selection_release) struct selection selection = selection_of(search);
	CLEANUP(tuned_entry_release) struct tuned_entry entry = {0};
	const char *kept;

	if (!selection.count || is_rough(search, &selection))
		return STATUS_OK;
	TRY(entry_new(search, &selection, &entry, err));
	entry.unfinished = true;
	return store_entry(search, &entry, NULL, &kept, err);
}

void search_keep_best(struct search *search)
{
	const double first_seconds = 1, part_of_time = 0.01;
	const struct tune_run *run = search->run;
	const struct budget *budget = &search->budget;
	const double now_s = clock_seconds();
	const struct tuned_entry *there;
	struct error unsaved = {0};

	if (!run->options->tuned_path || !isfinite(budget->best_us) ||
		now_s < budget->started + first_seconds || now_s < search->save_at_s ||
		(search->saved_us > 0 && budget->best_us >= search->saved_us))
		return;
	/* entries in the file are newer than those in memory */
	if (tuned_refresh(run->tuned, run->options->tuned_path, "", &unsaved) == STATUS_OK) {
		there = tuned_find_problem(
			run->tuned, search->pool.problem, run->options->objective);
		if (!there || strcmp(there->run, run->run_id) == 0)
			search_save_best(search, &unsaved);
	}
	search->saved_us = budget->best_us;
	search->save_at_s = clock_seconds() + (clock_seconds() - now_s) / part_of_time;
}
