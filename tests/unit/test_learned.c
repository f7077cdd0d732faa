#include "unit/unit.h"
#include "kernel_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "record/record_read.h"
#include "candidate/candidate_work.h"
#include "engine/candidates.h"

static const char *const with_file[] = {"tests/data/score/configs", NULL};
static const char *const without_file[] = {"tests/toy/configs", NULL};
static const struct learned_choice shipped = {0};

/* ---- trees ---- */
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

/* Bit k of the leaf is set if feature k is above threshold (k + tree) % 3; leaf l of tree t has
 * the value 7 l + t - 2048. */
static double worked_out(const float *x)
{
	static const float thresholds[] = {1, 2, 0.5f};
	static const int feature_of[] = {0, 0, 1};
	double sum = 0.25;

	for (int tree = 0; tree < 2; tree++) {
		int leaf = 0;

		for (int k = 0; k < 6; k++) {
			const int asked = (k + tree) % 3;

			leaf |= (x[feature_of[asked]] > thresholds[asked]) << k;
		}
		sum += 0.001 * (7 * leaf + tree - 2048);
	}
	return sum;
}

TEST(a_sum_of_trees_is_as_worked_out)
{
	static const char digits[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
	static const char *const names[] = {"a", "b", NULL}, *const moved[] = {"b", "c", "a", NULL},
				 *const less[] = {"a", "c", NULL};
	static const float values[] = {-1, 0.5f, 0.75f, 1, 1.5f, 2, 2.5f};
	struct text text = {0};
	struct trees trees = {0};
	struct error err = {0};

	text_append(&text,
		"{\"features\":[{\"name\":\"a\",\"thresholds\":[1,2]},{\"name\":\"b\","
		"\"thresholds\":[0.5]}],\"offset\":0.25,\"leaf_step\":0.001,\"trees\":[");
	for (int tree = 0; tree < 2; tree++) {
		text_append(&text, tree ? ",\"" : "\"");
		for (int k = 0; k < 6; k++)
			text_appendf(&text, "0%d", (k + tree) % 3);
		for (int leaf = 0; leaf < 64; leaf++)
			text_appendf(&text, "%c%c", digits[(7 * leaf + tree) / 64],
				digits[(7 * leaf + tree) % 64]);
		text_append(&text, "\"");
	}
	text_append(&text, "]}");
	assert_ok(read_trees(text.data, &trees, &err));
	for (size_t i = 0; i < ARRAY_COUNT(values); i++)
		for (size_t k = 0; k < ARRAY_COUNT(values); k++) {
			const float here[] = {values[i], values[k]};
			const float there[] = {values[k], 9, values[i]};

			assert_true(trees_bind(&trees, names));
			assert_true(fabs(trees_sum(&trees, here) - worked_out(here)) < 1e-12);
			/* the same features in another order */
			assert_true(trees_bind(&trees, moved));
			assert_true(fabs(trees_sum(&trees, there) - worked_out(here)) < 1e-12);
		}
	assert_false(trees_bind(&trees, less));
	record_release(&trees_record, &trees);
	text_release(&text);
}

TEST(too_many_thresholds_are_refused_in_one_sentence)
{
	struct text text = {0};
	struct trees trees = {0};
	struct error err = {0};

	text_append(&text, "{\"features\":[{\"name\":\"a\",\"thresholds\":[0");
	for (int i = 1; i <= 4096; i++)
		text_appendf(&text, ",%d", i);
	text_append(&text, "]}],\"offset\":0,\"leaf_step\":1,\"trees\":[]}");
	assert_fails(read_trees(text.data, &trees, &err), STATUS_BAD_INPUT,
		"there are more than 4096 thresholds");
	assert_null(strstr(err.message, "expected expected"));
	text_release(&text);
}

/* ---- learned corrections of a family ---- */
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

/* Returns the rows per block of a candidate. */
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

/* Writes the same file for a feature that no family has. */
static char *desk_other_file(const char *path)
{
	char *name = string_copy(TEST_SCRATCH "/tiletune-learned-XXXXXX");
	struct text text = {0};
	struct error err = {0};
	char *feature;

	close(mkstemp(name));
	assert_ok(file_read(path, &text, &err));
	feature = strstr(text.data, "\"ROWS\"");
	assert_non_null(feature);
	memcpy(feature, "\"RUWS\"", strlen("\"RUWS\""));
	assert_ok(file_write(name, text.data, text.length, &err));
	text_release(&text);
	return name;
}

/* The toy's file has these factors: 2 for two rows per block, 0.5 from a hundred waves on, and
 * always e^0.5. */
TEST(the_factor_is_the_trees_sum)
{
	const double always = exp(721 * log(2) / 1000);
	struct learned learned;
	struct desk desk;
	struct error err = {0};
	size_t doubled = 0, halved = 0;

	desk_open(&desk);
	assert_ok(learned_open(&shipped, with_file, "toy", &desk.catalogue, &learned, &err));
	desk.device->learned = &learned;
	desk_pose(&desk, "rows=12000,cols=777");
	assert_int_equal(basis_of(&desk).source, PREDICTION_SHIPPED);
	assert_int_equal(basis_of(&desk).timings, 1234);
	for (size_t i = 0; i < desk.pool.count; i++) {
		struct candidate candidate = candidates_at(&desk.pool, i);
		struct value *values = candidate_values(&candidate, &err);
		const bool slow = rows_of(&desk, i) == 2;
		struct work work;
		struct score score;
		double factor = always * (slow ? 2 : 1);

		assert_ok(candidate_work(desk.pool.families[0].bound, values, &work, &err));
		score_compute(desk.device, &work, NULL, &score);
		if (score.launches[0].waves_exact > 99.5) {
			factor /= 2;
			halved++;
		}
		doubled += slow;
		assert_ok(predict_candidate(&candidate, &err));
		/* a correction never predicts less than the lower bound */
		assert_true(fabs(candidate.prediction.time_us /
					    fmax(score.floor_us, score.predicted_time_us * factor) -
				    1) < 1e-6);
		/* the search sees the same time */
		assert_true(candidate.prediction.time_us == desk.pool.predicted_us[i]);
		score_release(&score);
		work_release(&work);
		free(values);
	}
	assert_true(doubled > 0 && doubled < desk.pool.count);
	assert_true(halved > 0 && halved < desk.pool.count);
	learned_release(&learned);
	desk_close(&desk);
}

TEST(without_a_file_physics_stands)
{
	struct learned learned;
	struct desk desk;
	struct candidate candidate;
	struct error err = {0};
	double alone_us;

	desk_open(&desk);
	desk_pose(&desk, "rows=1000,cols=777");
	alone_us = desk.pool.predicted_us[0];
	assert_int_equal(basis_of(&desk).source, PREDICTION_PHYSICS);
	assert_ok(learned_open(&shipped, without_file, "toy", &desk.catalogue, &learned, &err));
	desk.device->learned = &learned;
	candidate = candidates_at(&desk.pool, 0);
	assert_ok(predict_candidate(&candidate, &err));
	assert_true(candidate.prediction.time_us == alone_us);
	assert_int_equal(basis_of(&desk).source, PREDICTION_PHYSICS);
	learned_release(&learned);
	/* a device without corrections of its own, in a folder that has some for others */
	assert_ok(learned_open(&shipped, with_file, "h200-sxm", &desk.catalogue, &learned, &err));
	assert_null(learned.device);
	desk_close(&desk);
}

TEST(a_like_card_lends)
{
	static const char *const folders[] = {
		"tests/toy/configs", "tests/data/score/configs", "configs", NULL};
	struct learned learned;
	struct desk desk;
	struct device_spec *device;
	struct error err = {0};

	desk_open(&desk);
	/* the same compute capability as the toy's */
	assert_ok(device_spec_load("a10", folders, &device, &err));
	assert_ok(learned_open(&shipped, folders, "a10", &desk.catalogue, &learned, &err));
	device_spec_free(desk.device);
	desk.device = device;
	desk.device->learned = &learned;
	desk_pose(&desk, "rows=12000,cols=777");
	assert_int_equal(basis_of(&desk).source, PREDICTION_LENT);
	assert_int_equal(basis_of(&desk).timings, 1234);
	learned_release(&learned);
	/* another compute capability */
	assert_ok(learned_open(&shipped, folders, "b200", &desk.catalogue, &learned, &err));
	assert_null(learned.device);
	desk_close(&desk);
}

TEST(a_named_file_is_of_the_device_and_of_families_that_are_here)
{
	static const char path[] = "tests/data/score/configs/learned/toy.json";
	const struct learned_choice named = {.file = path}, nothing = {.none = true};
	struct learned learned, none;
	struct desk desk;
	struct error err = {0};
	char *const name = desk_other_file(path);
	const struct learned_choice other = {.file = name};

	desk_open(&desk);
	/* TILETUNE_LEARNED=none excludes the shipped corrections, not a named file */
	assert_int_equal(setenv("TILETUNE_LEARNED", "none", 1), 0);
	assert_ok(learned_open(&named, without_file, "toy", &desk.catalogue, &learned, &err));
	assert_int_equal(unsetenv("TILETUNE_LEARNED"), 0);
	assert_ok(learned_open(&nothing, with_file, "toy", &desk.catalogue, &none, &err));
	assert_true(!none.device && !none.family_count);
	desk.device->learned = &learned;
	desk_pose(&desk, "rows=12000,cols=777");
	assert_int_equal(basis_of(&desk).source, PREDICTION_NAMED);
	assert_int_equal(basis_of(&desk).timings, 1234);
	learned_release(&learned);
	assert_fails(learned_open(&named, with_file, "h200-sxm", &desk.catalogue, &learned, &err),
		STATUS_BAD_INPUT, "toy.json: $.device: expected \"h200-sxm\", found \"toy\"");
	assert_fails(learned_open(&other, with_file, "toy", &desk.catalogue, &learned, &err),
		STATUS_BAD_INPUT, "the file fits none of the families here");
	assert_null(learned.device);
	unlink(name);
	free(name);
	desk_close(&desk);
}

static int before(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	unsetenv("TILETUNE_LEARNED");
	return RUN_TESTS;
}
BEFORE_TESTS(before)
