/* SPDX-License-Identifier: MIT
 *
 * tiletune help: all commands, or one; what its other formats share.
 */
#include "cli/help.h"

#include <string.h>

#include "base/memory.h"
#include "cli/common.h"

const struct help_pair help_exit_codes[] = {
	{"0", "ok"},
	{"1", "failed"},
	{"2", "usage or bad input"},
	{"3", "regression found"},
	{"4", "inconclusive"},
	{"5", "no device or no compiler"},
	{"130", "interrupted (the journal is intact)"},
	{NULL, NULL},
};

const struct help_pair help_variables[] = {
	{"TILETUNE_PATH", "folders that hold templates/ and configs/, apart by colons; they come "
			  "after --path and before those beside the program"},
	{"TILETUNE_NVRTC", "the NVRTC library to use where --nvrtc names none"},
	{"TILETUNE_LEARNED", "none: predictions by physics alone, as with --no-learned; shipped: "
			     "and by what is shipped"},
	{"TILETUNE_LOCK_FOLDER", "where the locks of GPUs are"},
	{"TILETUNE_KERNEL_TIMEOUT",
		"seconds after which a kernel hangs; default 10, a sanitizer needs more"},
	{"CUDA_HOME, CUDA_PATH, VIRTUAL_ENV, CONDA_PREFIX, LD_LIBRARY_PATH",
		"places where NVRTC is looked for, too"},
	{"XDG_CACHE_HOME", "its folder tiletune is the cache; else ~/.cache/tiletune"},
	{"TILETUNE_CACHE_GROUP",
		"a group whose members are trusted with kernels: a --cache-dir that "
		"is the group's and that it may write to is shared by them"},
	{"TILETUNE_CACHE_SEED", "another cache, which is only read: what its owner has compiled"},
	{NULL, NULL},
};

enum help_value help_value_of(const struct option *option)
{
	if (option->choice)
		return HELP_WORDS;
	if (!option->argument)
		return HELP_FREE;
	if (strcmp(option->argument, "FILE") == 0)
		return HELP_FILE;
	if (strcmp(option->argument, "DIR") == 0)
		return HELP_FOLDER;
	if (strcmp(option->argument, "OPERATION") == 0)
		return HELP_OPERATION;
	return HELP_FREE;
}

static void add_commands(struct text *words)
{
	for (const struct command *const *command = commands; *command; command++)
		text_appendf(words, "%s%s", words->length ? " " : "", (*command)->name);
}

enum help_value help_arguments_of(const struct command *command, struct text *words)
{
	const char *first = command->arguments;
	size_t length;

	first += *first == '[';
	length = strcspn(first, " ]");
	if (length == strlen("COMMAND") && strncmp(first, "COMMAND", length) == 0) {
		add_commands(words);
		return HELP_WORDS;
	}
	/* "[list|check|trim]" */
	if (memchr(first, '|', length) && strspn(first, "abcdefghijklmnopqrstuvwxyz|") == length) {
		for (size_t i = 0; i < length; i++)
			text_append_char(words, first[i] == '|' ? ' ' : first[i]);
		return HELP_WORDS;
	}
	if (strncmp(first, "OPERATION", strlen("OPERATION")) == 0)
		return HELP_OPERATION;
	return strstr(first, " OPERATION") || strstr(first, "[OPERATION") ? HELP_FILE_OPERATION
									  : HELP_FILE;
}

/* ---- the command; one line per format ---- */
/* clang-format off */
#define FORMATS(row) \
	row(man) \
	row(bash) \
	row(zsh)
/* clang-format on */
#define DECLARE(name) extern const struct help_format help_format_##name;
#define ADDRESS(name) &help_format_##name,
FORMATS(DECLARE)
static const struct help_format *const formats[] = {FORMATS(ADDRESS)};

struct help_options {
	const char *format;
};

static const char *format_choice(size_t index, const char **summary)
{
	(void)summary;
	if (!index)
		return "text";
	return index <= ARRAY_COUNT(formats) ? formats[index - 1]->name : NULL;
}

#define AT(member) offsetof(struct help_options, member)

static const struct option help_option_table[] = {
	CHOICE("format", 'F', STRING, format, "FORMAT", "man: the man page; bash, zsh: completion",
		format_choice),
	{0},
};

static void list_commands(struct text *text)
{
	text_appendf(text,
		"tiletune %s: finds the fastest tile shapes of GPU kernels\n\n"
		"usage: tiletune COMMAND [arguments]\n\ncommands:\n",
		tiletune_version);
	for (const struct command *const *command = commands; *command; command++)
		text_appendf(text, "  %-10s %s\n", (*command)->name, (*command)->summary);
	text_append(text, "\n`tiletune help COMMAND` tells more.\n\nexit codes:\n");
	for (const struct help_pair *code = help_exit_codes; code->name; code++)
		text_appendf(text, "  %-3s %s\n", code->name, code->meaning);
}

static enum status write_format(const char *name, const struct string_list *positional,
	struct text *text, struct error *err)
{
	if (positional->count)
		return error_set(err, STATUS_BAD_INPUT,
			"help: expected no command with --format %s, which holds all, found \"%s\"",
			name, positional->items[0]);
	for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
		if (strcmp(formats[i]->name, name) == 0) {
			formats[i]->write(text);
			return STATUS_OK;
		}
	BUG("--format takes %s, and nothing writes it", name);
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct help_options *options = options_;
	CLEANUP(text_release) struct text text = {0};
	const struct command *command;

	if (options->format && strcmp(options->format, "text") != 0) {
		TRY(write_format(options->format, positional, &text, err));
	} else if (!positional->count) {
		list_commands(&text);
	} else {
		command = command_find(positional->items[0]);
		if (!command)
			return command_unknown(positional->items[0], err);
		option_help(command, &text);
	}
	return common_write("-", text.data, err);
}

const struct command command_help = {
	.name = "help",
	.summary = "Tell how a command is used",
	.arguments = "[COMMAND]",
	.description = "Without a command: all of them, and the exit codes.",
	.examples = "  tiletune help tune\n"
		    "  tiletune help --format man | man -l -\n"
		    "  source <(tiletune help --format bash)",
	.options = help_option_table,
	.options_size = sizeof(struct help_options),
	.positional_max = 1,
	.run = run,
};
