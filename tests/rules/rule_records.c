/* SPDX-License-Identifier: MIT
 *
 * Records as JSON: reads a text as the record that the case names, and writes it.
 */
#include "base/memory.h"
#include "format/result.h"
#include "plan/plan.h"
#include "rules/rules.h"

/* Returns {"text": the written text} or {"refused": message}. */
RULE(record)
{
	static const struct {
		const char *name;
		const struct record *record;
	} records[] = {{"result", &result_record}, {"plan", &plan_record}};
	const char *text = rule_string(in, "text");
	const struct record *record = NULL;
	struct json *root, *out = json_new_object();
	struct json_at at;
	struct error err = {0};
	void *value;

	for (size_t i = 0; i < ARRAY_COUNT(records); i++)
		if (strcmp(records[i].name, rule_string(in, "record")) == 0)
			record = records[i].record;
	rule_expect(json_parse(text, strlen(text), "text", &root, &err), &err);
	at = json_root(root, "text");
	value = memory_zeroed(1, record->size);
	if (record_from_json(record, &at, value, NULL, &err) != STATUS_OK)
		json_put_string(out, "refused", err.message);
	else
		json_put_string(out, "text", json_print(record_to_json(record, value), false));
	return out;
}
