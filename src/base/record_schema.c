/* SPDX-License-Identifier: MIT */
#include "base/record_schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe_object(const struct record *record, const struct record_member *key,
	struct json *schema, struct json *definitions);

static bool has_member(const struct json *object, const char *name)
{
	const struct json_at at = json_root(object, "");
	struct json_at found;

	return json_find(&at, name, &found);
}

static struct json *type_schema(const char *type)
{
	struct json *schema = json_new_object();

	json_put_string(schema, "type", type);
	return schema;
}

struct json *record_schema_define(const char *name, struct json *schema, struct json *definitions)
{
	struct json *reference = json_new_object();
	char *path = string_format("#/definitions/%s", name);

	if (has_member(definitions, name))
		json_free(schema);
	else
		json_put(definitions, name, schema);
	json_put_string(reference, "$ref", path);
	free(path);
	return reference;
}

struct json *record_schema_reference(const struct record *record, struct json *definitions)
{
	struct json *object;

	if (!record->name)
		BUG("a record without a name has no definition");
	if (has_member(definitions, record->name))
		return record_schema_define(record->name, NULL, definitions);
	object = json_new_object();
	/* there before its members: a record may hold itself */
	json_put(definitions, record->name, object);
	describe_object(record, NULL, object, definitions);
	return record_schema_define(record->name, NULL, definitions);
}

void record_schema_require(struct json *schema, const char *rules)
{
	struct json *list;
	struct error err = {0};

	if (json_parse(rules, strlen(rules), "", &list, &err) != STATUS_OK)
		BUG("rules of a schema%s", err.message);
	json_put(schema, "allOf", list);
}

static struct json *names_schema(const char *const *names, bool is_bool)
{
	struct json *schema = json_new_object(), *list = json_new_array();

	for (size_t i = 0; names[i] && (!is_bool || i < 2); i++)
		json_push(list, json_new_string(names[i]));
	json_put(schema, "enum", list);
	return schema;
}

static struct json *number_schema(const struct record_member *member)
{
	const bool whole = member->kind != RECORD_KIND_REAL || member->flags & RECORD_WHOLE;
	struct json *schema = type_schema(whole ? "integer" : "number");

	if (record_has_range(member) && isfinite(member->low))
		json_put_double(schema, "minimum", member->low);
	else if (member->kind == RECORD_KIND_UINT)
		json_put_int(schema, "minimum", 0);
	if (record_has_range(member) && isfinite(member->high))
		json_put_double(schema, "maximum", member->high);
	return schema;
}

static struct json *string_schema(const struct record_member *member)
{
	struct json *schema = type_schema("string");

	if (member->rule && member->rule->pattern)
		json_put_string(schema, "pattern", member->rule->pattern);
	else if (member->rule && !member->rule->accepts)
		json_put_int(schema, "minLength", 1);
	if (member->kind == RECORD_KIND_TEXT)
		json_put_int(schema, "maxLength", (int64_t)member->size - 1);
	return schema;
}

static struct json *item_schema(const struct record_member *member, struct json *definitions)
{
	struct json *schema;

	switch (member->kind) {
	case RECORD_KIND_BOOL:
		return type_schema("boolean");
	case RECORD_KIND_INT:
	case RECORD_KIND_UINT:
	case RECORD_KIND_REAL:
		return number_schema(member);
	case RECORD_KIND_STRING:
	case RECORD_KIND_BORROWED:
	case RECORD_KIND_TEXT:
	case RECORD_KIND_COMMENT:
		return string_schema(member);
	case RECORD_KIND_ENUM:
		return names_schema(member->names, member->size == sizeof(bool));
	case RECORD_KIND_FLAGS:
		schema = type_schema("array");
		json_put(schema, "items", names_schema(member->names, false));
		json_put_bool(schema, "uniqueItems", true);
		return schema;
	case RECORD_KIND_RECORD:
		return record_schema_reference(member->record, definitions);
	case RECORD_KIND_CUSTOM:
		return member->custom->schema ? member->custom->schema(definitions)
					      : json_new_object();
	case RECORD_KIND_CONSTANT:
		schema = json_new_object();
		json_put_string(schema, "const", member->constant);
		return schema;
	default:
		return json_new_object();
	}
}

static void put_bounds(struct json *schema, const struct record_member *member, const char *least,
	const char *most)
{
	const size_t low = member->shape == RECORD_FIXED ? member->length : member->count_min;
	const size_t high = member->count_max ? member->count_max : member->length;

	if (low)
		json_put_int(schema, least, (int64_t)low);
	if (high)
		json_put_int(schema, most, (int64_t)high);
}

