/* SPDX-License-Identifier: MIT
 *
 * Commands, and one table of options per command: it drives parsing, --help, the man page and
 * completion.
 *
 * Values land in the command's own struct (zeroed before), at the offset that the table names.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

enum option_type {
	OPTION_FLAG,    /* bool; --no-NAME resets it */
	OPTION_STRING,  /* const char *, borrowed from argv; one of the choices if there are some */
	OPTION_WORD,    /* the same, but it may be something else than a choice */
	OPTION_MAYBE,   /* the same, but the first choice where none of them follows */
	OPTION_STRINGS, /* struct string_list: may be given several times */
	OPTION_PLACES,  /* the same; each is a folder or file that exists */
	OPTION_COUNT,   /* unsigned, from 1 */
	OPTION_DURATION, /* double, seconds: 30s, 500ms, 2m */
	OPTION_BUDGET,   /* the same, above 0 */
};

struct string_list {
	const char **items; /* NULL-terminated once not empty; borrowed strings */
	size_t count, capacity;
};

struct option {
	const char *name; /* long name, without dashes; NULL ends the table */
	char letter;      /* 0: none */
	enum option_type type;
	size_t offset;
	const char *argument; /* as --help shows it: "FILE"; NULL for flags */
	const char *help;
	/* The index-th choice, NULL behind the last; *summary (NULL before) where its name does not
	 * say it. NULL: anything. */
	const char *(*choice)(size_t index, const char **summary);
};

/* A row of a command's table, which ends with {0}; AT(member) is the member's offset in its struct.
 */
#define OPTION(name, letter, kind, member, argument, help)                                         \
	CHOICE(name, letter, kind, member, argument, help, NULL)
#define CHOICE(name, letter, kind, member, argument, help, choice)                                 \
	{                                                                                          \
		name, letter, OPTION_##kind, AT(member), argument, help, choice                    \
	}

struct command {
	const char *name;
	const char *summary;     /* one line */
	const char *arguments;   /* "OPERATION -p PROBLEM..." */
	const char *description; /* paragraphs for --help and the man page */
	const char *examples;    /* one command a line */
	const struct option *options;
	size_t options_size; /* of the command's struct */
	unsigned positional_min, positional_max;
	enum status (*run)(void *options, const struct string_list *positional, struct error *err);
};

extern const struct command *const commands[]; /* NULL-terminated */
/* NULL: there is none. */
const struct command *command_find(const char *name);
/* The error for a name that is none, with the nearest that is. */
enum status command_unknown(const char *name, struct error *err);

void string_list_add(struct string_list *list, const char *item);
void string_list_release(struct string_list *list);

/* Parses what follows the command's name. *help: --help was asked for (nothing else was checked).
 * Errors: STATUS_BAD_INPUT, with the nearest option for an unknown one. */
enum status option_parse(const struct command *command, int count, char **arguments, void *options,
	struct string_list *positional, bool *help, struct error *err);
/* Frees the lists inside a command's struct. */
void option_release(const struct command *command, void *options);
void option_help(const struct command *command, struct text *text);

#endif
