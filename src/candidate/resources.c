/* SPDX-License-Identifier: MIT
 *
 * Names of the flags (candidate/flag.def).
 */
#include "candidate/resources.h"

#include <string.h>

#include "base/error.h"

static const char *const names[FLAG_COUNT] = {
#define FLAG(id, name, summary) [FLAG_BIT_##id] = name,
#include "candidate/flag.def"
#undef FLAG
};

const char *kernel_flag_name(enum kernel_flag flag)
{
	if ((unsigned)flag >= FLAG_COUNT)
		BUG("flag %d", (int)flag);
	return names[flag];
}

int kernel_flag_find(const char *name)
{
	for (int i = 0; i < FLAG_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}