static struct json *map_schema(const struct record_member *member, struct json *definitions)
{
	const struct record *record = member->record;
	struct json *schema = type_schema("object"), *item;

	if (record->members[0].rule && record->members[0].rule->pattern)
		json_put(schema, "propertyNames", string_schema(&record->members[0]));
	if (record->member_count == 2 && !*record->members[1].name) {
		item = item_schema(&record->members[1], definitions);
	} else {
		item = json_new_object();
		describe_object(record, &record->members[0], item, definitions);
	}
	json_put(schema, "additionalProperties", item);
	put_bounds(schema, member, "minProperties", "maxProperties");
	return schema;
}

static struct json *by_name_schema(const struct record_member *member, struct json *definitions)
{
	struct json *schema = type_schema("object");

	json_put(schema, "propertyNames", names_schema(member->keys, false));
	json_put(schema, "additionalProperties", item_schema(member, definitions));
	return schema;
}

/* The same, or null. */
static struct json *nullable_schema(struct json *schema)
{
	const struct json_at at = json_root(schema, "");
	struct json *types, *either;
	struct json_at type;

	if (json_find(&at, "type", &type) && json_type(&type) == JSON_STRING) {
		types = json_new_array();
		json_push(types, json_copy(type.node));
		json_push(types, json_new_string("null"));
		json_put(schema, "type", types);
		return schema;
	}
	if (json_count(&at) == 0)
		return schema;
	types = json_new_array();
	json_push(types, schema);
	json_push(types, type_schema("null"));
	either = json_new_object();
	json_put(either, "anyOf", types);
	return either;
}

static struct json *member_schema(const struct record_member *member, struct json *definitions)
{
	struct json *schema;

	switch (member->shape) {
	case RECORD_MAPPED:
		schema = map_schema(member, definitions);
		break;
	case RECORD_BY_NAME:
		schema = by_name_schema(member, definitions);
		break;
	case RECORD_LIST:
	case RECORD_FIXED:
	case RECORD_FILLED:
		schema = type_schema("array");
		json_put(schema, "items", item_schema(member, definitions));
		put_bounds(schema, member, "minItems", "maxItems");
		break;
	default:
		schema = item_schema(member, definitions);
	}
	if (member->flags & RECORD_NULLABLE)
		schema = nullable_schema(schema);
	if (member->help && *member->help)
		json_put_string(schema, "description", member->help);
	return schema;
}

static void describe_object(const struct record *record, const struct record_member *key,
	struct json *schema, struct json *definitions)
{
	struct json *properties = json_new_object(), *required = json_new_array();
	struct record_slots slots;
	bool open = record->open;

	record_slots_fill(record, &slots);
	for (size_t i = 0; i < slots.count; i++) {
		const struct record_member *member = slots.items[i].member;

		open = open || member->kind == RECORD_KIND_UNKNOWN;
		if (!record_is_json(member) || member == key)
			continue;
		json_put(properties, member->name, member_schema(member, definitions));
		if (!(member->flags & (RECORD_OPTIONAL | RECORD_COMPUTED)))
			json_push(required, json_new_string(member->name));
	}
	json_put_string(schema, "type", "object");
	if (record->help && *record->help)
		json_put_string(schema, "description", record->help);
	json_put(schema, "properties", properties);
	json_put(schema, "required", required);
	if (!open)
		json_put_bool(schema, "additionalProperties", false);
	if (record->refine)
		record->refine(schema);
}

struct json *record_schema(const struct record *record, const char *title)
{
	struct json *schema = json_new_object(), *definitions = json_new_object();
	const struct json_at at = json_root(definitions, "");

	json_put_string(schema, "$schema", "http://json-schema.org/draft-07/schema#");
	json_put_string(schema, "title", title);
	describe_object(record, NULL, schema, definitions);
	if (json_count(&at))
		json_put(schema, "definitions", definitions);
	else
		json_free(definitions);
	return schema;
}

/* ---- columns ---- */
void csv_append(struct text *line, const char *field)
{
	const bool is_formula = *field && strchr("=+-@\t", *field);

	if (!is_formula && !field[strcspn(field, ",\"\r\n")]) {
		text_append(line, field);
		return;
	}
	text_append(line, is_formula ? "\"'" : "\"");
	for (; *field; field++) {
		if (*field == '"')
			text_append_char(line, '"');
		text_append_char(line, *field);
	}
	text_append_char(line, '"');
}

