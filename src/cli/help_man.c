/* SPDX-License-Identifier: MIT
 *
 * The man page, in the man macros of troff.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/common.h"
#include "cli/help.h"
#include "report/format.h"

/* One line of text that troff takes as it is. Minus signs are for typing: no hyphens. */
static void escape(struct text *text, const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (line[i] == '\\')
			text_append(text, "\\e");
		else if (line[i] == '-')
			text_append(text, "\\-");
		else if (!i && (line[i] == '.' || line[i] == '\''))
			text_appendf(text, "\\&%c", line[i]);
		else
			text_append_char(text, line[i]);
	}
}

static void put(struct text *text, const char *line)
{
	escape(text, line, strlen(line));
}

/* Paragraphs; a line "  - ..." begins an item, lines with more blanks go on with it. */
static void paragraphs(struct text *text, const char *lines)
{
	bool in_list = false;

	for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
		size_t blanks = strspn(lines, " ");

		length = strcspn(lines, "\n");
		if (length == blanks) {
			text_append(text, ".PP\n");
			in_list = false;
			continue;
		}
		if (strncmp(lines + blanks, "- ", 2) == 0 && blanks) {
			text_append(text, ".IP \\(bu 2\n");
			blanks += 2;
			in_list = true;
		} else if (in_list && !blanks) {
			text_append(text, ".PP\n");
			in_list = false;
		}
		escape(text, lines + blanks, length - blanks);
		text_append_char(text, '\n');
	}
}

/* "(one|two)", or a line each where they have meanings. */
static void choices(struct text *text, const struct option *option)
{
	CLEANUP(text_release) struct text list = {0};
	const char *name, *summary = NULL;

	option->choice(0, &summary);
	if (!summary) {
		option_choices(option, "|", &list);
		format_put(text, put, " (%s)", list.data);
		return;
	}
	for (size_t i = 0; (name = option->choice(i, &summary)) != NULL; i++)
		format_put(text, put, "\n.br\n\\fB%s\\fR: %s", name, summary);
}

static void option_entry(struct text *text, const struct option *option)
{
	text_append(text, ".TP\n");
	if (option->letter)
		text_appendf(text, "\\fB\\-%c\\fR, ", option->letter);
	format_put(text, put, "\\fB\\-\\-%s\\fR", option->name);
	if (option->argument)
		format_put(text, put, " \\fI%s\\fR", option->argument);
	format_put(text, put, "\n%s", option->help);
	if (option->choice)
		choices(text, option);
	text_append_char(text, '\n');
}

static void command_section(struct text *text, const struct command *command)
{
	format_put(text, put, ".SS \"tiletune %s%s%s\"\n%s.\n", command->name,
		command->arguments[0] ? " " : "", command->arguments, command->summary);
	if (command->description) {
		text_append(text, ".PP\n");
		paragraphs(text, command->description);
	}
	for (const struct option *option = command->options; option->name; option++)
		option_entry(text, option);
	if (!command->examples)
		return;
	text_append(text, ".PP\nExamples:\n.PP\n.nf\n");
	for (const char *line = command->examples; *line;) {
		size_t length = strcspn(line, "\n");

		escape(text, line, length);
		text_append_char(text, '\n');
		line += length + (line[length] == '\n');
	}
	text_append(text, ".fi\n");
}

static void pairs(struct text *text, const struct help_pair *pair)
{
	for (; pair->name; pair++)
		format_put(text, put, ".TP\n\\fB%s\\fR\n%s\n", pair->name, pair->meaning);
}

static void write_page(struct text *text)
{
	text_appendf(text,
		".TH TILETUNE 1 \"\" \"tiletune %s\" \"User commands\"\n.SH NAME\n"
		"tiletune \\- finds the fastest tile shapes of GPU kernels\n.SH SYNOPSIS\n"
		".B tiletune\n.I COMMAND\n[arguments]\n.br\n.B tiletune \\-\\-version\n"
		".SH DESCRIPTION\n",
		tiletune_version);
	put(text, "Enumerates tile shapes of a kernel, compiles each variant at run time, scores "
		  "it by a model of the GPU, times it, compares its numbers with a reference, and "
		  "writes the best configurations to JSON.");
	text_append(text, "\n.SH COMMANDS\n");
	for (const struct command *const *command = commands; *command; command++)
		command_section(text, *command);
	text_append(text, ".SH EXIT STATUS\n");
	pairs(text, help_exit_codes);
	text_append(text, ".SH ENVIRONMENT\n");
	pairs(text, help_variables);
}

const struct help_format help_format_man = {.name = "man", .write = write_page};
