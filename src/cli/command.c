/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

void string_list_add(struct string_list *list, const char *item)
{
	if (list->count + 1 >= list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 8;
		list->items = memory_resize(list->items, list->capacity, sizeof(*list->items));
	}
	list->items[list->count++] = item;
	list->items[list->count] = NULL;
}

void string_list_release(struct string_list *list)
{
	free(list->items);
	*list = (struct string_list){0};
}

static void *place(const struct option *option, void *options)
{
	return (char *)options + option->offset;
}

static enum status unknown_option(
	const struct command *command, const char *name, struct error *err)
{
	CLEANUP(string_list_release) struct string_list names = {0};
	const char *nearest;

	for (const struct option *option = command->options; option->name; option++)
		string_list_add(&names, option->name);
	string_list_add(&names, "help");
	nearest = name_nearest(name, names.items);
	error_set(err, STATUS_BAD_INPUT, "%s: unknown option --%s", command->name, name);
	if (nearest)
		return error_hint(err, "did you mean --%s?", nearest);
	return error_hint(err, "`tiletune help %s` lists the options", command->name);
}

static void choice_names(const struct option *option, struct string_list *names)
{
	const char *summary, *name;

	while ((name = option->choice(names->count, &summary)) != NULL)
		string_list_add(names, name);
}

static void option_choices(const struct option *option, const char *separator, struct text *text)
{
	CLEANUP(string_list_release) struct string_list names = {0};

	choice_names(option, &names);
	for (size_t i = 0; i < names.count; i++)
		text_appendf(text, "%s%s", i ? separator : "", names.items[i]);
}

static enum status check_choice(const struct option *option, const char *value, struct error *err)
{
	CLEANUP(string_list_release) struct string_list names = {0};
	CLEANUP(text_release) struct text list = {0};
	const char *nearest;

	choice_names(option, &names);
	if (name_find(value, names.items) >= 0)
		return STATUS_OK;
	for (size_t i = 0; i < names.count;
		i++) { /* "program:CMD" is a placeholder for any command */
		const char *colon = strchr(names.items[i], ':');

		if (colon &&
			strncmp(value, names.items[i], (size_t)(colon + 1 - names.items[i])) == 0)
			return STATUS_OK;
	}
	option_choices(option, "|", &list);
	error_set(err, STATUS_BAD_INPUT, "expected one of %s, found \"%s\"", list.data, value);
	nearest = name_nearest(value, names.items);
	return nearest ? error_hint(err, "did you mean %s?", nearest) : STATUS_BAD_INPUT;
}

static enum status store_count(const char *value, unsigned *count, struct error *err)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (errno || end == value || *end || value[0] == '-' || number > UINT_MAX)
		return error_set(
			err, STATUS_BAD_INPUT, "expected a whole number, found \"%s\"", value);
	if (!number)
		return error_set(err, STATUS_BAD_INPUT, "expected a number of at least 1, found 0");
	*count = (unsigned)number;
	return STATUS_OK;
}

static enum status store_duration(
	const struct option *option, const char *value, double *seconds, struct error *err)
{
	TRY(text_parse_duration(value, seconds, err));
	return option->type == OPTION_DURATION || *seconds > 0
		       ? STATUS_OK
		       : error_set(err, STATUS_BAD_INPUT, "expected a time above 0, found \"%s\"",
				 value);
}

static enum status store(
	const struct option *option, const char *value, void *options, struct error *err)
{
	enum status status = STATUS_OK;

	if (option->choice && (option->type == OPTION_STRING || option->type == OPTION_MAYBE))
		status = check_choice(option, value, err);
	if (option->type == OPTION_STRING || option->type == OPTION_WORD ||
		option->type == OPTION_MAYBE)
		*(const char **)place(option, options) = value;
	else if (option->type == OPTION_STRINGS || option->type == OPTION_PLACES)
		string_list_add(place(option, options), value);
	else if (option->type == OPTION_COUNT)
		status = store_count(value, place(option, options), err);
	else if (option->type == OPTION_DURATION || option->type == OPTION_BUDGET)
		status = store_duration(option, value, place(option, options), err);
	if (option->type == OPTION_PLACES && access(value, F_OK) != 0)
		status = error_set(
			err, STATUS_BAD_INPUT, "%s: there is no such folder or file", value);
	return status == STATUS_OK ? status : error_context(err, "--%s", option->name);
}

