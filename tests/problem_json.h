/* SPDX-License-Identifier: MIT
 *
 * Problems from JSON objects, as in tuned files and benchmarks.
 */
#ifndef TESTS_PROBLEM_JSON_H
#define TESTS_PROBLEM_JSON_H

#include "family/problem.h"

/* Reads {"M": 4096, ...}. */
static inline struct json *problem_to_json(const struct problem *problem)
{
	struct named_values values = problem_named_values(problem);
	struct json *json = named_values_to_json(&values);

	named_values_release(&values);
	return json;
}

static inline enum status problem_from_json(const struct operation *operation,
	const struct json_at *object, struct problem **problem, struct error *err)
{
	struct json_at item = {0};
	struct named_values values;
	size_t count = 0;
	enum status status = STATUS_OK;

	*problem = NULL;
	if (json_type(object) != JSON_OBJECT)
		return json_error(object, err, "an object");
	while (json_next(object, &item))
		count++;
	values = named_values_new(count);
	item = (struct json_at){0};
	for (size_t i = 0; i < count && json_next(object, &item); i++) {
		struct value value = {0};

		if (status == STATUS_OK)
			status = named_value_custom.read(&item, &value, NULL, err);
		if (status == STATUS_OK)
			named_values_put(&values, i, item.key, value);
		named_value_custom.release(&value);
	}
	if (status == STATUS_OK)
		status = problem_from_named_values(operation, &values, problem, err);
	named_values_release(&values);
	return status;
}

#endif
