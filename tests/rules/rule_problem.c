/* SPDX-License-Identifier: MIT
 *
 * Problems: the texts that name them, and their work.
 */
#include "base/memory.h"
#include "family/catalogue.h"
#include "rules/rules.h"
#include "tune/shard.h"

/* `place` is a folder of operations or the file of an own kernel. Each is loaded once. */
static const struct operation *operation_of(const char *place, const char *name)
{
	static struct {
		char *place;
		struct catalogue catalogue;
	} loaded[8];
	const struct operation *operation;
	struct error err = {0};
	size_t i;

	for (i = 0; i < ARRAY_COUNT(loaded) && loaded[i].place; i++)
		if (strcmp(loaded[i].place, place) == 0)
			break;
	if (!loaded[i].place) {
		loaded[i].place = string_copy(place);
		rule_expect(catalogue_load((const char *const[]){place, NULL}, NULL,
				    &loaded[i].catalogue, &err),
			&err);
	}
	rule_expect(catalogue_operation(&loaded[i].catalogue, name, &operation, &err), &err);
	return operation;
}

RULE(problems)
{
	const struct operation *operation =
		operation_of(rule_string(in, "place"), rule_string(in, "operation"));
	struct json *out = json_new_object(), *list = json_new_array();
	struct problem_list problems = {0};
	struct error err = {0};

	if (problem_parse(operation, rule_string(in, "text"), &problems, &err) != STATUS_OK)
		json_put_string(out, "refused", err.message);
	for (size_t i = 0; i < problems.count; i++) {
		const struct problem *problem = problems.items[i];
		struct json *item = json_new_object();
		double flop, bytes;

		rule_expect(problem_flop(problem, &flop, &err), &err);
		rule_expect(problem_min_bytes(problem, &bytes, &err), &err);
		json_put_string(item, "text", problem->text);
		json_put_string(item, "title", problem->title);
		json_put_double(item, "flop", flop);
		json_put_double(item, "bytes", bytes);
		json_push(list, item);
	}
	json_put(out, "problems", list);
	return out;
}

/* Returns whether the first two problems of a text differ in only one key. */
RULE(differs_in)
{
	const struct operation *operation =
		operation_of(rule_string(in, "place"), rule_string(in, "operation"));
	struct problem_list problems = {0};
	struct error err = {0};

	rule_expect(problem_parse(operation, rule_string(in, "a"), &problems, &err), &err);
	rule_expect(problem_parse(operation, rule_string(in, "b"), &problems, &err), &err);
	return json_new_bool(
		problem_differs_in(problems.items[0], problems.items[1], rule_string(in, "key")));
}

/* Returns those problems of a text that belong to a shard, in their original order. */
RULE(shard)
{
	static const char *const configs[] = {"configs", NULL};
	static struct device_spec *device;
	const struct operation *operation =
		operation_of(rule_string(in, "place"), rule_string(in, "operation"));
	struct problem_list problems = {0};
	struct json *out = json_new_array();
	struct shard shard;
	struct error err = {0};

	if (!device)
		rule_expect(device_spec_load("h200-sxm", configs, &device, &err), &err);
	if (shard_parse(rule_string(in, "shard"), &shard, &err) != STATUS_OK)
		return json_new_string(err.message);
	rule_expect(problem_parse(operation, rule_string(in, "text"), &problems, &err), &err);
	shard_keep(&shard, device, &problems);
	for (size_t i = 0; i < problems.count; i++)
		json_push(out, json_new_string(problems.items[i]->title));
	return out;
}
