/* SPDX-License-Identifier: MIT
 *
 * Completion for bash and zsh: commands, options, values of options.
 */
#include <string.h>

#include "base/memory.h"
#include "cli/help.h"
#include "report/format.h"

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

static void bash_command(struct text *text, const struct command *command)
{
	CLEANUP(text_release) struct text words = {0};
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
}

static void bash_write(struct text *text)
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
		bash_command(text, *command);
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

const struct help_format help_format_bash = {.name = "bash", .write = bash_write};

/* ---- zsh ---- */
/* Inside '...', inside [...] or between colons. */
static void zsh_put(struct text *text, const char *string)
{
	for (; *string; string++) {
		if (*string == '\'')
			text_append(text, "'\\''");
		else if (strchr("[]:\\", *string))
			text_appendf(text, "\\%c", *string);
		else
			text_append_char(text, *string);
	}
}

static void put_action(struct text *text, const struct option *option)
{
	static const char *const actions[] = {[HELP_FILE] = "_files",
		[HELP_FOLDER] = "_files -/",
		[HELP_OPERATION] = "_tiletune_operations",
		[HELP_FILE_OPERATION] = " ",
		[HELP_FREE] = " "};

	if (!option->argument)
		return;
	format_put(text, zsh_put, ":%s:", option->argument);
	if (!option->choice) {
		text_append(text, actions[help_value_of(option)]);
		return;
	}
	text_append_char(text, '(');
	option_choices(option, " ", text);
	text_append_char(text, ')');
}

static void zsh_option(struct text *text, const struct option *option)
{
	const char *equals = option->argument ? "=" : "", *plus = option->argument ? "+" : "";

	text_append(text, "\t\t\t");
	if (option->type == OPTION_STRINGS)
		text_append(text, "'*'");
	else if (option->letter)
		text_appendf(text, "'(-%c --%s)'", option->letter, option->name);
	if (option->letter)
		text_appendf(text, "{-%c%s,--%s%s}'[", option->letter, plus, option->name, equals);
	else
		text_appendf(text, "'--%s%s[", option->name, equals);
	format_put(text, zsh_put, "%s]", option->help);
	put_action(text, option);
	text_append(text, "' \\\n");
}

static void zsh_command(struct text *text, const struct command *command)
{
	CLEANUP(text_release) struct text words = {0};

	text_appendf(text, "\t%s)\n\t\t_arguments -s \\\n", command->name);
	for (const struct option *option = command->options; option->name; option++)
		zsh_option(text, option);
	text_append(text, "\t\t\t'(- *)'{-h,--help}'[this text]' \\\n");
	switch (help_arguments_of(command, &words)) {
	case HELP_WORDS:
		text_appendf(text, "\t\t\t'1: :(%s)'\n", text_string(&words));
		break;
	case HELP_OPERATION:
		text_append(text, "\t\t\t'1: :_tiletune_operations'\n");
		break;
	case HELP_FILE_OPERATION:
		text_append(text, "\t\t\t'1: :_files' '2: :_tiletune_operations'\n");
		break;
	default:
		text_append(text, "\t\t\t'*: :_files'\n");
	}
	text_append(text, "\t\t;;\n");
}

static void zsh_write(struct text *text)
{
	text_append(text, "#compdef tiletune\n"
			  "# zsh completion for tiletune; made by `tiletune help --format zsh`.\n\n"
			  "_tiletune_operations() {\n"
			  "\tlocal -a names\n"
			  "\tnames=(${(f)\"$($service families 2>/dev/null | sed -n "
			  "'s/^\\([^ :]*\\):.*/\\1/p')\"})\n"
			  "\t_describe operation names\n"
			  "}\n\n"
			  "_tiletune() {\n"
			  "\tlocal curcontext=$curcontext state line\n"
			  "\tlocal -a commands\n"
			  "\ttypeset -A opt_args\n\n"
			  "\tcommands=(\n");
	for (const struct command *const *command = commands; *command; command++)
		format_put(text, zsh_put, "\t\t'%s:%s'\n", (*command)->name, (*command)->summary);
	text_append(text, "\t)\n"
			  "\t_arguments -C '(- *)'{-h,--help}'[all commands]' \\\n"
			  "\t\t'(- *)--version[the version]' \\\n"
			  "\t\t'1: :->command' '*:: :->arguments'\n"
			  "\tif [[ $state == command ]]; then\n"
			  "\t\t_describe command commands\n"
			  "\t\treturn\n"
			  "\tfi\n"
			  "\t[[ $state == arguments ]] && case $words[1] in\n");
	for (const struct command *const *command = commands; *command; command++)
		zsh_command(text, *command);
	text_append(text, "\tesac\n}\n\n"
			  "if [[ $funcstack[1] == _tiletune ]]; then\n"
			  "\t_tiletune \"$@\"\n"
			  "else\n"
			  "\tcompdef _tiletune tiletune\n"
			  "fi\n");
}

const struct help_format help_format_zsh = {.name = "zsh", .write = zsh_write};
