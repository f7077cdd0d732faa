/* SPDX-License-Identifier: MIT */
#include "tune/conclude.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "engine/row.h"
#include "tune/model_quality.h"
#include "tune/row_validity.h"
#include "tune/select.h"

/* ---- the winner ---- */
/* Those whose times may be compared: where the device measures, those that were measured again. */
static bool competes(const struct search *search, const struct evaluated *evaluated)
{
	bool measured = device_measures(search->session->context->device);

	return evaluated->evaluation.outcome == OUTCOME_OK && (evaluated->remeasured || !measured);
}

static struct contender contender_of(const struct search *search, const struct evaluated *evaluated)
{
	const struct evaluation *evaluation = &evaluated->evaluation;
	struct contender contender = {.median_us = evaluation->time.median,
		.ci95_low_us = evaluation->time.ci95_low,
		.ci95_high_us = evaluation->time.ci95_high,
		.predicted_us = search->pool.predicted_us[evaluated->candidate],
		.order = evaluated->candidate,
		.incumbent = (ptrdiff_t)evaluated->candidate == search->incumbent};

	if (evaluation->score.launch_count) {
		const struct launch_score *longest =
			&evaluation->score.launches[evaluation->score.longest];

		/* with the compiled kernel's registers, where it was compiled */
		contender.predicted_us = evaluation->score.predicted_time_us;
		contender.smem_bytes = (double)longest->smem_bytes;
		contender.regs_per_thread = longest->regs_per_thread;
		if (!evaluation->predicted &&
			longest->tiles < (double)search->pool.device->sm_count / 2)
			contender.place_us = SELECT_PLACE_US;
	}
	return contender;
}

/* Indices into evaluated of those that compete. */
static size_t gather(const struct search *search, struct contender *contenders, size_t *indices)
{
	struct rounds *rounds = memory_zeroed(search->evaluated.count, sizeof(*rounds));
	size_t count = 0;

	for (size_t i = 0; i < search->evaluated.count; i++) {
		const struct evaluated *evaluated = &search->evaluated.items[i];

		if (!competes(search, evaluated))
			continue;
		indices[count] = i;
		rounds[count] = (struct rounds){.samples_us = evaluated->evaluation.samples_us,
			.count = evaluated->evaluation.sample_count};
		contenders[count++] = contender_of(search, evaluated);
	}
	if (count && device_measures(search->session->context->device))
		select_pair_rounds(contenders, rounds, count);
	free(rounds);
	return count;
}

static void find_best_of_families(const struct search *search, size_t winner, size_t *best)
{
	for (size_t f = 0; f < search->pool.family_count; f++)
		best[f] = SIZE_MAX;
	for (size_t i = 0; i < search->evaluated.count; i++) {
		const struct evaluated *evaluated = &search->evaluated.items[i];
		uint32_t family = search->pool.family_of[evaluated->candidate];

		if (!competes(search, evaluated))
			continue;
		if (best[family] == SIZE_MAX ||
			evaluated->evaluation.time.median <
				search->evaluated.items[best[family]].evaluation.time.median)
			best[family] = i;
	}
	best[search->pool.family_of[search->evaluated.items[winner].candidate]] = winner;
}

static enum status nothing_works(const struct search *search, struct error *err)
{
	size_t counts[OUTCOME_COUNT] = {0};
	const char *detail = NULL;
	struct text text = {0};

	for (size_t i = 0; i < search->evaluated.count; i++) {
		const struct evaluation *evaluation = &search->evaluated.items[i].evaluation;

		counts[evaluation->outcome]++;
		if (!detail)
			detail = evaluation->detail;
	}
	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (counts[i])
			text_appendf(&text, "%s%zu %s", text.length ? ", " : "", counts[i],
				outcome_name((enum outcome)i));
	error_set(err, STATUS_FAILED,
		"%s: expected a candidate that works, found none of %zu (%s); the first said: "
		"%.900s",
		search->pool.problem->text, search->evaluated.count, text_string(&text),
		detail ? detail : "nothing");
	text_release(&text);
	return STATUS_FAILED;
}

/* ---- the entry ---- */
static enum status row_of(const struct candidates *pool, const struct evaluated *evaluated,
	struct json **row, struct error *err)
{
	const struct candidate candidate = candidates_at(pool, evaluated->candidate);

	return row_to_json(&candidate, &evaluated->evaluation, row, err);
}

static struct json *space_json(
	const struct candidates *pool, const struct evaluated_list *evaluated)
{
	struct json *json = json_new_object(), *outcomes = json_new_object();
	size_t counts[OUTCOME_COUNT] = {0};
	double product = 0;

	for (size_t f = 0; f < pool->family_count; f++)
		product += pool->families[f].product;
	for (size_t i = 0; i < evaluated->count; i++)
		counts[evaluated->items[i].evaluation.outcome]++;
	json_put_double(json, "product", product);
	json_put_int(json, "legal", (int64_t)pool->count);
	json_put_int(json, "evaluated", (int64_t)evaluated->count);
	for (int i = 0; i < OUTCOME_COUNT; i++)
		if (counts[i])
			json_put_int(outcomes, outcome_name((enum outcome)i), (int64_t)counts[i]);
	json_put(json, "outcomes", outcomes);
	return json;
}

