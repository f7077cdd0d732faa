/* SPDX-License-Identifier: MIT
 *
 * Tests a GPU that crashes, hangs, is lost, busy or absent, on the stand-in driver.
 */
#include "unit/unit.h"
#include "unit/device_bench.h"

#include <sys/wait.h>

#include "measure/protocol.h"

static const struct toy small = {.rows = 33, .columns = 17, .ld_in = 17, .ld_out = 17};

/* ---- crashes in a request with other candidates ---- */
/* One candidate crashes while it is sampled; the others of the request still get their samples. */
static void crash_in_company(const char *behaviour, enum outcome outcome)
{
	char *script = string_format(
		"kernel bad skip=4 %s\nkernel a us=30 ok\nkernel c us=700 ok\n", behaviour);
	struct bench bench;
	device_handle handles[3], later;
	const char *const names[] = {"a", "bad", "c"};
	bool seen[3] = {false};
	uint32_t problem;
	struct error err;

	bench_open(&bench, script);
	problem = toy_problem(bench.device, &small, "reference");
	for (int i = 0; i < 3; i++) {
		handles[i] = toy_load(bench.device, problem, &small, names[i]);
		assert_ok(device_verify(bench.device, handles[i], &err));
	}
	request_samples(bench.device, handles, 3, 9);
	later = toy_load(bench.device, problem, &small, "a");
	assert_ok(device_verify(bench.device, later, &err));
	for (int i = 0; i < 3; i++) {
		expect(bench.device, REPLY_OF_LOADED, handles[i], OUTCOME_OK, NULL);
		expect(bench.device, REPLY_OF_VERIFIED, handles[i], OUTCOME_OK, NULL);
	}
	for (int i = 0; i < 3; i++) {
		struct device_reply reply = next_reply(bench.device);

		assert_int_equal(reply_kind(&reply), REPLY_OF_SAMPLED);
		for (int j = 0; j < 3; j++)
			if (handles[j] == reply_handle(&reply)) {
				assert_false(seen[j]);
				seen[j] = true;
				assert_int_equal(
					reply.result.outcome, j == 1 ? outcome : OUTCOME_OK);
				if (j != 1)
					assert_int_equal(reply.result.sample_count, 9);
			}
		device_reply_release(&reply);
	}
	expect(bench.device, REPLY_OF_LOADED, later, OUTCOME_OK, NULL);
	expect(bench.device, REPLY_OF_VERIFIED, later, OUTCOME_OK, NULL);
	assert_int_equal(device_pending(bench.device), 0);
	bench_close(&bench);
	free(script);
}

TEST(a_crash_costs_only_its_candidate)
{
	crash_in_company("crash", OUTCOME_CRASHED);
	crash_in_company("abort", OUTCOME_CRASHED);
	crash_in_company("hang", OUTCOME_TIMED_OUT);
}

/* A worker killed by another process during sampling is not the candidate's fault, unless it
 * happens each time. */
TEST(a_kill_from_outside_is_not_the_candidates_fault)
{
	CLEANUP(memory_free)
	char *mark = string_format(TEST_SCRATCH "/tiletune-killed-%d", getpid());
	CLEANUP(memory_free) char *once = string_format("once=%s killed", mark);

	crash_in_company("killed", OUTCOME_CRASHED);
	crash_in_company(once, OUTCOME_OK);
	crash_in_company("terminated", OUTCOME_OK);
	assert_int_equal(unlink(mark), 0);
}

