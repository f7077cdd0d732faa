/* SPDX-License-Identifier: MIT
 *
 * The table of commands. A new command is one file that ends in a `const struct command`, and one
 * line here.
 */
#include <string.h>

#include "base/memory.h"
#include "cli/option.h"

extern const struct command command_tune, command_explain, command_advise, command_devices,
	command_families, command_validate, command_help, command_worker_compile,
	command_worker_measure;
extern const struct command command_check, command_lookup, command_export, command_merge,
	command_cache;
extern const struct command command_report;

const struct command *const commands[] = {
	&command_tune,
	&command_explain,
	&command_advise,
	&command_check,
	&command_lookup,
	&command_export,
	&command_merge,
	&command_cache,
	&command_report,
	&command_devices,
	&command_families,
	&command_validate,
	&command_help,
	&command_worker_compile,
	&command_worker_measure,
	NULL,
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (strcmp((*command)->name, name) == 0)
			return *command;
	return NULL;
}

enum status command_unknown(const char *name, struct error *err)
{
	const char *names[64];
	size_t count = 0;
	const char *nearest;

	for (const struct command *const *command = commands; *command && count < 63; command++)
		if (!(*command)->hidden)
			names[count++] = (*command)->name;
	names[count] = NULL;
	nearest = name_nearest(name, names);
	error_set(err, STATUS_BAD_INPUT, "expected a command, found \"%s\"", name);
	if (nearest)
		return error_hint(err, "did you mean `tiletune %s`?", nearest);
	return error_hint(err, "`tiletune help` lists the commands");
}
