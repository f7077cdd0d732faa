/* SPDX-License-Identifier: MIT
 *
 * The part of a tuned file that lookup reads answers as the whole does.
 */
#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/lookup.h"
#include "base/memory.h"
#include "family/problem.h"
#include "format/tuned_part.h"
#include "record/record_read.h"

static const char file[] = "results/nvidia-h200/tuned.json";

/* By what an entry is and whether one of its kind was there before. */
TEST(entries_that_are_wanted)
{
#define START "{\"operation\":\"row_softmax\",\"problem\":"
#define ROW   "{\"family\":\"a\",\"configuration\":{\"X\": 1},\"time_us\":{\"median\":1}}"
	static const struct {
		const char *text;
		bool alone, with_rows;
	} cases[] = {
		{START "{\"rows\":64,\"cols\":32}}", true, true},
		{START "{\"cols\": 32, \"rows\": 64 }}", true, true},
		{START "{\"rows\":65,\"cols\":32}}", false, false},
		{START "{\"rows\":64}}", true, true}, /* the default, maybe */
		{START "{\"rows\":6.4e1,\"cols\":32}}", true, true},
		{START "{\"rows\":64.5,\"cols\":32}}", true, true}, /* another form: looked at */
		{START "{\"rows\":64,\"cols\":32},\"objective\":\"energy\"}", false, false},
		{START "{\"rows\":64,\"cols\":32},\"objective\":\"time\"}", true, true},
		{"{\"operation\":\"gemm\",\"problem\":{\"rows\":64,\"cols\":32}}", false, false},
		{"{\"oper\\u0061tion\":\"gemm\"}", true, true},
		{"7", true, true}, /* is refused */
		/* of another objective rows are not remembered, wherever that stands */
		{START "{\"rows\":1},\"winner\":" ROW ",\"objective\":\"energy\"}", false, false},
		{START "{\"rows\":1},\"winner\":" ROW "}", false, true},
		{START "{\"rows\":2},\"winner\":" ROW ",\"tied\":[],\"families\":[" ROW "]}", false,
			false},
		{START "{\"rows\":2},\"winner\":" ROW ",\"tied\":[{\"family\":\"b\"}]}", false,
			true},
		{START "{\"rows\":3},\"families\":[" ROW ",{\"family\":\"c\"}]}", false, true},
		{START "{\"rows\":4},\"families\":[{\"family\":\"c\"}]}", false, false},
	};
	static const char *const templates[] = {"tests/toy/templates", NULL};
	struct catalogue catalogue = {0};
	const struct operation *operation;
	struct problem_list problems = {0};
	struct error err = {0};
	struct tuned_part parts[2];

	assert_ok(catalogue_load(templates, "row_softmax", &catalogue, &err));
	assert_ok(catalogue_operation(&catalogue, "row_softmax", &operation, &err));
	assert_ok(problem_parse(operation, "rows=64,cols=32", &problems, &err));
	for (size_t i = 0; i < 2; i++)
		parts[i] = (struct tuned_part){
			.operation = "row_softmax", .problems = &problems, .rows = i};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const char *text = cases[i].text;
		const struct json_text entry = {text, text + strlen(text)};

		if (tuned_part_wants(&entry, &parts[0]) != cases[i].alone ||
			tuned_part_wants(&entry, &parts[1]) != cases[i].with_rows)
			fail_msg("%s", text);
	}
	tuned_part_release(&parts[1]);
	problem_list_release(&problems);
	catalogue_release(&catalogue);
}

static void same_answer(const struct lookup_request *whole, const struct lookup_request *part,
	const struct problem *problem)
{
	struct lookup_answer a, b;
	struct tuned_entry one, other;
	struct error err = {0};

	assert_ok(lookup_find(whole, problem, &a, &err));
	assert_ok(lookup_find(part, problem, &b, &err));
	assert_int_equal(a.grade, b.grade);
	assert_true(a.grade != LOOKUP_REFUSED);
	assert_string_equal(a.why, b.why);
	assert_int_equal(a.considered, b.considered);
	one = lookup_entry(&a, problem);
	other = lookup_entry(&b, problem);
	assert_true(record_equal(&tuned_entry_record, &one, &other));
	tuned_entry_release(&one);
	tuned_entry_release(&other);
	lookup_answer_release(&a);
	lookup_answer_release(&b);
}

TEST(a_part_answers_as_the_whole)
{
	static const char *const templates[] = {"templates", NULL}, *const configs[] = {
									    "configs", NULL};
	struct catalogue catalogue = {0};
	const struct operation *operation;
	struct device_spec *device;
	struct problem_list problems = {0};
	struct tuned whole;
	struct lookup_request all, some;
	struct error err = {0};

	assert_ok(catalogue_load(templates, "gemm", &catalogue, &err));
	assert_ok(catalogue_operation(&catalogue, "gemm", &operation, &err));
	assert_ok(device_spec_load("h200-sxm", configs, &device, &err));
	assert_ok(problem_parse(operation, "M=4000,N=4096,K=4096,dtype=bf16", &problems, &err));
	assert_ok(problem_parse(operation, "M=33,N=7168,K=2048,dtype=fp8_e4m3", &problems, &err));
	assert_ok(tuned_load(file, &whole, &err));
	for (size_t i = 0; i < whole.entry_count; i += 7) {
		struct problem *problem;

		assert_ok(problem_from_named_values(
			operation, &whole.entries[i].problem, &problem, &err));
		problems.items =
			memory_resize(problems.items, problems.count + 1, sizeof(*problems.items));
		problems.items[problems.count++] = problem;
	}
	all = (struct lookup_request){
		.catalogue = &catalogue, .device = device, .tuned = &whole, .without_best = true};
	some = all;
	for (size_t i = 0; i < problems.count; i++) {
		struct problem_list one = {.items = &problems.items[i], .count = 1};
		struct tuned_part part = {.operation = "gemm", .problems = &one, .rows = i < 2};
		struct tuned tuned;

		assert_ok(tuned_load_wanted(file, tuned_part_wants, &part, &tuned, &err));
		assert_true(i < 2 || tuned.entry_count == 1);
		some.tuned = &tuned;
		same_answer(&all, &some, problems.items[i]);
		tuned_part_release(&part);
		tuned_release(&tuned);
	}
	problem_list_release(&problems);
	tuned_release(&whole);
	device_spec_free(device);
	catalogue_release(&catalogue);
}

/* Entry by entry as from one tree, in the formats that lie about. */
TEST(entries_one_by_one_are_those_of_the_whole)
{
	static const char *const files[] = {file, "tests/data/report/small.json",
		"tests/data/report/sizes.json", "tests/data/compat/tuned.json",
		"tests/data/compat/attention.json", "results/nvidia-h200/decode.json",
		"results/nvidia-h200/llm.json.gz", "results/nvidia-h200/moe.json.gz"};

	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		struct tuned one, other = {0};
		struct json *tree;
		struct json_at root;
		struct error err = {0};

		assert_ok(tuned_load(files[i], &one, &err));
		assert_ok(json_load(files[i], &tree, &err));
		root = json_root(tree, files[i]);
		assert_ok(record_from_json(&tuned_record, &root, &other, NULL, &err));
		assert_true(one.entry_count > 0);
		assert_true(record_equal(&tuned_record, &one, &other));
		json_free(tree);
		tuned_release(&one);
		tuned_release(&other);
	}
}