/* More requests are queued than the pipe holds, and the worker hangs before it has read them. */
TEST(requests_that_a_hung_worker_did_not_read_are_served)
{
	enum {
		COUNT = 40,
		BAD = 11
	};
	struct bench bench;
	device_handle handles[COUNT];
	uint32_t problem;
	struct error err;

	bench_open(&bench, "kernel bad hang\n");
	problem = toy_problem(bench.device, &small, "reference");
	for (int i = 0; i < COUNT; i++) {
		handles[i] = toy_load_units(
			bench.device, problem, &small, i == BAD ? "bad" : "good", 20);
		assert_ok(device_verify(bench.device, handles[i], &err));
	}
	assert_int_equal(device_pending(bench.device), 2 * COUNT);
	for (int i = 0; i < COUNT; i++) {
		expect(bench.device, REPLY_OF_LOADED, handles[i], OUTCOME_OK, NULL);
		expect(bench.device, REPLY_OF_VERIFIED, handles[i],
			i == BAD ? OUTCOME_TIMED_OUT : OUTCOME_OK, NULL);
		device_unload(bench.device, handles[i]);
	}
	bench_close(&bench);
}

/* A worker killed during its start, e.g. for lack of memory, is started again. */
TEST(a_worker_killed_at_its_start_is_started_again)
{
	static const char *const when[] = {"killed_once", "killed_later"};

	for (int i = 0; i < 2; i++) {
		struct bench bench;
		struct device_options options;
		struct device_listing *list = NULL;
		size_t count = 0;
		char *script, *why = NULL, *mark;
		struct error err;

		bench_setup(&bench, "");
		options = bench_options(&bench);
		mark = bench_path(&bench, "mark");
		script = string_format("%s %s\n", when[i], mark);
		bench_script(&bench, script);
		assert_ok(device_open("cuda:0", &options, &bench.device, &err));
		assert_true(file_exists(mark));
		assert_true(bench.device->identity.anchor_us > 0);
		unlink(mark);
		assert_ok(device_list_cuda(&options, &list, &count, &why, &err));
		assert_int_equal(count, 1);
		free(list);
		free(why);
		free(mark);
		free(script);
		bench_close(&bench);
	}
}

/* ---- the reference ---- */
static size_t launches_of(const struct bench *bench, const char *name)
{
	char *path = bench_path(bench, "log"), *wanted = string_format("\"%s\"", name);
	struct text log = {0};
	size_t count = 0;
	struct error err;

	assert_ok(file_read(path, &log, &err));
	for (const char *at = text_string(&log); (at = strstr(at, wanted)) != NULL; at++)
		count++;
	text_release(&log);
	free(wanted);
	free(path);
	return count;
}

/* A failing reference runs once and fails its problem; other problems continue. */
static void reference_fails(const char *behaviour, enum outcome outcome)
{
	struct bench bench;
	struct device_options options;
	device_handle handles[4], good;
	uint32_t problem, other;
	char *script;
	struct error err;

	bench_setup(&bench, "");
	options = bench_options(&bench);
	script = string_format("log %s/log\nkernel bad_reference %s\n", bench.folder, behaviour);
	bench_script(&bench, script);
	assert_ok(device_open("cuda:0", &options, &bench.device, &err));
	problem = toy_problem(bench.device, &small, "bad_reference");
	other = toy_problem(bench.device, &small, "reference");
	for (int i = 0; i < 4; i++) {
		handles[i] = toy_load(bench.device, problem, &small, "candidate");
		assert_ok(device_verify(bench.device, handles[i], &err));
	}
	good = toy_load(bench.device, other, &small, "candidate");
	assert_ok(device_verify(bench.device, good, &err));
	/* replies that need no worker come first */
	for (size_t i = 0; i < 2 * 5; i++) {
		struct device_reply reply = next_reply(bench.device);
		const bool fails =
			reply_kind(&reply) == REPLY_OF_VERIFIED && reply_handle(&reply) != good;

		assert_int_equal(reply.result.outcome, fails ? outcome : OUTCOME_OK);
		assert_int_equal(reply.reference_failed, fails);
		device_reply_release(&reply);
	}
	assert_int_equal(launches_of(&bench, "bad_reference"), 1);
	bench_close(&bench);
	free(script);
}

