/* SPDX-License-Identifier: MIT */
#include "format/journal_table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_read.h"
#include "base/record_write.h"

static const char configuration_path[] = "configuration.";

/* ---- an evaluation as {path: value} ---- */
static struct json *shortened(const struct json_at *at)
{
	double value = 0;
	char digits[32];

	if (json_type(at) != JSON_NUMBER || json_is_int(at) ||
		json_get_double(at, &value, NULL) != STATUS_OK)
		return json_copy(at->node);
	snprintf(digits, sizeof(digits), "%.5g", value);
	return json_new_double(strtod(digits, NULL));
}

static void flatten(const struct json_at *at, struct text *path, struct json *flat)
{
	const size_t length = path->length;
	struct json_at item = {0};

	if (json_count(at) == 0) {
		json_put(flat, text_string(path), shortened(at));
		return;
	}
	for (size_t i = 0; json_next(at, &item); i++) {
		if (length)
			text_append(path, ".");
		if (json_type(at) == JSON_OBJECT)
			text_append(path, item.key);
		else
			text_appendf(path, "%zu", i);
		flatten(&item, path, flat);
		path->data[path->length = length] = '\0';
	}
}

static void put_parameters(struct json *flat, const char *configuration)
{
	CLEANUP(memory_free) char *copy = string_copy(configuration);
	char *rest = copy, *item;

	while (*configuration && (item = strsep(&rest, ",")) != NULL) {
		char *equals = strchr(item, '='), *end;
		const long long number = strtoll(equals + 1, &end, 10);
		CLEANUP(memory_free) char *again = string_format("%lld", number), *path = NULL;

		path = string_format("%s%.*s", configuration_path, (int)(equals - item), item);
		json_put(flat, path,
			!*end && strcmp(again, equals + 1) == 0 ? json_new_int(number)
								: json_new_string(equals + 1));
	}
}

static struct json *flat_evaluation(const struct evaluation *evaluation, bool with_samples)
{
	CLEANUP(json_release) struct json *whole = NULL;
	struct evaluation kept = *evaluation;
	struct json *flat = json_new_object();
	struct json_at at, item = {0};

	kept.score = (struct score){0};
	kept.kernel_hash[0] = '\0';
	kept.from_cache = false;
	if (!kept.verification.violations)
		kept.verification.done = false;
	if (!with_samples)
		kept.sample_count = 0;
	whole = record_to_json(&evaluation_record, &kept);
	at = json_root(whole, "");
	while (json_next(&at, &item)) {
		CLEANUP(text_release) struct text path = {0};

		if (strcmp(item.key, "configuration") == 0) {
			put_parameters(flat, evaluation->configuration);
			continue;
		}
		text_append(&path, item.key);
		flatten(&item, &path, flat);
	}
	return flat;
}

/* ---- writing ---- */
struct table {
	struct json **flats;
	size_t *order;
	size_t count;
	struct name_set names; /* paths, in the order in which they were met */
};

static void add_names(struct table *table, const struct json *flat)
{
	struct json_at at = json_root(flat, ""), item = {0};

	while (json_next(&at, &item))
		name_set_add(&table->names, item.key, strlen(item.key));
}

/* The value of row 0 if all rows have it, else NULL; borrowed. */
static const struct json *same_value(const struct table *table, const char *name)
{
	const struct json *first = NULL;

	for (size_t i = 0; i < table->count; i++) {
		struct json_at root = json_root(table->flats[i], ""), at;

		if (!json_find(&root, name, &at) || (first && !json_same(first, at.node)))
			return NULL;
		first = first ? first : at.node;
	}
	return first;
}

static struct json *column_json(const struct table *table, const char *name)
{
	struct json *column = json_new_array();

	for (size_t i = 0; i < table->count; i++) {
		struct json_at root = json_root(table->flats[i], ""), at;

		json_push(column,
			json_find(&root, name, &at) ? json_copy(at.node) : json_new_string(NULL));
	}
	return column;
}

