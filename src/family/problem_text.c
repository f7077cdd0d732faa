/* SPDX-License-Identifier: MIT
 *
 * Parses problem texts. A piece without "=" continues the list of values of the previous key. Keys
 * that vary together form an axis; the last axis varies fastest.
 */
#include "family/problem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	PROBLEMS_MAX = 100000
};

struct axis {
	size_t *keys; /* indices of keys that vary together */
	size_t key_count, key_capacity;
	struct value *values; /* key_count values per step */
	size_t count, capacity;
};

struct problem_parser {
	const struct operation *operation;
	struct value *values; /* values of the current problem, one per key */
	bool *given;
	struct axis *axes;
	size_t axis_count, axis_capacity;
	struct error *err;
};

static enum status add_key(struct problem_parser *parser, struct axis *axis, const char *name)
{
	const struct operation *operation = parser->operation;
	const int key = name_table_find(&operation->key_names, name);

	if (key == NAME_UNKNOWN) {
		CLEANUP(text_release) struct text known = {0};
		CLEANUP(memory_free)
		const char **names = memory_zeroed(operation->key_count + 1, sizeof(*names));

		for (size_t i = 0; i < operation->key_count; i++)
			text_append_listed(&known, names[i] = operation->keys[i].name);
		error_set(parser->err, STATUS_BAD_INPUT,
			"unknown key \"%s\"; the keys of %s are %s", name, operation->name,
			text_string(&known));
		if (strpbrk(name, " \t;"))
			return error_hint(
				parser->err, "write commas between the keys: KEY=VALUE,KEY=VALUE");
		return name_hint(name, names, parser->err);
	}
	if (parser->given[key])
		return error_set(parser->err, STATUS_BAD_INPUT, "%s: the key is given twice", name);
	parser->given[key] = true;
	ARRAY_GROW(axis->keys, axis->key_count, axis->key_capacity);
	axis->keys[axis->key_count++] = (size_t)key;
	return STATUS_OK;
}

static const char *first_name(const struct problem_parser *parser, const struct axis *axis)
{
	return parser->operation->keys[axis->keys[0]].name;
}

static enum status add_step(struct problem_parser *parser, struct axis *axis, const char *text)
{
	for (size_t i = 0; i < axis->key_count; i++) {
		struct value value;

		TRY(key_value_parse(
			&parser->operation->keys[axis->keys[i]], text, &value, parser->err));
		ARRAY_GROW(axis->values, axis->count, axis->capacity);
		axis->values[axis->count++] = value;
	}
	if (axis->count / axis->key_count > PROBLEMS_MAX)
		return error_set(parser->err, STATUS_BAD_INPUT, "%s: there are more than %d values",
			first_name(parser, axis), PROBLEMS_MAX);
	return STATUS_OK;
}

static bool parse_bound(const char *text, int64_t *bound)
{
	char *end;

	errno = 0;
	*bound = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && errno == 0;
}

static enum status add_range(struct problem_parser *parser, struct axis *axis, const char *text)
{
	const char *name = first_name(parser, axis);
	CLEANUP(memory_free) char *copy = string_copy(text);
	char *rest = copy;
	const char *first_text = strsep(&rest, ":"), *last_text = strsep(&rest, ":");
	const char *step_text = rest ? rest : "1";
	int64_t first, last, step;
	bool valid = parse_bound(first_text, &first) && parse_bound(last_text, &last) &&
		     parse_bound(step_text, &step) && first <= last && step > 0;

	if (!valid)
		return error_set(parser->err, STATUS_BAD_INPUT,
			"%s: expected an increasing range FIRST:LAST or FIRST:LAST:STEP, found "
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

static enum status add_values(struct problem_parser *parser, struct axis *axis, const char *text)
{
	if (!*text)
		return error_set(parser->err, STATUS_BAD_INPUT, "%s: the value is missing",
			first_name(parser, axis));
	return strchr(text, ':') ? add_range(parser, axis, text) : add_step(parser, axis, text);
}

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

static enum status parse_piece(struct problem_parser *parser, char *piece)
{
	struct axis *axis;
	char *equals;

	if (!*trim(piece))
		return error_set(parser->err, STATUS_BAD_INPUT,
			"one of the parts between commas is empty; write KEY=VALUE");
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
		TRY(add_key(parser, axis, trim(piece)));
		piece = equals + 1;
	}
	return add_values(parser, axis, trim(piece));
}

static enum status expand(struct problem_parser *parser, struct problem_list *list)
{
	size_t total = 1;

	for (size_t i = 0; i < parser->axis_count; i++) {
		total *= parser->axes[i].count / parser->axes[i].key_count;
		if (total > PROBLEMS_MAX - list->count)
			return error_set(parser->err, STATUS_BAD_INPUT,
				"there are more than %d problems", PROBLEMS_MAX);
	}
	for (size_t n = 0; n < total; n++) {
		struct problem *problem;
		size_t rest = n;

		for (size_t i = parser->axis_count; i-- > 0;) {
			const struct axis *axis = &parser->axes[i];
			size_t steps = axis->count / axis->key_count, step = rest % steps;

			rest /= steps;
			for (size_t k = 0; k < axis->key_count; k++)
				parser->values[axis->keys[k]] =
					axis->values[step * axis->key_count + k];
		}
		TRY(problem_complete(
			parser->operation, parser->values, parser->given, &problem, parser->err));
		ARRAY_GROW(list->items, list->count, list->capacity);
		list->items[list->count++] = problem;
	}
	return STATUS_OK;
}

static enum status parse(struct problem_parser *parser, const char *text, struct problem_list *list)
{
	CLEANUP(memory_free) char *copy = string_copy(text);
	char *rest = copy, *piece;

	parser->values = memory_zeroed(parser->operation->key_count, sizeof(*parser->values));
	parser->given = memory_zeroed(parser->operation->key_count, sizeof(*parser->given));
	while ((piece = strsep(&rest, ",")) != NULL)
		TRY(parse_piece(parser, piece));
	return expand(parser, list);
}

enum status problem_parse(const struct operation *operation, const char *text,
	struct problem_list *list, struct error *err)
{
	struct problem_parser parser = {.operation = operation, .err = err};
	const size_t before = list->count;
	const enum status status = parse(&parser, text, list);

	if (status != STATUS_OK) {
		while (list->count > before)
			problem_free(list->items[--list->count]);
		error_context(err, "problem \"%s\"", text);
	}
	for (size_t i = 0; i < parser.axis_count; i++) {
		free(parser.axes[i].keys);
		free(parser.axes[i].values);
	}
	free(parser.axes);
	free(parser.values);
	free(parser.given);
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