/* After one problem has hung, the next is waited for only briefly. */
TEST(a_hanging_reference_is_waited_for_once)
{
	static const char *const told[] = {
		"there was no answer within 6 s", "there was no answer within 4 s"};
	struct bench bench;
	struct device_options options;
	struct error err;

	bench_setup(&bench, "kernel bad_reference hang\n");
	options = bench_options(&bench);
	options.reference_timeout_s = 6;
	options.kernel_timeout_s = 4;
	assert_ok(device_open("cuda:0", &options, &bench.device, &err));
	for (size_t i = 0; i < ARRAY_COUNT(told); i++) {
		const struct toy toy = {.rows = 33 + i, .columns = 17, .ld_in = 17, .ld_out = 17};
		const uint32_t problem = toy_problem(bench.device, &toy, "bad_reference");
		const device_handle handle = toy_load(bench.device, problem, &toy, "candidate");

		assert_ok(device_verify(bench.device, handle, &err));
		expect(bench.device, REPLY_OF_LOADED, handle, OUTCOME_OK, NULL);
		expect(bench.device, REPLY_OF_VERIFIED, handle, OUTCOME_TIMED_OUT, told[i]);
	}
	bench_close(&bench);
}

TEST(a_failing_reference_fails_its_problem)
{
	reference_fails("crash", OUTCOME_CRASHED);
	reference_fails("abort", OUTCOME_CRASHED);
	reference_fails("hang", OUTCOME_TIMED_OUT);
	reference_fails("unwritten", OUTCOME_LAUNCH_FAILED);
}

static void touch(const struct bench *bench, const char *name)
{
	char *path = bench_path(bench, name);
	struct error err;

	assert_ok(file_write(path, "", 0, &err));
	free(path);
}

/* A lost GPU gives one reply, and nothing waits forever. */
TEST(a_lost_gpu_gives_one_reply)
{
	struct bench bench;
	struct device_options options;
	struct device_reply reply;
	device_handle handles[2];
	uint32_t problem;
	char *script;
	struct error err;

	bench_setup(&bench, "");
	options = bench_options(&bench);
	script = string_format("lost_while %s/lost\nkernel bad lost\n", bench.folder);
	bench_script(&bench, script);
	assert_ok(device_open("cuda:0", &options, &bench.device, &err));
	problem = toy_problem(bench.device, &small, "reference");
	handles[0] = toy_load(bench.device, problem, &small, "bad");
	handles[1] = toy_load(bench.device, problem, &small, "good");
	/* the GPU comes back, so that the second try counts, and the next candidate is served */
	assert_ok(device_verify(bench.device, handles[0], &err));
	assert_ok(device_verify(bench.device, handles[1], &err));
	expect(bench.device, REPLY_OF_LOADED, handles[0], OUTCOME_OK, NULL);
	expect(bench.device, REPLY_OF_LOADED, handles[1], OUTCOME_OK, NULL);
	expect(bench.device, REPLY_OF_VERIFIED, handles[0], OUTCOME_DEVICE_LOST, NULL);
	expect(bench.device, REPLY_OF_VERIFIED, handles[1], OUTCOME_OK, NULL);
	/* the GPU does not come back */
	touch(&bench, "lost");
	handles[0] = toy_load(bench.device, problem, &small, "bad");
	assert_ok(device_verify(bench.device, handles[0], &err));
	assert_ok(device_verify(bench.device, handles[1], &err));
	expect(bench.device, REPLY_OF_LOADED, handles[0], OUTCOME_OK, NULL);
	expect(bench.device, REPLY_OF_LOST, 0, OUTCOME_DEVICE_LOST,
		"there is no GPU (cuInit: 100)");
	assert_int_equal(device_pending(bench.device), 0);
	assert_false(device_poll(bench.device, 0.1, &reply));
	assert_fails(device_verify(bench.device, handles[1], &err), STATUS_NO_DEVICE, "lost");
	bench_close(&bench);
	free(script);
}

/* ---- opening ---- */
static void expect_open_fails(
	const char *script, const char *name, enum status status, const char *text)
{
	struct bench bench;
	struct device_options options;
	struct error err;

	bench_setup(&bench, script);
	options = bench_options(&bench);
	assert_fails(device_open(name, &options, &bench.device, &err), status, text);
	assert_null(bench.device);
	bench_close(&bench);
}