static const struct option *find_long(
	const struct command *command, const char *name, size_t length)
{
	for (const struct option *option = command->options; option->name; option++)
		if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
			return option;
	return NULL;
}

struct cursor {
	const struct command *command;
	void *options; /* the command's struct */
	int at, count;
	char **arguments;
};

/* Takes an option's value: `attached`, the rest of its own word, or the next word if `attached`
 * is NULL. */
static enum status take(struct cursor *cursor, const struct option *option, const char *attached,
	bool negated, struct error *err)
{
	if (option->type == OPTION_FLAG) {
		if (attached)
			return error_set(err, STATUS_BAD_INPUT,
				"--%s takes no value, but \"%s\" was given", option->name,
				attached);
		*(bool *)place(option, cursor->options) = !negated;
		return STATUS_OK;
	}
	if (option->type == OPTION_MAYBE && !attached) {
		const char *next =
			cursor->at + 1 < cursor->count ? cursor->arguments[cursor->at + 1] : "";
		struct error ignored;

		if (check_choice(option, next, &ignored) != STATUS_OK)
			return store(option, option->choice(0, &attached), cursor->options, err);
	}
	if (!attached && cursor->at + 1 >= cursor->count)
		return error_set(err, STATUS_BAD_INPUT, "--%s: the value %s is missing",
			option->name, option->argument);
	return store(option, attached ? attached : cursor->arguments[++cursor->at], cursor->options,
		err);
}

static enum status parse_long(struct cursor *cursor, struct error *err)
{
	const struct command *command = cursor->command;
	const char *name = cursor->arguments[cursor->at] + 2;
	const size_t length = strcspn(name, "=");
	const struct option *option = find_long(command, name, length);
	const bool negated = !option && string_starts_with(name, "no-");

	if (negated) {
		option = find_long(command, name + 3, length - 3);
		option = option && option->type == OPTION_FLAG ? option : NULL;
	}
	if (!option) {
		CLEANUP(memory_free) char *plain = string_copy_bytes(name, length);

		return unknown_option(command, plain, err);
	}
	return take(cursor, option, name[length] ? name + length + 1 : NULL, negated, err);
}

static enum status parse_letter(struct cursor *cursor, struct error *err)
{
	const struct command *command = cursor->command;
	const char *word = cursor->arguments[cursor->at];
	const struct option *option = command->options;

	while (option->name && option->letter != word[1])
		option++;
	if (!option->name) {
		error_set(err, STATUS_BAD_INPUT, "%s: unknown option -%c", command->name, word[1]);
		return error_hint(err, "`tiletune help %s` lists the options", command->name);
	}
	if (option->type == OPTION_FLAG && word[2])
		return error_set(err, STATUS_BAD_INPUT,
			"%s: -%c takes no value, and options cannot be joined as in \"%s\"",
			command->name, word[1], word);
	return take(cursor, option, word[2] ? word + 2 : NULL, false, err);
}

static enum status check_positional(
	const struct command *command, const struct string_list *positional, struct error *err)
{
	CLEANUP(memory_free) char *section = command_help_section(command->name);
	const int usage = (int)strcspn(section, "\n");

	if (positional->count >= command->positional_min &&
		positional->count <= command->positional_max)
		return STATUS_OK;
	if (positional->count < command->positional_min) {
		const char *word = section + strlen("usage: tiletune  ") + strlen(command->name);

		for (size_t i = 0; i < positional->count; i++)
			word += strcspn(word, " ") + 1;
		error_set(err, STATUS_BAD_INPUT, "%s: %.*s is missing", command->name,
			(int)strcspn(word, " \n"), word);
		return error_hint(err, "%.*s", usage, section);
	}
	error_set(err, STATUS_BAD_INPUT, "%s: unexpected argument \"%s\"", command->name,
		positional->items[command->positional_max]);
	for (size_t i = 0; i < positional->count; i++)
		if (strchr(positional->items[i], '='))
			return error_hint(err, "write a problem as one word without spaces: -p "
					       "M=4096,N=4096,K=4096,dtype=bf16");
	return error_hint(err, "%.*s", usage, section);
}

enum status option_parse(const struct command *command, int count, char **arguments, void *options,
	struct string_list *positional, bool *help, struct error *err)
{
	struct cursor cursor = {
		.command = command, .options = options, .count = count, .arguments = arguments};
	bool only_positional = false;

