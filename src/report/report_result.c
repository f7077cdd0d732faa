/* SPDX-License-Identifier: MIT
 *
 * A configuration as a tuned file has it, and the reading of JSON that may lack what we look for.
 */
#include <stdlib.h>

#include "report/report.h"

bool report_find(const struct json_at *object, const char *key, struct json_at *member)
{
	return object->node && json_find(object, key, member);
}

double report_number(const struct json_at *object, const char *key)
{
	struct json_at member;
	double value = 0;

	if (report_find(object, key, &member) && json_type(&member) == JSON_NUMBER)
		json_get_double(&member, &value, NULL);
	return value;
}

const char *report_string(const struct json_at *object, const char *key)
{
	struct json_at member;
	const char *value = NULL;

	if (report_find(object, key, &member) && json_type(&member) == JSON_STRING)
		json_get_string(&member, &value, NULL);
	return value;
}

/* {"M": 4096, "dtype": "bf16"} -> "M=4096,dtype=bf16" */
char *report_members(const struct json_at *object)
{
	struct text text = {0};

	for (size_t i = 0; i < json_count(object); i++) {
		struct json_at member = json_item(object, i);
		const char *string = "";
		char *printed = NULL;

		if (json_type(&member) == JSON_STRING)
			json_get_string(&member, &string, NULL);
		else
			string = printed = json_print(member.node, false);
		text_appendf(&text, "%s%s=%s", i ? "," : "", member.key, string);
		free(printed);
	}
	return text_detach(&text);
}

/* "gemm/mma {BM=128,...} + gemm/mma {...}" */
static char *steps_text(const struct json_at *steps)
{
	struct text text = {0};

	for (size_t i = 0; i < json_count(steps); i++) {
		struct json_at step = json_item(steps, i), configuration;
		const char *family = report_string(&step, "family");
		char *members = report_find(&step, "configuration", &configuration)
					? report_members(&configuration)
					: string_copy("");

		text_appendf(&text, "%s%s {%s}", i ? " + " : "", family ? family : "?", members);
		free(members);
	}
	return text_detach(&text);
}

enum status report_result_read(
	const struct json_at *at, struct report_result *result, struct error *err)
{
	struct json_at configuration, steps, time, score;
	const char *family;

	*result = (struct report_result){0};
	if (json_member_string(at, "family", &family, err) != STATUS_OK ||
		json_member(at, "configuration", &configuration, err) != STATUS_OK ||
		json_member(at, "time_us", &time, err) != STATUS_OK ||
		json_member_double(&time, "median", &result->time_us, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_find(at, "score", &score) &&
		score_from_json(&score, &result->score, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	result->family = string_copy(family);
	result->configuration = json_find(at, "steps", &steps) ? steps_text(&steps)
							       : report_members(&configuration);
	result->low_us = report_number(&time, "ci95_low");
	result->high_us = report_number(&time, "ci95_high");
	result->samples = (int64_t)report_number(&time, "samples");
	result->tflops = report_number(at, "tflops");
	result->gb_per_s = report_number(at, "gb_per_s");
	result->spill_bytes = (int64_t)report_number(at, "spill_bytes");
	return STATUS_OK;
}

void report_result_release(struct report_result *result)
{
	free(result->family);
	free(result->configuration);
	score_release(&result->score);
}