static void put_table(const struct table *table, const char *event, int64_t problem,
	const char *run_id, struct text *text)
{
	CLEANUP(json_release) struct json *line = json_new_object();
	struct json *same = json_new_object(), *columns = json_new_object();
	struct json *places = json_new_array(), *parameters = json_new_array();

	for (size_t i = 0; i < table->count; i++)
		json_push(places, json_new_int((int64_t)table->order[i]));
	for (size_t k = 0; k < table->names.count; k++) {
		const char *name = table->names.items[k];
		const struct json *value = same_value(table, name);

		if (string_starts_with(name, configuration_path))
			json_push(parameters, json_new_string(name + strlen(configuration_path)));
		if (value)
			json_put(same, name, json_copy(value));
		else
			json_put(columns, name, column_json(table, name));
	}
	json_put_int(line, "problem", problem);
	json_put_string(line, "of", event);
	json_put(line, "parameters", parameters);
	json_put(line, "places", places);
	json_put(line, "same", same);
	json_put(line, "columns", columns);
	journal_line_put("evaluations", line, run_id, text);
}

static void table_release(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		json_free(table->flats[i]);
	name_set_release(&table->names);
	free(table->flats);
	free(table->order);
}

void journal_table_put(const struct evaluation *evaluations, size_t count, const char *event,
	int64_t problem, const char *run_id, struct text *text)
{
	CLEANUP(memory_free) bool *done = memory_zeroed(count + 1, sizeof(*done));

	for (size_t first = 0; first < count; first++) {
		CLEANUP(table_release)
		struct table table = {.flats = memory_zeroed(count, sizeof(struct json *)),
			.order = memory_zeroed(count, sizeof(size_t))};

		for (size_t i = first; i < count && !done[first]; i++) {
			if (done[i] || strcmp(evaluations[i].family, evaluations[first].family))
				continue;
			table.order[table.count] = i;
			table.flats[table.count] =
				flat_evaluation(&evaluations[i], strcmp(event, "final") == 0);
			add_names(&table, table.flats[table.count++]);
			done[i] = i != first;
		}
		if (table.count)
			put_table(&table, event, problem, run_id, text);
	}
}

/* ---- reading ---- */
struct field {
	const struct json *value;    /* of the row at hand; NULL: there is none */
	struct json_at column, next; /* where it varies */
};

/* A step of paths: where one ends its field, and the steps that follow. */
struct step {
	char *key;
	size_t index; /* of an array's element */
	bool is_element;
	const struct field *field; /* NULL: no path ends here */
	struct step *first, *next;
};

/* The columns of a line, and their paths, taken apart once. */
struct fields {
	struct field *items;
	size_t count;
	struct step root;
};

static void steps_free(struct step *step)
{
	while (step) {
		struct step *next = step->next;

		steps_free(step->first);
		free(step->key);
		free(step);
		step = next;
	}
}

static void fields_release(struct fields *fields)
{
	free(fields->items);
	steps_free(fields->root.first);
}

/* The step below, which is made where there is none; elements are in their order. */
static struct step *step_below(struct step *parent, const char *key, size_t length)
{
	const bool is_element = isdigit((unsigned char)*key);
	const size_t index = is_element ? strtoul(key, NULL, 10) : 0;
	struct step **place = &parent->first, *step;

	for (; *place; place = &(*place)->next) {
		if (strncmp((*place)->key, key, length) == 0 && !(*place)->key[length])
			return *place;
		if (is_element && (*place)->is_element && (*place)->index > index)
			break;
	}
	step = memory_zeroed(1, sizeof(*step));
	*step = (struct step){.key = string_copy_bytes(key, length),
		.index = index,
		.is_element = is_element,
		.next = *place};
	return *place = step;
}

static void fields_add(struct fields *fields, const char *path, struct field field)
{
	struct step *step = &fields->root;

	for (;; path++) {
		const size_t length = strcspn(path, ".");

		step = step_below(step, path, length);
		path += length;
		if (!*path)
			break;
	}
	fields->items[fields->count] = field;
	if (!step->field)
		step->field = &fields->items[fields->count];
	fields->count++;
}

/* What lies below a step, put together again; NULL: nothing. */
static struct json *assemble(const struct step *parent)
{
	struct json *whole = NULL;
	bool is_array = false;
	size_t count = 0;

