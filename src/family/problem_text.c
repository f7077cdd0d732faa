/* SPDX-License-Identifier: MIT
 *
 * A piece without "=" goes on with the list of the key before it. Each group of keys is an axis;
 * the last axis turns fastest.
 */
#include "family/problem_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "expr/sizes.h"

enum {
	PROBLEMS_MAX = 100000
};

/* A name that a problem may give: a key, or a part of an alias, or both: where the alias' other
 * parts are given, it is a part.
 */
struct named {
	const char *name;
	const struct key *key; /* NULL: a part only */
	size_t key_index;
	bool given;
	struct value value; /* of the problem at hand */
};

struct axis {
	size_t *names; /* indices into the parser's names; they move together */
	size_t name_count, name_capacity;
	struct value *values;   /* name_count values a step */
	size_t count, capacity; /* in values */
};

struct parser {
	const struct operation *operation;
	struct named *names;
	size_t name_count;
	struct axis *axes;
	size_t axis_count, axis_capacity;
	struct value_arena strings; /* sizes from files */
	struct error *err;
};

static struct named *find_named(const struct parser *parser, const char *name)
{
	for (size_t i = 0; i < parser->name_count; i++)
		if (strcmp(parser->names[i].name, name) == 0)
			return &parser->names[i];
	return NULL;
}

static void collect_parts(struct parser *parser, const struct name_table *parts, size_t *capacity)
{
	for (size_t p = 0; p < parts->count; p++) {
		if (find_named(parser, parts->names[p]))
			continue;
		ARRAY_GROW(parser->names, parser->name_count, *capacity);
		parser->names[parser->name_count++] = (struct named){.name = parts->names[p]};
	}
}

static void collect_names(struct parser *parser)
{
	const struct operation *operation = parser->operation;
	size_t capacity = 0;

	for (size_t i = 0; i < operation->key_count; i++) {
		const struct key *key = &operation->keys[i];

		ARRAY_GROW(parser->names, parser->name_count, capacity);
		parser->names[parser->name_count++] =
			(struct named){.name = key->name, .key = key, .key_index = i};
	}
	for (size_t i = 0; i < operation->key_count; i++)
		for (size_t a = 0; a < operation->keys[i].alias_count; a++)
			collect_parts(parser, &operation->keys[i].aliases[a].parts, &capacity);
}

static enum status unknown_key(struct parser *parser, const char *name)
{
	CLEANUP(memory_free)
	const char **names = memory_zeroed(parser->name_count + 1, sizeof(*names));
	CLEANUP(text_release) struct text known = {0};

	for (size_t i = 0; i < parser->name_count; i++) {
		names[i] = parser->names[i].name;
		if (parser->names[i].key)
			text_append_listed(&known, names[i]);
	}
	error_set(parser->err, STATUS_BAD_INPUT, "expected a key of %s (%s), found \"%s\"",
		parser->operation->name, text_string(&known), name);
	return name_hint(name, names, parser->err);
}

static enum status add_name(struct parser *parser, struct axis *axis, const char *name)
{
	struct named *named = find_named(parser, name);

	if (!named)
		return unknown_key(parser, name);
	if (named->given)
		return error_set(parser->err, STATUS_BAD_INPUT,
			"%s: expected one value or list, found a second \"%s=\"", name, name);
	named->given = true;
	ARRAY_GROW(axis->names, axis->name_count, axis->name_capacity);
	axis->names[axis->name_count++] = (size_t)(named - parser->names);
	return STATUS_OK;
}

static enum status parse_value(
	struct parser *parser, const struct key *key, const char *text, struct value *value)
{
	CLEANUP(text_release) struct text sizes = {0};

	if (!key->sizes || name_find(text, key->values) != NAME_UNKNOWN || !file_exists(text))
		return key_value_parse(key, text, value, parser->err);
	if (sizes_read(text, &sizes, parser->err) != STATUS_OK)
		return error_context(parser->err, "%s", key->name);
	*value = value_string(value_arena_copy_string(&parser->strings, sizes.data, sizes.length));
	return STATUS_OK;
}

/* Appends one step of the axis: the text's value for each of its names. */
static enum status add_step(struct parser *parser, struct axis *axis, const char *text)
{
	static const struct key part_key = {.min = 1, .max = INT32_MAX};

