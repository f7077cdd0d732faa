/* SPDX-License-Identifier: MIT
 *
 * Completion for bash: commands, options, values of options.
 */
#include "cli/help.h"

static void put_letter(struct text *text, const struct option *option)
{
	if (option->letter)
		text_appendf(text, "-%c|", option->letter);
}

/* What may follow an option that takes a value. */
static void put_values(struct text *text, const struct option *option)
{
	if (!option->argument)
		return;
	text_append(text, "\t\t");
	put_letter(text, option);
	text_appendf(text, "--%s) ", option->name);
	switch (help_value_of(option)) {
	case HELP_WORDS:
		text_append(text, "words='");
		option_choices(option, " ", text);
		text_append(text, "'");
		break;
	case HELP_FOLDER:
		text_append(text, "folders=1");
		break;
	case HELP_OPERATION:
		text_append(text, "operations=1");
		break;
	default: /* readline's names of files */
		text_append(text, ":");
	}
	text_append(text, " ;;\n");
}

static void put_command(struct text *text, const struct command *command)
{
	struct text words = {0};
	enum help_value value = help_arguments_of(command, &words);

	text_appendf(text, "\t%s)\n\t\tcase $before in\n", command->name);
	for (const struct option *option = command->options; option->name; option++)
		put_values(text, option);
	text_append(text, "\t\t*) options='");
	for (const struct option *option = command->options; option->name; option++) {
		if (option->letter)
			text_appendf(text, "-%c ", option->letter);
		text_appendf(text, "--%s ", option->name);
	}
	text_append(text, "--help'\n");
	if (value == HELP_WORDS)
		text_appendf(text, "\t\t\twords='%s'\n", text_string(&words));
	else if (value == HELP_OPERATION)
		text_append(text, "\t\t\toperations=1\n");
	else if (value == HELP_FILE_OPERATION)
		text_append(text, "\t\t\t((COMP_CWORD > 2)) && operations=1\n");
	text_append(text, "\t\t\t;;\n\t\tesac ;;\n");
	text_release(&words);
}

static void write(struct text *text)
{
	text_append(text,
		"# bash completion for tiletune; made by `tiletune help --format bash`.\n"
		"# shellcheck shell=bash\n\n"
		"_tiletune()\n"
		"{\n"
		"\tlocal now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
		"\tlocal words='' options='' folders='' operations=''\n\n"
		"\tCOMPREPLY=()\n"
		"\t# --option=value comes as three words\n"
		"\tif [[ $now == = ]]; then\n"
		"\t\tnow=''\n"
		"\telif [[ $before == = ]] && ((COMP_CWORD > 2)); then\n"
		"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
		"\tfi\n"
		"\tif ((COMP_CWORD == 1)); then\n"
		"\t\twords='");
	for (const struct command *const *command = commands; *command; command++)
		text_appendf(text, "%s ", (*command)->name);
	text_append(text, "--help --version'\n\tfi\n\t((COMP_CWORD > 1)) && case ${COMP_WORDS[1]} "
			  "in\n");
	for (const struct command *const *command = commands; *command; command++)
		put_command(text, *command);
	text_append(text, "\tesac\n"
			  "\t[[ $now == -* ]] && words=\"$words $options\"\n"
			  "\tif [[ $operations && $now != -* ]]; then\n"
			  "\t\twords=\"$words $(\"${COMP_WORDS[0]}\" families 2>/dev/null | sed -n "
			  "'s/^\\([^ :]*\\):.*/\\1/p')\"\n"
			  "\tfi\n"
			  "\tif [[ $folders ]]; then\n"
			  "\t\tmapfile -t COMPREPLY < <(compgen -d -- \"$now\")\n"
			  "\telif [[ $words ]]; then\n"
			  "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$now\")\n"
			  "\tfi\n"
			  "}\n\n"
			  "# where nothing is known: files\n"
			  "complete -o default -F _tiletune tiletune\n");
}

const struct help_format help_format_bash = {.name = "bash", .write = write};
