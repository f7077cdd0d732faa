/* SPDX-License-Identifier: MIT
 *
 * Functions that several commands share: finding templates and configs, common options, and
 * output for the user.
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
extern const char tiletune_commit[]; /* "" if the program was not built from a checkout */

/* The first member of a command's struct whose table has COMMON_OPTIONS. */
struct common_options {
	struct string_list paths;
	bool json, verbose;
};
#define COMMON_OPTIONS                                                                             \
	OPTION("path", 0, PLACES, common.paths, "DIR"), OPTION("json", 0, FLAG, common.json, NULL)

/* Options of commands that open a device. They fill in the member `device` of the command's
 * struct. */
#define TOOLCHAIN_OPTIONS                                                                          \
	OPTION("nvrtc", 0, STRING, device.compiler.nvrtc_path, "FILE"),                            \
		OPTION("cache-dir", 0, STRING, device.compiler.cache_folder, "DIR"),               \
		OPTION("workers", 'j', COUNT, device.compiler.workers, "N")
#define DEVICE_OPTIONS                                                                             \
	OPTION("device", 'd', STRING, device.device, "DEVICE"), TOOLCHAIN_OPTIONS,                 \
		OPTION("cache-seed", 0, STRING, device.compiler.cache_seed, "DIR"),                \
		OPTION("no-cache", 0, FLAG, device.no_cache, NULL),                                \
		OPTION("no-learned", 0, FLAG, device.learned.none, NULL),                          \
		OPTION("wait", 0, DURATION, device.machine.wait_s, "TIME"),                        \
		OPTION("verbose", 'v', FLAG, common.verbose, NULL)

/* The folders of templates/ and configs/. They are searched for in --path, TILETUNE_PATH, the
 * binary's folder, its parents, and ../share/tiletune. Lists are NULL-terminated. */
struct folders {
	const char *const *roots, *const *templates, *const *configs;
};
struct folders folders_find(const struct string_list *paths);
/* Finds the folders. If `tuned` is X.json, the own kernels in the folder X.kernels come last. */
struct folders folders_of(const struct string_list *paths, const char *tuned);
void folders_release(struct folders *folders);

/* Opens the device and the rest of the context for an operation (NULL: all). `device` has the
 * command's options. Notices are held back until common_notices(). */
enum status common_open(const struct context_options *device, const char *operation,
	const struct folders *folders, struct context *context, struct error *err);
/* For context_options.program_starts: tells the user that a program starts. */
void common_say_program(const char *command, const char *folder);
/* The program of worker processes, which tests replace; NULL: this executable. */
const char *common_worker(void);
enum status common_check_workers(unsigned workers, struct error *err);
/* Prints the notices that were held back. Called after the arguments were validated. */
void common_notices(struct context *context);
/* Releases the context, and reports problems with the cache of kernels. */
void common_context_release(struct context *context);

/* Parses the problems that -p names. Without -p it uses the operation's default problem, if
 * every key has a default value. `extra` lists more problems; it is NULL-terminated and may be
 * NULL. Fails with STATUS_BAD_INPUT if there is no problem; the hint says how to name one. */
enum status common_problems(const struct operation *operation, const struct string_list *texts,
	const char *const *extra, struct problem_list *problems, struct error *err);

/* ---- the GPU model of a tuned file, for commands that open no device ---- */
/* Makes the specification of the file's GPU model from its sheet; without a sheet, from the
 * figures in the file and the default rates of the architecture. A `name` selects another
 * device: "cuda:N" (a GPU of this machine) or "model:NAME"; NULL: the file's. */
enum status common_device_spec(const char *name, const struct gpu_model *model,
	const struct folders *folders, struct device_spec **spec, struct error *err);

/* common_interrupted is set by SIGINT and SIGTERM if the command has set common_graceful, which
 * promises to look at it. Otherwise the first signal ends the program. */
extern volatile sig_atomic_t common_interrupted, common_graceful;

/* Checks before a command begins that its output can be written and is not one of its inputs.
 * path and inputs may be NULL. */
enum status common_expect_output(
	const char *option, const char *path, const struct string_list *inputs, struct error *err);
/* Rejects a folder given in place of a tuned file. */
enum status common_expect_tuned(const char *path, struct error *err);
/* Returns the file if the first argument is an own kernel's file and not an operation, else
 * NULL. */
const struct string_list *common_own_kernel(const struct string_list *positional);
/* Reports on stderr how many lines of a journal were skipped. */
void common_journal_notice(const struct journal_record *record);

/* All text for people is printed by these four functions. Strings for %s may come from files, so
 * they are escaped and cannot contain line breaks. Line breaks come only from the format or from
 * the text of several lines. */
PRINTF_LIKE(2, 3) void common_print(FILE *out, const char *format, ...);
void common_print_lines(FILE *out, const char *lines);
PRINTF_LIKE(1, 2) void common_notice(const char *format, ...); /* "notice: ..." on stderr */
void common_notice_lines(const char *lines);                   /* prints a notice for each line */
/* Prints "wrote FILE" unless the file is stdout. */
void common_say_wrote(const char *path);
/* Writes text to path ("-": stdout); a full disk is an error. */
enum status common_write(const char *path, const struct text *text, struct error *err);
enum status common_write_json(const char *path, const struct json *json, struct error *err);
/* Prints a tuned file as indented JSON to stdout. */
enum status common_write_tuned(const struct tuned *tuned, struct error *err);

/* Choices of an option that selects an objective; NULL selects time. */
const char *common_objective_choice(size_t index, const char **summary);
const char *common_l2_choice(size_t index, const char **summary);
const char *common_load_choice(size_t index, const char **summary);
bool common_l2_warm(const char *word);
enum objective common_objective(const char *word);
/* Parses the value of --threshold. */
enum status common_threshold(const char *text, double *ratio, struct error *err);

/* ---- metadata of a run ---- */

/* Makes an id of date, process and random digits: "20260131T120000-1a2b3c". */
void run_new_id(char id[RUN_ID_SIZE]);
/* Describes a run: date, command, toolchain, driver, clocks. */
struct run run_of(const struct context *context, const char *id);
/* The same with a new id, for the member "run" of documents. */
struct run run_now(const struct context *context);
/* Makes an empty tuned file, with its run, for a command's answer. The caller frees the returned
 * id. */
char *common_answer(const struct context *context, struct tuned *answer);

#endif
