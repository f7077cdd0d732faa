/* layer: advise */
/* SPDX-License-Identifier: MIT
 *
 * What the published selection rules pick, and that a run reports how far they are from the best.
 */
#include <math.h>

#include "tune/picks.h"
#include "tune/session.h"
#include "unit/kernel_fixture.h"

static const char document[] = "batch=1,heads=16,seq_q=1024,seq_k=1024,head_dim=32,dtype=fp16";

struct bench {
	struct catalogue catalogue;
	struct device_spec *device;
	const struct operation *operation;
	struct problem_list problems;
	struct candidates pool;
	struct picks picks;
};

static void bench_open(struct bench *bench, const struct catalogue *catalogue, const char *family,
	const char *where)
{
	static const char *const configs[] = {"configs", NULL};
	const char *families[] = {family, NULL};
	struct candidates_options options = {.families = families, .where = where, .score = true};
	struct error err = {0};

	assert_ok(device_spec_load("a100-sxm4", configs, &bench->device, &err));
	assert_ok(catalogue_operation(catalogue, "attention", &bench->operation, &err));
	assert_ok(problem_parse(bench->operation, document, &bench->problems, &err));
	assert_ok(candidates_open(
		catalogue, bench->problems.items[0], bench->device, &options, &bench->pool, &err));
	assert_ok(picks_find(&bench->pool, &bench->picks, &err));
}

static void bench_close(struct bench *bench)
{
	picks_release(&bench->picks);
	candidates_release(&bench->pool);
	problem_list_release(&bench->problems);
	device_spec_free(bench->device);
	catalogue_release(&bench->catalogue);
}

static void load(struct bench *bench)
{
	static const char *const folders[] = {"templates", NULL};
	struct error err = {0};

	*bench = (struct bench){0};
	assert_ok(catalogue_load(folders, "attention", &bench->catalogue, &err));
}

static void expect_pick(const struct bench *bench, const char *rule, const char *expected)
{
	struct text text = {0};

	for (size_t i = 0; i < bench->picks.count; i++) {
		const struct search_pick *pick = &bench->picks.items[i];

		if (strcmp(pick->rule, rule) == 0)
			configuration_format(bench->pool.families[0].bound,
				candidates_configuration(&bench->pool, pick->candidate), &text);
	}
	assert_string_equal(text_string(&text), expected);
	text_release(&text);
}

/* 163 KiB of the A100: 128 x 128 takes 169, 120 x 120 takes 150.9. */
static void test_document_rules(void **state)
{
	struct bench bench;
	struct error err = {0};

	(void)state;
	load(&bench);
	bench_open(&bench, &bench.catalogue, "tiled_simt", NULL);
	assert_int_equal(bench.picks.count, 2);
	expect_pick(&bench, "largest_fit", "BM=120,BN=120");
	expect_pick(&bench, "occupancy_per_iteration", "BM=32,BN=32");
	assert_ok(picks_check_name(bench.operation, "largest_fit", &err));
	assert_fails(picks_check_name(bench.operation, "largest", &err), STATUS_BAD_INPUT,
		"expected a rule of attention (largest_fit, occupancy_per_iteration)");
	bench_close(&bench);
}

/* The document's own budget of 160 KiB instead of the device's limit: the appendix's rule picks
 * 32 x 32, not the tiles that the document praises. */
static void test_document_budget(void **state)
{
	static const char budget[] = "(163840 // smem_bytes) * THREADS";
	struct bench bench;
	struct operation *changed;
	struct catalogue catalogue;
	struct family *family;
	struct json *tree;
	struct error err = {0};
	char *text = file_with("templates/attention/operation.json",
		"(smem_per_block_bytes // smem_bytes) * THREADS", budget);

	(void)state;
	load(&bench);
	assert_ok(json_parse(text, strlen(text), "f.json", &tree, &err));
	assert_ok(operation_from_json(tree, "f.json", "attention", &changed, &err));
	assert_ok(json_load("templates/attention/tiled_simt.json", &tree, &err));
	assert_ok(family_from_json(tree, "tiled_simt.json", "tiled_simt", changed, &family, &err));
	catalogue = (struct catalogue){.operations = &changed,
		.operation_count = 1,
		.families = &family,
		.family_count = 1};
	bench_open(&bench, &catalogue, "tiled_simt", NULL);
	expect_pick(&bench, "occupancy_per_iteration", "BM=32,BN=32");
	bench_close(&bench);
	family_free(family);
	operation_free(changed);
	free(text);
}

/* A pick outside of what is searched is none. */
static void test_where(void **state)
{
	struct bench bench;

	(void)state;
	load(&bench);
	bench_open(&bench, &bench.catalogue, "tiled_simt", "BM != 120");
	expect_pick(&bench, "largest_fit", "BM=112,BN=112");
	bench_close(&bench);
}

static void test_distance(void **state)
{
	struct bench bench;
	struct evaluated items[2] = {{0}};
	struct evaluated_list list = {.items = items, .count = 2};
	struct pick_distance distance;
	struct tuned_entry entry = {0};
	double samples[] = {20, 25};

	(void)state;
	load(&bench);
	bench_open(&bench, &bench.catalogue, "tiled_simt", NULL);
	items[0].candidate = bench.picks.items[0].candidate;
	evaluation_add_samples(&items[0].evaluation, &samples[1], 1);
	items[1].candidate = 0;
	evaluation_add_samples(&items[1].evaluation, &samples[0], 1);
	distance = pick_distance(&bench.pool, &list, &bench.picks.items[0], 10);
	assert_int_equal(distance.evaluated, 0);
	assert_true(fabs(distance.regret_ratio - 1.5) < 1e-12);
	assert_true(fabs(distance.regret_in_family_ratio - 0.25) < 1e-12);
	items[0].evaluation.outcome = OUTCOME_WRONG_RESULT;
	distance = pick_distance(&bench.pool, &list, &bench.picks.items[0], 10);
	assert_true(isinf(distance.time_us));
	items[0].candidate = 1; /* not tried: the model's word */
	distance = pick_distance(&bench.pool, &list, &bench.picks.items[0], 10);
	assert_int_equal(distance.evaluated, -1);
	assert_true(distance.time_us == bench.pool.predicted_us[bench.picks.items[0].candidate]);

	picks_describe(&bench.pool, &list, &bench.picks, 10, &entry);
	assert_int_equal(entry.rule_count, 2);
	assert_true(fabs(entry.rules[0].regret_ratio - distance.regret_ratio) < 1e-9);
	tuned_entry_release(&entry);
	for (size_t i = 0; i < 2; i++)
		evaluation_release(&items[i].evaluation);
	bench_close(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document_rules),
		cmocka_unit_test(test_document_budget),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_distance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
