#include "unit/unit.h"
#include "kernel_fixture.h"

#include <math.h>

#include "engine/candidates.h"
#include "advise/lookup.h"
#include "record/record_read.h"

/* The toy operation on the toy device is small enough to compare with every configuration. */
struct shelf {
	struct catalogue catalogue;
	struct device_spec *device;
	const struct operation *operation;
	struct tuned tuned;
	struct lookup_request request;
};

static void shelf_open(struct shelf *shelf)
{
	static const char *const templates[] = {"tests/toy/templates", NULL};
	static const char *const configs[] = {"tests/toy/configs", NULL};
	struct error err = {0};

	*shelf = (struct shelf){0};
	assert_ok(catalogue_load(templates, "row_softmax", &shelf->catalogue, &err));
	assert_ok(device_spec_load("toy", configs, &shelf->device, &err));
	assert_ok(catalogue_operation(&shelf->catalogue, "row_softmax", &shelf->operation, &err));
	tuned_init(&shelf->tuned, "tuned.json", gpu_model_of(shelf->device, "Toy GPU"));
	shelf->request = (struct lookup_request){
		.catalogue = &shelf->catalogue, .device = shelf->device, .tuned = &shelf->tuned};
}

static void shelf_close(struct shelf *shelf)
{
	tuned_release(&shelf->tuned);
	device_spec_free(shelf->device);
	catalogue_release(&shelf->catalogue);
}

static struct problem *parse(const struct shelf *shelf, const char *text)
{
	struct problem_list list = {0};
	struct problem *problem;
	struct error err = {0};

	assert_ok(problem_parse(shelf->operation, text, &list, &err));
	problem = list.items[0];
	free(list.items);
	return problem;
}

/* Adds an entry for that problem with that winner. */
static void put_for(struct shelf *shelf, enum objective objective, const char *problem_text,
	const char *configuration)
{
	struct problem *problem = parse(shelf, problem_text);
	struct json *tree = NULL;
	struct json_at at;
	struct tuned_entry entry = {.operation = string_copy("row_softmax"),
		.problem = problem_named_values(problem),
		.objective = objective,
		.run = string_copy("one"),
		.families = memory_zeroed(1, sizeof(*entry.families))};
	const char *kept;
	struct error err = {0};
	char *text = string_format("{\"family\":\"row_softmax/online\",\"configuration\":%s,"
				   "\"time_us\":{\"median\":10,\"ci95_low\":9,\"ci95_high\":11,"
				   "\"samples\":5},\"kernel_hash\":\"\"}",
		configuration);

	assert_ok(json_parse(text, strlen(text), "test", &tree, &err));
	at = json_root(tree, "test");
	assert_ok(record_from_json(&tuned_row_record, &at, &entry.winner, NULL, &err));
	tuned_put_entry(&shelf->tuned, &entry, NULL, &kept);
	free(text);
	json_free(tree);
	problem_free(problem);
}

static void put(struct shelf *shelf, const char *problem_text, const char *configuration)
{
	put_for(shelf, OBJECTIVE_TIME, problem_text, configuration);
}

static struct lookup_answer find(const struct shelf *shelf, const char *problem_text)
{
	struct problem *problem = parse(shelf, problem_text);
	struct lookup_answer answer;
	struct error err = {0};

	assert_ok(lookup_find(&shelf->request, problem, &answer, &err));
	problem_free(problem);
	return answer;
}

static void assert_configuration(const struct lookup_answer *answer, const char *expected)
{
	struct json *json = named_values_to_json(&answer->result.configuration);
	char *text = json_print(json, false);

	assert_string_equal(text, expected);
	free(text);
	json_free(json);
}

#define CONFIG(threads, rows, unroll, turns)                                                       \
	"{\"ROW_THREADS\":" #threads ",\"ROWS\":" #rows ",\"UNROLL\":" #unroll                     \
	",\"TURNS\":" #turns "}"

/* Predicted time of the default configuration. */
static double default_us(const struct candidates *pool)
{
	choice choices[SPACE_PARAMETERS_MAX];
	bool found = false;
	struct error err = {0};
	size_t bytes = pool->families[0].parameter_count * sizeof(choice);

	assert_ok(configuration_default(pool->families[0].bound, choices, &found, &err));
	assert_true(found);
	for (size_t i = 0; i < pool->count; i++)
		if (memcmp(candidates_configuration(pool, i), choices, bytes) == 0)
			return pool->predicted_us[i];
	fail_msg("the default is not among the legal ones");
	return 0;
}

