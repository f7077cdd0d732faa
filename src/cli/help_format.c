/* SPDX-License-Identifier: MIT */
#include "cli/help_format.h"

#include <stdlib.h>
#include <string.h>

const struct help_pair help_exit_codes[] = {
	{"0", "ok"},
	{"1", "failed"},
	{"2", "usage or bad input"},
	{"3", "regression found"},
	{"4", "inconclusive"},
	{"5", "no device or no compiler"},
	{"130", "interrupted (the journal is intact)"},
	{NULL, NULL},
};

const struct help_pair help_variables[] = {
	{"TILETUNE_PATH", "folders that hold templates/ and configs/, apart by colons; they come "
			  "after --path and before those beside the program"},
	{"TILETUNE_NVRTC", "the NVRTC library to use where --nvrtc names none"},
	{"TILETUNE_LOCK_FOLDER", "where the locks of GPUs are"},
	{"TILETUNE_KERNEL_TIMEOUT",
		"seconds after which a kernel hangs; default 10, a sanitizer needs more"},
	{"CUDA_HOME, CUDA_PATH, VIRTUAL_ENV, CONDA_PREFIX, LD_LIBRARY_PATH",
		"places where NVRTC is looked for, too"},
	{"XDG_CACHE_HOME", "its folder tiletune is the cache; else ~/.cache/tiletune"},
	{NULL, NULL},
};

enum help_value help_value_of(const struct option *option)
{
	if (option->choices)
		return HELP_WORDS;
	if (!option->argument)
		return HELP_FREE;
	if (strcmp(option->argument, "FILE") == 0)
		return HELP_FILE;
	if (strcmp(option->argument, "DIR") == 0)
		return HELP_FOLDER;
	if (strcmp(option->argument, "OPERATION") == 0)
		return HELP_OPERATION;
	return HELP_FREE;
}

void help_choices(const char *choices, struct text *words)
{
	for (; *choices; choices++)
		text_append_char(words, *choices == '|' ? ' ' : *choices);
}

static void add_commands(struct text *words)
{
	for (const struct command *const *command = commands; *command; command++)
		if (!(*command)->hidden)
			text_appendf(words, "%s%s", words->length ? " " : "", (*command)->name);
}

enum help_value help_arguments_of(const struct command *command, struct text *words)
{
	const char *first = command->arguments;
	size_t length;

	first += *first == '[';
	length = strcspn(first, " ]");
	if (length == strlen("COMMAND") && strncmp(first, "COMMAND", length) == 0) {
		add_commands(words);
		return HELP_WORDS;
	}
	/* "[list|check|trim]" */
	if (memchr(first, '|', length) && strspn(first, "abcdefghijklmnopqrstuvwxyz|") == length) {
		char *list = string_copy_bytes(first, length);

		help_choices(list, words);
		free(list);
		return HELP_WORDS;
	}
	if (strncmp(first, "OPERATION", strlen("OPERATION")) == 0)
		return HELP_OPERATION;
	return strstr(first, " OPERATION") || strstr(first, "[OPERATION") ? HELP_FILE_OPERATION
									  : HELP_FILE;
}
