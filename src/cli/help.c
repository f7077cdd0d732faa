/* SPDX-License-Identifier: MIT
 *
 * tiletune help: describes all commands, or one. help2man makes the man page from `tiletune help
 * all`, and shell completion (completion.bash) uses it, too.
 */
#include <string.h>

#include "base/memory.h"
#include "cli/common.h"

static const struct option no_options[] = {{0}};

static void list_commands(struct text *text)
{
	CLEANUP(memory_free) char *codes = command_help_section("exit codes");

	text_appendf(text,
		"tiletune %s: finds the fastest tile shapes of GPU kernels\n\n"
		"usage: tiletune COMMAND [arguments]\n\ncommands:\n",
		tiletune_version);
	for (const struct command *const *command = commands; *command; command++) {
		CLEANUP(memory_free) char *section = command_help_section((*command)->name);
		const char *summary = strstr(section, "\n\n") + 2;

		text_appendf(text, "  %-10s %.*s\n", (*command)->name,
			(int)strcspn(summary, "\n") - 1, summary);
	}
	text_append(text, codes);
}

static void list_all(struct text *text)
{
	CLEANUP(memory_free) char *variables = command_help_section("environment");

	list_commands(text);
	text_append(text, variables);
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
	.options = no_options,
	.positional_max = 1,
	.run = help_run,
};