static void score_pool(
	const struct shelf *shelf, const struct problem *problem, struct candidates *pool)
{
	const struct candidates_options options = {.score = true};
	struct error err = {0};

	assert_ok(candidates_open(&shelf->catalogue, problem, shelf->device, &options, pool, &err));
}

/* The lookup returns the configuration with the best prediction of all those in the file,
 * whatever the sizes of the entries' problems. */
static struct json *configuration_json(const struct candidates *pool, size_t candidate)
{
	struct named_values values = configuration_named_values(
		pool->families[0].bound, candidates_configuration(pool, candidate));
	struct json *json = named_values_to_json(&values);

	named_values_release(&values);
	return json;
}

TEST(the_model_chooses_among_all_entries)
{
	static const char *const problems[] = {
		"rows=1000,cols=777", "rows=64,cols=64", "rows=100000,cols=33", "rows=7,cols=5000"};
	static const char *const configurations[] = {CONFIG(32, 2, 1, 1), CONFIG(64, 4, 2, 1),
		CONFIG(128, 2, 1, 1), CONFIG(256, 1, 1, 1), CONFIG(32, 8, 1, 1)};
	size_t found = 0;

	for (size_t p = 0; p < ARRAY_COUNT(problems); p++) {
		struct shelf shelf;
		struct problem *problem;
		struct candidates pool;
		struct lookup_answer answer;
		double best_us = INFINITY, all_us = INFINITY;

		shelf_open(&shelf);
		for (size_t i = 0; i < ARRAY_COUNT(configurations); i++) {
			/* each is the winner of its own problem, with sizes in no order */
			char *text = string_format("rows=%zu,cols=2000", 1000 * (7 * i % 5 + 1));

			put(&shelf, text, configurations[i]);
			free(text);
		}
		problem = parse(&shelf, problems[p]);
		score_pool(&shelf, problem, &pool);
		for (size_t i = 0; i < pool.count; i++) {
			struct json *json = configuration_json(&pool, i);
			char *text = json_print(json, false);

			all_us = fmin(all_us, pool.predicted_us[i]);
			for (size_t k = 0; k < ARRAY_COUNT(configurations); k++)
				if (strcmp(text, configurations[k]) == 0)
					best_us = fmin(best_us, pool.predicted_us[i]);
			free(text);
			json_free(json);
		}
		answer = find(&shelf, problems[p]);
		assert_int_equal(answer.grade,
			best_us <= default_us(&pool) ? LOOKUP_NEAREST : LOOKUP_REFUSED);
		if (answer.grade == LOOKUP_NEAREST) {
			found++;
			assert_true(fabs(answer.predicted_us - best_us) < 1e-9 * best_us);
			assert_true(answer.predicted_us <= answer.default_us);
			assert_true(fabs(answer.model_best_us - all_us) < 1e-9 * all_us);
			assert_true(fabs(answer.expected_loss_ratio -
					    (answer.predicted_us / all_us - 1)) < 1e-9);
		}
		lookup_answer_release(&answer);
		candidates_release(&pool);
		problem_free(problem);
		shelf_close(&shelf);
	}
	assert_true(found >= 2);
}

/* The file contains only the slowest legal configuration. */
TEST(what_loses_to_the_default_is_refused)
{
	struct shelf shelf;
	struct problem *problem;
	struct candidates pool;
	struct lookup_answer answer;
	struct json *json;
	size_t worst = 0;
	char *text;

	shelf_open(&shelf);
	problem = parse(&shelf, "rows=4096,cols=1000");
	score_pool(&shelf, problem, &pool);
	for (size_t i = 0; i < pool.count; i++)
		if (pool.predicted_us[i] > pool.predicted_us[worst])
			worst = i;
	json = configuration_json(&pool, worst);
	text = json_print(json, false);
	put(&shelf, "rows=4000,cols=1000", text);
	answer = find(&shelf, "rows=4096,cols=1000");
	assert_int_equal(answer.grade, LOOKUP_REFUSED);
	assert_non_null(strstr(answer.why, "slower than the family's default"));
	assert_null(answer.result.result.family);
	assert_int_equal(answer.legal, 1);
	lookup_answer_release(&answer);
	free(text);
	json_free(json);
	candidates_release(&pool);
	problem_free(problem);
	shelf_close(&shelf);
}

