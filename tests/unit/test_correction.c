/* layer: advise */
#include "kernel_fixture.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/record_read.h"
#include "candidate/candidate_work.h"
#include "engine/scoring.h"
#include "learn/correction.h"

static const char *const with_file[] = {"tests/data/score/configs", NULL};
static const char *const without_file[] = {"tests/toy/configs", NULL};

/* ---- trees ---- */
static enum status read_tree(const char *text, struct boosted_tree *tree, struct error *reason)
{
	struct json *json = NULL;
	struct json_at at;
	struct error err = {0};
	enum status status;

	assert_ok(json_parse(text, strlen(text), "tree", &json, &err));
	at = json_root(json, "tree");
	status = record_from_json(&boosted_tree_record, &at, tree, NULL, reason);
	json_free(json);
	return status;
}

static void a_point_falls_to_one_leaf_of_each_tree(void **state)
{
	static const char *const texts[] = {
		"{\"splits\":[[0,2,-1,1],[1,-1.5,-2,-3]],\"leaves\":[1,10,100]}",
		"{\"splits\":[],\"leaves\":[0.25]}",
		"{\"splits\":[[1,7,-2,-1]],\"leaves\":[1000,2000]}"};
	static const struct {
		double features[2], sum;
	} cases[] = {
		{{2, 0}, 1 + 0.25 + 2000}, /* a threshold belongs to the low side */
		{{2.001, -1.5}, 10 + 0.25 + 2000},
		{{2.001, -1.4}, 100 + 0.25 + 2000},
		{{-5, 8}, 1 + 0.25 + 1000},
	};
	struct boosted_tree trees[3] = {{0}};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
		assert_ok(read_tree(texts[i], &trees[i], &err));
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		assert_true(boosted_trees_sum(trees, 3, cases[i].features) == cases[i].sum);
	for (size_t i = 0; i < ARRAY_COUNT(trees); i++)
		record_release(&boosted_tree_record, &trees[i]);
}

static void broken_trees_are_refused_with_their_place(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"[]", "tree: $: expected an object"},
		{"{\"splits\":[]}", "tree: $"},
		{"{\"splits\":[],\"leaves\":[0,1]}", "$.leaves: expected a leaf more than splits"},
		{"{\"splits\":[[0,1,-1]],\"leaves\":[0,1]}", "expected [feature, threshold"},
		{"{\"splits\":[[0,1,-1,-3]],\"leaves\":[0,1]}",
			"$.splits[0][3]: expected a later split"},
		{"{\"splits\":[[0,1,0,-1]],\"leaves\":[0,1]}",
			"$.splits[0][2]: expected a later split"}, /* would never end */
		{"{\"splits\":[[0,1,-1,1]],\"leaves\":[0,1]}", "$.splits[0][3]"},
		{"{\"splits\":[[0,1,-1,4294967297]],\"leaves\":[0,1]}", "$.splits[0][3]"},
		{"{\"splits\":[],\"leaves\":[\"x\"]}", "$.leaves[0]: expected a number"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct boosted_tree tree = {0};
		struct error err = {0};

		assert_int_equal(read_tree(cases[i].text, &tree, &err), STATUS_BAD_INPUT);
		if (!strstr(err.message, cases[i].message))
			fail_msg("expected \"%s\" in \"%s\"", cases[i].message, err.message);
	}
}

/* ---- a family's correction ---- */
struct desk {
	struct catalogue catalogue;
	struct device_spec *device;
	struct problem_list problems;
	struct candidates pool;
};

static void desk_open(struct desk *desk, const char *problem)
{
	static const char *const templates[] = {"tests/toy/templates", NULL};
	const struct candidates_options options = {.score = true};
	const struct operation *operation;
	struct error err = {0};

	*desk = (struct desk){0};
	assert_ok(catalogue_load(templates, "row_softmax", &desk->catalogue, &err));
	assert_ok(device_spec_load("toy", without_file, &desk->device, &err));
	assert_ok(catalogue_operation(&desk->catalogue, "row_softmax", &operation, &err));
	assert_ok(problem_parse(operation, problem, &desk->problems, &err));
	assert_ok(candidates_open(&desk->catalogue, desk->problems.items[0], desk->device, &options,
		&desk->pool, &err));
}

static void desk_close(struct desk *desk)
{
	candidates_release(&desk->pool);
	problem_list_release(&desk->problems);
	device_spec_free(desk->device);
	catalogue_release(&desk->catalogue);
}

static int64_t number(const struct desk *desk, size_t candidate, size_t parameter)
{
	const struct space *space = desk->pool.families[0].bound->space;
	const choice *choices = candidates_configuration(&desk->pool, candidate);

	return space->parameters[parameter].values.items[choices[parameter]].integer;
}

/* The toy's file says: twice the time for 2 rows a block, half from a hundred waves on, e^0.5
 * always.
 */
