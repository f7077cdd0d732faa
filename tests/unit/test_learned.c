/* layer: advise */
#include "kernel_fixture.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/random.h"
#include "base/record_read.h"
#include "base/record_write.h"
#include "candidate/candidate_work.h"
#include "engine/scoring.h"
#include "learn/training.h"

static const char *const with_file[] = {"tests/data/score/configs", NULL};
static const char *const without_file[] = {"tests/toy/configs", NULL};

/* ---- trees ---- */
enum {
	POINTS = 4000,
	FEATURES = 6
};
static const char *const names[] = {"a", "b", "c", "d", "e", "f", NULL};

/* What is learned in the tests: a step, a product of two features, one that matters for half of
 * them; the others are noise. */
static double truth(const float *x)
{
	return (x[0] > 0.3f ? 0.4 : -0.1) + (double)(x[1] * x[2]) +
	       (x[3] > 0.5f ? 0.3 * (double)x[1] : 0);
}

struct points {
	float features[POINTS * FEATURES];
	struct tree_sample samples[POINTS];
};

static void points_init(struct points *points)
{
	struct random_state random;

	random_seed(&random, 5);
	for (size_t i = 0; i < POINTS; i++) {
		float *x = points->features + i * FEATURES;

		for (size_t f = 0; f < FEATURES; f++)
			x[f] = (float)random_unit(&random);
		points->samples[i] = (struct tree_sample){.features = x,
			.wanted = truth(x) + 0.05 * (random_unit(&random) - 0.5),
			.weight = 1,
			.used = i % 4 != 0};
	}
}

/* Mean square of what is left of the truth, over the points that were not learned from. */
static double error_left_out(const struct points *points, const struct trees *trees)
{
	double sum = 0, count = 0;

	for (size_t i = 0; i < POINTS; i += 4) {
		const float *x = points->features + i * FEATURES;
		const double error = truth(x) - (trees ? trees_sum(trees, x) : 0);

		sum += error * error;
		count++;
	}
	return sum / count;
}

static void trees_learn_what_they_were_not_shown(void **state)
{
	struct points *points = memory_zeroed(1, sizeof(*points));
	struct trees trees, again;
	double mean = 0;

	(void)state;
	points_init(points);
	trees_fit(points->samples, POINTS, names, &trees);
	assert_true(error_left_out(points, &trees) < 0.01 * error_left_out(points, NULL));
	/* the same samples, the same trees */
	trees_fit(points->samples, POINTS, names, &again);
	assert_true(record_equal(&trees_record, &trees, &again));
	trees_release(&again);
	/* heavy samples decide: half of them say 1 more */
	for (size_t i = 0; i < POINTS; i++) {
		points->samples[i].wanted = i % 2 ? 1 : 0;
		points->samples[i].weight = i % 2 ? 1.8 : 0.2;
	}
	trees_fit(points->samples, POINTS, names, &again);
	for (size_t i = 0; i < POINTS; i++)
		mean += trees_sum(&again, points->features + i * FEATURES) / POINTS;
	assert_true(fabs(mean - 1.8 * 2 / (1.8 * 2 + 0.2)) < 0.03);
	trees_release(&again);
	trees_release(&trees);
	free(points);
}

static enum status read_trees(const char *text, struct trees *trees, struct error *reason)
{
	struct json *json = NULL;
	struct json_at at;
	struct error err = {0};
	enum status status;

	assert_ok(json_parse(text, strlen(text), "trees", &json, &err));
	at = json_root(json, "trees");
	status = record_from_json(&trees_record, &at, trees, NULL, reason);
	json_free(json);
	return status;
}

static void trees_are_the_same_when_read_again(void **state)
{
	static const char *const moved[] = {"f", "e", "d", "c", "b", "a", NULL};
	static const char *const less[] = {"a", "b", "d", "e", "f", NULL};
	struct points *points = memory_zeroed(1, sizeof(*points));
	struct trees trees, again = {0};
	struct json *json;
	struct error err = {0};
	char *text;

	(void)state;
	points_init(points);
	trees_fit(points->samples, POINTS, names, &trees);
	json = record_to_json(&trees_record, &trees);
	text = json_print(json, false);
	assert_ok(read_trees(text, &again, &err));
	assert_int_equal(again.count, trees.count);
	/* features stand elsewhere now */
	assert_true(trees_bind(&again, moved));
	for (size_t i = 0; i < 100; i++) {
		float x[FEATURES], turned[FEATURES];

		memcpy(x, points->features + i * FEATURES, sizeof(x));
		for (size_t f = 0; f < FEATURES; f++)
			turned[f] = x[FEATURES - 1 - f];
		assert_true(trees_sum(&trees, x) == trees_sum(&again, turned));
	}
	assert_false(trees_bind(&again, less));
	trees_release(&again);
	trees_release(&trees);
	json_free(json);
	free(text);
	free(points);
}

