/* SPDX-License-Identifier: MIT */
#include "advise/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "base/memory.h"
#include "base/record_write.h"
#include "candidate/configuration.h"
#include "score/traffic.h"

const double advice_gain_least_ratio = 0.01;
const char *const advice_reason_kinds[] = {[REASON_FAMILY] = "family",
	[REASON_ALIGNMENT] = "alignment",
	[REASON_LINES] = "lines",
	[REASON_TILES] = "tiles",
	[REASON_WAVES] = "waves",
	NULL};

double advice_gain_ratio(const struct advice_row *row)
{
	bool same_work = !row->variant || row->variant->kind == VARIANT_PAD ||
			 row->variant->kind == VARIANT_PITCH;

	return same_work ? row->net_gain_ratio : row->throughput_gain_ratio;
}

/* Smaller differences explain nothing. */
static const double notable_ratio = 0.005;

static void add(struct advice_row *row, enum advice_reason_kind kind, char *text)
{
	row->reasons = memory_resize(row->reasons, row->reason_count + 1, sizeof(*row->reasons));
	row->reasons[row->reason_count++] = (struct advice_reason){.kind = kind, .text = text};
}

/* Why a family is not among those of a problem: the line that names it, without its name. */
static char *why_left_out(const struct candidate_list *candidates, const char *family)
{
	size_t length = strlen(family);

	for (const char *line = candidates->left_out; line && *line;
		line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, family, length) == 0 && line[length] == ' ')
			return string_copy_bytes(
				line + length + 1, strcspn(line, "\n") - length - 1);
	return NULL;
}

static void explain_family(const struct advice_row *asked, struct advice_row *row)
{
	const char *before = asked->best_of.best->evaluation.family;
	const char *now = row->best_of.best->evaluation.family;
	static const char refusal[] = "does not apply: needs ";
	char *why;

	if (strcmp(before, now) == 0)
		return;
	why = why_left_out(&asked->best_of.candidates, now);
	if (why && strncmp(why, refusal, strlen(refusal)) == 0)
		memmove(why, why + strlen(refusal), strlen(why + strlen(refusal)) + 1);
	add(row, REASON_FAMILY,
		why ? string_format("%s can do this; the asked sizes, where %s does not hold, are "
				    "left to %s",
			      now, why, before)
		    : string_format("%s is faster here than %s", now, before));
	free(why);
}

/* The largest power of two, up to a cache line, that divides the distance between rows. */
static unsigned pitch_alignment(uint64_t pitch_bytes)
{
	unsigned alignment = 1;

	while (alignment < ALIGNMENT_LINE_BYTES && pitch_bytes % (2 * alignment) == 0)
		alignment *= 2;
	return alignment;
}

static void explain_alignment(const struct advice_row *asked, struct advice_row *row)
{
	const struct plan *before = &asked->best_of.best->plan;
	const struct plan *now = &row->best_of.best->plan;

	for (size_t i = 0; i < now->tensor_count; i++) {
		const struct plan_buffer *old = &before->buffers[i], *new = &now->buffers[i];
		uint64_t old_bytes = old->ld * (uint64_t)dtype_size(old->dtype);
		uint64_t new_bytes = new->ld *(uint64_t)dtype_size(new->dtype);

		if (pitch_alignment(new_bytes) > pitch_alignment(old_bytes))
			add(row, REASON_ALIGNMENT,
				string_format(
					"rows of %s begin every %llu bytes, a multiple of %u, "
					"instead of %llu, a multiple of %u",
					new->name, (unsigned long long)new_bytes,
					pitch_alignment(new_bytes), (unsigned long long)old_bytes,
					pitch_alignment(old_bytes)));
	}
}

static void explain_score(const struct advice_row *asked, struct advice_row *row)
{
	const struct score *old = &asked->best_of.best->evaluation.score;
	const struct score *new = &row->best_of.best->evaluation.score;
	const struct launch_score *before, *now;

	if (!old->launch_count || !new->launch_count)
		return;
	before = &old->launches[old->longest];
	now = &new->launches[new->longest];
	if (before->lines_per_row_ratio > now->lines_per_row_ratio + notable_ratio)
		add(row, REASON_LINES,
			string_format(
				"a tile's row touches %.2f times the cache lines it needs, not "
				"%.2f",
				now->lines_per_row_ratio, before->lines_per_row_ratio));
	if (now->tile_efficiency_ratio > before->tile_efficiency_ratio + notable_ratio)
		add(row, REASON_TILES,
			string_format("%.1f%% of the tiles' area is used, not %.1f%%",
				100 * now->tile_efficiency_ratio,
				100 * before->tile_efficiency_ratio));
	if (now->wave_efficiency_ratio > before->wave_efficiency_ratio + notable_ratio ||
		now->waves < before->waves)
		add(row, REASON_WAVES,
			string_format("%.0f tiles in %.0f wave%s (%.2f exactly), not %.0f in %.0f "
				      "(%.2f)",
				now->tiles, now->waves, now->waves > 1 ? "s" : "", now->waves_exact,
				before->tiles, before->waves, before->waves_exact));
}

