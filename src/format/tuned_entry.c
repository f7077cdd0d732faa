/* SPDX-License-Identifier: MIT */
#include "format/tuned_entry.h"

#include <float.h>
#include <math.h>

#include "family/compile_option.h"
#include "record/record_write.h"

#define RESULT(field, key, ...) RECORD_VALUE(struct tuned_row, result.field, key, ##__VA_ARGS__)
#define CONFIGURATION           RECORD_NAMED_VALUES(struct tuned_row, configuration, "configuration")
#define TIME                    RECORD_NESTED(struct tuned_row, result.time, time_record, "time_us")
/* A number that is `none` if the member is absent. */
#define AMOUNT(type, field, none, ...)                                                             \
	RECORD_VALUE(type, field, #field, .flags = RECORD_OPTIONAL, .absent = (none), .low = 0,    \
		.high = INFINITY, ##__VA_ARGS__)
#define FIGURE(type, field, none)                                                                  \
	RECORD_VALUE(type, field, #field, .flags = RECORD_OPTIONAL | RECORD_ROUNDED,               \
		.absent = (none), .low = 0, .high = INFINITY)
#define TIMING(type) RECORD_ENUM(type, predicted, timing_names, "timing")

#define DIMENSIONS(field, ...)                                                                     \
	RECORD_ARRAY(struct tuned_launch, shape.field, #field, .low = 1, .high = UINT32_MAX,       \
		##__VA_ARGS__)
static const struct record_member launch_members[] = {
	RECORD_VALUE(struct tuned_launch, source, "source"),
	RECORD_VALUE(struct tuned_launch, entry, "entry"),
	DIMENSIONS(grid),
	DIMENSIONS(block),
	DIMENSIONS(cluster, .flags = RECORD_OPTIONAL | RECORD_KEPT, .absent = 1),
	RECORD_CUSTOMS(struct tuned_launch, arguments, argument_count, &named_value_custom, "args"),
	RECORD_VALUE(struct tuned_launch, shape.smem_dynamic_bytes, "smem_dynamic_bytes", .low = 0,
		.high = UINT32_MAX),
	RECORD_VALUE(struct tuned_launch, shape.repeat, "repeat", .flags = RECORD_OPTIONAL,
		.absent = 1, .low = 1, .high = UINT32_MAX),
	RECORD_VALUE(
		struct tuned_launch, shape.cooperative, "cooperative", .flags = RECORD_OPTIONAL),
	AMOUNT(struct tuned_launch, smem_static_bytes, -1),
	AMOUNT(struct tuned_launch, regs_per_thread, -1),
	AMOUNT(struct tuned_launch, spill_bytes, -1),
	RECORD_VALUE(struct tuned_launch, blocks_per_sm, "blocks_per_sm", .flags = RECORD_OPTIONAL,
		.absent = -1),
};
#undef DIMENSIONS
RECORD_DEFINE(
	struct tuned_launch, tuned_launch_record, launch_members, .name = "launch", .open = true);

static const struct record_member workspace_members[] = {
	RECORD_TEXT(struct plan_buffer, name, "name"),
	RECORD_VALUE(struct plan_buffer, bytes, "bytes"),
	RECORD_ENUM(struct plan_buffer, init, buffer_init_names, "init"),
};
static RECORD_DEFINE(
	struct plan_buffer, workspace_record, workspace_members, .name = "workspace", .open = true);

#define ERROR(field)                                                                               \
	RECORD_VALUE(struct verification, field, #field,                                           \
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_ROUNDED, .absent = NAN)
static const struct record_member errors_members[] = {
	RECORD_VALUE(struct verification, done, "verified"),
	RECORD_VALUE(struct verification, points, "points", .flags = RECORD_OPTIONAL | RECORD_KEPT),
	RECORD_VALUE(struct verification, violations, "violations",
		.flags = RECORD_OPTIONAL | RECORD_KEPT),
	ERROR(max_abs_error),
	ERROR(max_rel_error),
};
#undef ERROR
static RECORD_DEFINE(
	struct verification, errors_record, errors_members, .name = "errors", .open = true);

const char *const reject_reason_names[] = {[REJECT_SLOWER] = "slower",
	[REJECT_UNTIED] = "untied",
	[REJECT_EARLIER] = "earlier_round",
	[REJECT_INCUMBENT] = "incumbent",
	[REJECT_PREDICTION] = "prediction",
	[REJECT_PLANNED] = "planned",
	[REJECT_SMEM] = "shared_memory",
	[REJECT_REGISTERS] = "registers",
	[REJECT_ORDER] = "order",
	NULL};

static const struct record_member lost_members[] = {
	RECORD_ENUM(struct tuned_rejection, by, reject_reason_names, "by"),
	RECORD_VALUE(struct tuned_rejection, ratio, "ratio", .flags = RECORD_ROUNDED, .low = 0,
		.high = INFINITY),
	FIGURE(struct tuned_rejection, ratio_low, NAN),
	FIGURE(struct tuned_rejection, ratio_high, NAN),
	RECORD_VALUE(struct tuned_rejection, rounds, "rounds", .flags = RECORD_OPTIONAL),
	AMOUNT(struct tuned_rejection, value, NAN),
	AMOUNT(struct tuned_rejection, winner_value, NAN),
};
static RECORD_DEFINE(
	struct tuned_rejection, lost_record, lost_members, .name = "lost", .open = true);
#define LOST RECORD_POINTER(struct tuned_row, lost, lost_record, "lost", .flags = RECORD_OPTIONAL)

static const char *const row_bound_names[] = {"clock", "dram", NULL};

/* Members of all rows. Only winners have more. */
#define SHORT_MEMBERS                                                                              \
	RESULT(family, "family", .rule = &family_name_rule), CONFIGURATION, TIME,                  \
		AMOUNT(struct tuned_row, regs_per_thread, -1),                                     \
		AMOUNT(struct tuned_row, smem_bytes, -1),                                          \
		AMOUNT(struct tuned_row, spill_bytes, -1),                                         \
		RECORD_TEXT(struct tuned_row, result.kernel_hash, "kernel_hash",                   \
			.rule = &kernel_hash_rule),                                                \
		RECORD_ENUM(struct tuned_row, result.verified, verified_names, "verified",         \
			.flags = RECORD_OPTIONAL, .absent = VERIFIED_REFERENCE),                   \
		RECORD_ENUM(struct tuned_row, result.by_program, verified_by_names, "verified_by", \
			.flags = RECORD_OPTIONAL),                                                 \
		RECORD_ENUM(struct tuned_row, is_dram_bound, row_bound_names, "bound",             \
			.flags = RECORD_OPTIONAL),                                                 \
		RECORD_VALUE(struct tuned_row, run, "run", .flags = RECORD_OPTIONAL), LOST,        \
		RECORD_UNKNOWN(struct tuned_row, unknown)
static const struct record_member short_members[] = {SHORT_MEMBERS};
static RECORD_DEFINE(struct tuned_row, short_record, short_members);

static const struct record_member row_members[] = {
	SHORT_MEMBERS,
	RECORD_NAMED_VALUES(struct tuned_row, defines, "defines", .flags = RECORD_OPTIONAL),
	RECORD_STRINGS(struct tuned_row, options, "options", .flags = RECORD_OPTIONAL,
		.rule = &compile_option_rule),
	RECORD_RECORDS(struct tuned_row, launches, launch_count, tuned_launch_record, "launches",
		.flags = RECORD_OPTIONAL, .count_min = 1),
	FIGURE(struct tuned_row, tflops, NAN),
	FIGURE(struct tuned_row, gb_per_s, NAN),
	RECORD_FLAT(struct tuned_row, result.measured, measured_record),
	RECORD_FLAGS(struct tuned_row, result.flags, kernel_flag_names, "flags",
		.flags = RECORD_OPTIONAL),
	AMOUNT(struct tuned_row, workspace_bytes, -1),
	RECORD_RECORDS(struct tuned_row, workspaces, workspace_count, workspace_record,
		"workspaces", .flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct tuned_row, tensor_maps, tensor_map_count, plan_tensor_map_record,
		"tensor_maps", .flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(
		struct tuned_row, result.score, &score_custom, "score", .flags = RECORD_OPTIONAL),
	RECORD_NESTED(struct tuned_row, result.verification, errors_record, "errors",
		.flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct tuned_row, result.verification.done)),
	RECORD_POINTER(struct tuned_row, result.bits, output_digest_record, "bits",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct tuned_row, why, "why", .flags = RECORD_OPTIONAL),
};
#undef SHORT_MEMBERS
RECORD_DEFINE(struct tuned_row, tuned_row_record, row_members, .name = "result", .open = true);

static const struct record_member tied_members[] = {
	RESULT(family, "family", .flags = RECORD_OPTIONAL, .rule = &family_name_rule),
	CONFIGURATION,
	TIME,
	LOST,
	RECORD_UNKNOWN(struct tuned_row, unknown),
};
static RECORD_DEFINE(struct tuned_row, tied_record, tied_members, .name = "tied", .open = true);

static const struct record_member space_members[] = {
	RECORD_VALUE(struct tuned_space, product, "product", .low = 0, .high = INFINITY),
	RECORD_VALUE(struct tuned_space, legal, "legal"),
	RECORD_VALUE(struct tuned_space, evaluated, "evaluated"),
	RECORD_NAMED(struct tuned_space, outcomes, outcome_names, "outcomes"),
};
static RECORD_DEFINE(
	struct tuned_space, space_record, space_members, .name = "space", .open = true);

static const struct record_member model_members[] = {
	RECORD_VALUE(struct tuned_model, measured, "measured"),
	RECORD_VALUE(struct tuned_model, rank_correlation, "rank_correlation",
		.flags = RECORD_NULLABLE | RECORD_ROUNDED, .absent = NAN, .low = -1, .high = 1),
	RECORD_VALUE(struct tuned_model, rank_of_best, "rank_of_best"),
};
static RECORD_DEFINE(
	struct tuned_model, model_record, model_members, .name = "model", .open = true);

static bool is_bits_rule(const char *text)
{
	static const char invariant[] = "invariant=";

	return strcmp(text, "same") == 0 ||
	       (strncmp(text, invariant, strlen(invariant)) == 0 && text[strlen(invariant)]);
}

static const struct record_rule bits_rule = {
	.expected = "same, or invariant=KEY", .accepts = is_bits_rule};

#define LOSS(field) FIGURE(struct tuned_bits, field, NAN)
static const struct record_member entry_bits_members[] = {
	RECORD_VALUE(struct tuned_bits, rule, "rule", .rule = &bits_rule),
	LOSS(loss),
	LOSS(mean_loss),
	LOSS(worst_loss),
};
#undef LOSS
static RECORD_DEFINE(
	struct tuned_bits, entry_bits_record, entry_bits_members, .name = "bits", .open = true);

static bool is_operation_name(const char *text)
{
	text = name_skip(text, false);
	return text && !*text;
}

static const struct record_rule operation_rule = {
	.expected = "an operation's name", .accepts = is_operation_name};

const char *const objective_names[] = {"time", "energy", "warm_time", "sustained_time", NULL};

const char *const l2_state_names[] = {"unknown", "cold", "warm", NULL};

static const struct record_member entry_members[] = {
	RECORD_VALUE(struct tuned_entry, operation, "operation", .rule = &operation_rule),
	RECORD_NAMED_VALUES(struct tuned_entry, problem, "problem", .count_min = 1),
	RECORD_ENUM(struct tuned_entry, objective, objective_names, "objective",
		.flags = RECORD_OPTIONAL),
	TIMING(struct tuned_entry),
	RECORD_ENUM(struct tuned_entry, l2, l2_state_names, "l2", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct tuned_entry, unfinished, "unfinished", .flags = RECORD_OPTIONAL),
	RECORD_TEXT(struct tuned_entry, verification_hash, "verification_hash",
		.flags = RECORD_OPTIONAL, .rule = &kernel_hash_rule),
	RECORD_VALUE(struct tuned_entry, run, "run"),
	RECORD_NESTED(struct tuned_entry, winner, tuned_row_record, "winner"),
	RECORD_RECORDS(struct tuned_entry, tied, tied_count, tied_record, "tied"),
	RECORD_POINTER(
		struct tuned_entry, runner_up, tied_record, "runner_up", .flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct tuned_entry, families, family_count, tuned_row_record, "families"),
	RECORD_POINTER(struct tuned_entry, space, space_record, "space", .flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct tuned_entry, model, model_record, "model", .flags = RECORD_OPTIONAL),
	RECORD_POINTER(
		struct tuned_entry, bits, entry_bits_record, "bits", .flags = RECORD_OPTIONAL),
	RECORD_UNKNOWN(struct tuned_entry, unknown),
};
RECORD_DEFINE(struct tuned_entry, tuned_entry_record, entry_members, .name = "entry", .open = true);

RECORD_RELEASE(tuned_entry_release, tuned_entry_record);

RECORD_RELEASE(tuned_row_release, tuned_row_record);

struct tuned_entry tuned_entry_copy(const struct tuned_entry *entry)
{
	struct tuned_entry copy = {0};

	record_copy(&tuned_entry_record, entry, &copy);
	return copy;
}

void tuned_row_forget_rejection(struct tuned_row *row)
{
	free(row->lost);
	row->lost = NULL;
}

struct tuned_row tuned_row_copy(const struct tuned_row *row)
{
	struct tuned_row copy = {0};

	record_copy(&tuned_row_record, row, &copy);
	return copy;
}

bool tuned_row_is_clock_bound(const struct tuned_row *row)
{
	return !row->is_dram_bound && score_is_clock_bound(&row->result.score);
}

void tuned_row_shorten(struct tuned_row *row)
{
	struct tuned_row part = {.tflops = NAN, .gb_per_s = NAN, .workspace_bytes = -1};

	record_copy(&short_record, row, &part);
	part.is_dram_bound = !tuned_row_is_clock_bound(row);
	tuned_row_release(row);
	*row = part;
}

/* Drops members that equal the winner's. The row has only the members of tied_record. */
static struct tuned_row difference_from(const struct tuned_row *winner, struct tuned_row *row)
{
	struct named_values whole = row->configuration;

	if (strcmp(winner->result.family, row->result.family) == 0) {
		free(row->result.family);
		row->result.family = NULL;
		row->configuration = named_values_difference(&whole, &winner->configuration);
		named_values_release(&whole);
	}
	return *row;
}

void tuned_entry_add_tied(struct tuned_entry *entry, struct tuned_row *row)
{
	entry->tied = memory_resize(entry->tied, entry->tied_count + 2, sizeof(*entry->tied));
	entry->tied[entry->tied_count++] = difference_from(&entry->winner, row);
}

void tuned_entry_set_runner_up(struct tuned_entry *entry, struct tuned_row *row)
{
	entry->runner_up = memory_zeroed(1, sizeof(*entry->runner_up));
	*entry->runner_up = difference_from(&entry->winner, row);
}

struct tuned_row tuned_entry_tied(const struct tuned_entry *entry, const struct tuned_row *tied)
{
	const struct named_values none = {0};

	return (struct tuned_row){.result.family = tied->result.family
							   ? tied->result.family
							   : entry->winner.result.family,
		.configuration = named_values_changed(
			tied->result.family ? &tied->configuration : &entry->winner.configuration,
			tied->result.family ? &none : &tied->configuration),
		.result.time = tied->result.time};
}

struct tuned_row *tuned_entry_row(struct tuned_entry *entry, const char *family)
{
	if (strcmp(entry->winner.result.family, family) == 0)
		return &entry->winner;
	for (size_t i = 0; i < entry->family_count; i++)
		if (strcmp(entry->families[i].result.family, family) == 0)
			return &entry->families[i];
	return NULL;
}

void tuned_entry_promote(struct tuned_entry *entry, size_t which)
{
	const struct tuned_row winner = entry->winner;

	entry->winner = entry->families[which];
	entry->families[which] = winner;
	for (size_t i = 0; i < entry->tied_count; i++)
		tuned_row_release(&entry->tied[i]);
	entry->tied_count = 0;
	if (entry->runner_up)
		tuned_row_release(entry->runner_up);
	free(entry->runner_up);
	entry->runner_up = NULL;
	tuned_row_forget_rejection(&entry->winner);
	for (size_t i = 0; i < entry->family_count; i++)
		tuned_row_forget_rejection(&entry->families[i]);
}

char *tuned_row_configuration(const struct tuned_row *row)
{
	return named_values_text(&row->configuration);
}
