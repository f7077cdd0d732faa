/* layer: measure */
/* SPDX-License-Identifier: MIT
 *
 * What the tuner and the measuring worker say to each other, there and back.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

#include "base/memory.h"
#include "measure/anchor.h"
#include "measure/protocol.h"

static struct packet unpack(struct text *payload)
{
	struct packet packet;
	struct error err;

	assert_ok(packet_unpack(payload, "test", &packet, &err));
	text_release(payload);
	return packet;
}

static void test_packet(void **state)
{
	struct text blobs[3] = {{0}};
	struct text payload = {0};
	struct packet packet;
	struct json *header = json_new_object();
	const char *value;
	struct error err;

	(void)state;
	json_put_string(header, "a", "b");
	text_append_bytes(&blobs[0], "x\0y", 3);
	text_append_bytes(&blobs[2], "tail", 4);
	packet_pack(header, blobs, 3, &payload);
	packet = unpack(&payload);
	assert_ok(json_member_string(&packet.root, "a", &value, &err));
	assert_string_equal(value, "b");
	assert_int_equal(packet.blob_count, 3);
	assert_int_equal(packet.blobs[0].length, 3);
	assert_memory_equal(packet.blobs[0].data, "x\0y", 3);
	assert_int_equal(packet.blobs[1].length, 0);
	assert_memory_equal(packet.blobs[2].data, "tail", 4);
	packet_release(&packet);
	text_release(&blobs[0]);
	text_release(&blobs[2]);
}

static void expect_bad(const char *bytes, size_t size, const char *message)
{
	struct text payload = {0};
	struct packet packet;
	struct error err = {0};

	text_append_bytes(&payload, bytes, size);
	assert_int_not_equal(packet_unpack(&payload, "worker", &packet, &err), STATUS_OK);
	assert_non_null(strstr(err.message, message));
	text_release(&payload);
}

static void test_bad_packets(void **state)
{
	(void)state;
	expect_bad("", 0, "expected a packet, found 0 bytes");
	expect_bad("\3\0\0", 3, "found 3 bytes");
	expect_bad("\5\0\0\0{}", 6, "found 6 bytes");
	expect_bad("\2\0\0\0{]", 6, "worker");
	expect_bad("\2\0\0\0{}", 6, "blobs");
	expect_bad("\15\0\0\0{\"blobs\":[1]}", 17, "a size within the frame");
	expect_bad("\16\0\0\0{\"blobs\":[-1]}", 18, "a size within the frame");
}

static void test_gpu(void **state)
{
	struct measure_gpu gpu = {.uuid = "GPU-1",
		.driver = "580.1",
		.mig = "disabled",
		.driver_cuda_version = 13000,
		.clock_sm_hz = 1.98e9,
		.power_limit_w = 700};
	struct measure_gpu back;
	struct json *json;
	struct json_at root;
	struct error err;

	(void)state;
	string_put(gpu.facts.name, sizeof(gpu.facts.name), "NVIDIA \"X\"");
	gpu.facts.compute_capability = 90;
	gpu.facts.dram_bytes = (int64_t)150 << 30;
	gpu.facts.memory_bus_bits = 6144;
	json = measure_gpu_to_json(&gpu);
	root = json_root(json, "test");
	assert_ok(measure_gpu_from_json(&root, &back, &err));
	assert_string_equal(back.facts.name, "NVIDIA \"X\"");
	assert_string_equal(back.uuid, "GPU-1");
	assert_string_equal(back.driver, "580.1");
	assert_int_equal(back.driver_cuda_version, 13000);
	assert_int_equal(back.facts.dram_bytes, (int64_t)150 << 30);
	assert_int_equal(back.facts.memory_bus_bits, 6144);
	assert_true(back.clock_sm_hz == 1.98e9 && back.power_limit_w == 700);
	json_free(json);
}

static void test_requests(void **state)
{
	struct measure_open open = {.seed = 0xfedcba9876543210u,
		.memory_limit_bytes = (uint64_t)1 << 40,
		.kernel_timeout_s = 2.5};
	uint32_t numbers[] = {4, 4000000000u};
	struct measure_sample sample = {.handles = numbers,
		.handle_count = 2,
		.rounds_min = 3,
		.rounds_max = 9,
		.seconds_max = 1.25,
		.target_ratio = 0.01,
		.give_up_us = 42};
	struct measure_open open_back = {0};
	struct measure_sample sample_back;
	struct text payload = {0};
	struct packet packet;
	uint32_t handle = 0;
	struct error err;

	(void)state;
	measure_open_pack(&open, &payload);
	packet = unpack(&payload);
	assert_ok(measure_open_unpack(&packet, &open_back, &err));
	assert_true(open_back.seed == open.seed &&
		    open_back.memory_limit_bytes == open.memory_limit_bytes &&
		    open_back.kernel_timeout_s == open.kernel_timeout_s);
	packet_release(&packet);
	measure_sample_pack(&sample, &payload);
	packet = unpack(&payload);
	assert_ok(measure_sample_unpack(&packet, &sample_back, &err));
	assert_int_equal(sample_back.handle_count, 2);
	assert_int_equal(sample_back.handles[1], 4000000000u);
	assert_int_equal(sample_back.rounds_max, 9);
	assert_true(sample_back.seconds_max == 1.25 && sample_back.give_up_us == 42);
	measure_sample_release(&sample_back);
	packet_release(&packet);
	measure_handle_pack(17, &payload);
	packet = unpack(&payload);
	assert_ok(measure_handle_unpack(&packet, &handle, &err));
	assert_int_equal(handle, 17);
	/* a request of another kind */
	assert_fails(
		measure_sample_unpack(&packet, &sample_back, &err), STATUS_BAD_INPUT, "handles");
	packet_release(&packet);
}

