/* SPDX-License-Identifier: MIT
 *
 * All commands and options as a document: the man page, shell completion. A format is one file that
 * ends in a `const struct help_format` and one line in help.c; what it says comes from the
 * commands' tables.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/command.h"

struct help_format {
	const char *name; /* as --format has it */
	void (*write)(struct text *text);
};

struct help_pair {
	const char *name, *meaning;
};
/* Both end with a NULL name. */
extern const struct help_pair help_exit_codes[], help_variables[];

/* What an argument may be, for completion. */
enum help_value {
	HELP_WORDS,          /* one of a list */
	HELP_FILE,           /* a file */
	HELP_FOLDER,         /* a folder */
	HELP_OPERATION,      /* the name of an operation */
	HELP_FILE_OPERATION, /* a file, then an operation */
	HELP_FREE,           /* anything else */
};
enum help_value help_value_of(const struct option *option);
/* What may stand behind the command besides options and files. words: those of HELP_WORDS, apart by
 * blanks; empty for others. */
enum help_value help_arguments_of(const struct command *command, struct text *words);

#endif