void advice_explain(const struct advice_row *asked, struct advice_row *row)
{
	if (!asked->best_of.best || !row->best_of.best)
		return;
	explain_alignment(asked, row);
	explain_family(asked, row);
	explain_score(asked, row);
}

/* ---- the answer as a document ---- */
/* A problem's best candidate. */
struct best {
	double time_us, tflops;
	const char *family;
	struct named_values configuration;
	struct prediction_basis basis;
	struct score score;
};

/* Of what is filled up or further apart. */
struct cost {
	double extra_flop_ratio, extra_bytes, copy_us, net_gain_with_copy_ratio;
};

struct item {
	enum variant_kind kind;
	struct variant_change *changes;
	size_t change_count;
	struct named_values problem;
	bool better;
	double net_gain_ratio, throughput_gain_ratio;
	double useful_tflops; /* 0: not of this kind */
	struct cost *cost;    /* NULL likewise */
	struct best best;
	struct advice_reason *reasons;
	size_t reason_count;
};

struct document {
	const char *operation;
	struct named_values problem;
	struct gpu_model device;
	bool predicted;
	struct best asked;
	struct item *items;
	size_t item_count;
	struct run run;
};

static const struct record_member best_members[] = {
	RECORD_VALUE(struct best, time_us, "time_us", "microseconds"),
	RECORD_VALUE(struct best, tflops, "tflops", "10^12 FLOP per second; 0: no FLOP are known"),
	RECORD_VALUE(
		struct best, family, "family", "of the configuration", .rule = &family_name_rule),
	RECORD_NAMED_VALUES(
		struct best, configuration, "configuration", "every parameter of the family"),
	RECORD_NESTED(struct best, basis, prediction_basis_record, "prediction",
		"what it was chosen by, before anything was measured"),
	RECORD_CUSTOM(struct best, score, &score_custom, "score", "what physics says of it"),
};
static RECORD_DEFINE(struct best, best_record, best_members, .name = "best");

#define COST(field, help, ...) RECORD_VALUE(struct cost, field, #field, help, ##__VA_ARGS__)
static const struct record_member cost_members[] = {
	COST(extra_flop_ratio, "over the asked problem's"),
	COST(extra_bytes, "of all tensors"),
	COST(copy_us, "to copy what lies differently in memory, once", .low = 0, .high = INFINITY),
	COST(net_gain_with_copy_ratio, "if it is copied every time"),
};
#undef COST
static RECORD_DEFINE(struct cost, cost_record, cost_members, .name = "cost");

static const struct record_member change_members[] = {
	RECORD_VALUE(struct variant_change, name, "name", "of a key or a part of its alias"),
	RECORD_VALUE(struct variant_change, from, "from", "as it was asked for"),
	RECORD_VALUE(struct variant_change, to, "to", "what is better"),
};
static RECORD_DEFINE(struct variant_change, change_record, change_members, .name = "change");

static const struct record_member reason_members[] = {
	RECORD_ENUM(struct advice_reason, kind, advice_reason_kinds, "kind", "what differs"),
	RECORD_VALUE(struct advice_reason, text, "text", "how"),
};
static RECORD_DEFINE(struct advice_reason, reason_record, reason_members, .name = "reason");

