/* SPDX-License-Identifier: MIT */
#include "process/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum status library_open(struct library *library, const char *name, struct error *err)
{
	struct link_map *map = NULL;

	*library = (struct library){0};
	library->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return error_set(err, STATUS_NO_DEVICE, "%s", dlerror());
	if (dlinfo(library->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0])
		library->path = string_copy(map->l_name);
	else
		library->path = string_copy(name);
	return STATUS_OK;
}

void *library_symbol(const struct library *library, const char *symbol)
{
	return library->handle ? dlsym(library->handle, symbol) : NULL;
}

void library_close(struct library *library)
{
	if (library->handle)
		dlclose(library->handle);
	free(library->path);
	*library = (struct library){0};
}

enum status library_bind(const struct library *library, const struct library_entry *entries,
	size_t count, void *table, struct error *err)
{
	CLEANUP(text_release) struct text missing = {0};

	for (size_t i = 0; i < count; i++) {
		void *address = library_symbol(library, entries[i].symbol);

		memcpy((char *)table + entries[i].offset, &address, sizeof(address));
		if (!address && entries[i].required)
			text_append_listed(&missing, entries[i].symbol);
	}
	return missing.length ? error_set(err, STATUS_NO_DEVICE,
					"%s: the library lacks these functions: %s", library->path,
					missing.data)
			      : STATUS_OK;
}
