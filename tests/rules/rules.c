/* SPDX-License-Identifier: MIT
 *
 * Reads cases, each a JSON line [RULE, CASE], and prints each answer as a JSON line.
 */
#include "rules/rules.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"

static struct rule *rules;

void rule_register(struct rule *rule)
{
	rule->next = rules;
	rules = rule;
}

void rule_expect(enum status status, const struct error *err)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "invalid case: %s\n", err->message);
	exit(2);
}

struct json_at rule_member(const struct json_at *in, const char *key)
{
	struct json_at at;
	struct error err = {0};

	rule_expect(json_member(in, key, &at, &err), &err);
	return at;
}

static double to_number(const struct json_at *at)
{
	struct error err = {0};
	double value;

	if (json_type(at) == JSON_NULL)
		return NAN;
	if (json_type(at) == JSON_STRING)
		return INFINITY;
	rule_expect(json_get_double(at, &value, &err), &err);
	return value;
}

double rule_number(const struct json_at *in, const char *key)
{
	struct json_at at;

	return json_find(in, key, &at) ? to_number(&at) : 0;
}

size_t rule_size(const struct json_at *in, const char *key)
{
	return (size_t)rule_number(in, key);
}

bool rule_flag(const struct json_at *in, const char *key)
{
	struct json_at at;
	struct error err = {0};
	bool value = false;

	if (json_find(in, key, &at))
		rule_expect(json_get_bool(&at, &value, &err), &err);
	return value;
}

const char *rule_string(const struct json_at *in, const char *key)
{
	return json_string_of(in, key);
}

struct rule_numbers rule_numbers(const struct json_at *in, const char *key)
{
	const struct json_at list = rule_member(in, key);
	struct rule_numbers numbers = {.count = json_count(&list)};

	numbers.items = memory_zeroed(numbers.count + 1, sizeof(double));
	for (size_t i = 0; i < numbers.count; i++) {
		const struct json_at item = json_item(&list, i);

		numbers.items[i] = to_number(&item);
	}
	return numbers;
}

void *rule_records(
	const struct json_at *in, const char *key, const struct record *record, size_t *count)
{
	const struct json_at list = rule_member(in, key);
	char *items;

	*count = json_count(&list);
	items = memory_zeroed(*count + 1, record->size);
	for (size_t i = 0; i < *count; i++) {
		const struct json_at item = json_item(&list, i);
		struct error err = {0};

		rule_expect(record_from_json(record, &item, items + i * record->size, NULL, &err),
			&err);
	}
	return items;
}

static struct json *answer(const struct json_at *line)
{
	const struct json_at name = json_item(line, 0), in = json_item(line, 1);
	const char *wanted = NULL;

	(void)json_get_string(&name, &wanted, NULL);
	for (const struct rule *rule = rules; wanted && rule; rule = rule->next)
		if (strcmp(rule->name, wanted) == 0)
			return rule->answer(&in);
	fprintf(stderr, "no rule has the name %s\n", wanted ? wanted : "?");
	exit(2);
}

int main(void)
{
	char *line = NULL;
	size_t capacity = 0;
	ssize_t size;

	while ((size = getline(&line, &capacity, stdin)) > 0) {
		struct json *root;
		struct json_at at;
		struct error err = {0};

		rule_expect(json_parse(line, (size_t)size, "case", &root, &err), &err);
		at = json_root(root, "case");
		puts(json_print(answer(&at), false));
		fflush(stdout);
	}
	return 0;
}
