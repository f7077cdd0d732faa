/* SPDX-License-Identifier: MIT
 *
 * Reading "reference" of an operation.
 */
#include "family/reference.h"

#include <stdlib.h>
#include <string.h>

#include "spec/device_spec.h"

static const char *const keys[] = {
	"source", "entry", "unit", "units_per_block", "block", "smem_bytes", "args", "help", NULL};

enum status reference_read(const struct json_at *at, const struct name_table *key_names,
	const char *const *tensors, struct reference *reference, struct error *err)
{
	struct argument_names known = {.buffers = tensors, .specials = true};
	struct name_table *names = &reference->names;
	struct json_at entry, unit_at;
	const char *unit;

	for (size_t i = 0; i < key_names->count; i++)
		name_table_add(names, key_names->names[i]);
	for (size_t i = 0; i < device_spec_name_count(); i++)
		name_table_add(names, device_spec_name(i));
	if (json_expect_keys(at, keys, err) != STATUS_OK ||
		json_member(at, "entry", &entry, err) != STATUS_OK ||
		json_get_string(&entry, &reference->entry, err) != STATUS_OK ||
		name_json_check(&entry, reference->entry, err) != STATUS_OK ||
		json_member(at, "unit", &unit_at, err) != STATUS_OK ||
		json_get_string(&unit_at, &unit, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	reference->unit_is_row = strcmp(unit, "row") == 0;
	if (!reference->unit_is_row && strcmp(unit, "element") != 0)
		return json_error(&unit_at, err, "\"element\" or \"row\"");
	if (expression_json_member(
		    at, "units_per_block", names, &reference->units_per_block, err) != STATUS_OK ||
		expression_json_member(at, "block", names, &reference->block, err) != STATUS_OK ||
		expression_json_member_if(at, "smem_bytes", names, &reference->smem_bytes, err) !=
			STATUS_OK)
		return STATUS_BAD_INPUT;
	return argument_json_list(at, &known, names, &reference->arguments, err);
}

void reference_release(struct reference *reference)
{
	free(reference->source_name);
	free(reference->source);
	name_table_release(&reference->names);
	expression_free(reference->units_per_block);
	expression_free(reference->block);
	expression_free(reference->smem_bytes);
	argument_list_release(&reference->arguments);
	*reference = (struct reference){0};
}
