/* SPDX-License-Identifier: MIT
 *
 * -D lists.
 */
#include "candidate/candidate.h"
#include "candidate/defines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

static enum status add_string(
	struct define *define, const char *name, const char *string, struct error *err)
{
	size_t length = strlen(name);

	for (const char *c = string; *c; c++)
		if ((unsigned char)*c >= 128 || (!isalnum((unsigned char)*c) && *c != '_'))
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a name of letters, digits and _, found \"%s\"", name,
				string);
	define->name = string_format("%s_%s", name, string);
	for (size_t i = 0; i < length; i++)
		define->name[i] = (char)toupper((unsigned char)define->name[i]);
	define->value = string_copy("1");
	return STATUS_OK;
}

enum status define_list_add(
	struct define_list *list, const char *name, struct value value, struct error *err)
{
	struct define define = {0};
	enum status status = STATUS_OK;

	switch (value.type) {
	case VALUE_INT:
		define.value = string_format("%" PRId64, value.integer);
		break;
	case VALUE_BOOL:
		define.value = string_copy(value.boolean ? "1" : "0");
		break;
	case VALUE_REAL:
		define.value = string_format("%.17g", value.real);
		break;
	case VALUE_STRING:
		status = add_string(&define, name, value.string, err);
		break;
	case VALUE_NONE:
	case VALUE_LIST:
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected a number or a string, found %s", name,
			value_type_name(value.type));
		break;
	}
	if (status != STATUS_OK)
		return status;
	if (!define.name)
		define.name = string_copy(name);
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = define;
	return STATUS_OK;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct define *)a)->name, ((const struct define *)b)->name);
}

void define_list_sort(struct define_list *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare);
}

void define_list_release(struct define_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].name);
		free(list->items[i].value);
	}
	free(list->items);
	*list = (struct define_list){0};
}

enum status operation_defines(const struct operation *operation, const struct value *values,
	struct define_list *list, struct error *err)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < operation->key_count && status == STATUS_OK; i++)
		if (operation->keys[i].is_constant)
			status = define_list_add(list, operation->keys[i].name, values[i], err);
	return status;
}

enum status family_defines(const struct family *family, const struct value *slots,
	struct define_list *list, struct error *err)
{
	const struct scope *scope = &family->scope;
	enum status status = operation_defines(family->operation, slots, list, err);

	for (size_t i = 0; i < family->parameter_count && status == STATUS_OK; i++)
		if (!family->parameters[i].is_argument)
			status = define_list_add(list, family->parameters[i].name,
				slots[scope->parameter_at + i], err);
	for (size_t i = 0; i < family->constant_count && status == STATUS_OK; i++)
		if (!family->constants[i].is_for_model)
			status = define_list_add(list, family->constants[i].name,
				slots[scope->constant_at + i], err);
	if (status != STATUS_OK)
		return error_context(err, "%s", family->file);
	define_list_sort(list);
	return STATUS_OK;
}

struct json *candidate_defines(const struct bound_family *bound, const struct value *slots)
{
	struct json *object = json_new_object();
	struct define_list list = {0};

	if (family_defines(bound->family, slots, &list, NULL) == STATUS_OK) {
		for (size_t i = 0; i < list.count; i++) {
			const char *value = list.items[i].value;
			char *end;
			long long integer = strtoll(value, &end, 10);

			if (*end)
				json_put_double(object, list.items[i].name, strtod(value, NULL));
			else
				json_put_int(object, list.items[i].name, integer);
		}
	}
	define_list_release(&list);
	return object;
}
