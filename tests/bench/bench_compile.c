/* SPDX-License-Identifier: MIT
 *
 * Promises of compiling: two workers on two cores do at least 1.8 times the work of one, and a
 * second run with a warm cache compiles nothing. Runs with one and two workers alternate, so that a
 * busy machine slows both, and the median ratio counts. Two threads that only count measure in the
 * same turns whether two cores are available. If they are not, 0.9 of the threads' speedup is
 * required, and the output says so.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "compile/compiler.h"
#include "compile/worker.h"

enum {
	UNITS = 8,
	ROUNDS = 5,
};

/* A small register-blocked matrix product, which compiles in 100 to 300 ms, mostly in ptxas. */
static const char source[] =
	"extern \"C\" __global__ void __launch_bounds__(256) product(\n"
	"	const float *a, const float *b, float *c, int n)\n"
	"{\n"
	"	__shared__ float tile_a[8][16 * TM], tile_b[8][16 * TN];\n"
	"	int x = threadIdx.x % 16, y = threadIdx.x / 16;\n"
	"	float sum[TM][TN] = {};\n"
	"	for (int k = 0; k < n; k += 8) {\n"
	"		for (int i = threadIdx.x; i < 8 * 16 * TM; i += 256)\n"
	"			tile_a[i % 8][i / 8] = a[(blockIdx.y * 16 * TM + i / 8) * n + k + "
	"i % 8];\n"
	"		for (int i = threadIdx.x; i < 8 * 16 * TN; i += 256)\n"
	"			tile_b[i / (16 * TN)][i % (16 * TN)] =\n"
	"				b[(k + i / (16 * TN)) * n + blockIdx.x * 16 * TN + i % (16 "
	"* TN)];\n"
	"		__syncthreads();\n"
	"#pragma unroll\n"
	"		for (int step = 0; step < 8; step++)\n"
	"#pragma unroll\n"
	"			for (int i = 0; i < TM; i++)\n"
	"#pragma unroll\n"
	"				for (int j = 0; j < TN; j++)\n"
	"					sum[i][j] += tile_a[step][y * TM + i] *\n"
	"						tile_b[step][x * TN + j];\n"
	"		__syncthreads();\n"
	"	}\n"
	"	for (int i = 0; i < TM; i++)\n"
	"		for (int j = 0; j < TN; j++)\n"
	"			c[(blockIdx.y * 16 * TM + y * TM + i) * n +\n"
	"				blockIdx.x * 16 * TN + x * TN + j] = sum[i][j];\n"
	"}\n";

static struct compiler *open_compiler(unsigned workers, const char *cache_folder)
{
	const struct compiler_options options = {.workers = workers, .cache_folder = cache_folder};
	struct compiler *compiler;
	struct error err;

	if (compiler_open(&options, &compiler, &err) != STATUS_OK) {
		fprintf(stderr, "%s\n%s\n", err.message, err.hint);
		exit(STATUS_NO_DEVICE);
	}
	return compiler;
}

static void submit(struct compiler *compiler, int rows, int columns, struct compile_result *result)
{
	char *options[] = {string_format("-DTM=%d", rows), string_format("-DTN=%d", columns)};
	char *entries[] = {string_copy("product")};
	struct build_unit unit = {.name = string_copy("product.cu"),
		.source = string_copy(source),
		.options = options,
		.option_count = 2,
		.entries = entries,
		.entry_count = 1};
	struct error err;

	if (compiler_submit(compiler, &unit, "sm_90a", result, &err) != STATUS_OK) {
		fprintf(stderr, "%s\n", err.message);
		exit(STATUS_FAILED);
	}
	free(unit.name);
	free(unit.source);
	free(entries[0]);
	free(options[0]);
	free(options[1]);
}

/* Compiles all units; returns the seconds, and counts results from the cache. */
static double run(struct compiler *compiler, int *cached)
{
	double start = clock_seconds();
	struct compile_result results[UNITS];

	for (int i = 0; i < UNITS; i++)
		submit(compiler, 5 + i % 4, 6 + i / 4, &results[i]);
	while (compiler_pending(compiler) && compiler_poll(compiler, 300))
		;
	for (int i = 0; i < UNITS; i++) {
		if (!compile_is_done(&results[i]) || results[i].outcome != OUTCOME_OK) {
			fprintf(stderr, "a unit did not compile\n");
			exit(STATUS_FAILED);
		}
		*cached += results[i].from_cache;
		compile_result_release(&results[i]);
	}
	return clock_seconds() - start;
}

