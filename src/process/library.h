/* SPDX-License-Identifier: MIT
 *
 * Shared libraries that are loaded at run time, so that one binary starts with and without a GPU.
 */
#ifndef PROCESS_LIBRARY_H
#define PROCESS_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

struct library {
	void *handle; /* NULL: not loaded */
	char *path;
};

/* Loads a file or SONAME (RTLD_NOW | RTLD_LOCAL). The error is the loader's message. */
enum status library_open(struct library *library, const char *name, struct error *err);
/* Returns NULL if the library has no such symbol. */
void *library_symbol(const struct library *library, const char *symbol);
void library_close(struct library *library);

/* Fills a table of function pointers; every missing required symbol is named in one error. */
struct library_entry {
	const char *symbol;
	size_t offset;
	int required;
};
enum status library_bind(const struct library *library, const struct library_entry *entries,
	size_t count, void *table, struct error *err);

#endif
