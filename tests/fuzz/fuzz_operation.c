/* SPDX-License-Identifier: MIT
 *
 * Tests the reader of operation JSON, and of problems of that operation.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "family/problem.h"
#include "problem_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every key has its minimum value. */
static void pose_problem(const struct operation *operation)
{
	struct problem_list problems = {0};
	struct text text = {0};
	struct error err = {0};
	double amount;

	for (size_t i = 0; i < operation->key_count; i++) {
		const struct key *key = &operation->keys[i];

		text_appendf(&text, "%s%s=", i ? "," : "", key->name);
		if (key->values)
			text_append(&text, key->values[0]);
		else
			text_appendf(&text, "%lld", (long long)key->min);
	}
	if (problem_parse(operation, text_string(&text), &problems, &err) == STATUS_OK) {
		struct problem *again;
		struct json *tree = problem_to_json(problems.items[0]);
		struct json_at at = json_root(tree, "problem");

		/* numbers beyond 2^53 cannot be read back exactly and are refused */
		if (problem_from_json(operation, &at, &again, &err) == STATUS_OK &&
			strcmp(again->text, problems.items[0]->text) != 0)
			abort();
		problem_free(again);
		json_free(tree);
		(void)problem_flop(problems.items[0], &amount, &err);
		(void)problem_min_bytes(problems.items[0], &amount, &err);
	}
	problem_list_release(&problems);
	text_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct operation *operation;
	struct json *tree;
	struct error err = {0};

	if (json_parse((const char *)data, size, "operation.json", &tree, &err) != STATUS_OK)
		return -1;
	if (operation_load(tree, "operation.json", NULL, NULL, NULL, &operation, &err) !=
		STATUS_OK) {
		if (!*err.message || operation)
			abort();
		return -1;
	}
	pose_problem(operation);
	operation_free(operation);
	return 0;
}
