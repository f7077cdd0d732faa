/* SPDX-License-Identifier: MIT
 *
 * Finds kernels, their parameters, and macros in a CUDA source, without a compiler. Results from
 * first branches of `#if` come first.
 */
#ifndef SOURCE_KERNEL_SOURCE_H
#define SOURCE_KERNEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* An argument, a template parameter or a symbol. */
struct source_variable {
	char *type; /* "unsigned int" or "typename", without const and pointers */
	char *name;
	bool is_pointer, is_const, is_restrict, is_enum;
	char *value;       /* "4" in "int N = 4"; may be NULL */
	const char *dtype; /* "fp32"; NULL if the type is not supported */
	unsigned lanes;    /* 4 for float4 */
	/* in a flattened kernel: index of the launch's argument, and its member ".n" or NULL */
	size_t parameter;
	char *member;
};

/* Several kernels may share a name if branches of #if declare them. */
struct source_kernel {
	char *name;
	char *scope; /* "flashinfer::norm::", or "" */
	struct source_variable *arguments, *templates;
	size_t argument_count, template_count;
	bool is_sized_at_launch; /* has extern __shared__ */
	bool is_tile;
	unsigned grid_count, block_count; /* dimensions that the body reads */
	bool syncs_grid;                  /* the blocks of the grid wait for each other */
	long threads_max;                 /* the number in __launch_bounds__, or 0 */
	char *body;                       /* including its braces */
	bool is_flattened;                /* set by source_kernel_flatten() */
};

/* A macro that the source expects or defines, or an integer constant. */
struct source_macro {
	char *name;
	char *default_value; /* or NULL */
	bool is_fixed;       /* an integer that the source defines without #ifndef */
	bool is_extent;      /* an extent of a tile: an argument of shape<> */
	bool is_last_extent; /* the extent along rows */
	bool is_condition;   /* an #if reads its value */
};

struct kernel_source {
	struct source_kernel *kernels;
	size_t kernel_count, kernel_capacity;
	struct source_variable *symbols;
	size_t symbol_count;
	struct source_macro *macros;
	size_t macro_count, macro_capacity;
	struct name_set heads, macro_names; /* declarations of kernels; names of macros */
	struct name_set asked;              /* names that "defined" and #ifdef test */
	struct name_set defined;            /* defined by the source or its headers */
	bool expects_kernel_tuner;
};

/* `headers` (may be NULL) is the expanded source, whose definitions count, too. */
void kernel_source_read(const char *text, const char *headers, struct kernel_source *source);
void kernel_source_release(struct kernel_source *source);

/* Reads a type such as "float4". */
struct source_variable source_type_read(const char *text, const char *end);
/* Reads a declaration such as "const float *x", whose type `text` may define. */
struct source_variable source_variable_read(const char *text, const char *begin, const char *end);
void source_variable_release(struct source_variable *variable);
/* Returns the size of a value in bytes, or 0 if unknown. */
size_t source_type_bytes(const struct source_variable *type);

/* Replaces arguments that are structures by their members: p.n becomes p_n. Returns the source of a
 * kernel NAME_members with these arguments, which the caller frees, or NULL. `text` is the expanded
 * source without comments, `file` the name of the kernel's file. */
#define SOURCE_MEMBERS "_members"
char *source_kernel_flatten(const char *text, const char *file, struct source_kernel *kernel);

/* Adds the words of the kernel and of all functions, types and macros that it uses, to any depth
 * (source/reach.c). `text` is the expanded source. */
void source_words_of_kernel(const char *text, const char *kernel, struct name_set *words);

/* Requires that the kernels have been read (source/kernel_macros.c). */
struct code;
void kernel_source_read_macros(
	const struct code *code, const struct code *headers, struct kernel_source *source);

#endif
