/* SPDX-License-Identifier: MIT
 *
 * One-line constructors and descriptions of entries of a tuned file.
 */
#ifndef TESTS_TUNED_ENTRIES_H
#define TESTS_TUNED_ENTRIES_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/record_read.h"
#include "format/tuned.h"
#include "unit/unit.h"

/* Parses a record from text. */
static inline void parse(const struct record *record, const char *text, void *value)
{
	struct json *json = NULL;
	struct json_at at;
	struct error err = {0};

	assert_ok(json_parse(text, strlen(text), "test", &json, &err));
	at = json_root(json, "test");
	assert_ok(record_from_json(record, &at, value, NULL, &err));
	json_free(json);
}

/* members: JSON members of the run, after its id. */
static inline struct run run_of(const char *id, const char *members)
{
	struct run run = {0};
	char *text = string_format("{\"id\":\"%s\",\"date\":\"%s\",\"tiletune\":{\"version\":\"1\"}"
				   "%s%s}",
		id, id, *members ? "," : "", members);

	parse(&run_record, text, &run);
	free(text);
	return run;
}

static inline struct gpu_model device(const char *name, const char *sheet, int cc, int sm_count)
{
	return (struct gpu_model){.name = string_copy(name),
		.sheet = string_copy(sheet),
		.compute_capability = cc,
		.sm_count = sm_count,
		.l2_bytes = -1};
}

static inline struct tuned_row row(const char *family, double us)
{
	struct tuned_row row = {0};
	char *text = string_format("{\"family\":\"%s\",\"configuration\":{\"BM\":%d},\"time_us\":{"
				   "\"median\":%.17g,\"ci95_low\":%.17g,\"ci95_high\":%.17g,"
				   "\"samples\":3},\"kernel_hash\":\"\"}",
		family, (int)us, us, us, us);

	parse(&tuned_row_record, text, &row);
	free(text);
	return row;
}

static inline struct named_values problem_of(int m)
{
	struct named_values problem = named_values_new(2);

	named_values_put(&problem, 0, "M", value_int(m));
	named_values_put(&problem, 1, "dtype", value_string("bf16"));
	return problem;
}

/* problem is M; families reads "gemm/a:5 gemm/b:7", with the winner first. */
static inline struct tuned_entry entry(
	int problem, const char *timing, const char *run, const char *families)
{
	struct tuned_entry entry = {.operation = string_copy("gemm"),
		.problem = problem_of(problem),
		.predicted = strcmp(timing, "predicted") == 0,
		.run = string_copy(run),
		.tied = memory_zeroed(2, sizeof(*entry.tied)),
		.tied_count = 1,
		.families = memory_zeroed(strlen(families) + 1, sizeof(*entry.families))};
	char *list = string_copy(families), *rest = NULL;

	for (char *item = strtok_r(list, " ", &rest); item; item = strtok_r(NULL, " ", &rest)) {
		char *colon = strchr(item, ':');

		*colon = '\0';
		if (!entry.winner.result.family)
			entry.winner = row(item, strtod(colon + 1, NULL));
		else
			entry.families[entry.family_count++] = row(item, strtod(colon + 1, NULL));
	}
	entry.tied[0] = row("gemm/tied", 5);
	entry.runner_up = memory_zeroed(1, sizeof(*entry.runner_up));
	*entry.runner_up = row("gemm/tied", 5);
	for (size_t i = 0; i < entry.family_count; i++) {
		entry.families[i].lost = memory_zeroed(1, sizeof(*entry.families[i].lost));
		*entry.families[i].lost = (struct tuned_rejection){.ratio = 2};
	}
	free(list);
	return entry;
}

#define P1 1
#define P2 2

static inline void open_empty(struct tuned *tuned)
{
	tuned_init(tuned, "x.json", device("NVIDIA H200", "h200-sxm", 90, 132));
}

static inline const char *put(struct tuned *tuned, struct tuned_entry fresh)
{
	const char *kept;

	tuned_put_entry(tuned, &fresh, NULL, &kept);
	return kept;
}

static inline struct tuned_entry *find(const struct tuned *tuned, int problem)
{
	struct named_values wanted = problem_of(problem);
	struct tuned_entry *found = tuned_find(tuned, "gemm", &wanted, OBJECTIVE_TIME);

	named_values_release(&wanted);
	assert_non_null(found);
	return found;
}

static inline void describe_row(const struct tuned_row *row, struct text *text)
{
	text_appendf(text, "%s%s%s:%g", row->result.family, row->run ? "@" : "",
		row->run ? row->run : "", row->result.time.median);
}

/* Returns "winner@run:time | family@run:time ..." for the entry of this problem. */
static inline char *describe(const struct tuned *tuned, int problem)
{
	const struct tuned_entry *entry = find(tuned, problem);
	struct text text = {0};

	describe_row(&entry->winner, &text);
	text_append(&text, " |");
	for (size_t i = 0; i < entry->family_count; i++) {
		text_append(&text, " ");
		describe_row(&entry->families[i], &text);
	}
	return text_detach(&text);
}

static inline void check(const struct tuned *tuned, int problem, const char *expected)
{
	char *found = describe(tuned, problem);

	assert_string_equal(found, expected);
	free(found);
}

#endif
