/* SPDX-License-Identifier: MIT
 *
 * Commands of the program. Each has one table of options, which drives parsing, --help, the man
 * page and shell completion.
 *
 * Values are stored in the command's own struct, which is zeroed first, at the offsets in the
 * table.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

enum option_type {
	OPTION_FLAG,     /* bool; --no-NAME resets it */
	OPTION_STRING,   /* const char *, borrowed from argv; if the option has choices, it must be
			    one of them */
	OPTION_WORD,     /* the same, but other words than the choices are accepted */
	OPTION_MAYBE,    /* the same; the word may be missing, which selects the first choice */
	OPTION_STRINGS,  /* struct string_list; the option may be repeated */
	OPTION_PLACES,   /* the same; each word is an existing folder or file */
	OPTION_COUNT,    /* unsigned, at least 1 */
	OPTION_DURATION, /* double, seconds: 30s, 500ms, 2m */
	OPTION_BUDGET,   /* the same, greater than 0 */
};

struct string_list {
	const char **items; /* NULL-terminated unless empty; strings are borrowed */
	size_t count, capacity;
};

struct option {
	const char *name; /* long name, without dashes; NULL ends the table */
	char letter;      /* 0: none */
	enum option_type type;
	size_t offset;
	const char *argument; /* name of the argument in --help, such as "FILE"; NULL for flags */
	/* Returns the choice with this index, or NULL if there are fewer. *summary is NULL
	 * before the call and may be set to an explanation. A NULL function accepts anything. */
	const char *(*choice)(size_t index, const char **summary);
};

/* A row of a command's table, which ends with {0}. AT(member) is the offset of a member in the
 * command's struct. */
#define OPTION(name, letter, kind, member, argument)                                               \
	CHOICE(name, letter, kind, member, argument, NULL)
#define CHOICE(name, letter, kind, member, argument, choice)                                       \
	{                                                                                          \
		name, letter, OPTION_##kind, AT(member), argument, choice                          \
	}

struct command {
	const char *name;
	const struct option *options;
	size_t options_size; /* size of the command's struct */
	unsigned positional_min, positional_max;
	enum status (*run)(void *options, const struct string_list *positional, struct error *err);
};

#define COMMAND_OPTIONS(type, table) .options = (table), .options_size = sizeof(type)

extern const char command_help_texts[]; /* help.txt */
/* Returns a section of help.txt. That of a command begins with its usage and a summary. The caller
 * frees it. */
char *command_help_section(const char *name);
extern const struct command *const commands[]; /* NULL-terminated */
/* Returns NULL if unknown. */
const struct command *command_find(const char *name);
/* Reports an unknown command and suggests the nearest name. */
enum status command_unknown(const char *name, struct error *err);

void string_list_add(struct string_list *list, const char *item);
void string_list_release(struct string_list *list);

/* Parses the words after the command's name. *help is set if --help was given; then nothing else
 * is checked. Errors are STATUS_BAD_INPUT; for an unknown option the nearest one is suggested. */
enum status option_parse(const struct command *command, int count, char **arguments, void *options,
	struct string_list *positional, bool *help, struct error *err);
/* Frees the lists in a command's struct. */
void option_release(const struct command *command, void *options);
void option_help(const struct command *command, struct text *text);

#endif