	*help = false;
	for (; cursor.at < count; cursor.at++) {
		const char *word = arguments[cursor.at];

		if (only_positional || word[0] != '-' || !word[1]) {
			string_list_add(positional, word);
			continue;
		}
		*help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
		if (*help)
			return STATUS_OK;
		only_positional = strcmp(word, "--") == 0;
		if (!only_positional)
			TRY((word[1] == '-' ? parse_long : parse_letter)(&cursor, err));
	}
	return check_positional(command, positional, err);
}

void option_release(const struct command *command, void *options)
{
	for (const struct option *option = command->options; option->name; option++)
		if (option->type == OPTION_STRINGS || option->type == OPTION_PLACES)
			string_list_release(place(option, options));
}

/* Appends the choices to an option's help: "(one|two)", or one per line if they have
 * explanations. */
static void help_choices(const struct option *option, struct text *text)
{
	const char *name, *summary = NULL;

	option->choice(0, &summary);
	if (!summary) {
		text_append(text, " (");
		option_choices(option, "|", text);
		text_append_char(text, ')');
		return;
	}
	for (size_t i = 0; (name = option->choice(i, &summary)) != NULL; i++)
		text_appendf(text, "\n        %-22s  %s", name, summary);
}

static size_t length_before(const char *text, const char *mark)
{
	const char *found = strstr(text, mark);

	return found ? (size_t)(found - text) : strlen(text);
}

char *command_help_section(const char *name)
{
	CLEANUP(memory_free) char *heading = string_format("\n# %s\n", name);
	const char *from = strstr(command_help_texts, heading) + strlen(heading);

	return string_copy_bytes(from, length_before(from, "\n# "));
}

/* Finds the text of an option in the command's section, else among those of several commands. */
static char *option_text(const char *section, const char *name)
{
	CLEANUP(memory_free) char *key = string_format("\n  --%s: ", name);
	const char *found = strstr(section, key);

	if (!found)
		found = strstr(strstr(command_help_texts, "\n# options\n"), key);
	if (!found)
		BUG("help.txt has no text for --%s", name);
	found += strlen(key);
	return string_copy_bytes(found, strcspn(found, "\n"));
}

void option_help(const struct command *command, struct text *text)
{
	CLEANUP(memory_free) char *section = command_help_section(command->name);
	const char *examples = strstr(section, "\nexamples:\n");
	const size_t description = length_before(section, "\noptions:\n");

	text_append_bytes(text, section, description);
	text_append(text, "\noptions:\n");
	for (const struct option *option = command->options; option->name; option++) {
		CLEANUP(text_release) struct text left = {0};
		CLEANUP(memory_free) char *help = option_text(section, option->name);

		if (option->letter)
			text_appendf(&left, "  -%c, --%s", option->letter, option->name);
		else
			text_appendf(&left, "      --%s", option->name);
		if (option->argument)
			text_appendf(&left, " %s", option->argument);
		text_appendf(
			text, left.length > 30 ? "%s\n%32s%s" : "%-32s%.0s%s", left.data, "", help);
		if (option->choice)
			help_choices(option, text);
		text_append_char(text, '\n');
	}
	text_append(text, "  -h, --help                    this text\n");
	text_append(text, examples ? examples : "");
}

/* ---- the table of commands. To add a command, write a file that ends in a `const struct
 * command` and add a line here, in the order of `tiletune help` ---- */
/* clang-format off */
#define COMMANDS(row) \
	row(tune) \
	row(explain) \
	row(advise) \
	row(check) \
	row(judge) \
	row(lookup) \
	row(new) \
	row(export) \
	row(merge) \
	row(report) \
	row(devices) \
	row(families) \
	row(validate) \
	row(help)
/* clang-format on */
#define DECLARE(name) extern const struct command command_##name;
#define ADDRESS(name) &command_##name,
COMMANDS(DECLARE)
const struct command *const commands[] = {COMMANDS(ADDRESS) NULL};

const struct command *command_find(const char *name)
{
	const struct command *const *command = commands;

	while (*command && strcmp((*command)->name, name) != 0)
		command++;
	return *command;
}

enum status command_unknown(const char *name, struct error *err)
{
	CLEANUP(string_list_release) struct string_list names = {0};
	const char *nearest;

	for (const struct command *const *command = commands; *command; command++)
		string_list_add(&names, (*command)->name);
	nearest = name_nearest(name, names.items);
	error_set(err, STATUS_BAD_INPUT, "unknown command \"%s\"", name);
	if (nearest)
		return error_hint(err, "did you mean `tiletune %s`?", nearest);
	return error_hint(err, "`tiletune help` lists the commands");
}
