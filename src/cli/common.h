/* SPDX-License-Identifier: MIT
 *
 * What several commands share: where templates and configs are, options of every run, the user's
 * terminal.
 */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <signal.h>

#include "base/json.h"
#include "cli/option.h"
#include "family/catalogue.h"
#include "engine/context.h"

extern const char tiletune_version[];
extern const char tiletune_commit[]; /* "" if it was not built in a checkout */

/* First member of a command's struct, with COMMON_OPTIONS in its table. */
struct common_options {
	struct string_list paths;
	bool json;
};
#define COMMON_OPTIONS(owner)                                                                      \
	{.name = "path",                                                                           \
		.type = OPTION_STRINGS,                                                            \
		.offset = offsetof(owner, common.paths),                                           \
		.argument = "DIR",                                                                 \
		.help = "look for templates/ and configs/ here first"},                            \
	{                                                                                          \
		.name = "json", .type = OPTION_FLAG, .offset = offsetof(owner, common.json),       \
		.help = "the machine's answer on stdout, the talk on stderr"                       \
	}

/* Options of commands that open a device. */
struct bench_options {
	const char *device;
	const char *nvrtc;
	const char *cache;
	bool no_cache;
	unsigned workers;
	double wait_s;
	const char *worker;
};
#define BENCH_OPTIONS(owner)                                                                       \
	{.name = "device",                                                                         \
		.letter = 'd',                                                                     \
		.type = OPTION_STRING,                                                             \
		.offset = offsetof(owner, bench.device),                                           \
		.argument = "DEVICE",                                                              \
		.help = "auto, cuda:N, cuda:UUID, model:NAME, replay:FILE"},                       \
		{.name = "nvrtc",                                                                  \
			.type = OPTION_STRING,                                                     \
			.offset = offsetof(owner, bench.nvrtc),                                    \
			.argument = "FILE",                                                        \
			.help = "the NVRTC library to use"},                                       \
		{.name = "cache-dir",                                                              \
			.type = OPTION_STRING,                                                     \
			.offset = offsetof(owner, bench.cache),                                    \
			.argument = "DIR",                                                         \
			.help = "where compiled kernels are kept"},                                \
		{.name = "no-cache",                                                               \
			.type = OPTION_FLAG,                                                       \
			.offset = offsetof(owner, bench.no_cache),                                 \
			.help = "compile everything anew, keep nothing"},                          \
		{.name = "workers",                                                                \
			.letter = 'j',                                                             \
			.type = OPTION_COUNT,                                                      \
			.offset = offsetof(owner, bench.workers),                                  \
			.argument = "N",                                                           \
			.help = "compilers at once; by default one per core, less where memory "   \
				"is short"},                                                       \
		{.name = "wait",                                                                   \
			.type = OPTION_DURATION,                                                   \
			.offset = offsetof(owner, bench.wait_s),                                   \
			.argument = "TIME",                                                        \
			.help = "how long to wait for a GPU that another tuner holds"},            \
	{                                                                                          \
		.name = "worker", .type = OPTION_STRING, .offset = offsetof(owner, bench.worker),  \
		.argument = "FILE", .help = "the program that workers are started from"            \
	}

/* Folders that hold templates/ and configs/: --path, TILETUNE_PATH, beside the binary, its parents,
 * ../share/tiletune. NULL-terminated; caller frees with roots_free(). */
char **roots_find(const struct string_list *paths);
void roots_free(char **roots);

/* Opens the bench for an operation (NULL: all). What it has to say of itself is held back. */
enum status common_bench(const struct common_options *common, const struct bench_options *bench,
	const char *operation, bool allow_model, bool need_compiler, char **roots,
	struct context *context, struct error *err);
/* Says it, once: when what the user asked for is understood, so that it does not come before a
 * typing error. */
void common_notices(struct context *context);

/* Set by SIGINT and SIGTERM. */
extern volatile sig_atomic_t common_interrupted;

/* Writes text to path ("-": stdout), and reports a full disk. */
enum status common_write(const char *path, const char *text, struct error *err);
enum status common_write_json(const char *path, const struct json *json, struct error *err);

#endif
