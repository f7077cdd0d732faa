/* SPDX-License-Identifier: MIT
 *
 * Names of the pipes (spec/pipe.def).
 */
#include <string.h>

#include "spec/device_spec.h"

static const char *const names[PIPE_COUNT] = {
#define PIPE(id, name, unit, summary) [PIPE_##id] = name,
#include "spec/pipe.def"
#undef PIPE
};

const char *pipe_name(enum pipe pipe)
{
	if ((unsigned)pipe >= PIPE_COUNT)
		BUG("pipe %d", (int)pipe);
	return names[pipe];
}

int pipe_find(const char *name)
{
	for (int i = 0; i < PIPE_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}
