/* SPDX-License-Identifier: MIT */
#include "format/tuned_entry.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/resources.h"
#include "family/compile_option.h"

const size_t tuned_tops[TUNED_TOPS] = {1, 4, 8, 16};

#define FAMILY(type)                                                                               \
	RECORD_VALUE(type, family, "family", "of the configuration", .rule = &family_name_rule)
#define CONFIGURATION(type)                                                                        \
	RECORD_NAMED_VALUES(type, configuration, "configuration", "every parameter of the family")
/* 0 or more; what is not there is `none` */
#define AMOUNT(type, field, none, help, ...)                                                       \
	RECORD_VALUE(type, field, #field, help, .flags = RECORD_OPTIONAL, .absent = (none),        \
		.low = 0, .high = INFINITY, ##__VA_ARGS__)
#define TIMING(type) RECORD_ENUM(type, predicted, timing_names, "timing", "whose times they are")

/* ---- launches ---- */
static struct json *argument_schema(struct json *definitions)
{
	struct json *schema = json_new_object(), *types = json_new_array();

	(void)definitions;
	json_push(types, json_new_string("string"));
	json_push(types, json_new_string("number"));
	json_put(schema, "type", types);
	return schema;
}

static enum status argument_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	if (json_type(at) != JSON_STRING && json_type(at) != JSON_NUMBER)
		return json_error(at, err, "a number, or the name of a buffer or tensor map");
	return named_value_custom.read(at, field, context, err);
}

static struct json *argument_write(const void *field)
{
	return named_value_custom.write(field);
}

static void argument_release(void *field)
{
	named_value_custom.release(field);
}

static const struct record_custom argument_custom = {
	argument_read, argument_write, argument_schema, argument_release};