TEST(a_device_that_cannot_be_opened_says_why)
{
	expect_open_fails("init 34", "cuda:0", STATUS_NO_DEVICE, "stub");
	expect_open_fails("init 100", "cuda:0", STATUS_NO_DEVICE, "there is no GPU");
	expect_open_fails("init 803", "cuda:0", STATUS_NO_DEVICE, "cuInit");
	expect_open_fails(
		"driver_version 11080", "cuda:0", STATUS_NO_DEVICE, "the driver has 11.8");
	expect_open_fails("missing cuGraphUpload\nmissing cuEventRecord", "cuda:0",
		STATUS_NO_DEVICE, "cuEventRecord, cuGraphUpload");
	expect_open_fails("context 46", "cuda:0", STATUS_NO_DEVICE, "making a context");
	expect_open_fails("", "cuda:3", STATUS_NO_DEVICE,
		"no GPU has the number or UUID 3; the GPUs are: 0 (GPU-105d");
	expect_open_fails("devices 2", "cuda:GPU-ffff", STATUS_NO_DEVICE, "1 (GPU-115d");
	expect_open_fails(
		"", "cdua:0", STATUS_BAD_INPUT, "expected a name that begins with one of");
	expect_open_fails("kernel tt_anchor_1 crash", "cuda:1", STATUS_NO_DEVICE,
		"no GPU has the number or UUID 1");
}

TEST(a_missing_worker_is_reported)
{
	struct bench bench;
	struct device_options options;
	struct error err;

	bench_setup(&bench, "");
	options = bench_options(&bench);
	options.worker_path = "/nowhere/tiletune";
	assert_fails(device_open("cuda:0", &options, &bench.device, &err), STATUS_FAILED,
		"starting the measuring worker: /nowhere/tiletune");
	options.worker_path = "/bin/true";
	assert_fails(device_open("cuda:0", &options, &bench.device, &err), STATUS_NO_DEVICE,
		"measuring worker");
	bench_close(&bench);
}

TEST(a_gpu_is_found_by_uuid_and_locked)
{
	struct bench bench;
	struct device_options options;
	struct device *second = NULL;
	struct device_listing *list = NULL;
	size_t count = 0;
	char *why = NULL;
	char text[64];
	struct error err;

	bench_setup(&bench, "devices 2\n");
	options = bench_options(&bench);
	assert_ok(device_open("cuda:GPU-115d", &options, &bench.device, &err));
	snprintf(text, sizeof(text), "process %ld", (long)getpid());
	assert_fails(device_open("cuda:1", &options, &second, &err), STATUS_NO_DEVICE, text);
	assert_true(strstr(err.hint, "--wait") != NULL);
	options.wait_s = 0.3;
	assert_fails(device_open("cuda:1", &options, &second, &err), STATUS_NO_DEVICE, "busy");
	assert_ok(device_list_cuda(&options, &list, &count, &why, &err));
	assert_int_equal(count, 2);
	assert_null(why);
	assert_string_equal(list[0].busy_by, "");
	assert_string_equal(list[1].busy_by, text);
	assert_int_equal(list[1].facts.compute_capability, 90);
	assert_string_equal(list[1].identity.uuid, bench.device->identity.uuid);
	free(list);
	assert_ok(device_open("cuda:0", &options, &second, &err));
	device_close(second);
	device_close(bench.device);
	/* closing the holder frees the device */
	assert_ok(device_open("cuda:1", &options, &bench.device, &err));
	bench_close(&bench);
}

TEST(listing_without_a_gpu_says_why)
{
	struct bench bench;
	struct device_options options;
	struct device_listing *list = NULL;
	size_t count = 0;
	char *why = NULL;
	struct error err;

	bench_setup(&bench, "init 100\n");
	options = bench_options(&bench);
	assert_ok(device_list_cuda(&options, &list, &count, &why, &err));
	assert_int_equal(count, 0);
	assert_non_null(strstr(why, "there is no GPU"));
	free(list);
	free(why);
	bench_close(&bench);
}

