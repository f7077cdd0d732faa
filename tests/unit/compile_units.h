/* SPDX-License-Identifier: MIT
 *
 * Helpers that submit units to the compiler and check the results.
 */
#ifndef UNIT_COMPILE_UNITS_H
#define UNIT_COMPILE_UNITS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compile/compiler.h"
#include "unit/compile_folder.h"

#define FAKE_NVRTC TEST_BUILD "/faults/libnvrtc.so.13"

static inline struct compiler *open_fake(
	const char *cache_folder, unsigned workers, double timeout_s)
{
	const struct compiler_options options = {.workers = workers,
		.nvrtc_path = FAKE_NVRTC,
		.cache_folder = cache_folder,
		.timeout_s = timeout_s};
	struct compiler *compiler;
	struct error err;

	if (compiler_open(&options, &compiler, &err) != STATUS_OK)
		fail_msg("%s", err.message);
	return compiler;
}

static inline void submit(struct compiler *compiler, const char *source, const char *entry,
	const char *option, struct compile_result *result)
{
	char *options[] = {string_copy("--ptxas-options=-v"), string_copy(option)};
	char *entries[] = {string_copy(entry)};
	struct build_unit unit = {.name = string_copy("unit.cu"),
		.source = string_copy(source),
		.options = options,
		.option_count = 1 + (option != NULL),
		.entries = entries,
		.entry_count = entry != NULL};
	struct error err;

	if (compiler_submit(compiler, &unit, "sm_90a", result, &err) != STATUS_OK)
		fail_msg("%s", err.message);
	free(unit.name);
	free(unit.source);
	free(options[0]);
	free(options[1]);
	free(entries[0]);
}

static inline void wait_for(struct compiler *compiler, const struct compile_result *result)
{
	while (!compile_is_done(result)) {
		assert_true(compiler_pending(compiler) > 0);
		compiler_poll(compiler, 0.1);
	}
}

/* Compiles one source and checks that the result's log contains `log`. */
static inline struct compile_result expect(
	struct compiler *compiler, const char *source, enum outcome outcome, const char *log)
{
	struct compile_result result;

	submit(compiler, source, "k", NULL, &result);
	wait_for(compiler, &result);
	if (result.outcome != outcome || !strstr(result.log, log))
		fail_msg("expected outcome %d with \"%s\", found %d with \"%s\"", (int)outcome, log,
			(int)result.outcome, result.log);
	assert_int_equal(compiler_pending(compiler), 0);
	if (outcome != OUTCOME_OK) {
		assert_int_equal(result.entry_count, 0);
		assert_int_equal(result.cubin.length, 0);
	}
	return result;
}

static inline void expect_only(
	struct compiler *compiler, const char *source, enum outcome outcome, const char *log)
{
	struct compile_result result = expect(compiler, source, outcome, log);

	compile_result_release(&result);
}

#endif
