/* SPDX-License-Identifier: MIT
 *
 * Finds kernels, their parameters, and macros in a CUDA source, without a compiler. Those of the
 * first branch of each `#if` come first.
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
	char *value;       /* "4" of "int N = 4"; or NULL */
	const char *dtype; /* "fp32"; NULL: not supported */
	unsigned lanes;    /* 4 for float4 */
	/* of a flattened kernel: the index of the launch's argument, and its member ".n" or NULL */
	size_t parameter;
	char *member;
};

/* Several declarations, from branches of #if, may have a name. */
struct source_kernel {
	char *name;
	char *scope; /* "flashinfer::norm::", or "" */
	struct source_variable *arguments, *templates;
	size_t argument_count, template_count;
	bool is_sized_at_launch; /* has extern __shared__ */
	bool is_tile;
	unsigned grid_count, block_count; /* dimensions that the body reads */
	bool syncs_grid;                  /* its blocks wait for each other */
	long threads_max;                 /* a number in __launch_bounds__; 0: none */
	char *body;                       /* with its braces */
	bool is_flattened;                /* by source_kernel_flatten() */
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
	struct name_set heads, macro_names; /* kernels with their parameters; names of macros */
	struct name_set asked;              /* in "defined" and #ifdef */
	struct name_set defined;            /* defined by the source or its headers */
	bool expects_kernel_tuner;
};

/* headers is the expanded source, whose definitions count too; may be NULL. */
void kernel_source_read(const char *text, const char *headers, struct kernel_source *source);
void kernel_source_release(struct kernel_source *source);

/* Reads a type, "float4". */
struct source_variable source_type_read(const char *text, const char *end);
/* Reads a declaration, "const float *x", whose type the text may define. */
struct source_variable source_variable_read(const char *text, const char *begin, const char *end);
void source_variable_release(struct source_variable *variable);
/* The bytes of a value of the type; 0: not known. */
size_t source_type_bytes(const struct source_variable *type);

/* Replaces arguments that are structures by their members, p.n by p_n. Returns the source of a
 * kernel NAME_members with these arguments, which the caller frees, or NULL. text is the expanded
 * source without comments, file the name of the kernel's file. */
#define SOURCE_MEMBERS "_members"
char *source_kernel_flatten(const char *text, const char *file, struct source_kernel *kernel);

/* Adds the words of the kernel's code and of the functions, types and macros that it uses, to any
 * depth (source/reach.c). text is the expanded source. */
void source_words_of_kernel(const char *text, const char *kernel, struct name_set *words);

/* source/kernel_macros.c; the kernels are known */
struct code;
void kernel_source_read_macros(
	const struct code *code, const struct code *headers, struct kernel_source *source);

#endif