struct counting {
	double until_s;
	uint64_t count;
};

static void *count_up(void *context)
{
	struct counting *counting = context;
	uint64_t state = 1;

	while (clock_seconds() < counting->until_s) {
		for (int i = 0; i < 10000; i++)
			state = state * 6364136223846793005u + 1;
		counting->count++;
	}
	return (void *)(uintptr_t)(state == 0); /* keeps the loop from being removed */
}

/* Returns how much `threads` threads (1 or 2) count in a quarter of a second. */
static double count_with(int threads)
{
	struct counting counting[2];
	pthread_t ids[2];
	double total = 0;

	for (int i = 0; i < threads; i++) {
		counting[i] = (struct counting){.until_s = clock_seconds() + 0.25};
		if (pthread_create(&ids[i], NULL, count_up, &counting[i]) != 0)
			abort();
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		total += (double)counting[i].count;
	}
	return total;
}

static int report(const char *name, double value, const char *unit, const char *promise, int ok)
{
	printf("%s: %.3g %s (promised: %s) %s\n", name, value, unit, promise, ok ? "ok" : "MISSED");
	return !ok;
}

static int bench_workers(void)
{
	struct compiler *one = open_compiler(1, NULL), *two = open_compiler(2, NULL);
	double ratios[ROUNDS], cores_free[ROUNDS], seconds = 0, ratio, machine;
	cpu_set_t cores;
	int cached = 0;

	/* both runs have all workers started and their caches warm */
	run(one, &cached);
	run(two, &cached);
	for (int i = 0; i < ROUNDS; i++) {
		double alone = run(one, &cached), together = run(two, &cached);

		ratios[i] = alone / together;
		cores_free[i] = count_with(2) / count_with(1);
		seconds += alone;
	}
	compiler_close(one);
	compiler_close(two);
	ratio = statistics_summary(ratios, ROUNDS).median;
	machine = statistics_summary(cores_free, ROUNDS).median;
	printf("compile, one worker: %.3g ms a unit\n", 1e3 * seconds / (ROUNDS * UNITS));
	if (sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) < 2) {
		printf("compile, two workers over one: not measured on one core\n");
		return 0;
	}
	if (ratio < 1.8 && machine < 1.9)
		return report("compile, two workers over one, on a machine that others use",
			ratio / machine, "of what two counting threads gain", "at least 0.9",
			ratio >= 0.9 * machine);
	return report("compile, two workers over one", ratio, "times the throughput",
		"at least 1.8", ratio >= 1.8);
}

static int bench_cache(void)
{
	char folder[] = "/tmp/tiletune-bench-XXXXXX", *remove_command;
	struct compiler *compiler;
	double cold, warm;
	int cached = 0;

	if (!mkdtemp(folder))
		return 1;
	compiler = open_compiler(2, folder);
	cold = run(compiler, &cached);
	compiler_close(compiler);
	if (cached) {
		fprintf(stderr, "a fresh cache had %d units\n", cached);
		return 1;
	}
	compiler = open_compiler(2, folder);
	warm = run(compiler, &cached);
	compiler_close(compiler);
	remove_command = string_format("rm -rf %s", folder);
	if (system(remove_command) != 0)
		fprintf(stderr, "%s is left behind\n", folder);
	free(remove_command);
	printf("compile, warm cache: %.3g ms for what took %.3g ms\n", 1e3 * warm, 1e3 * cold);
	return report("compile, units compiled with a warm cache", UNITS - cached, "of 8", "none",
		cached == UNITS);
}

int main(int count, char **arguments)
{
	int missed;

	if (count == 2 && strcmp(arguments[1], "worker-compile") == 0)
		return compile_worker_main();
	missed = bench_workers();
	missed |= bench_cache();
	return missed;
}