static struct json *model_json(
	const struct candidates *pool, const struct evaluated_list *evaluated)
{
	struct model_quality quality = model_quality(pool, evaluated);
	struct json *json = json_new_object();
	char name[32];

	json_put_int(json, "measured", (int64_t)quality.measured);
	json_put_double(json, "rank_correlation", quality.rank_correlation);
	json_put_int(json, "rank_of_best", (int64_t)quality.rank_of_best);
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "regret_top%zu", model_quality_tops[i]);
		json_put_double(json, name, quality.regret[i]);
	}
	json_put_double(json, "regret_shortlist8", quality.shortlist_regret);
	return json;
}

static struct json *tied_json(const struct candidates *pool, const struct evaluated *evaluated)
{
	const struct bound_family *bound = candidates_family_of(pool, evaluated->candidate)->bound;
	struct json *json = json_new_object();

	json_put_string(json, "family", evaluated->evaluation.family);
	json_put(json, "configuration",
		configuration_to_json(bound, candidates_configuration(pool, evaluated->candidate)));
	json_put(json, "time_us", tuned_time_json(&evaluated->evaluation.time));
	return json;
}

static enum status entry_new(const struct candidates *pool, const struct evaluated_list *evaluated,
	const struct picks *picks, size_t winner, const bool *tied, const size_t *best_of_family,
	const char *run_id, bool predicted, struct json **entry, struct error *err)
{
	struct json *json = json_new_object(), *part = NULL;
	struct json *tied_list = json_new_array(), *families = json_new_array();
	enum status status = row_of(pool, &evaluated->items[winner], &part, err);

	json_put_string(json, "operation", operation_name(pool->problem->operation));
	json_put(json, "problem", problem_to_json(pool->problem));
	json_put_string(json, "timing", predicted ? "predicted" : "measured");
	json_put_string(json, "run", run_id);
	if (status == STATUS_OK)
		json_put(json, "winner", part);
	for (size_t i = 0; i < evaluated->count; i++)
		if (tied[i] && i != winner)
			json_push(tied_list, tied_json(pool, &evaluated->items[i]));
	for (size_t f = 0; f < pool->family_count && status == STATUS_OK; f++) {
		if (best_of_family[f] == SIZE_MAX)
			continue;
		status = row_of(pool, &evaluated->items[best_of_family[f]], &part, err);
		if (status == STATUS_OK)
			json_push(families, part);
	}
	json_put(json, "tied", tied_list);
	json_put(json, "families", families);
	json_put(json, "space", space_json(pool, evaluated));
	if (picks->count)
		json_put(json, "rules",
			picks_to_json(pool, evaluated, picks,
				evaluated_search_us(&evaluated->items[winner])));
	if (!predicted)
		json_put(json, "model", model_json(pool, evaluated));
	if (status == STATUS_OK)
		*entry = json;
	else
		json_free(json);
	return status;
}

static enum status store_entry(
	struct search *search, struct json *entry, const char **kept, struct error *err)
{
	struct session *session = search->session;
	struct row_validity row_validity = {.context = session->context,
		.problem = search->pool.problem,
		.evaluated = &search->evaluated};
	const struct tuned_judge judge = {row_validity_row, &row_validity};
	enum status status = STATUS_OK;

	if (session->journal) {
		struct json *line = json_new_object();

		json_put_int(line, "problem", (int64_t)search->number);
		json_put(line, "entry", json_copy(entry));
		status = journal_write(session->journal, "entry", line, err);
	}
	tuned_put_entry_json(session->tuned, json_copy(entry), &judge, kept);
	return status == STATUS_OK ? session_save(session, err) : status;
}

enum status search_conclude(struct search *search, struct error *err)
{
	const struct session_observer *observer = &search->session->observer;
	size_t total = search->evaluated.count;
	struct contender *contenders = memory_zeroed(total, sizeof(*contenders));
	size_t *indices = memory_zeroed(total, sizeof(*indices));
	bool *level = memory_zeroed(total, sizeof(*level));
	bool *tied = memory_zeroed(total, sizeof(*tied));
	size_t *best = memory_zeroed(search->pool.family_count, sizeof(*best));
	size_t count = gather(search, contenders, indices);
	struct problem_result result = {.pool = &search->pool,
		.evaluated = &search->evaluated,
		.picks = &search->picks,
		.tied = tied,
		.resumed = search->resumed,
		.stopped_because = search->stopped_because,
		.seconds = clock_seconds() - search->budget.started};
	struct json *entry = NULL;
	enum status status = STATUS_OK;

	if (!count) {
		status = nothing_works(search, err);
		goto cleanup;
	}
	result.winner = indices[select_winner(contenders, count, level)];
	for (size_t i = 0; i < count; i++)
		tied[indices[i]] = level[i];
	for (size_t i = 0; i < total; i++)
		result.outcomes[search->evaluated.items[i].evaluation.outcome]++;
	find_best_of_families(search, result.winner, best);
	status = entry_new(&search->pool, &search->evaluated, &search->picks, result.winner, tied,
		best, search->session->run_id, !device_measures(search->session->context->device),
		&entry, err);
	if (status == STATUS_OK)
		status = store_entry(search, entry, &result.kept, err);
	result.entry = entry;
	if (status == STATUS_OK && observer->end)
		observer->end(observer->context, &result);
cleanup:
	json_free(entry);
	free(contenders);
	free(indices);
	free(level);
	free(tied);
	free(best);
	return status;
}
