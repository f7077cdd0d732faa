/* SPDX-License-Identifier: MIT
 *
 * tiletune help: all commands, or one.
 */
#include <string.h>

#include "base/memory.h"
#include "cli/common.h"
#include "cli/help_format.h"

extern const struct help_format help_format_man, help_format_bash, help_format_zsh;

static const struct help_format *const help_formats[] = {
	&help_format_man,
	&help_format_bash,
	&help_format_zsh,
};

struct help_options {
	const char *format;
};

static const struct option help_option_table[] = {
	{"format", 'F', OPTION_STRING, offsetof(struct help_options, format), "FORMAT",
		"man: the man page; bash, zsh: completion", "text|man|bash|zsh"},
	{0},
};

static void list_commands(struct text *text)
{
	text_appendf(text,
		"tiletune %s: finds the fastest tile shapes of GPU kernels\n\n"
		"usage: tiletune COMMAND [arguments]\n\ncommands:\n",
		tiletune_version);
	for (const struct command *const *command = commands; *command; command++)
		if (!(*command)->hidden)
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
	for (size_t i = 0; i < ARRAY_COUNT(help_formats); i++)
		if (strcmp(help_formats[i]->name, name) == 0) {
			help_formats[i]->write(text);
			return STATUS_OK;
		}
	BUG("--format takes %s, and nothing writes it", name);
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct help_options *options = options_;
	struct text text = {0};
	enum status status = STATUS_OK;
	const struct command *command;

	if (options->format && strcmp(options->format, "text") != 0) {
		status = write_format(options->format, positional, &text, err);
	} else if (!positional->count) {
		list_commands(&text);
	} else {
		command = command_find(positional->items[0]);
		if (command)
			option_help(command, &text);
		else
			status = command_unknown(positional->items[0], err);
	}
	if (status == STATUS_OK)
		status = common_write("-", text.data, err);
	text_release(&text);
	return status;
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
