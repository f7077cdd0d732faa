/* SPDX-License-Identifier: MIT
 *
 * What the text of a CUDA source says of its kernels without a compiler: names, template
 * parameters, arguments with their types, and macros that the source expects to be given. Arguments
 * that macros make are not understood. Of `#if` the first branch counts; kernels and macros of the
 * others are added.
 */
#ifndef SOURCE_KERNEL_SOURCE_H
#define SOURCE_KERNEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* An argument, a template parameter or a symbol. */
struct source_variable {
	char *type; /* without const, pointers and name: "unsigned int"; "typename" */
	char *name;
	bool is_pointer, is_const;
	const char *dtype; /* "fp32", "u8"; NULL: a type that is not ours */
	unsigned lanes;    /* 4 of float4 */
};

/* One head of a function: where branches of #if have other ones, they follow, by the same name. */
struct source_kernel {
	char *name;
	struct source_variable *arguments, *templates;
	size_t argument_count, template_count;
	bool is_sized_at_launch; /* its body has extern __shared__ */
	bool is_tile;            /* __tile_global__ */
};

/* A macro that the source expects from outside, or defines under #ifndef. */
struct source_macro {
	char *name;
	char *default_value; /* NULL: none */
};

struct kernel_source {
	struct source_kernel *kernels;
	size_t kernel_count, kernel_capacity;
	struct source_variable *symbols; /* __constant__ */
	size_t symbol_count;
	struct source_macro *macros;
	size_t macro_count, macro_capacity;
	/* the same in the same order: a kernel's name and parameters as text; names */
	struct name_set heads, symbol_names, macro_names;
	struct name_set defined;   /* by the source or its headers */
	struct name_set fixed;     /* of these: integers that the source defines without #ifndef */
	bool expects_kernel_tuner; /* reads the macro kernel_tuner */
};

/* headers: text whose definitions the source sees, as after expansion; NULL: none. */
void kernel_source_read(const char *text, const char *headers, struct kernel_source *source);
void kernel_source_release(struct kernel_source *source);

/* The macros of the source, once its kernels are known (source/kernel_macros.c). */
struct code;
void kernel_source_read_macros(
	const struct code *code, const struct code *headers, struct kernel_source *source);

#endif
