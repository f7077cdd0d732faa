/* SPDX-License-Identifier: MIT
 *
 * What several commands share: where templates and configs are, options of every run, the user's
 * terminal.
 */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <signal.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/command.h"
#include "family/catalogue.h"
#include "engine/context.h"
#include "format/journal.h"
#include "format/tuned.h"
#include "format/run.h"

extern const char tiletune_version[];
extern const char tiletune_commit[]; /* "" if it was not built in a checkout */

/* First member of a command's struct, with COMMON_OPTIONS in its table. */
struct common_options {
	struct string_list paths;
	bool json, verbose;
};
#define COMMON_OPTIONS                                                                             \
	OPTION("path", 0, PLACES, common.paths, "DIR",                                             \
		"look for templates/ and configs/ here first; an own kernel's file"),              \
		OPTION("json", 0, FLAG, common.json, NULL,                                         \
			"the answer as JSON on stdout, messages on stderr")

#define VERBOSE_OPTION(member)                                                                     \
	OPTION("verbose", 'v', FLAG, member, NULL,                                                 \
		"name problems with all keys, and say why families do not compete")

#define LEARNED_OPTION(member)                                                                     \
	OPTION("no-learned", 0, FLAG, member, NULL,                                                \
		"predict by physics alone, without what timings taught")

/* Options of commands that open a device: the member `device` of a command's struct. */
#define TOOLCHAIN_OPTIONS                                                                          \
	OPTION("nvrtc", 0, STRING, device.compiler.nvrtc_path, "FILE",                             \
		"the NVRTC library to use"),                                                       \
		OPTION("cache-dir", 0, STRING, device.compiler.cache_folder, "DIR",                \
			"folder of compiled kernels"),                                             \
		OPTION("workers", 'j', COUNT, device.compiler.workers, "N",                        \
			"number of compilers (default one per core, fewer if memory is short)")
#define DEVICE_OPTIONS                                                                             \
	OPTION("device", 'd', STRING, device.device, "DEVICE",                                     \
		"use this device: auto, cuda:N, cuda:UUID, model:NAME, replay:FILE"),              \
		TOOLCHAIN_OPTIONS,                                                                 \
		OPTION("cache-seed", 0, STRING, device.compiler.cache_seed, "DIR",                 \
			"read a second cache that is never written"),                              \
		OPTION("no-cache", 0, FLAG, device.no_cache, NULL,                                 \
			"compile everything again, keep nothing"),                                 \
		LEARNED_OPTION(device.learned.none),                                               \
		OPTION("wait", 0, DURATION, device.machine.wait_s, "TIME",                         \
			"how long to wait for a GPU that another tuner holds")

/* Where templates/ and configs/ are: --path, TILETUNE_PATH, the folder of the binary, its parents,
 * ../share/tiletune. Lists end with NULL. */
struct folders {
	const char *const *roots, *const *templates, *const *configs;
};
struct folders folders_find(const struct string_list *paths);
/* As above. The own kernels in the folder X.kernels of the tuned file X.json come last. */
struct folders folders_of(const struct string_list *paths, const char *tuned);
void folders_release(struct folders *folders);

/* Opens the device, and the rest of a run's context, for an operation (NULL: all). What it has to
 * say of itself is held back. device: as the options say, with what the command adds. */
enum status common_open(const struct context_options *device, const char *operation,
	const struct folders *folders, struct context *context, struct error *err);
/* For context_options.program_starts: tells the user. */
void common_say_program(const char *command, const char *folder);
/* The program of worker processes, for tests; NULL: this one. */
const char *common_worker(void);
enum status common_check_workers(unsigned workers, struct error *err);
/* Prints held-back notices once, after the arguments were validated. */
void common_notices(struct context *context);
/* Says what went wrong with the cache of kernels, if anything did. */
void common_context_release(struct context *context);

/* The problems of an operation that -p names, or that of its defaults where every key has one;
 * extra (NULL-terminated, may be NULL): more of them.
 * Errors, STATUS_BAD_INPUT: there are none; hint: how to name one. */
enum status common_problems(const struct operation *operation, const struct string_list *texts,
	const char *const *extra, struct problem_list *problems, struct error *err);

/* ---- the GPU model that a tuned file is of, for commands that open no device ---- */
/* The file's sheet, or, of a GPU without one, what the file says of it and the default rates of its
 * architecture. name: "cuda:N" (a GPU of this machine) or "model:NAME" instead; NULL: the file's.
 */
enum status common_device_spec(const char *name, const struct gpu_model *model,
	const struct folders *folders, struct device_spec **spec, struct error *err);

/* Set by SIGINT and SIGTERM, where a command looks at it, as it says by setting common_graceful;
 * else the first signal ends the program. */
extern volatile sig_atomic_t common_interrupted, common_graceful;

/* Whether what a command will write can be written, before it begins, and is none of the files that
 * it reads; path and inputs may be NULL. */
enum status common_expect_output(
	const char *option, const char *path, const struct string_list *inputs, struct error *err);
/* Refuses a folder where a command reads a tuned file. */
enum status common_expect_tuned(const char *path, struct error *err);
/* Of OPERATION or FILE: the file, or NULL. */
const struct string_list *common_own_kernel(const struct string_list *positional);
/* Says on stderr that lines of a journal were skipped. */
void common_journal_notice(const struct journal_record *record);

/* All that people read goes through these four. What %s brings comes from files: it is escaped and
 * stays on its line. Lines end only where the format, or the text of several lines, ends them. */
PRINTF_LIKE(2, 3) void common_print(FILE *out, const char *format, ...);
void common_print_lines(FILE *out, const char *lines);
PRINTF_LIKE(1, 2) void common_notice(const char *format, ...); /* "notice: ..." on stderr */
void common_notice_lines(const char *lines);                   /* one for each line */
/* "wrote FILE", unless it is stdout. */
void common_say_wrote(const char *path);
/* Writes text to path ("-": stdout), and reports a full disk. */
enum status common_write(const char *path, const struct text *text, struct error *err);
enum status common_write_json(const char *path, const struct json *json, struct error *err);
/* A tuned file as JSON with many lines to stdout. */
enum status common_write_tuned(const struct tuned *tuned, struct error *err);

/* Of an option whose word is an objective; NULL: time. */
const char *common_objective_choice(size_t index, const char **summary);
const char *common_l2_choice(size_t index, const char **summary);
bool common_l2_warm(const char *word);
enum objective common_objective(const char *word);

/* ---- what is written down of a run ---- */

/* Date, process and some randomness: "20260131T120000-1a2b3c". */
void run_new_id(char id[RUN_ID_SIZE]);
/* Date, command, toolchain, driver, clocks. */
struct run run_of(const struct context *context, const char *id);
/* The same with an id of its own: "run" of documents. */
struct run run_now(const struct context *context);
/* An empty tuned file that a command answers with, and the run in it; the caller frees its id. */
char *common_answer(const struct context *context, struct tuned *answer);

#endif