static void the_factor_is_the_trees_sum(void **state)
{
	enum {
		ROWS_PARAMETER = 1
	};
	struct corrections corrections;
	struct desk desk;
	struct error err = {0};
	size_t doubled = 0, halved = 0;
	double least_us, expected_least_us = INFINITY;

	(void)state;
	desk_open(&desk, "rows=12000,cols=777");
	assert_ok(corrections_load(with_file, "toy", &desk.catalogue, &corrections, &err));
	assert_int_equal(corrections.count, 1);
	for (size_t i = 0; i < desk.pool.count; i++) {
		struct candidate candidate = candidates_at(&desk.pool, i);
		struct value *slots = candidate_values(&candidate, &err);
		const bool slow = number(&desk, i, ROWS_PARAMETER) == 2;
		struct work work;
		struct score score;
		double time_us, factor = exp(0.5) * (slow ? 2 : 1);

		assert_ok(candidate_work(desk.pool.families[0].bound, slots, &work, &err));
		score_compute(desk.device, &work, NULL, &score);
		if (score.launches[0].waves_exact > 99.5) {
			factor /= 2;
			halved++;
		}
		doubled += slow;
		assert_ok(predict_candidate(&candidate, &corrections, &err));
		time_us = candidate.prediction.time_us;
		assert_true(fabs(time_us / (score.predicted_time_us * factor) - 1) < 1e-6);
		expected_least_us = fmin(expected_least_us, time_us);
		score_release(&score);
		work_release(&work);
		free(slots);
	}
	assert_true(doubled > 0 && doubled < desk.pool.count);
	assert_true(halved > 0 && halved < desk.pool.count);
	assert_ok(score_least_us(&desk.pool, &corrections, &least_us, &err));
	assert_true(least_us == expected_least_us);
	corrections_release(&corrections);
	desk_close(&desk);
}

static void without_a_file_the_model_stands(void **state)
{
	struct corrections corrections;
	struct desk desk;
	struct candidate candidate;
	struct error err = {0};

	(void)state;
	desk_open(&desk, "rows=1000,cols=777");
	assert_ok(corrections_load(without_file, "toy", &desk.catalogue, &corrections, &err));
	assert_int_equal(corrections.count, 0);
	candidate = candidates_at(&desk.pool, 0);
	assert_ok(predict_candidate(&candidate, &corrections, &err));
	assert_true(candidate.prediction.time_us == desk.pool.predicted_us[0]);
	/* a device that has none among others that do */
	assert_ok(corrections_load(with_file, "h200-sxm", &desk.catalogue, &corrections, &err));
	assert_int_equal(corrections.count, 0);
	desk_close(&desk);
}

/* As a configuration folder has it; the caller removes the file and the folders. */
static void write_file(const char *folder, const char *text)
{
	char *path = string_format("%s/corrections/toy/row_softmax-online.json", folder);
	struct error err = {0};

	assert_ok(file_write(path, text, strlen(text), &err));
	free(path);
}

static void broken_files_are_errors(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{", "row_softmax-online.json"},
		{"{\"format\":\"tiletune.correction/"
		 "1\",\"device\":\"toy\",\"family\":\"row_softmax/online\","
		 "\"features\":[{\"name\":\"a\",\"expr\":\"ROWZ\"}],\"trees\":[]}",
			"$.features[0].expr: column 1"},
		{"{\"format\":\"tiletune.correction/"
		 "1\",\"device\":\"toy\",\"family\":\"row_softmax/gone\","
		 "\"features\":[],\"trees\":[]}",
			"gone"},
		{"{\"format\":\"tiletune.correction/"
		 "1\",\"device\":\"toy\",\"family\":\"row_softmax/online\","
		 "\"features\":[],\"trees\":[],\"leaves\":1}",
			"leaves"},
		{"{\"format\":\"tiletune.correction/"
		 "1\",\"device\":\"toy\",\"family\":\"row_softmax/online\","
		 "\"features\":[{\"name\":\"a\",\"expr\":\"rows\"}],"
		 "\"trees\":[{\"splits\":[[1,1,-1,-2]],\"leaves\":[0,1]}]}",
			"$.trees[0].splits[0][0]: expected one of the features"},
		{"{\"format\":\"tiletune.correction/"
		 "1\",\"device\":\"a10\",\"family\":\"row_softmax/online\","
		 "\"features\":[],\"trees\":[]}",
			"$.device: expected \"toy\", as the folder is named"},
	};
	char folder[] = "/tmp/tiletune-corrections-XXXXXX";
	char *parts[3];
	struct desk desk;

	(void)state;
	assert_non_null(mkdtemp(folder));
	parts[0] = string_format("%s/corrections", folder);
	parts[1] = string_format("%s/toy", parts[0]);
	parts[2] = string_format("%s/row_softmax-online.json", parts[1]);
	assert_int_equal(mkdir(parts[0], 0755) || mkdir(parts[1], 0755), 0);
	desk_open(&desk, "rows=1000,cols=777");
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct corrections corrections;
		struct error err = {0};

		write_file(folder, cases[i].text);
		assert_int_equal(corrections_load((const char *const[]){folder, NULL}, "toy",
					 &desk.catalogue, &corrections, &err),
			STATUS_BAD_INPUT);
		if (!strstr(err.message, cases[i].message))
			fail_msg("expected \"%s\" in \"%s\"", cases[i].message, err.message);
	}
	desk_close(&desk);
	for (size_t i = ARRAY_COUNT(parts); i-- > 0; free(parts[i]))
		assert_int_equal(remove(parts[i]), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_point_falls_to_one_leaf_of_each_tree),
		cmocka_unit_test(broken_trees_are_refused_with_their_place),
		cmocka_unit_test(the_factor_is_the_trees_sum),
		cmocka_unit_test(without_a_file_the_model_stands),
		cmocka_unit_test(broken_files_are_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
