/* SPDX-License-Identifier: MIT
 *
 * Entries of a tuned file for tests: made in one line, described in one line.
 */
#ifndef TESTS_TUNED_ENTRIES_H
#define TESTS_TUNED_ENTRIES_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/tuned.h"
#include "unit.h"

static inline struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct error err = {0};

	assert_ok(json_parse(text, strlen(text), "test", &json, &err));
	return json;
}

static inline struct json *device_json(const char *name, const char *sheet, int cc, int sm_count)
{
	struct json *device = json_new_object();

	json_put_string(device, "name", name);
	json_put_string(device, "sheet", sheet);
	json_put_int(device, "compute_capability", cc);
	json_put_int(device, "sm_count", sm_count);
	return device;
}

static inline struct json *row(const char *family, double us)
{
	char *text = string_format("{\"family\":\"%s\",\"configuration\":{\"BM\":%d},\"time_us\":{"
				   "\"median\":%.17g,\"ci95_low\":%.17g,\"ci95_high\":%.17g,"
				   "\"samples\":3}}",
		family, (int)us, us, us, us);
	struct json *json = parse(text);

	free(text);
	return json;
}

/* families: "gemm/a:5 gemm/b:7", the first is the winner. */
static inline struct json *entry(
	const char *problem, const char *timing, const char *run, const char *families)
{
	struct json *json = json_new_object(), *rows = json_new_array(), *tied = json_new_array();
	char *list = string_copy(families), *rest = NULL;
	bool first = true;

	json_put_string(json, "operation", "gemm");
	json_put(json, "problem", parse(problem));
	json_put_string(json, "timing", timing);
	json_put_string(json, "run", run);
	for (char *item = strtok_r(list, " ", &rest); item; item = strtok_r(NULL, " ", &rest)) {
		char *colon = strchr(item, ':');

		*colon = '\0';
		if (first)
			json_put(json, "winner", row(item, strtod(colon + 1, NULL)));
		json_push(rows, row(item, strtod(colon + 1, NULL)));
		first = false;
	}
	json_push(tied, row("gemm/tied", 5));
	json_put(json, "tied", tied);
	json_put(json, "families", rows);
	free(list);
	return json;
}

#define P1 "{\"M\":1,\"dtype\":\"bf16\"}"
#define P2 "{\"M\":2,\"dtype\":\"bf16\"}"

static inline void open_empty(struct tuned *tuned)
{
	tuned_init(tuned, "x.json", device_json("NVIDIA H200", "h200-sxm", 90, 132));
}

static inline const char *put(struct tuned *tuned, struct json *fresh)
{
	const char *kept;

	tuned_put_entry(tuned, fresh, NULL, &kept);
	return kept;
}

/* "winner@run | family@run:time ..." of the entry with this problem. */
static inline char *describe(const struct tuned *tuned, const char *problem)
{
	struct json *wanted = parse(problem);
	struct json_at at, winner, rows, time;
	const char *family = "", *run = "";
	struct text text = {0};

	assert_true(tuned_find(tuned, "gemm", wanted, &at));
	json_free(wanted);
	assert_true(json_find(&at, "winner", &winner));
	json_member_string(&winner, "family", &family, NULL);
	json_member_string(&winner, "run", &run, NULL);
	text_appendf(&text, "%s%s%s |", family, run[0] ? "@" : "", run);
	assert_true(json_find(&at, "families", &rows));
	for (size_t i = 0; i < json_count(&rows); i++) {
		struct json_at item = json_item(&rows, i);
		double median = 0;

		run = "";
		json_member_string(&item, "family", &family, NULL);
		json_member_string(&item, "run", &run, NULL);
		assert_true(json_find(&item, "time_us", &time));
		json_member_double(&time, "median", &median, NULL);
		text_appendf(&text, " %s%s%s:%g", family, run[0] ? "@" : "", run, median);
	}
	return text_detach(&text);
}

static inline void check(const struct tuned *tuned, const char *problem, const char *expected)
{
	char *found = describe(tuned, problem);

	assert_string_equal(found, expected);
	free(found);
}

static inline size_t count(const struct tuned *tuned, const char *list)
{
	struct json_at root = json_root(tuned->root, ""), at;

	assert_true(json_find(&root, list, &at));
	return json_count(&at);
}

#endif
