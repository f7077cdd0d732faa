/* SPDX-License-Identifier: MIT
 *
 * The compiler and its worker processes with the stand-in NVRTC of tests/faults, which crashes,
 * hangs and misbehaves on command. This program is its own worker.
 */
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit/unit.h"

#include "compile/cache.h"
#include "base/clock.h"
#include "compile/cubin.h"
#include "compile/worker.h"
#include "process/pool.h"
#include "unit/leap.h"
#include "unit/compile_units.h"

static const char good[] = "extern \"C\" __global__ void __launch_bounds__(64) k(float *a) {}\n";

TEST(a_unit_becomes_a_cubin)
{
	struct compiler *compiler = open_fake(NULL, 1, 0);
	struct compile_result result;
	struct cubin cubin;

	assert_true(string_starts_with(compiler_identity(compiler), "NVRTC 13.0 (file "));
	assert_true(string_ends_with(compiler_path(compiler), FAKE_NVRTC));
	result = expect(compiler,
		"//fake: kernel k 40 8 2 1024 12\n//fake: kernel l 50 0 0 0 0\n"
		"//fake: log x.cu(3): warning: something",
		OUTCOME_OK, "");
	assert_string_equal(result.log, "x.cu(3): warning: something\n");
	assert_int_equal(result.entry_count, 1);
	assert_string_equal(result.entries[0].name, "k");
	assert_int_equal(result.entries[0].resources.regs_per_thread, 40);
	assert_int_equal(result.entries[0].resources.stack_bytes, 8);
	assert_int_equal(result.entries[0].resources.barriers, 2);
	assert_int_equal(result.entries[0].resources.smem_static_bytes, 1024);
	assert_int_equal(result.entries[0].resources.spill_store_bytes, 12);
	assert_int_equal(result.entries[0].resources.flags, FLAG_MASK(SPILLS));
	assert_int_equal(
		cubin_open(&cubin, result.cubin.data, result.cubin.length, NULL), STATUS_OK);
	assert_false(result.from_cache);
	compile_result_release(&result);
	compiler_close(compiler);
}

/* Each fault costs one unit, and the next unit finds a working compiler. */
TEST(a_fault_costs_one_unit)
{
	char *folder = folder_new(), *mark = path_join(folder, "hangs"), *cache = folder_new();
	struct compiler *compiler = open_fake(cache, 1, LEAP_LIMIT_S);

	expect_only(compiler, "//fake: crash", OUTCOME_COMPILE_CRASHED, "process was ");
	expect_only(compiler, good, OUTCOME_OK, "");
	expect_only(compiler, "//fake: exit 3", OUTCOME_COMPILE_CRASHED, "exit code 3");
	leap_begin(mark);
	expect_only(compiler, "//fake: hang", OUTCOME_COMPILE_TIMEOUT, "longer than 300 s");
	leap_end();
	expect_only(compiler, good, OUTCOME_OK, "");
	expect_only(compiler, "//fake: out_of_memory", OUTCOME_COMPILE_CRASHED, "std::bad_alloc");
	expect_only(compiler, "//fake: error 1", OUTCOME_COMPILE_CRASHED, "OUT_OF_MEMORY");
	expect_only(compiler, "//fake: garbage", OUTCOME_COMPILE_CRASHED, "not a 64-bit ELF");
	expect_only(compiler, "//fake: log x.cu(1): error: bad\n//fake: error 6",
		OUTCOME_COMPILE_FAILED, "x.cu(1): error: bad\n");
	expect_only(compiler, "//fake: kernel other 1 0 0 0 0", OUTCOME_COMPILE_FAILED,
		"there is no kernel named \"k\"; the source has: other");
	/* output of the library must not corrupt the message stream */
	expect_only(compiler, "//fake: print nonsense\n//fake: kernel k 1 0 0 0 0", OUTCOME_OK, "");
	compiler_close(compiler);
	/* successes and compiler errors are not compiled again; faults are */
	assert_int_equal(cache_measure(cache).kernels, 4);
	free(mark);
	folder_remove(folder);
	folder_remove(cache);
}

/* tiletune's own options are omitted if an older version does not know them; the user's options
 * then fail the unit. */
TEST(unknown_options_of_ours_are_omitted)
{
	struct compiler *compiler = open_fake(NULL, 1, 0);
	struct compile_result result;

	expect_only(compiler,
		"//fake: reject --no-cache\n//fake: reject --modify-stack-limit=false\n"
		"//fake: reject --no-source-include\n"
		"//fake: kernel k 1 0 0 0 0",
		OUTCOME_OK, "");
	/* a refusal without a reason is reported as such */
	expect_only(compiler, "//fake: error 6\n", OUTCOME_COMPILE_FAILED,
		"the compiler gave no message\n");
	submit(compiler, "//fake: reject -bogus\n//fake: kernel k 1 0 0 0 0", "k", "-bogus",
		&result);
	wait_for(compiler, &result);
	assert_int_equal(result.outcome, OUTCOME_COMPILE_FAILED);
	assert_non_null(strstr(result.log, "unrecognized option -bogus"));
	compile_result_release(&result);
	compiler_close(compiler);
}