/* value: NULL where there is none. */
static void walk_cells(const struct record *record, const char *value, const char *prefix,
	void (*each)(const struct record_cell *cell, void *context), void *context)
{
	for (size_t i = 0; i < record->member_count; i++) {
		const struct record_member *member = &record->members[i];
		const char *item = value ? value + member->offset : NULL;

		if (member->flags & RECORD_NOT_JSON)
			continue;
		if (value && (member->present || member->flags & RECORD_OPTIONAL) &&
			record_is_absent(member, value))
			item = NULL;
		if (member->shape == RECORD_FLATTENED) {
			walk_cells(member->record, item, prefix, each, context);
		} else if ((member->shape == RECORD_ONE || member->shape == RECORD_OWNED) &&
			   member->kind == RECORD_KIND_RECORD) {
			char *inner = string_format("%s%s.", prefix, member->name);

			if (item && member->shape == RECORD_OWNED)
				memcpy(&item, item, sizeof(item));
			walk_cells(member->record, item, inner, each, context);
			free(inner);
		}
		if (member->shape != RECORD_ONE || member->kind > RECORD_KIND_FLAGS ||
			member->kind == RECORD_KIND_BYTES || member->kind == RECORD_KIND_JSON)
			continue;
		each(&(struct record_cell){.member = member, .prefix = prefix, .item = item},
			context);
	}
}

void record_cells(const struct record *record, const void *value,
	void (*each)(const struct record_cell *cell, void *context), void *context)
{
	walk_cells(record, value, "", each, context);
}

double record_cell_number(const struct record_cell *cell)
{
	const enum record_kind kind = cell->member->kind;

	if (cell->item && kind == RECORD_KIND_REAL)
		return record_load_real(cell->member, cell->item);
	if (cell->item && (kind == RECORD_KIND_INT || kind == RECORD_KIND_UINT))
		return (double)record_load(cell->member, cell->item);
	return NAN;
}

const char *record_cell_string(const struct record_cell *cell)
{
	const struct record_member *member = cell->member;
	const char *string = cell->item;

	if (!cell->item)
		return NULL;
	switch (member->kind) {
	case RECORD_KIND_BOOL:
		return record_load(member, cell->item) ? "true" : "false";
	case RECORD_KIND_ENUM:
		return member->names[record_load(member, cell->item)];
	case RECORD_KIND_STRING:
	case RECORD_KIND_BORROWED:
		memcpy(&string, cell->item, sizeof(string));
		return string;
	case RECORD_KIND_TEXT:
		return string;
	default:
		return NULL;
	}
}

struct row {
	struct text *line;
	bool any;
};

static void begin_cell(struct row *row)
{
	if (row->any)
		text_append_char(row->line, ',');
	row->any = true;
}

static void append_name(const struct record_cell *cell, void *context)
{
	struct row *row = context;

	begin_cell(row);
	text_appendf(row->line, "%s%s", cell->prefix, cell->member->name);
}

static void append_value(const struct record_cell *cell, void *context)
{
	const struct record_member *member = cell->member;
	struct row *row = context;
	const char *string = record_cell_string(cell);
	const double number = record_cell_number(cell);

	begin_cell(row);
	if (!cell->item)
		return;
	if (string)
		csv_append(row->line, string);
	else if (member->kind == RECORD_KIND_INT)
		text_appendf(row->line, "%lld", (long long)record_load(member, cell->item));
	else if (member->kind == RECORD_KIND_UINT)
		text_appendf(
			row->line, "%llu", (unsigned long long)record_load(member, cell->item));
	else if (isfinite(number))
		text_appendf(row->line, "%.*g", member->flags & RECORD_WHOLE ? 17 : 10, number);
	for (size_t i = 0, any = 0; member->kind == RECORD_KIND_FLAGS && member->names[i]; i++)
		if (record_load(member, cell->item) & (int64_t)1 << i)
			text_appendf(row->line, "%s%s", any++ ? " " : "", member->names[i]);
}

void record_csv_header(const struct record *record, struct text *line)
{
	record_cells(record, NULL, append_name, &(struct row){.line = line});
}

void record_csv_row(const struct record *record, const void *value, struct text *line)
{
	record_cells(record, value, append_value, &(struct row){.line = line});
}
