/* SPDX-License-Identifier: MIT
 *
 * Evaluations: the closed list of outcomes, and JSON in both directions. tests/errors/journal.txt
 * has broken ones.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"
#include "base/text.h"
#include "record/record_read.h"
#include "record/record_write.h"
#include "format/result.h"
#include "unit/score_cases.h"

TEST(outcomes_are_found_by_name)
{
	assert_string_equal(outcome_name(OUTCOME_OK), "ok");
	assert_string_equal(outcome_name(OUTCOME_DEVICE_LOST), "device_lost");
	for (int i = 0; i < OUTCOME_COUNT; i++) {
		assert_int_equal(name_find(outcome_name((enum outcome)i), outcome_names), i);
		assert_true(strlen(outcome_summary((enum outcome)i)) > 0);
	}
	assert_int_equal(name_find("okay", outcome_names), -1);
}

static struct result result_pruned(void)
{
	return (struct result){
		.family = string_copy("gemm/mma"),
		.configuration = string_copy("BM=128,BN=128"),
		.kernel_hash = "0123456789abcdef0123456789abcdef",
		.outcome = OUTCOME_PRUNED_BY_MODEL,
		.detail = string_copy("spills"),
	};
}

static const char pruned_json[] =
	"{\"family\":\"gemm/mma\",\"configuration\":\"BM=128,BN=128\","
	"\"kernel_hash\":\"0123456789abcdef0123456789abcdef\",\"outcome\":\"pruned_by_model\","
	"\"detail\":\"spills\",\"flags\":[],\"compile_seconds\":0,\"from_cache\":false}";

static struct result result_full(void)
{
	static const double samples_us[] = {12.5, 11.5, 12, 13, 12.25, 12.75, 11.75};
	const struct device_spec device = case_device_hopper();
	const struct case_mma mma = {128, 4096, 7168, 128, 128, 64, 64, 64, 4, 4};
	const struct kernel_resources resources[2] = {
		{168, 16, 8, 12, 32, 2, 384, FLAG_MASK(SPILLS), 1, -1},
		{32, 0, 0, 0, 0, 1, 0, 0, 8, -1},
	};
	struct result result = result_pruned();
	struct case_work work;

	free(result.detail);
	result.detail = NULL;
	result.outcome = OUTCOME_WRONG_RESULT;
	result.flags = FLAG_MASK(SPILLS) | FLAG_MASK(THROTTLED);
	result.launch_count = 2;
	result.resources = calloc(2, sizeof(*result.resources));
	assert_non_null(result.resources);
	memcpy(result.resources, resources, sizeof(resources));
	case_mma_work(&mma, &work);
	score_compute(&device, &work.work, resources, &result.score);
	result.verification = (struct verification){true, 524288, 3, 17, 0.5, 0.25, 0.25, 1};
	result_add_samples(&result, samples_us, 3);
	result_add_samples(&result, samples_us + 3, 4);
	result.compile_seconds = 0.375;
	result.from_cache = true;
	return result;
}

static const char full_start[] =
	"{\"family\":\"gemm/mma\",\"configuration\":\"BM=128,BN=128\","
	"\"kernel_hash\":\"0123456789abcdef0123456789abcdef\",\"outcome\":\"wrong_result\","
	"\"flags\":[\"spills\",\"throttled\"],\"resources\":[{\"regs_per_thread\":168,"
	"\"smem_static_bytes\":16,\"spill_store_bytes\":8,\"spill_load_bytes\":12,"
	"\"stack_bytes\":32,\"barriers\":2,\"threads_per_block\":384,\"flags\":[\"spills\"],"
	"\"blocks_per_sm\":1,"
	"\"max_clusters\":-1},{\"regs_per_thread\":32,\"smem_static_bytes\":0,"
	"\"spill_store_bytes\":0,\"spill_load_bytes\":0,\"stack_bytes\":0,\"barriers\":1,"
	"\"flags\":[],\"blocks_per_sm\":8,\"max_clusters\":-1}],\"score\":{\"tiles\":128,";
/* interval ends agree between implementations of libm only to some digits */
static const char full_middle[] =
	"\"verification\":{\"points\":524288,\"violations\":3,\"first_bad\":17,\"first_out\":0.5,"
	"\"first_expected\":0.25,\"max_abs_error\":0.25,\"max_rel_error\":1},"
	"\"timing\":\"measured\",\"time_us\":{\"median\":12.25,\"ci95_low\":11.63172";
static const char full_end[] = "\"samples\":7},\"samples_us\":[12.5,11.5,12,13,12.25,12.75,11.75],"
			       "\"compile_seconds\":0.375,\"from_cache\":true}";

static char *print(const struct result *result)
{
	struct json *json = record_to_json(&result_record, result);
	char *text = json_print(json, false);

	json_free(json);
	return text;
}

/* Reads text back; the caller releases the result. */
static enum status parse(const char *text, struct result *result, struct error *err)
{
	struct json *json;
	struct json_at at;
	enum status status = json_parse(text, strlen(text), "line", &json, err);

	assert_int_equal(status, STATUS_OK);
	at = json_root(json, "line");
	*result = (struct result){0};
	status = record_from_json(&result_record, &at, result, NULL, err);
	json_free(json);
	return status;
}

static void check_round_trip(const char *text)
{
	struct result back;
	struct error err = {0};
	char *again;

	assert_int_equal(parse(text, &back, &err), STATUS_OK);
	again = print(&back);
	assert_string_equal(again, text);
	free(again);
	result_release(&back);
}

TEST(a_pruned_result_survives_json)
{
	struct result result = result_pruned();
	char *text = print(&result);

	assert_string_equal(text, pruned_json);
	check_round_trip(text);
	free(text);
	result_release(&result);
	assert_null(result.family);
}

TEST(a_full_result_survives_json)
{
	struct result result = result_full();
	char *text = print(&result);

	assert_true(string_starts_with(text, full_start));
	assert_non_null(strstr(text, full_middle));
	assert_true(string_ends_with(text, full_end));
	check_round_trip(text);
	free(text);
	/* a device that predicts */
	result.predicted = true;
	text = print(&result);
	assert_non_null(strstr(text, "\"timing\":\"predicted\""));
	check_round_trip(text);
	free(text);
	result_release(&result);
}

/* Broken kernels often write NaN. */
TEST(infinite_and_nan_values_survive_json)
{
	struct result result = result_full(), back;
	struct error err = {0};
	char *text;

	result.verification.first_out = NAN;
	result.verification.max_abs_error = INFINITY;
	text = print(&result);
	assert_int_equal(parse(text, &back, &err), STATUS_OK);
	assert_true(isnan(back.verification.first_out));
	assert_true(isinf(back.verification.max_abs_error));
	assert_true(back.verification.max_rel_error == 1);
	free(text);
	result_release(&result);
	result_release(&back);
}