/* Many units on two workers, of which every third crashes: each unit gets its own result. */
TEST(each_unit_gets_its_own_result)
{
	enum {
		COUNT = 24
	};
	struct compiler *compiler = open_fake(NULL, 2, 0);
	struct compile_result results[COUNT];

	for (int i = 0; i < COUNT; i++) {
		char *source = string_format(
			"//fake: %s\n//fake: kernel k %d 0 0 0 0", i % 3 ? "log" : "crash", i);

		submit(compiler, source, "k", NULL, &results[i]);
		free(source);
	}
	for (int i = 0; i < COUNT; i++) {
		wait_for(compiler, &results[i]);
		assert_int_equal(results[i].outcome, i % 3 ? OUTCOME_OK : OUTCOME_COMPILE_CRASHED);
		if (i % 3)
			assert_int_equal(results[i].entries[0].resources.regs_per_thread, i);
		compile_result_release(&results[i]);
	}
	assert_int_equal(compiler_pending(compiler), 0);
	compiler_close(compiler);
}

static size_t file_size(const char *path)
{
	struct text content = {0};
	size_t size;

	file_read(path, &content, NULL);
	size = content.length;
	text_release(&content);
	return size;
}

static void run_cached(const char *cache, const char *source, enum outcome outcome, bool cached)
{
	struct compiler *compiler = open_fake(cache, 1, 0);
	struct compile_result result = expect(compiler, source, outcome, "");

	assert_int_equal(result.from_cache, cached);
	if (outcome == OUTCOME_OK)
		assert_int_equal(result.entries[0].resources.regs_per_thread, 77);
	compile_result_release(&result);
	assert_null(compiler_cache_problem(compiler));
	compiler_close(compiler);
}

/* A second run compiles no unit that finished before; crashed units are tried again. */
TEST(finished_units_are_not_compiled_again)
{
	char *folder = folder_new();
	char *counter = path_join(folder, "count");
	char *ok = string_format("//fake: count %s\n//fake: kernel k 77 0 0 0 0", counter);
	char *failing = string_format("//fake: count %s\n//fake: error 6", counter);
	char *crashing = string_format("//fake: count %s\n//fake: crash", counter);

	run_cached(folder, ok, OUTCOME_OK, false);
	run_cached(folder, ok, OUTCOME_OK, true);
	run_cached(folder, failing, OUTCOME_COMPILE_FAILED, false);
	run_cached(folder, failing, OUTCOME_COMPILE_FAILED, true);
	assert_int_equal(file_size(counter), 2);
	run_cached(folder, crashing, OUTCOME_COMPILE_CRASHED, false);
	run_cached(folder, crashing, OUTCOME_COMPILE_CRASHED, false);
	assert_int_equal(file_size(counter), 4);
	free(crashing);
	free(failing);
	free(ok);
	free(counter);
	folder_remove(folder);
}

/* Another release of the toolkit changes the key of a source that includes its headers, and of
 * no other source. */
TEST(a_toolkit_changes_only_the_keys_of_sources_that_include_it)
{
	char *folder = folder_new(), *cache = path_join(folder, "cache");
	char *toolkit = path_join(folder, "toolkit"), *counter = path_join(folder, "count");
	const char *const heads[] = {"#include <cuda_fp16.h>\n", ""};

	free(folder_put(folder, "toolkit/include/cuda_fp16.h", "#define VERSION 1\n"));
	setenv("CUDA_HOME", toolkit, 1);
	for (size_t i = 0; i < ARRAY_COUNT(heads); i++) {
		CLEANUP(memory_free)
		char *source = string_format(
			"%s//fake: count %s\n//fake: kernel k 77 0 0 0 0", heads[i], counter);

		unlink(counter);
		for (int release = 1; release <= 3; release++) {
			struct compiler *compiler = open_fake(cache, 1, 0);

			/* the third toolkit is the same as the second */
			free(folder_put(folder, "toolkit/include/cuda_fp16.h",
				release == 1 ? "#define VERSION 1\n" : "#define VERSION 2\n"));
			expect_only(compiler, source, OUTCOME_OK, "");
			compiler_close(compiler);
		}
		assert_int_equal(file_size(counter), heads[i][0] ? 2 : 1);
	}
	unsetenv("CUDA_HOME");
	free(toolkit);
	free(counter);
	free(cache);
	folder_remove(folder);
}

/* Closing does not wait for queued or running work, not even for hung workers. If it did, this
 * test would exceed its time limit. */
TEST(closing_waits_for_no_unit)
{
	struct compiler *compiler = open_fake(NULL, 2, 1e6);
	struct compile_result results[6];

	for (int i = 0; i < 6; i++) {
		char *source = string_format("//fake: hang\n// %d", i);

		submit(compiler, source, "k", NULL, &results[i]);
		free(source);
	}
	assert_false(compiler_poll(compiler, 0));
	assert_false(compiler_poll(compiler, 0.1));
	compiler_close(compiler);
}

