/* SPDX-License-Identifier: MIT
 *
 * tiletune help: describes all commands, or one. help2man makes the man page from `tiletune help
 * all`, and shell completion (completion.bash) uses it, too.
 */
#include <string.h>

#include "base/memory.h"
#include "cli/common.h"

struct help_pair {
	const char *name, *meaning;
};
static const struct help_pair exit_codes[] = {
	{"0", "ok"},
	{"1", "failed"},
	{"2", "usage or bad input"},
	{"3", "regression found"},
	{"4", "inconclusive"},
	{"5", "no device or no compiler"},
	{"130", "interrupted (the journal is intact)"},
	{NULL, NULL},
};

static const struct help_pair variables[] = {
	{"TILETUNE_PATH", "folders with templates/ and configs/, separated by colons; searched "
			  "after --path and before the folder of the program"},
	{"TILETUNE_NVRTC", "NVRTC library to use without --nvrtc"},
	{"TILETUNE_LEARNED", "none: predict without the learned corrections, as with --no-learned"},
	{"TILETUNE_LOCK_FOLDER", "folder with the locks of GPUs"},
	{"TILETUNE_KERNEL_TIMEOUT",
		"seconds after which a kernel counts as hung (default 10; a sanitizer needs more)"},
	{"CUDA_HOME, CUDA_PATH, VIRTUAL_ENV, CONDA_PREFIX, LD_LIBRARY_PATH",
		"places to search for NVRTC; `tiletune devices` prints all"},
	{"XDG_CACHE_HOME", "the cache is its folder tiletune (default ~/.cache/tiletune)"},
	{"TILETUNE_CACHE_SEED", "second cache of compiled kernels, as with --cache-seed"},
	{NULL, NULL},
};

static const struct option no_options[] = {{0}};

static void list_commands(struct text *text)
{
	text_appendf(text,
		"tiletune %s: finds the fastest tile shapes of GPU kernels\n\n"
		"usage: tiletune COMMAND [arguments]\n\ncommands:\n",
		tiletune_version);
	for (const struct command *const *command = commands; *command; command++)
		text_appendf(text, "  %-10s %s\n", (*command)->name, (*command)->summary);
	text_append(text, "\n`tiletune help COMMAND` describes one command, `tiletune help all` "
			  "everything."
			  "\n\nexit codes:\n");
	for (const struct help_pair *code = exit_codes; code->name; code++)
		text_appendf(text, "  %-3s  %s\n", code->name, code->meaning);
}

static void list_all(struct text *text)
{
	list_commands(text);
	text_append(text, "\nenvironment:\n");
	for (const struct help_pair *variable = variables; variable->name; variable++)
		text_appendf(text, "  %-28s  %s\n", variable->name, variable->meaning);
	for (const struct command *const *command = commands; *command; command++) {
		/* formatted as a heading for help2man */
		text_appendf(text, "\n*tiletune %s*\n\n", (*command)->name);
		option_help(*command, text);
	}
}

static enum status help_run(void *options, const struct string_list *positional, struct error *err)
{
	const char *name = positional->count ? positional->items[0] : NULL;
	CLEANUP(text_release) struct text text = {0};
	const struct command *command = name ? command_find(name) : NULL;

	(void)options;
	if (!name)
		list_commands(&text);
	else if (strcmp(name, "all") == 0)
		list_all(&text);
	else if (!command)
		return command_unknown(name, err);
	else
		option_help(command, &text);
	return common_write("-", &text, err);
}

const struct command command_help = {
	.name = "help",
	.summary = "Describe a command",
	.arguments = "[COMMAND|all]",
	.description = "Without a command: all of them, and the exit codes.",
	.examples = "  tiletune help tune",
	.options = no_options,
	.positional_max = 1,
	.run = help_run,
};