TEST(what_is_not_legal_is_refused_with_the_reason)
{
	struct shelf shelf;
	struct lookup_answer answer;

	shelf_open(&shelf);
	answer = find(&shelf, "rows=7,cols=1000");
	assert_int_equal(answer.grade, LOOKUP_REFUSED);
	assert_non_null(strstr(answer.why, "no entry of this operation"));
	lookup_answer_release(&answer);
	put(&shelf, "rows=100000,cols=1000", CONFIG(256, 2, 4, 1));
	answer = find(
		&shelf, "rows=100000,cols=16"); /* a row is shorter than one step of its threads */
	assert_int_equal(answer.grade, LOOKUP_REFUSED);
	assert_non_null(strstr(answer.why, "half of the threads would have nothing to do"));
	assert_int_equal(answer.considered, 1);
	assert_int_equal(answer.legal, 0);
	lookup_answer_release(&answer);
	shelf_close(&shelf);
}

/* The toy's corrections double the predicted time of two rows per block. */
TEST(what_timings_taught_changes_the_choice)
{
	static const char *const configs[] = {"tests/data/score/configs", NULL};
	struct learned learned;
	struct shelf shelf;
	struct lookup_answer answer;
	struct error err = {0};
	double alone_us;

	shelf_open(&shelf);
	put(&shelf, "rows=4096,cols=1000", CONFIG(128, 2, 4, 1));
	put(&shelf, "rows=4000,cols=1000", CONFIG(128, 4, 4, 1));
	answer = find(&shelf, "rows=7,cols=1000");
	assert_configuration(&answer, CONFIG(128, 2, 4, 1));
	alone_us = answer.predicted_us;
	lookup_answer_release(&answer);
	assert_ok(learned_open(
		&(struct learned_choice){0}, configs, "toy", &shelf.catalogue, &learned, &err));
	shelf.device->learned = &learned;
	answer = find(&shelf, "rows=7,cols=1000");
	assert_configuration(&answer, CONFIG(128, 4, 4, 1));
	assert_true(answer.predicted_us > alone_us);
	assert_true(answer.predicted_us <= answer.default_us);
	/* the row has the corrected time, too */
	assert_true(answer.result.result.time.median == answer.predicted_us);
	lookup_answer_release(&answer);
	learned_release(&learned);
	shelf_close(&shelf);
}

/* TURNS is a launch argument: seven rows are one turn of the same binary. */
TEST(launch_arguments_are_fitted_to_the_problem)
{
	struct shelf shelf;
	struct lookup_answer answer;

	shelf_open(&shelf);
	put(&shelf, "rows=100000,cols=1000", CONFIG(128, 1, 2, 4));
	answer = find(&shelf, "rows=7,cols=1000");
	assert_int_equal(answer.legal, 1);
	assert_int_equal(answer.grade, LOOKUP_NEAREST);
	assert_configuration(&answer, CONFIG(128, 1, 2, 1));
	assert_non_null(strstr(answer.why, "the model chose its launch arguments"));
	lookup_answer_release(&answer);
	/* not if the stored arguments are as good */
	answer = find(&shelf, "rows=90000,cols=1000");
	assert_configuration(&answer, CONFIG(128, 1, 2, 4));
	assert_null(strstr(answer.why, "model's choice"));
	lookup_answer_release(&answer);
	shelf_close(&shelf);
}

/* The launch geometry is that of the requested problem. */
TEST(launches_are_for_the_asked_problem)
{
	struct shelf shelf;
	struct lookup_answer answer;

	shelf_open(&shelf);
	put(&shelf, "rows=4096,cols=1000", CONFIG(128, 2, 2, 1));
	shelf.request.without_best = true;
	answer = find(&shelf, "rows=1001,cols=1000");
	assert_int_equal(answer.grade, LOOKUP_NEAREST);
	assert_true(answer.model_best_us > 1e300); /* not requested */
	assert_int_equal(answer.result.launches[0].shape.grid[0], 501);
	lookup_answer_release(&answer);
	shelf_close(&shelf);
}

static int before(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	unsetenv("TILETUNE_LEARNED");
	return RUN_TESTS;
}
BEFORE_TESTS(before)