static pid_t read_pid(const char *path)
{
	struct text content = {0};
	pid_t pid;

	assert_int_equal(file_read(path, &content, NULL), STATUS_OK);
	pid = (pid_t)atoi(content.data);
	text_release(&content);
	assert_true(pid > 1);
	return pid;
}

/* Kills the process that compiles the unit, once it has started. */
static void kill_busy(struct compiler *compiler, const char *path)
{
	while (!file_exists(path) || !file_size(path))
		assert_false(compiler_poll(compiler, 0.01));
	assert_int_equal(kill(read_pid(path), SIGKILL), 0);
}

/* An idle worker that is killed costs nothing. A unit whose worker is killed is tried again, and
 * fails if that worker is killed, too. */
TEST(a_unit_whose_worker_is_killed_is_tried_again_once)
{
	char *folder = folder_new(), *path = path_join(folder, "pid");
	char *source = string_format("//fake: pid %s\n//fake: kernel k 1 0 0 0 0", path);
	char *hanging = string_format("//fake: pid %s\n//fake: hang", path);
	char *gate = path_join(folder, "gate"); /* the worker waits while this file exists */
	char *waiting = string_format(
		"//fake: pid %s\n//fake: take %s\n//fake: kernel k 1 0 0 0 0", path, gate);
	struct compiler *compiler = open_fake(NULL, 1, 0);
	struct compile_result result;
	struct pool *pool = compiler_pool(compiler);

	expect_only(compiler, source, OUTCOME_OK, "");
	assert_int_equal(kill(read_pid(path), SIGKILL), 0);
	pool_wait(&pool, 1, 60); /* wait until the pool notices the end */
	expect_only(compiler, good, OUTCOME_OK, "");
	unlink(path);
	assert_int_equal(mkdir(gate, 0777), 0);
	submit(compiler, waiting, "k", NULL, &result);
	kill_busy(compiler, path);
	assert_int_equal(rmdir(gate), 0);
	wait_for(compiler, &result);
	assert_int_equal(result.outcome, OUTCOME_OK);
	compile_result_release(&result);
	unlink(path);
	submit(compiler, hanging, "k", NULL, &result);
	kill_busy(compiler, path);
	unlink(path);
	kill_busy(compiler, path);
	wait_for(compiler, &result);
	assert_int_equal(result.outcome, OUTCOME_COMPILE_CRASHED);
	assert_non_null(strstr(result.log, "killed by signal 9"));
	compile_result_release(&result);
	expect_only(compiler, good, OUTCOME_OK, "");
	compiler_close(compiler);
	free(waiting);
	free(gate);
	free(hanging);
	free(source);
	free(path);
	folder_remove(folder);
}

/* A killed tuner leaves no compiler process, not even a hung one. */
TEST(a_killed_tuner_leaves_no_compiler_process)
{
	char *folder = folder_new(), *path = path_join(folder, "pid");
	char *hanging = string_format("//fake: pid %s\n//fake: hang", path);
	pid_t tuner = fork(), orphan;

	if (tuner == 0) {
		struct compiler *compiler = open_fake(NULL, 1, 0);
		struct compile_result result;

		submit(compiler, hanging, "k", NULL, &result);
		compiler_poll(compiler, INFINITY);
		_exit(0);
	}
	while (!file_exists(path) || !file_size(path))
		clock_sleep(0.01);
	assert_int_equal(kill(tuner, SIGKILL), 0);
	assert_int_equal(waitpid(tuner, NULL, 0), tuner);
	orphan = read_pid(path);
	while (kill(orphan, 0) ==
		0) /* loops forever if the process does not end; the test's time limit stops it */
		clock_sleep(0.01);
	free(hanging);
	free(path);
	folder_remove(folder);
}

/* The compiler itself disappears during a run. */
TEST(a_compiler_that_disappears_fails_its_units)
{
	struct compiler *compiler = open_fake(NULL, 1, 0);

	setenv("FAKE_NVRTC", "crash_on_load", 1);
	expect_only(compiler, "//fake: crash", OUTCOME_COMPILE_CRASHED, "process was ");
	expect_only(compiler, good, OUTCOME_COMPILE_CRASHED, "no compiler process can be started");
	unsetenv("FAKE_NVRTC");
	compiler_close(compiler);
}

TEST(an_unknown_architecture_is_refused)
{
	struct compiler *compiler = open_fake(NULL, 1, 0);
	struct build_unit unit = {.name = (char[]){"u.cu"}, .source = (char[]){""}};
	struct compile_result result;
	struct error err;

	assert_int_equal(
		compiler_submit(compiler, &unit, "gfx90a", &result, &err), STATUS_BAD_INPUT);
	assert_non_null(strstr(err.message, "u.cu: expected an architecture like sm_90a"));
	assert_int_equal(compiler_pending(compiler), 0);
	compiler_close(compiler);
}

static int before(int count, char **arguments)
{
	if (count == 2 && strcmp(arguments[1], "worker-compile") == 0)
		return compile_worker_main();
	return RUN_TESTS;
}
BEFORE_TESTS(before)