	for (size_t i = 0; i < axis->name_count; i++) {
		const struct named *named = &parser->names[axis->names[i]];
		struct key key = named->key ? *named->key : part_key;
		struct value value;

		key.name = named->name;
		TRY(parse_value(parser, &key, text, &value));
		ARRAY_GROW(axis->values, axis->count, axis->capacity);
		axis->values[axis->count++] = value;
	}
	if (axis->count / axis->name_count > PROBLEMS_MAX)
		return error_set(parser->err, STATUS_BAD_INPUT,
			"%s: expected at most %d values, found more",
			parser->names[axis->names[0]].name, PROBLEMS_MAX);
	return STATUS_OK;
}

static bool parse_bound(const char *text, int64_t *bound)
{
	char *end;

	errno = 0;
	*bound = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && errno == 0;
}

/* "first:last" or "first:last:step", inclusive */
static enum status add_range(struct parser *parser, struct axis *axis, const char *text)
{
	const char *name = parser->names[axis->names[0]].name;
	CLEANUP(memory_free) char *copy = string_copy(text);
	char *rest = copy;
	const char *first_text = strsep(&rest, ":"), *last_text = strsep(&rest, ":");
	const char *step_text = rest ? rest : "1";
	int64_t first, last, step;
	bool valid = parse_bound(first_text, &first) && parse_bound(last_text, &last) &&
		     parse_bound(step_text, &step) && first <= last && step > 0;

	if (!valid)
		return error_set(parser->err, STATUS_BAD_INPUT,
			"%s: expected a range FIRST:LAST or FIRST:LAST:STEP that rises, found "
			"\"%s\"",
			name, text);
	if ((last - first) / step >= PROBLEMS_MAX)
		return error_set(parser->err, STATUS_BAD_INPUT,
			"%s: expected at most %d values, found %" PRId64, name, PROBLEMS_MAX,
			(last - first) / step + 1);
	for (int64_t i = 0; i <= (last - first) / step; i++) {
		char number[32];

		snprintf(number, sizeof(number), "%" PRId64, first + i * step);
		TRY(add_step(parser, axis, number));
	}
	return STATUS_OK;
}

static enum status add_values(struct parser *parser, struct axis *axis, const char *text)
{
	if (!*text)
		return error_set(parser->err, STATUS_BAD_INPUT,
			"%s: expected a value, found nothing", parser->names[axis->names[0]].name);
	return strchr(text, ':') ? add_range(parser, axis, text) : add_step(parser, axis, text);
}

/* Without blanks around; changes the text. */
static char *trim(char *text)
{
	char *end;

	while (*text == ' ' || *text == '\t')
		text++;
	end = text + strlen(text);
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	return text;
}

/* "KEY=VALUE", "KEY=KEY=VALUE", or "VALUE" that goes on with the axis before. */
static enum status parse_piece(struct parser *parser, char *piece)
{
	struct axis *axis;
	char *equals;

	if (!*trim(piece))
		return error_set(parser->err, STATUS_BAD_INPUT,
			"expected KEY=VALUE between commas, found nothing");
	if (!strchr(piece, '=')) {
		if (parser->axis_count == 0)
			return error_set(parser->err, STATUS_BAD_INPUT,
				"expected KEY=VALUE, found \"%s\"", trim(piece));
		return add_values(parser, &parser->axes[parser->axis_count - 1], trim(piece));
	}
	ARRAY_GROW(parser->axes, parser->axis_count, parser->axis_capacity);
	axis = &parser->axes[parser->axis_count++];
	*axis = (struct axis){0};
	while ((equals = strchr(piece, '=')) != NULL) {
		*equals = '\0';
		TRY(add_name(parser, axis, trim(piece)));
		piece = equals + 1;
	}
	return add_values(parser, axis, trim(piece));
}

/* Whether the alias is given in full (a part that is no key without the others: an error). */
static enum status find_alias(const struct parser *parser, const struct key *key,
	const struct key_alias *alias, struct value *parts, bool *complete)
{
	const struct named *there = NULL, *missing = NULL;

	for (size_t p = 0; p < alias->parts.count; p++) {
		const struct named *named = find_named(parser, alias->parts.names[p]);

		if (!named->given)
			missing = named;
		else if (!named->key)
			there = named;
		parts[p] = named->value;
	}
	*complete = there && !missing;
	if (there && missing)
		return error_set(parser->err, STATUS_BAD_INPUT,
			"%s: expected %s too (%s = %s), found none", there->name, missing->name,
			key->name, expression_text(alias->expression));
	return STATUS_OK;
}