static const struct record_member item_members[] = {
	RECORD_ENUM(struct item, kind, variant_kind_names, "kind",
		"pad: filled up with zeros; pitch: rows further apart; choose, shrink: other "
		"problems, if the sizes are free"),
	RECORD_RECORDS(struct item, changes, change_count, change_record, "changes",
		"to the asked problem", .count_min = 1),
	RECORD_NAMED_VALUES(
		struct item, problem, "problem", "every key of the operation", .count_min = 1),
	RECORD_VALUE(struct item, better, "better", "whether it pays"),
	RECORD_VALUE(struct item, net_gain_ratio, "net_gain_ratio",
		"the asked problem's time over this one's, less 1"),
	RECORD_VALUE(struct item, throughput_gain_ratio, "throughput_gain_ratio",
		"of FLOP per second, less 1"),
	RECORD_VALUE(struct item, useful_tflops, "useful_tflops",
		"the asked problem's FLOP over this time", .flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct item, cost, cost_record, "cost", "of the same result",
		.flags = RECORD_OPTIONAL),
	RECORD_FLAT(struct item, best, best_record),
	RECORD_RECORDS(struct item, reasons, reason_count, reason_record, "why",
		"what differs from the asked problem's best"),
};
static RECORD_DEFINE(struct item, item_record, item_members, .name = "advice");

static const struct record_member document_members[] = {
	RECORD_CONSTANT("format", "tiletune.advise/1", "what this file is"),
	RECORD_VALUE(struct document, operation, "operation", "its name"),
	RECORD_NAMED_VALUES(struct document, problem, "problem",
		"every key of the operation, in its order", .count_min = 1),
	RECORD_NESTED(struct document, device, gpu_model_record, "device", "the GPU model"),
	RECORD_ENUM(struct document, predicted, timing_names, "timing", "whose times they are"),
	RECORD_NESTED(struct document, asked, best_record, "asked", "the asked problem's best"),
	RECORD_RECORDS(struct document, items, item_count, item_record, "advice",
		"by kind, the best first; those that were looked at closely, better or not"),
	RECORD_NESTED(struct document, run, run_record, "run", "that made this"),
};
RECORD_DEFINE(struct document, advise_record, document_members, .name = "advise", .open = true);

static struct best best_of_row(const struct advice_row *row)
{
	const struct trial *trial = row->best_of.best;

	return (struct best){.time_us = row->best_of.time_us,
		.tflops = row->flop / row->best_of.time_us * 1e-6,
		.family = trial->evaluation.family,
		.configuration = configuration_named_values(
			trial->candidate.bound, trial->candidate.choices),
		.basis = prediction_basis(trial->candidate.bound),
		.score = trial->evaluation.score};
}

static struct item item_of_row(const struct advice_row *asked, const struct advice_row *row)
{
	struct item item = {.kind = row->variant->kind,
		.changes = row->variant->changes,
		.change_count = row->variant->change_count,
		.problem = problem_named_values(row->variant->problem),
		.better = advice_gain_ratio(row) >= advice_gain_least_ratio,
		.net_gain_ratio = row->net_gain_ratio,
		.throughput_gain_ratio = row->throughput_gain_ratio,
		.best = best_of_row(row),
		.reasons = row->reasons,
		.reason_count = row->reason_count};

	/* what the asked problem's own work amounts to in that time */
	if (item.kind == VARIANT_PAD || item.kind == VARIANT_PITCH) {
		const double with_copy_us = row->best_of.time_us + row->copy_us;
		const struct cost cost = {.extra_flop_ratio = row->work / asked->work - 1,
			.extra_bytes = row->tensor_bytes - asked->tensor_bytes,
			.copy_us = row->copy_us,
			.net_gain_with_copy_ratio = asked->best_of.time_us / with_copy_us - 1};

		item.useful_tflops = asked->flop / row->best_of.time_us * 1e-6;
		item.cost = memory_copy(&cost, sizeof(cost));
	}
	return item;
}

struct json *advise_to_json(const struct advise *advise, const struct run *run)
{
	struct document document = {.operation = advise->operation->name,
		.problem = problem_named_values(advise->asked.items[0]),
		.device = gpu_model_of(device_spec(advise->context->device),
			device_identity(advise->context->device)->name),
		.predicted = !advise->measured,
		.asked = best_of_row(&advise->rows[0]),
		.items = memory_zeroed(advise->row_count, sizeof(*document.items)),
		.run = *run};
	struct json *json;

	for (size_t i = 1; i < advise->row_count; i++)
		if (advise->rows[i].best_of.best)
			document.items[document.item_count++] =
				item_of_row(&advise->rows[0], &advise->rows[i]);
	json = record_to_json(&advise_record, &document);
	for (size_t i = 0; i < document.item_count; i++) {
		named_values_release(&document.items[i].problem);
		named_values_release(&document.items[i].best.configuration);
		free(document.items[i].cost);
	}
	free(document.items);
	named_values_release(&document.asked.configuration);
	named_values_release(&document.problem);
	gpu_model_release(&document.device);
	return json;
}