/* ---- the worker itself ---- */
static void say(struct worker *worker, const struct measure_request *request)
{
	struct text line = {0};

	record_append(&measure_request_record, request, &line);
	worker_post(worker, &line);
	text_release(&line);
}

/* Waits for the next line that is not progress, and expects it to contain `expected`. */
static void await(struct worker *worker, const char *expected)
{
	struct text line = {0};

	do {
		text_release(&line);
		assert_int_equal(
			line_receive(worker->from_fd, &worker->pending, 30, &line), MESSAGE_READY);
	} while (strstr(text_string(&line), "\"progress\""));
	assert_non_null(strstr(text_string(&line), expected));
	text_release(&line);
}

/* Closes the worker's input and expects how the worker ended. */
static void expect_end(struct worker *worker, const char *expected)
{
	struct text how = {0};
	siginfo_t info;

	close(worker->to_fd);
	worker->to_fd = dup(STDERR_FILENO); /* worker_end() closes it */
	assert_int_equal(waitid(P_PID, (id_t)worker->pid, &info, WEXITED | WNOWAIT), 0);
	worker_end(worker, &how);
	assert_string_equal(text_string(&how), expected);
	text_release(&how);
}

/* When its input closes, the worker frees all memory and ends (sanitizers check this). */
TEST(the_worker_ends_when_its_input_closes)
{
	struct toy toy = small;
	struct bench bench;
	struct toy_reference reference;
	struct toy_candidate candidate;
	char device[] = "0";
	struct device_problem problem = {0};
	struct device_job jobs[3];
	struct measure_setup setup = {.device = device, .seed = 1, .kernel_timeout_s = 300};
	struct measure_request run = {.kind = REQUEST_MEASURE,
		.id = 2,
		.setup = &setup,
		.jobs = jobs,
		.job_count = 3,
		.measures = true,
		.sampling.rounds = 3,
		.sampling.seconds_max = 300};
	struct worker worker;
	struct error err;

	toy.workspace_bytes = 100;
	bench_setup(&bench, "");
	toy_reference_make(&toy, "standin_scale_reference", &reference);
	toy_candidate_make(&toy, "standin_scale", &candidate);
	problem.reference = reference.plan;
	problem.cubins = &reference.cubin;
	problem.cubin_count = 1;
	setup.helpers = bench.helpers;
	for (uint32_t i = 0; i < 3; i++)
		jobs[i] = (struct device_job){.ticket = i,
			.problem = &problem,
			.plan = &candidate.plan,
			.cubins = &candidate.cubin,
			.cubin_count = 1,
			.load = i,
			.verify = true};
	assert_ok(worker_start(&worker, NULL, "worker-measure", false, &err));
	say(&worker, &(struct measure_request){.id = 1, .device = device});
	await(&worker, "{\"id\":1,\"gpus\":[{");
	/* the second time everything is already loaded */
	for (int turn = 0; turn < 2; turn++) {
		say(&worker, &run);
		for (int i = 0; i < 3; i++)
			await(&worker, "\"outcome\":\"ok\"");
	}
	expect_end(&worker, "ended with exit code 0");
	free(reference.cubin);
	free(candidate.cubin);
	bench_close(&bench);
}

/* An unreadable request is answered, and the worker ends. */
TEST(an_unreadable_request_ends_the_worker)
{
	struct worker worker;
	struct error err;

	assert_ok(worker_start(&worker, NULL, "worker-measure", false, &err));
	say(&worker, &(struct measure_request){.id = 1, .kind = REQUEST_MEASURE});
	await(&worker, "the request has no setup");
	expect_end(&worker, "ended with exit code 1");
}

static int before(int argc, char **argv)
{
	if (bench_is_worker(argc, argv))
		return measure_worker_main();
	return RUN_TESTS;
}
BEFORE_TESTS(before)