/* A key that is a part of the alias is not given as a key. */
static enum status apply_aliases(
	struct parser *parser, size_t key_index, struct value *values, bool *given)
{
	const struct key *key = &parser->operation->keys[key_index];

	for (size_t a = 0; a < key->alias_count; a++) {
		const struct key_alias *alias = &key->aliases[a];
		CLEANUP(memory_free)
		struct value *parts = memory_zeroed(alias->parts.count, sizeof(*parts));
		struct value *value = &values[key_index];
		bool complete;

		TRY(find_alias(parser, key, alias, parts, &complete));
		if (!complete)
			continue;
		if (given[key_index])
			return error_set(parser->err, STATUS_BAD_INPUT,
				"%s: expected one value, found a second as %s", key->name,
				expression_text(alias->expression));
		for (size_t p = 0; p < alias->parts.count; p++) {
			const struct named *named = find_named(parser, alias->parts.names[p]);

			if (named->key)
				given[named->key_index] = false;
		}
		given[key_index] = true;
		TRY(expression_evaluate(alias->expression, parts, NULL, value, parser->err));
		TRY(key_value_check(key, *value, value, parser->err));
	}
	return STATUS_OK;
}

/* The problem of the values that the names hold at the moment. */
static enum status append_problem(struct parser *parser, struct problem_list *list)
{
	size_t count = parser->operation->key_count;
	CLEANUP(memory_free) struct value *values = memory_zeroed(count, sizeof(*values));
	CLEANUP(memory_free) bool *given = memory_zeroed(count, sizeof(*given));
	struct problem *problem;

	for (size_t i = 0; i < parser->name_count; i++) {
		const struct named *named = &parser->names[i];

		if (named->key && named->given) {
			values[named->key_index] = named->value;
			given[named->key_index] = true;
		}
	}
	for (size_t i = 0; i < count; i++)
		TRY(apply_aliases(parser, i, values, given));
	TRY(problem_complete(parser->operation, values, given, &problem, parser->err));
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = problem;
	return STATUS_OK;
}

static enum status expand(struct parser *parser, struct problem_list *list)
{
	size_t total = 1;

	for (size_t i = 0; i < parser->axis_count; i++) {
		total *= parser->axes[i].count / parser->axes[i].name_count;
		if (total > PROBLEMS_MAX)
			return error_set(parser->err, STATUS_BAD_INPUT,
				"expected at most %d problems, found more", PROBLEMS_MAX);
	}
	for (size_t n = 0; n < total; n++) {
		size_t rest = n;

		for (size_t i = parser->axis_count; i-- > 0;) {
			const struct axis *axis = &parser->axes[i];
			size_t steps = axis->count / axis->name_count, step = rest % steps;

			rest /= steps;
			for (size_t k = 0; k < axis->name_count; k++)
				parser->names[axis->names[k]].value =
					axis->values[step * axis->name_count + k];
		}
		TRY(append_problem(parser, list));
	}
	return STATUS_OK;
}

static enum status parse(struct parser *parser, const char *text, struct problem_list *list)
{
	CLEANUP(memory_free) char *copy = string_copy(text);
	char *rest = copy, *piece;

	collect_names(parser);
	while ((piece = strsep(&rest, ",")) != NULL)
		TRY(parse_piece(parser, piece));
	return expand(parser, list);
}

enum status problem_parse(const struct operation *operation, const char *text,
	struct problem_list *list, struct error *err)
{
	struct parser parser = {.operation = operation, .err = err};
	const size_t before = list->count;
	const enum status status = parse(&parser, text, list);

	if (status != STATUS_OK) {
		while (list->count > before)
			problem_free(list->items[--list->count]);
		error_context(err, "problem \"%s\"", text);
	}
	for (size_t i = 0; i < parser.axis_count; i++) {
		free(parser.axes[i].names);
		free(parser.axes[i].values);
	}
	free(parser.axes);
	free(parser.names);
	value_arena_release(&parser.strings);
	return status;
}

void problem_text_complete(const struct operation *operation, char **text)
{
	CLEANUP(problem_list_release) struct problem_list list = {0};

	if (problem_parse(operation, *text, &list, NULL) != STATUS_OK || list.count != 1)
		return;
	free(*text);
	*text = string_copy(list.items[0]->text);
}
