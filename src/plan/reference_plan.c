/* SPDX-License-Identifier: MIT */
#include "plan/reference_plan.h"

const char *const verified_names[] = {
	[VERIFIED_REFERENCE] = "reference",
	[VERIFIED_FILE] = "file",
	[VERIFIED_CONFIGURATION] = "configuration",
	[VERIFIED_SELF] = "self",
	NULL,
};

const char *const verified_texts[] = {
	[VERIFIED_REFERENCE] = "the reference",
	[VERIFIED_FILE] = "the file",
	[VERIFIED_CONFIGURATION] = "the trusted configuration",
	[VERIFIED_SELF] = "the default configuration",
	NULL,
};

const char *const verified_by_names[] = {"tiletune", "program", NULL};

char *verified_words(enum verified verified, bool by_program)
{
	if (by_program)
		return string_copy("verified_by: program (it compares and times by itself)");
	return verified == VERIFIED_REFERENCE
		       ? NULL
		       : string_format("verified: %s (compared with %s)", verified_names[verified],
				 verified_texts[verified]);
}

static const char *const unit_names[] = {"element", "row", NULL};

static enum status reference_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct reference_plan *reference = value;

	(void)context;
	for (size_t i = 0; i < reference->output_count; i++) {
		const struct reference_output *output = &reference->outputs[i];

		if (output->tensor >= reference->tensor_count)
			return json_invalid(at, err, "output %zu is not a tensor", i);
		if (!output->launch && !output->file && !reference->trusted)
			return json_invalid(at, err, "output %zu has no reference", i);
	}
	return reference->output_count ? STATUS_OK : json_invalid(at, err, "there is no output");
}

#define OUTPUT(field) RECORD_VALUE(struct reference_output, field, #field)
static const struct record_member output_members[] = {
	OUTPUT(tensor),
	RECORD_ENUM(struct reference_output, verified, verified_names, "verified"),
	RECORD_POINTER(struct reference_output, launch, plan_launch_record, "launch",
		.flags = RECORD_OPTIONAL),
	OUTPUT(units_per_block),
	RECORD_ENUM(struct reference_output, unit_is_row, unit_names, "unit"),
	RECORD_VALUE(struct reference_output, file, "file", .flags = RECORD_OPTIONAL),
	OUTPUT(tolerance_abs),
	OUTPUT(tolerance_rel),
	OUTPUT(abs_scales),
	OUTPUT(differ_ratio),
};
#undef OUTPUT
static RECORD_DEFINE(
	struct reference_output, output_record, output_members, .name = "reference_output");

static const struct record_member contents_members[] = {
	RECORD_VALUE(struct plan_contents, tensor, "tensor"),
	RECORD_VALUE(struct plan_contents, expression, "expression", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct plan_contents, file, "file", .flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(
	struct plan_contents, contents_record, contents_members, .name = "plan_contents");

static const struct record_member reference_members[] = {
	RECORD_VALUE(struct reference_plan, may_vary, "may_vary", .flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct reference_plan, tensors, tensor_count, plan_buffer_record, "tensors"),
	RECORD_RECORDS(struct reference_plan, outputs, output_count, output_record, "outputs"),
	RECORD_RECORDS(struct reference_plan, contents, contents_count, contents_record, "contents",
		.flags = RECORD_OPTIONAL),
	RECORD_NAMED_VALUES(struct reference_plan, keys, "keys", .flags = RECORD_OPTIONAL),
	RECORD_POINTER(
		struct reference_plan, trusted, plan_record, "trusted", .flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct reference_plan, reference_plan_record, reference_members,
	.name = "reference_plan", .check = reference_check);

void reference_plan_release(struct reference_plan *reference)
{
	record_release(&reference_plan_record, reference);
	*reference = (struct reference_plan){0};
}
