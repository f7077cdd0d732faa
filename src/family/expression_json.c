/* SPDX-License-Identifier: MIT */
#include "family/expression_json.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "expr/named_values.h"
#include "family/family.h"

static const struct {
	const char *name;
	unsigned contexts;
} extras[EXTRA_COUNT] = {
#define ROW(id, name, contexts, summary) [EXTRA_##id] = {name, contexts},
	SCOPE_EXTRAS(ROW)
#undef ROW
};

void scope_init(struct scope *scope, const char *const *key_names, size_t key_count)
{
	*scope = (struct scope){0};
	for (size_t i = 0; i < key_count; i++)
		name_table_add(&scope->all, key_names[i]);
	scope->device_at = scope->all.count;
	for (size_t i = 0; i < DEVICE_VALUE_COUNT; i++)
		name_table_add(&scope->all, device_value_names[i]);
	scope->extra_at = scope->all.count;
	for (size_t i = 0; i < EXTRA_COUNT; i++)
		name_table_add(&scope->all, extras[i].name);
	scope->parameter_at = scope->constant_at = scope->all.count;
}

void scope_release(struct scope *scope)
{
	name_table_release(&scope->all);
}

bool scope_frees(struct scope *scope, const char *name)
{
	const int index = name_table_find(&scope->all, name);
	const size_t extra = (size_t)index - scope->extra_at;

	if (index >= 0 && (size_t)index >= scope->extra_at && extra < EXTRA_COUNT)
		scope->all.names[index] = NULL;
	return name_table_find(&scope->all, name) == NAME_UNKNOWN;
}

size_t scope_extra_index(const struct scope *scope, enum scope_extra extra)
{
	return scope->extra_at + (size_t)extra;
}

struct name_table scope_table(const struct scope *scope, enum scope_context context)
{
	struct name_table table = {.first_hinted = scope->parameter_at};

	for (size_t i = 0; i < scope->all.count; i++) {
		size_t extra = i - scope->extra_at;
		const char *name = scope->all.names[i];

		if (i >= scope->extra_at && extra < EXTRA_COUNT &&
			!(extras[extra].contexts & (unsigned)context))
			name = NULL;
		name_table_add(&table, name);
	}
	return table;
}

const struct name_table *reading_names(
	struct expression_reading *reading, enum scope_context context)
{
	struct name_table *table = context == SCOPE_SMEM ? &reading->lane : &reading->prune;

	if (context == SCOPE_PLAIN)
		return reading->names;
	if (context == SCOPE_FIXED)
		return &reading->fixed;
	if (!table->count)
		*table = scope_table(reading->scope, context);
	return table;
}

void reading_release(struct expression_reading *reading)
{
	name_table_release(&reading->fixed);
	name_table_release(&reading->lane);
	name_table_release(&reading->prune);
}

/* ---- text of an expression ---- */
static void value_cleanup(struct value *value)
{
	named_value_custom.release(value);
}

static enum status literal_text(const struct json_at *at, struct text *text, struct error *err)
{
	CLEANUP(value_cleanup) struct value value = {0};

	TRY(named_value_custom.read(at, &value, NULL, err));
	if (value.type == VALUE_BOOL)
		text_append(text, value.boolean ? "True" : "False");
	else if (value.type == VALUE_REAL)
		text_append_real(text, value.real);
	else if (value.type == VALUE_INT)
		text_appendf(text, "%" PRId64, value.integer);
	else if (strpbrk(value.string, "'\\\n"))
		return json_error(at, err, "a string without quotes and backslashes");
	else
		text_appendf(text, "'%s'", value.string);
	return STATUS_OK;
}

static enum status expression_text_read(
	const struct json_at *at, struct text *text, struct error *err)
{
	struct json_at item = {0};
	const char *string;

	if (json_type(at) == JSON_STRING) {
		TRY(json_get_string(at, &string, err));
		text_append(text, string);
		return STATUS_OK;
	}
	if (json_type(at) == JSON_NUMBER || json_type(at) == JSON_BOOL)
		return literal_text(at, text, err);
	if (json_type(at) != JSON_ARRAY)
		return json_error(at, err, "an expression (a string, a number or a list)");
	text_append_char(text, '[');
	while (json_next(at, &item)) {
		text_append(text, item.index ? ", " : "");
		TRY(literal_text(&item, text, err));
	}
	text_append_char(text, ']');
	return STATUS_OK;
}

