/* SPDX-License-Identifier: MIT
 *
 * tiletune help: all commands, or one.
 */
#include "cli/common.h"

struct help_options {
	int unused;
};

static const struct option help_option_table[] = {{0}};

static void list_commands(struct text *text)
{
	text_appendf(text,
		"tiletune %s: finds the fastest tile shapes of GPU kernels\n\n"
		"usage: tiletune COMMAND [arguments]\n\ncommands:\n",
		tiletune_version);
	for (const struct command *const *command = commands; *command; command++)
		if (!(*command)->hidden)
			text_appendf(text, "  %-10s %s\n", (*command)->name, (*command)->summary);
	text_append(text,
		"\n`tiletune help COMMAND` tells more.\n\nexit codes:\n"
		"  0 ok   1 failed   2 usage or bad input   3 regression found   4 inconclusive\n"
		"  5 no device or no compiler   130 interrupted (the journal is intact)\n");
}

static enum status run(void *options, const struct string_list *positional, struct error *err)
{
	struct text text = {0};
	enum status status = STATUS_OK;
	const struct command *command;

	(void)options;
	if (!positional->count) {
		list_commands(&text);
	} else {
		command = command_find(positional->items[0]);
		if (command)
			option_help(command, &text);
		else
			status = error_set(err, STATUS_BAD_INPUT,
				"help: expected a command, found \"%s\"", positional->items[0]);
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
	.options = help_option_table,
	.options_size = sizeof(struct help_options),
	.positional_max = 1,
	.run = run,
};