#define DIMENSIONS(field, help, ...)                                                               \
	RECORD_ARRAY(struct tuned_launch, field, #field, help, .low = 1, .high = UINT32_MAX,       \
		##__VA_ARGS__)
static const struct record_member launch_members[] = {
	RECORD_VALUE(struct tuned_launch, source, "source", "file of the kernel"),
	RECORD_VALUE(struct tuned_launch, entry, "entry", "name of the kernel"),
	DIMENSIONS(grid, "blocks"),
	DIMENSIONS(block, "threads"),
	DIMENSIONS(cluster, "blocks of a cluster", .flags = RECORD_OPTIONAL | RECORD_KEPT,
		.absent = 1),
	RECORD_CUSTOMS(struct tuned_launch, arguments, argument_count, &argument_custom, "args",
		"numbers, and names of buffers and tensor maps"),
	RECORD_VALUE(struct tuned_launch, smem_dynamic_bytes, "smem_dynamic_bytes", "of a block",
		.low = 0, .high = INFINITY),
	RECORD_VALUE(struct tuned_launch, repeat, "repeat", "launched that many times in a row",
		.flags = RECORD_OPTIONAL, .absent = 1, .low = 1, .high = UINT32_MAX),
	AMOUNT(struct tuned_launch, smem_static_bytes, -1, "of a block"),
	AMOUNT(struct tuned_launch, regs_per_thread, -1, "registers"),
	AMOUNT(struct tuned_launch, spill_bytes, -1, "stored, of a thread"),
	RECORD_VALUE(struct tuned_launch, blocks_per_sm, "blocks_per_sm", "resident at once",
		.flags = RECORD_OPTIONAL, .absent = -1),
	RECORD_UNKNOWN(struct tuned_launch, unknown),
};
#undef DIMENSIONS
static RECORD_DEFINE(struct tuned_launch, tuned_launch_record, launch_members, .name = "launch");

/* ---- rows ---- */
static const char *const init_names[] = {[BUFFER_INIT_NONE] = "none",
	[BUFFER_INIT_ONCE] = "once",
	[BUFFER_INIT_EACH] = "each",
	NULL};
static const struct record_member workspace_members[] = {
	RECORD_VALUE(struct tuned_workspace, name, "name", "of the buffer"),
	RECORD_VALUE(struct tuned_workspace, bytes, "bytes", "its size"),
	RECORD_ENUM(struct tuned_workspace, init, init_names, "init", "when it is zeroed"),
};
static RECORD_DEFINE(struct tuned_workspace, workspace_record, workspace_members,
	.name = "workspace", .open = true);

static const struct record_member step_members[] = {
	RECORD_VALUE(struct tuned_step, operation, "operation", "that the step is"),
	RECORD_NAMED_VALUES(
		struct tuned_step, problem, "problem", "that the step is", .count_min = 1),
	FAMILY(struct tuned_step),
	CONFIGURATION(struct tuned_step),
	RECORD_TEXT(struct tuned_step, kernel_hash, "kernel_hash", "of its sources and options",
		.flags = RECORD_OPTIONAL, .rule = &kernel_hash_rule),
	RECORD_UNKNOWN(struct tuned_step, unknown),
};
static RECORD_DEFINE(struct tuned_step, step_record, step_members, .name = "step");

#define ERROR(field, help)                                                                         \
	RECORD_VALUE(struct tuned_errors, field, #field, help,                                     \
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE, .absent = NAN)
static const struct record_member errors_members[] = {
	RECORD_VALUE(struct tuned_errors, verified, "verified", "beside the reference"),
	AMOUNT(struct tuned_errors, points, -1, "elements that were compared"),
	AMOUNT(struct tuned_errors, violations, -1, "beyond the tolerance"),
	ERROR(max_abs_error, "largest difference"),
	ERROR(max_rel_error, "the same over the largest value of the reference"),
};
#undef ERROR
static RECORD_DEFINE(
	struct tuned_errors, errors_record, errors_members, .name = "errors", .open = true);

static const struct record_member row_members[] = {
	FAMILY(struct tuned_row),
	CONFIGURATION(struct tuned_row),
	RECORD_RECORDS(struct tuned_row, steps, step_count, step_record, "steps",
		"of a composite family", .flags = RECORD_OPTIONAL, .count_min = 1),
	RECORD_NAMED_VALUES(struct tuned_row, defines, "defines", "the -D list of the source",
		.flags = RECORD_OPTIONAL),
	RECORD_STRINGS(struct tuned_row, options, "options", "of the compiler, beside defines",
		.flags = RECORD_OPTIONAL, .rule = &compile_option_rule),
	RECORD_RECORDS(struct tuned_row, launches, launch_count, tuned_launch_record, "launches",
		"one after the other", .flags = RECORD_OPTIONAL, .count_min = 1),
	RECORD_NESTED(struct tuned_row, time, time_record, "time_us", "of all launches"),
	AMOUNT(struct tuned_row, tflops, NAN, "10^12 FLOP per second"),
	AMOUNT(struct tuned_row, gb_per_s, NAN, "of the least bytes that the problem moves"),
	RECORD_FLAT(struct tuned_row, measured, measured_record),
	AMOUNT(struct tuned_row, regs_per_thread, -1, "of the longest launch"),
	AMOUNT(struct tuned_row, smem_bytes, -1, "of a block of the longest launch"),
	AMOUNT(struct tuned_row, spill_bytes, -1, "the most that a launch spills"),
	RECORD_FLAGS(struct tuned_row, flags, kernel_flag_names, "flags",
		"what the compiler remarked", .flags = RECORD_OPTIONAL | RECORD_KEPT),
	AMOUNT(struct tuned_row, workspace_bytes, -1, "memory that it needs besides the tensors"),
	RECORD_RECORDS(struct tuned_row, workspaces, workspace_count, workspace_record,
		"workspaces", "buffers of that memory", .flags = RECORD_OPTIONAL | RECORD_KEPT),
	RECORD_VALUES(struct tuned_row, tensor_maps, tensor_map_count, "tensor_maps",
		"TMA descriptors", .flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(struct tuned_row, score, &score_custom, "score", "the model's account",
		.flags = RECORD_OPTIONAL, .object = &score_record),
	RECORD_TEXT(struct tuned_row, kernel_hash, "kernel_hash", "of sources and options",
		.rule = &kernel_hash_rule),
	RECORD_POINTER(struct tuned_row, errors, errors_record, "errors",
		"its output beside the reference's", .flags = RECORD_OPTIONAL),
	RECORD_ENUM(struct tuned_row, verified, verified_names, "verified",
		"beside what: a reference kernel (if left out), a file, a configuration that the "
		"author trusts, or self: the default configuration, as nobody said",
		.flags = RECORD_OPTIONAL, .absent = VERIFIED_REFERENCE),
	RECORD_VALUE(struct tuned_row, run, "run", "of a row that an older run measured",
		.flags = RECORD_OPTIONAL),
	RECORD_UNKNOWN(struct tuned_row, unknown),
};
RECORD_DEFINE(struct tuned_row, tuned_row_record, row_members, .name = "result");

static const struct record_member choice_members[] = {
	FAMILY(struct tuned_row),
	CONFIGURATION(struct tuned_row),
	RECORD_RECORDS(struct tuned_row, steps, step_count, step_record, "steps",
		"of a composite family", .flags = RECORD_OPTIONAL, .count_min = 1),
};
RECORD_DEFINE(struct tuned_row, tuned_choice_record, choice_members, .open = true);

static const struct record_member tied_members[] = {
	FAMILY(struct tuned_row),
	CONFIGURATION(struct tuned_row),
	RECORD_NESTED(struct tuned_row, time, time_record, "time_us", "of all launches"),
	RECORD_UNKNOWN(struct tuned_row, unknown),
};
static RECORD_DEFINE(struct tuned_row, tied_record, tied_members, .name = "tied");

/* ---- what else an entry says ---- */
static const struct record_member space_members[] = {
	RECORD_VALUE(struct tuned_space, product, "product", "of all parameters' values", .low = 0,
		.high = INFINITY),
	RECORD_VALUE(struct tuned_space, legal, "legal", "of them"),
	RECORD_VALUE(struct tuned_space, evaluated, "evaluated", "of those"),
	RECORD_NAMED(struct tuned_space, outcomes, outcome_names, "outcomes",
		"how many had which outcome"),
	RECORD_UNKNOWN(struct tuned_space, unknown),
};
static RECORD_DEFINE(struct tuned_space, space_record, space_members, .name = "space");

#define REGRET(field, key, help)                                                                   \
	RECORD_VALUE(struct tuned_model, field, key, help,                                         \
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE, .absent = NAN, .low = 0,               \
		.high = INFINITY)
static const struct record_member model_members[] = {
	RECORD_VALUE(struct tuned_model, measured, "measured", "candidates with outcome ok"),
	RECORD_VALUE(struct tuned_model, rank_correlation, "rank_correlation",
		"Spearman's, predicted against measured", .flags = RECORD_NULLABLE, .absent = NAN,
		.low = -1, .high = 1),
	RECORD_VALUE(struct tuned_model, rank_of_best, "rank_of_best",
		"of the measured best, by prediction"),
	REGRET(regret[0], "regret_top1", "of the model's first"),
	REGRET(regret[1], "regret_top4", "of the best of its first 4"),
	REGRET(regret[2], "regret_top8", "of the best of its first 8"),
	REGRET(regret[3], "regret_top16", "of the best of its first 16"),
	REGRET(shortlist_regret, "regret_shortlist8",
		"of the model's first 8 kernels: configurations that differ in launch arguments "
		"only count once"),
	RECORD_UNKNOWN(struct tuned_model, unknown),
};
#undef REGRET
static RECORD_DEFINE(struct tuned_model, model_record, model_members, .name = "model");

#define PICK(field, help, ...)                                                                     \
	RECORD_VALUE(struct tuned_pick, field, #field, help, .absent = INFINITY, ##__VA_ARGS__)
static const struct record_member pick_members[] = {
	RECORD_VALUE(struct tuned_pick, name, "name", "of the rule"),
	FAMILY(struct tuned_pick),
	CONFIGURATION(struct tuned_pick),
	TIMING(struct tuned_pick),
	RECORD_VALUE(struct tuned_pick, outcome, "outcome", "null: it was not tried",
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_KEPT),
	PICK(time_us, "null: it does not run", .flags = RECORD_NULLABLE, .low = 0,
		.high = INFINITY),
	PICK(predicted_time_us, "null: it cannot run",
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_KEPT, .low = 0,
		.high = INFINITY),
	PICK(regret_ratio, "its time / the best of all - 1", .flags = RECORD_NULLABLE),
	PICK(regret_in_family_ratio, "its time / the best of its family - 1",
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_KEPT),
	RECORD_UNKNOWN(struct tuned_pick, unknown),
};
#undef PICK
static RECORD_DEFINE(struct tuned_pick, pick_record, pick_members, .name = "rule_pick");

static const struct record_member margin_members[] = {
	FAMILY(struct tuned_margin),
	RECORD_VALUE(struct tuned_margin, ratio, "ratio", "that family's time over the winner's",
		.low = 0, .high = INFINITY),
};
static RECORD_DEFINE(
	struct tuned_margin, margin_record, margin_members, .name = "margin", .open = true);

#define POSITIVE(type, field, help, ...)                                                           \
	RECORD_VALUE(type, field, #field, help, .low = DBL_MIN, .high = INFINITY,                  \
		.expected = "a positive number", ##__VA_ARGS__)
static const struct record_member estimate_members[] = {
	POSITIVE(struct tuned_estimate, value, "median over blocks"),
	POSITIVE(struct tuned_estimate, low, "where it lies"),
	POSITIVE(struct tuned_estimate, high, "where it lies"),
	RECORD_VALUE(struct tuned_estimate, confidence_ratio, "confidence_ratio",
		"with that confidence", .low = 0.5, .high = 1 - DBL_EPSILON / 2,
		.expected = "a number of at least 0.5 and less than 1"),
};
static RECORD_DEFINE(
	struct tuned_estimate, estimate_record, estimate_members, .name = "estimate", .open = true);

static const struct record_member check_members[] = {
	RECORD_TEXT(struct tuned_check, kernel_hash, "kernel_hash", "of the kernel that was timed"),
	POSITIVE(struct tuned_check, time_us, "median over blocks"),
	POSITIVE(struct tuned_check, anchor_us, "of the anchor kernel beside it"),
	RECORD_NESTED(struct tuned_check, time_over_anchor, estimate_record, "time_over_anchor",
		"in the same blocks"),
	RECORD_VALUE(struct tuned_check, blocks, "blocks", "how many", .low = 1, .high = INFINITY),
	RECORD_UNKNOWN(struct tuned_check, unknown),
};
#undef POSITIVE
static RECORD_DEFINE(struct tuned_check, check_record, check_members, .name = "check",
	.help = "what `check --update` or --keep-cubins measured of the winner, for later checks "
		"to compare with");

/* ---- the entry ---- */
static bool is_operation_name(const char *text)
{
	if (isdigit((unsigned char)*text) || !*text)
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

static const struct record_rule operation_rule = {.expected = "an operation's name",
	.pattern = "^[A-Za-z_][A-Za-z0-9_]*$",
	.accepts = is_operation_name};

const char *const objective_names[] = {"time", "energy", NULL};

static const struct record_member entry_members[] = {
	RECORD_VALUE(struct tuned_entry, operation, "operation", "what is computed",
		.rule = &operation_rule),
	RECORD_NAMED_VALUES(struct tuned_entry, problem, "problem",
		"every key of the operation, in its order", .count_min = 1),
	RECORD_ENUM(struct tuned_entry, objective, objective_names, "objective",
		"what the winner is the best in; time if it is not there",
		.flags = RECORD_OPTIONAL),
	TIMING(struct tuned_entry),
	RECORD_VALUE(struct tuned_entry, unfinished, "unfinished",
		"true: the winner is the best so far of a search that was stopped, with what was "
		"timed and checked until then",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct tuned_entry, run, "run", "id of the run that found it"),
	RECORD_NESTED(
		struct tuned_entry, winner, tuned_row_record, "winner", "the best configuration"),
	RECORD_RECORDS(struct tuned_entry, tied, tied_count, tied_record, "tied",
		"others within the noise of the best"),
	RECORD_RECORDS(struct tuned_entry, families, family_count, tuned_row_record, "families",
		"the best of each family"),
	RECORD_POINTER(struct tuned_entry, space, space_record, "space", "what was searched",
		.flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct tuned_entry, rules, rule_count, pick_record, "rules",
		"what the operation's selection rules pick, and how far that is from the best",
		.flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct tuned_entry, model, model_record, "model",
		"how the model ranked what was measured", .flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct tuned_entry, margin, margin_record, "margin",
		"by how much the winner's family is ahead of the next", .flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct tuned_entry, check, check_record, "check", "what a check measured",
		.flags = RECORD_OPTIONAL),
	RECORD_UNKNOWN(struct tuned_entry, unknown),
};
RECORD_DEFINE(struct tuned_entry, tuned_entry_record, entry_members, .name = "entry");

void tuned_entry_release(struct tuned_entry *entry)
{
	record_release(&tuned_entry_record, entry);
}

void tuned_row_release(struct tuned_row *row)
{
	record_release(&tuned_row_record, row);
}

struct tuned_entry tuned_entry_copy(const struct tuned_entry *entry)
{
	struct tuned_entry copy = {0};

	record_copy(&tuned_entry_record, entry, &copy);
	return copy;
}

struct tuned_row tuned_row_copy(const struct tuned_row *row)
{
	struct tuned_row copy = {0};

	record_copy(&tuned_row_record, row, &copy);
	return copy;
}

struct tuned_row *tuned_row_find(const struct tuned_entry *entry, const char *family)
{
	for (size_t i = 0; i < entry->family_count; i++)
		if (strcmp(entry->families[i].family, family) == 0)
			return &entry->families[i];
	return NULL;
}

char *tuned_row_configuration(const struct tuned_row *row)
{
	struct text text = {0};

	if (!row->step_count)
		return named_values_text(&row->configuration);
	for (size_t i = 0; i < row->step_count; i++) {
		text_appendf(&text, "%s%s {", i ? " + " : "", row->steps[i].family);
		named_values_format(&row->steps[i].configuration, ",", &text);
		text_append_char(&text, '}');
	}
	return text_detach(&text);
}