	for (const struct step *step = parent->first; step; step = step->next) {
		const struct json *leaf = step->field ? step->field->value : NULL;
		struct json *value = leaf ? json_copy(leaf) : assemble(step);

		if (!value)
			continue;
		if (!whole) {
			is_array = step->is_element;
			whole = is_array ? json_new_array() : json_new_object();
		}
		if (!is_array)
			json_put(whole, step->key, value);
		else if (step->is_element && step->index == count++) /* they follow each other */
			json_push(whole, value);
		else
			json_free(value);
	}
	return whole;
}

static void append_value(const struct json *node, struct text *text)
{
	const struct json_at at = json_root(node, NULL);
	const char *string;
	int64_t number;

	if (json_get_string(&at, &string, NULL) == STATUS_OK)
		text_append(text, string);
	else if (json_get_int(&at, &number, NULL) == STATUS_OK && number / INT32_MAX == 0)
		text_appendf(text, "%d", (int)number);
	else
		json_append(node, false, text);
}

/* "BM=128,BN=256" by the line's order of parameters. */
static void put_configuration(
	struct json *whole, const struct step *configuration, char *const *parameters)
{
	CLEANUP(text_release) struct text text = {0};

	for (; *parameters; parameters++)
		for (const struct step *step = configuration; step; step = step->next) {
			if (!step->field || !step->field->value || strcmp(step->key, *parameters))
				continue;
			text_appendf(&text, "%s%s=", text.length ? "," : "", step->key);
			append_value(step->field->value, &text);
		}
	json_put_string(whole, "configuration", text_string(&text));
}

/* Moves all columns on by a row. */
static enum status next_row(struct fields *fields, struct error *err)
{
	for (size_t i = 0; i < fields->count; i++) {
		struct field *field = &fields->items[i];

		if (!field->column.node)
			continue;
		if (!json_next(&field->column, &field->next))
			return json_error(&field->column, err, "a value for each place");
		field->value = json_type(&field->next) == JSON_NULL ? NULL : field->next.node;
	}
	return STATUS_OK;
}

static enum status read_row(const struct json_at *place, const struct journal_table *table,
	struct fields *fields, struct evaluation *evaluation, struct error *err)
{
	CLEANUP(json_release) struct json *whole = NULL;
	const struct step *configuration = fields->root.first;
	struct json_at at = *place;

	TRY(next_row(fields, err));
	whole = assemble(&fields->root);
	if (!whole)
		whole = json_new_object();
	at.node = whole;
	while (configuration && strcmp(configuration->key, "configuration") != 0)
		configuration = configuration->next;
	put_configuration(whole, configuration ? configuration->first : NULL, table->parameters);
	return record_from_json(&evaluation_record, &at, evaluation, NULL, err);
}

/* NULL: it is taken. */
static struct evaluation *place_find(
	size_t index, struct evaluation **evaluations, size_t *count, size_t *capacity)
{
	while (*count <= index) {
		ARRAY_GROW(*evaluations, *count, *capacity);
		(*evaluations)[(*count)++] = (struct evaluation){0};
	}
	return (*evaluations)[index].family ? NULL : &(*evaluations)[index];
}

enum status journal_table_read(const struct json_at *line, const struct journal_table *table,
	struct evaluation **evaluations, size_t *count, size_t *capacity, struct error *err)
{
	CLEANUP(fields_release) struct fields fields = {0};
	struct json_at same, columns, places, item = {0};

	TRY(json_member(line, "same", &same, err));
	TRY(json_member(line, "columns", &columns, err));
	TRY(json_member(line, "places", &places, err));
	fields.items =
		memory_zeroed(json_count(&same) + json_count(&columns) + 1, sizeof(*fields.items));
	while (json_next(&same, &item))
		fields_add(&fields, item.key, (struct field){.value = item.node});
	item = (struct json_at){0};
	while (json_next(&columns, &item))
		fields_add(&fields, item.key, (struct field){.column = item});
	item = (struct json_at){0};
	for (size_t i = 0; json_next(&places, &item); i++) {
		struct evaluation *evaluation =
			place_find(table->places[i], evaluations, count, capacity);

		if (!evaluation)
			return json_error(&item, err, "a place that no other row has");
		TRY(read_row(&item, table, &fields, evaluation, err));
	}
	return STATUS_OK;
}