static void test_load(void **state)
{
	struct plan plan, back = {0};
	struct text cubin = {0}, payload = {0};
	struct packet packet;
	uint32_t handle = 0, problem = 9;
	struct error err;

	(void)state;
	anchor_plan(132, &plan);
	text_append(&cubin, "bytes");
	measure_load_pack(3, 0, &plan, &cubin, 1, &payload);
	packet = unpack(&payload);
	assert_ok(measure_load_unpack(&packet, &handle, &problem, &back, &err));
	assert_int_equal(handle, 3);
	assert_int_equal(problem, 0);
	assert_int_equal(packet.blob_count, 1);
	assert_int_equal(back.launch_count, 1);
	assert_string_equal(back.launches[0].entry, "tt_anchor_1");
	assert_int_equal(back.launches[0].grid[0], 264);
	assert_int_equal(back.launches[0].arguments[1].integer, 30000);
	assert_int_equal(back.buffers[0].bytes, 264 * 512 * 4);
	packet_release(&packet);
	plan_release(&plan);
	plan_release(&back);
	text_release(&cubin);
}

static void test_results(void **state)
{
	struct kernel_resources resources[2] = {{.regs_per_thread = 128,
							.smem_static_bytes = 16,
							.blocks_per_sm = 2,
							.max_clusters = -1},
		{.regs_per_thread = 40, .blocks_per_sm = 8, .max_clusters = 66}};
	char detail[] = "no";
	double samples[] = {1.5, 0.1, 1e6 / 3};
	struct measure_result result = {.handle = 5,
		.outcome = OUTCOME_WRONG_RESULT,
		.detail = detail,
		.fatal = true,
		.gave_up = true,
		.flags = 8,
		.resources = resources,
		.launch_count = 2,
		.samples_us = samples,
		.sample_count = 3,
		.verification = {.done = true,
			.points = 10,
			.violations = UINT64_C(1) << 40,
			.first_bad = 7,
			.first_out = NAN,
			.first_expected = -0.125}};
	struct measure_result back;
	struct text payload = {0};
	struct packet packet;
	struct error err;

	(void)state;
	measure_result_pack(&result, &payload);
	packet = unpack(&payload);
	assert_ok(measure_result_unpack(&packet, &back, &err));
	packet_release(&packet);
	assert_int_equal(back.handle, 5);
	assert_int_equal(back.outcome, OUTCOME_WRONG_RESULT);
	assert_string_equal(back.detail, "no");
	assert_true(back.fatal && back.gave_up);
	assert_int_equal(back.flags, 8);
	assert_int_equal(back.launch_count, 2);
	assert_int_equal(back.resources[0].max_clusters, -1);
	assert_int_equal(back.resources[1].max_clusters, 66);
	assert_int_equal(back.sample_count, 3);
	assert_memory_equal(back.samples_us, samples, sizeof(samples)); /* to the bit */
	assert_true(back.verification.done);
	assert_true(back.verification.violations == UINT64_C(1) << 40);
	assert_true(isnan(back.verification.first_out));
	assert_true(back.verification.first_expected == -0.125);
	measure_result_release(&back);

	result = (struct measure_result){.handle = 6, .outcome = OUTCOME_OK};
	measure_result_pack(&result, &payload);
	packet = unpack(&payload);
	assert_ok(measure_result_unpack(&packet, &back, &err));
	packet_release(&packet);
	assert_null(back.detail);
	assert_false(back.fatal || back.gave_up || back.verification.done);
	assert_int_equal(back.sample_count, 0);
	measure_result_release(&back);
}

static void test_errors(void **state)
{
	struct error theirs = {0}, ours = {0};
	struct text payload = {0};
	struct packet packet;

	(void)state;
	error_set(&theirs, STATUS_NO_DEVICE, "no \"GPU\"\nhere");
	error_hint(&theirs, "buy one");
	measure_error_pack(&theirs, &payload);
	packet = unpack(&payload);
	measure_error_unpack(&packet, &ours);
	packet_release(&packet);
	assert_int_equal(ours.status, STATUS_NO_DEVICE);
	assert_string_equal(ours.message, theirs.message);
	assert_string_equal(ours.hint, "buy one");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packet),
		cmocka_unit_test(test_bad_packets),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
