/* SPDX-License-Identifier: MIT
 *
 * What the text of a CUDA source says of its kernels without a compiler: names, template
 * parameters, arguments with their types, what is done with pointers, and macros that the source
 * expects to be given. It is read as text, so what is unusual (arguments made by macros) is not
 * understood; whoever uses it checks what can be checked, and marks the rest.
 */
#ifndef IMPORT_KERNEL_SOURCE_H
#define IMPORT_KERNEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* An argument, a template parameter or a symbol. */
struct source_variable {
	char *type; /* without const, pointers and name: "unsigned int"; "typename" */
	char *name;
	bool is_pointer, is_const;
	bool is_written, is_read; /* of a pointer, by `name[...]` */
	bool is_unclear;          /* it is moved or given away */
	/* NULL: a type that is not ours. "fp32", "f32" as a scalar; lanes: 4 of float4 */
	const char *dtype, *scalar;
	unsigned lanes;
	bool is_integer;
};

struct source_kernel {
	char *name;
	struct source_variable *arguments, *templates;
	size_t argument_count, template_count;
};

/* A macro that the source reads and does not define, or defines unless it is given. */
struct source_macro {
	char *name;
	char *otherwise;   /* its value then; NULL: none */
	int64_t *compared; /* numbers that conditions compare it with, ascending */
	size_t compared_count;
};

struct kernel_source {
	struct source_kernel *kernels;
	size_t kernel_count;
	struct source_variable *symbols; /* __constant__ */
	size_t symbol_count;
	struct source_macro *macros;
	size_t macro_count;
	bool expects_kernel_tuner; /* reads the macro kernel_tuner */
};

/* The text with comments, strings and directives as blanks, as long as before. Caller frees. */
char *source_code_alone(const char *text);
void kernel_source_read(const char *text, struct kernel_source *source);
void kernel_source_release(struct kernel_source *source);
/* The macros that directives read (import/kernel_macros.c); text without comments. */
void kernel_source_read_macros(struct kernel_source *source, const char *clean);
/* A macro that a compiler missed; false: it is there already. */
bool kernel_source_add_macro(struct kernel_source *source, const char *name, size_t length);

#endif
