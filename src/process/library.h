/* SPDX-License-Identifier: MIT
 *
 * Libraries loaded at run time: one binary starts with and without a GPU.
 */
#ifndef PROCESS_LIBRARY_H
#define PROCESS_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

struct library {
	void *handle; /* NULL if not loaded */
	char *path;
};

/* name is a file or SONAME. The error is the loader's message. */
enum status library_open(struct library *library, const char *name, struct error *err);
void *library_symbol(const struct library *library, const char *symbol); /* NULL if missing */
void library_close(struct library *library);

/* The error of library_bind() names all missing symbols. */
struct library_entry {
	const char *symbol;
	size_t offset;
	int required;
};
enum status library_bind(const struct library *library, const struct library_entry *entries,
	size_t count, void *table, struct error *err);

#endif
