/* SPDX-License-Identifier: MIT
 *
 * Shared by the GPU tests that use the tuner's context: their options, and reporting of each check
 * as a line "ok NAME" or "FAIL NAME", which tests/gpu/run.sh counts.
 */
#ifndef GPU_BENCH_TEST_H
#define GPU_BENCH_TEST_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compile/worker.h"
#include "measure/worker.h"
#include "engine/context.h"

struct bench_test {
	unsigned failures;
	struct context_options options;
	const char *roots[2];
	char **files; /* remaining command-line arguments */
	int file_count;
};

/* Reads --device D, --path DIR and --cache-dir DIR, and exits on any other option. Does not
 * return in a worker process of this program. */
static inline void bench_test_options(struct bench_test *test, int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "worker-compile") == 0)
		exit(compile_worker_main());
	if (argc == 2 && strcmp(argv[1], "worker-measure") == 0)
		exit(measure_worker_main());
	*test = (struct bench_test){.roots = {"."}};
	test->options = (struct context_options){
		.device = "cuda:0", .need_compiler = true, .machine = {.wait_s = 60, .seed = 1}};
	test->files = memory_zeroed((size_t)argc + 1, sizeof(*test->files));
	for (int i = 1; i < argc; i++) {
		const char **target = NULL;

		if (strcmp(argv[i], "--device") == 0)
			target = &test->options.device;
		else if (strcmp(argv[i], "--path") == 0)
			target = &test->roots[0];
		else if (strcmp(argv[i], "--cache-dir") == 0)
			target = &test->options.compiler.cache_folder;
		if (target && i + 1 < argc) {
			*target = argv[++i];
		} else if (target || argv[i][0] == '-') {
			fprintf(stderr, "%s: unknown option, or a value is missing\n", argv[i]);
			exit(STATUS_BAD_INPUT);
		} else {
			test->files[test->file_count++] = argv[i];
		}
	}
	test->options.roots = test->roots;
}

PRINTF_LIKE(3, 4)
static inline void bench_test_check(struct bench_test *test, bool good, const char *format, ...)
{
	va_list args;

	printf("%s ", good ? "ok   " : "FAIL ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	test->failures += !good;
}

#endif