#define LEAVES64(text)                                                                             \
	text text text text text text text text text text text text text text text text
static void broken_trees_are_refused_with_their_place(void **state)
{
	static const char features[] =
		"\"features\":[{\"name\":\"a\",\"thresholds\":[1,2]}],\"offset\":0,\"leaf_step\":1";
	static const struct {
		const char *tree, *message;
	} cases[] = {
		{"000000000000" LEAVES64("W0W0W0W0"), NULL},
		{"010000000001" LEAVES64("W0W0W0W0"), NULL},
		{"020000000000" LEAVES64("W0W0W0W0"), "$.trees[0]: expected 6 thresholds of 2"},
		{"000000000000" LEAVES64("W0W0W0W"), "$.trees[0]"},
		{"000000000000" LEAVES64("W0W0W0W0") "0", "$.trees[0]"},
		{"0000000000!0" LEAVES64("W0W0W0W0"), "$.trees[0]"},
		{"", "$.trees[0]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char *text = string_format("{%s,\"trees\":[\"%s\"]}", features, cases[i].tree);
		struct trees trees = {0};
		struct error err = {0};
		const enum status status = read_trees(text, &trees, &err);

		assert_int_equal(status, cases[i].message ? STATUS_BAD_INPUT : STATUS_OK);
		if (cases[i].message && !strstr(err.message, cases[i].message))
			fail_msg("expected \"%s\" in \"%s\"", cases[i].message, err.message);
		if (status == STATUS_OK)
			trees_release(&trees);
		free(text);
	}
}

/* ---- what was learned of a family ---- */
struct desk {
	struct catalogue catalogue;
	struct device_spec *device;
	struct problem_list problems;
	struct candidates pool;
};

static void desk_open(struct desk *desk)
{
	static const char *const templates[] = {"tests/toy/templates", NULL};
	struct error err = {0};

	*desk = (struct desk){0};
	assert_ok(catalogue_load(templates, "row_softmax", &desk->catalogue, &err));
	assert_ok(device_spec_load("toy", without_file, &desk->device, &err));
}

static void desk_pose(struct desk *desk, const char *problem)
{
	const struct candidates_options options = {.score = true};
	const struct operation *operation;
	struct error err = {0};

	candidates_release(&desk->pool);
	problem_list_release(&desk->problems);
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

/* Its rows of a block. */
static int64_t rows_of(const struct desk *desk, size_t candidate)
{
	enum {
		ROWS_PARAMETER = 1
	};
	const struct space *space = desk->pool.families[0].bound->space;
	const choice *choices = candidates_configuration(&desk->pool, candidate);

	return space->parameters[ROWS_PARAMETER].values.items[choices[ROWS_PARAMETER]].integer;
}

static struct prediction_basis basis_of(const struct desk *desk)
{
	return prediction_basis(desk->pool.families[0].bound);
}

/* The toy's file says: twice the time for 2 rows a block, half from a hundred waves on, e^0.5
 * always. */
static void the_factor_is_the_trees_sum(void **state)
{
	const double always = exp(721 * log(2) / 1000);
	struct learned learned;
	struct desk desk;
	struct error err = {0};
	size_t doubled = 0, halved = 0;

	(void)state;
	desk_open(&desk);
	assert_ok(learned_open(
		LEARNED_SHIPPED, with_file, NULL, "toy", &desk.catalogue, &learned, &err));
	desk.device->learned = &learned;
	desk_pose(&desk, "rows=12000,cols=777");
	assert_int_equal(basis_of(&desk).source, PREDICTION_SHIPPED);
	assert_int_equal(basis_of(&desk).timings, 1234);
	for (size_t i = 0; i < desk.pool.count; i++) {
		struct candidate candidate = candidates_at(&desk.pool, i);
		struct value *slots = candidate_values(&candidate, &err);
		const bool slow = rows_of(&desk, i) == 2;
		struct work work;
		struct score score;
		double factor = always * (slow ? 2 : 1);

		assert_ok(candidate_work(desk.pool.families[0].bound, slots, &work, &err));
		score_compute(desk.device, &work, NULL, &score);
		if (score.launches[0].waves_exact > 99.5) {
			factor /= 2;
			halved++;
		}
		doubled += slow;
		assert_ok(predict_candidate(&candidate, &err));
		/* nothing learned makes a time shorter than the work takes */
		assert_true(fabs(candidate.prediction.time_us /
					    fmax(score.floor_us, score.predicted_time_us * factor) -
				    1) < 1e-6);
		/* the search sees the same */
		assert_true(candidate.prediction.time_us == desk.pool.predicted_us[i]);
		score_release(&score);
		work_release(&work);
		free(slots);
	}
	assert_true(doubled > 0 && doubled < desk.pool.count);
	assert_true(halved > 0 && halved < desk.pool.count);
	learned_release(&learned);
	desk_close(&desk);
}

static void without_a_file_physics_stands(void **state)
{
	struct learned learned;
	struct desk desk;
	struct candidate candidate;
	struct error err = {0};
	double alone_us;

	(void)state;
	desk_open(&desk);
	desk_pose(&desk, "rows=1000,cols=777");
	alone_us = desk.pool.predicted_us[0];
	assert_int_equal(basis_of(&desk).source, PREDICTION_PHYSICS);
	assert_ok(learned_open(
		LEARNED_SHIPPED, without_file, NULL, "toy", &desk.catalogue, &learned, &err));
	desk.device->learned = &learned;
	candidate = candidates_at(&desk.pool, 0);
	assert_ok(predict_candidate(&candidate, &err));
	assert_true(candidate.prediction.time_us == alone_us);
	assert_int_equal(basis_of(&desk).source, PREDICTION_PHYSICS);
	learned_release(&learned);
	/* a device that has none among others that do */
	assert_ok(learned_open(
		LEARNED_SHIPPED, with_file, NULL, "h200-sxm", &desk.catalogue, &learned, &err));
	assert_null(learned.layers[0].device);
	desk_close(&desk);
}

static void a_like_card_lends(void **state)
{
	static const char *const folders[] = {
		"tests/toy/configs", "tests/data/score/configs", "configs", NULL};
	struct learned learned;
	struct desk desk;
	struct device_spec *device;
	struct error err = {0};

	(void)state;
	desk_open(&desk);
	/* of the toy's compute capability */
	assert_ok(device_spec_load("a10", folders, &device, &err));
	assert_ok(learned_open(
		LEARNED_SHIPPED, folders, NULL, "a10", &desk.catalogue, &learned, &err));
	device_spec_free(desk.device);
	desk.device = device;
	desk.device->learned = &learned;
	desk_pose(&desk, "rows=12000,cols=777");
	assert_int_equal(basis_of(&desk).source, PREDICTION_LENT);
	assert_int_equal(basis_of(&desk).timings, 1234);
	learned_release(&learned);
	/* of another one */
	assert_ok(learned_open(
		LEARNED_SHIPPED, folders, NULL, "b200", &desk.catalogue, &learned, &err));
	assert_null(learned.layers[0].device);
	desk_close(&desk);
}

/* ---- learning from timings ---- */
/* What a device that is three times as slow as predicted, and six times for one row of a block,
 * would have measured. */
static void add_timings(struct training *training, struct desk *desk, const char *problem)
{
	struct timings timings = {.operation = string_copy("row_softmax"),
		.family = string_copy("row_softmax/online")};
	struct error err = {0};

	desk_pose(desk, problem);
	timings.problem = string_copy(desk->problems.items[0]->text);
	timings.count = desk->pool.count;
	timings.configurations = memory_zeroed(timings.count + 1, sizeof(char *));
	timings.times_us = memory_zeroed(timings.count, sizeof(double));
	for (size_t i = 0; i < desk->pool.count; i++) {
		const struct candidate candidate = candidates_at(&desk->pool, i);
		struct text text = {0};

		configuration_format(candidate.bound, candidate.choices, &text);
		timings.configurations[i] = text_detach(&text);
		timings.times_us[i] = desk->pool.predicted_us[i] * (rows_of(desk, i) == 1 ? 6 : 3);
	}
	assert_ok(training_add(training, &timings, &err));
	record_release(&timings_record, &timings);
}

static void what_was_measured_elsewhere_is_predicted(void **state)
{
	static const char *const problems[] = {"rows=12000,cols=777", "rows=6000,cols=1024",
		"rows=3000,cols=2048", "rows=9000,cols=512", "rows=5000,cols=300",
		"rows=2000,cols=4000", "rows=700,cols=700", "rows=8000,cols=1500"};
	struct training training = {0};
	struct learned learned = {0};
	struct desk desk;
	const struct learned_family *family;

	(void)state;
	desk_open(&desk);
	training.catalogue = &desk.catalogue;
	training.device = desk.device;
	for (size_t i = 0; i < ARRAY_COUNT(problems); i++)
		add_timings(&training, &desk, problems[i]);
	/* measured twice: no more timings for that */
	add_timings(&training, &desk, problems[0]);
	training_fit(&training, true, &learned.layers[1]);
	assert_int_equal(learned.layers[1].family_count, 1);
	family = &learned.layers[1].families[0];
	assert_string_equal(family->name, "row_softmax/online");
	assert_int_equal(family->problems, ARRAY_COUNT(problems));
	assert_true(family->timings < training.count + 1 && family->timings > 64);
	assert_int_equal(family->left_out.problems, ARRAY_COUNT(problems));
	assert_true(family->left_out.learned_mean > family->left_out.physics_mean + 0.02);
	assert_true(family->left_out.learned_lowest > 0.99);
	/* a problem that nobody measured */
	desk_pose(&desk, "rows=1000,cols=1000");
	desk.device->learned = &learned;
	assert_int_equal(basis_of(&desk).source, PREDICTION_LEARNED);
	for (size_t i = 0; i < desk.pool.count; i++) {
		const double physics_us = desk.pool.predicted_us[i];
		struct candidate candidate = candidates_at(&desk.pool, i);
		struct error err = {0};

		assert_ok(predict_candidate(&candidate, &err));
		assert_true(fabs(candidate.prediction.time_us / physics_us /
					    (rows_of(&desk, i) == 1 ? 6 : 3) -
				    1) < 0.1);
	}
	learned_release(&learned);
	training_release(&training);
	desk_close(&desk);
}

static void what_is_gone_is_passed_over(void **state)
{
	char *configurations[] = {(char *)"THREADS=128,ROWS=3", NULL};
	double times_us[] = {1};
	struct timings timings = {.operation = (char *)"row_softmax",
		.problem = (char *)"rows=1000,cols=1000",
		.family = (char *)"row_softmax/gone",
		.configurations = configurations,
		.times_us = times_us,
		.count = 1};
	struct training training = {0};
	struct learned_file file;
	struct desk desk;
	struct error err = {0};

	(void)state;
	desk_open(&desk);
	training.catalogue = &desk.catalogue;
	training.device = desk.device;
	assert_ok(training_add(&training, &timings, &err));
	timings.family = (char *)"row_softmax/online";
	assert_ok(training_add(&training, &timings, &err));
	timings.problem = (char *)"rows=0";
	assert_ok(training_add(&training, &timings, &err));
	assert_int_equal(training.passed_over, 3);
	assert_int_equal(training.count, 0);
	training_fit(&training, true, &file);
	assert_int_equal(file.family_count, 0);
	learned_file_release(&file);
	training_release(&training);
	desk_close(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_learn_what_they_were_not_shown),
		cmocka_unit_test(trees_are_the_same_when_read_again),
		cmocka_unit_test(broken_trees_are_refused_with_their_place),
		cmocka_unit_test(the_factor_is_the_trees_sum),
		cmocka_unit_test(without_a_file_physics_stands),
		cmocka_unit_test(a_like_card_lends),
		cmocka_unit_test(what_was_measured_elsewhere_is_predicted),
		cmocka_unit_test(what_is_gone_is_passed_over),
	};

	unsetenv("TILETUNE_LEARNED");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
