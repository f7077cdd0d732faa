/* SPDX-License-Identifier: MIT */
#include "advise/advise_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/record_write.h"
#include "candidate/configuration.h"

/* A problem's best candidate. */
struct best {
	double time_us, tflops;
	const char *family;
	struct named_values configuration;
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
	RECORD_VALUE(struct best, tflops, "tflops", "10^12 FLOP per second"),
	RECORD_VALUE(
		struct best, family, "family", "of the configuration", .rule = &family_name_rule),
	RECORD_NAMED_VALUES(
		struct best, configuration, "configuration", "every parameter of the family"),
	RECORD_CUSTOM(struct best, score, &score_custom, "score", "what the model says of it"),
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
		const struct cost cost = {.extra_flop_ratio = row->flop / asked->flop - 1,
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
	struct document document = {.operation = operation_name(advise->operation),
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