/* Names of list items in messages, and the member that identifies an item. */
static const struct {
	const char *list, *item, *label;
} subjects[] = {
	{"launches", "launch", "entry"},
	{"constraints", "constraint", "why"},
	{"prune", "prune rule", "why"},
	{"facts", "fact", "name"},
};

/* Appends e.g. " (grid of launch 1, sgemm)", which is clearer than the indices in a JSON path. */
static void subject_append(const struct json_at *at, struct text *where)
{
	const char *member = NULL, *label;

	for (; at->parent && at->parent->parent && at->parent->parent->parent; at = at->parent)
		member = at->key ? at->key : member;
	if (!at->parent || !at->parent->parent || !at->parent->key || at->key)
		return;
	for (size_t i = 0; i < ARRAY_COUNT(subjects); i++) {
		if (strcmp(at->parent->key, subjects[i].list) != 0)
			continue;
		text_append(where, " (");
		if (member && strcmp(member, "expr") != 0) {
			text_append(where, member);
			text_append(where, " of ");
		}
		text_appendf(where, "%s %zu", subjects[i].item, at->index + 1);
		label = json_string_of(at, subjects[i].label);
		text_append(where, label ? ", " : "");
		text_append(where, label ? label : "");
		text_append_char(where, ')');
	}
}

/* Appends file, path and subject, with which the expression's messages begin. */
static void where_append(const struct json_at *at, struct text *where)
{
	text_append(where, at->file ? at->file : "JSON");
	text_append(where, ": ");
	json_path(at, where);
	subject_append(at, where);
}

enum status expression_text_compile(const struct json_at *at, const char *text,
	const struct name_table *names, struct expression **expression, struct error *err)
{
	CLEANUP(text_release) struct text where = {0};

	where_append(at, &where);
	return expression_compile(text, where.data, names, expression, err);
}

enum status expression_compile_member(const struct json_at *at, const char *name,
	const struct name_table *names, struct expression **expression, struct error *err)
{
	CLEANUP(text_release) struct text where = {0};
	struct json_at member;

	if (!json_find(at, name, &member))
		return STATUS_OK;
	where_append(&member, &where);
	return expression_compile_optional(
		json_string_of(at, name), where.data, names, expression, err);
}

enum status expression_json_compile(const struct json_at *at, const struct name_table *names,
	struct expression **expression, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	*expression = NULL;
	TRY(expression_text_read(at, &text, err));
	return expression_text_compile(at, text_string(&text), names, expression, err);
}

void expression_member_release(void *field)
{
	struct expression **expression = field;

	expression_free(*expression);
	*expression = NULL;
}

EXPRESSION_CUSTOM(, expression_member, reading->names);
EXPRESSION_CUSTOM(, expression_fixed_member, &reading->fixed);

/* Compiles each term separately, so that messages name its place. */
static enum status sum_read(const struct json_at *at, void *field, void *context, struct error *err)
{
	const struct expression_reading *reading = context;
	CLEANUP(text_release) struct text sum = {0};
	struct json_at item = {0};

	if (json_type(at) != JSON_ARRAY)
		return expression_json_compile(at, reading->names, field, err);
	while (json_next(at, &item)) {
		struct expression *term;

		TRY(expression_json_compile(&item, reading->names, &term, err));
		text_appendf(&sum, "%s(%s)", item.index ? " + " : "", expression_text(term));
		expression_free(term);
	}
	return expression_text_compile(at, text_string(&sum), reading->names, field, err);
}

const struct record_custom expression_sum_member = {sum_read, NULL, expression_member_release};

static bool name_accepts(const char *name)
{
	return strlen(name) < PLAN_NAME_SIZE && name_is_valid(name) && !name_is_function(name) &&
	       strcmp(name, "None") != 0;
}

const struct record_rule name_rule = {
	.expected = "a name of letters, digits and _ (no digit first, fewer than 48, no word of "
		    "expressions)",
	.accepts = name_accepts,
};

static bool tensor_name_accepts(const char *name)
{
	const char *c = name;

	while (isalnum((unsigned char)*c) || *c == '_')
		c++;
	return !*c && c > name && c - name < PLAN_NAME_SIZE && !isdigit((unsigned char)*name);
}

const struct record_rule tensor_name_rule = {
	.expected = "a name of letters, digits and _ (no digit first, fewer than 48)",
	.accepts = tensor_name_accepts,
};

static const struct record_member condition_members[] = {
	EXPRESSION(struct condition, expression, "expr"),
	RECORD_VALUE(struct condition, why, "why"),
};
RECORD_DEFINE(struct condition, condition_record, condition_members, .name = "condition");
