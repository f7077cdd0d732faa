/* SPDX-License-Identifier: MIT
 *
 * Extracts from a CUDA source, without a compiler: names of kernels, template parameters, typed
 * arguments, and macros that the source expects. Arguments that macros generate are not
 * recognised. The first branch of each `#if` counts; kernels and macros of other branches are
 * added.
 */
#ifndef SOURCE_KERNEL_SOURCE_H
#define SOURCE_KERNEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* An argument, a template parameter or a symbol. */
struct source_variable {
	char *type; /* without const, pointers and name, e.g. "unsigned int" or "typename" */
	char *name;
	bool is_pointer, is_const, is_restrict, is_enum;
	char *value;       /* initializer, "4" of "int N = 4"; NULL if there is none */
	const char *dtype; /* e.g. "fp32" or "u8"; NULL if the type is not supported */
	unsigned lanes;    /* e.g. 4 for float4 */
	/* of a kernel whose structures are flattened: the index of the argument of the launch, and
	 * ".n" if this is the member n of it, else NULL */
	size_t parameter;
	char *member;
};

/* A declaration of a kernel. Further declarations of the same name, from other branches of #if,
 * follow it. */
struct source_kernel {
	char *name;
	char *scope; /* its namespaces, "flashinfer::norm::"; "" for none */
	struct source_variable *arguments, *templates;
	size_t argument_count, template_count;
	bool is_sized_at_launch; /* its body contains extern __shared__ */
	bool is_tile;
	unsigned grid_count, block_count; /* dimensions that the body reads; 0: none */
	bool syncs_grid;                  /* its blocks wait for each other: grid.sync() */
	long threads_max;                 /* a number in __launch_bounds__; 0: none */
	char *body;                       /* with its braces */
	bool is_flattened;                /* by source_kernel_flatten() */
};

/* A macro that the source expects from outside or defines, or an integer constant. */
struct source_macro {
	char *name;
	char *default_value; /* NULL if it has none */
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
	struct name_set asked;              /* conditions only ask whether they are defined */
	struct name_set defined;            /* defined by the source or its headers */
	bool expects_kernel_tuner;          /* reads the macro kernel_tuner */
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

/* Replaces arguments of the kernel that are structures by their members, p.n by p_n, and returns
 * the source of a kernel NAME_members with these arguments; NULL if none can be replaced. text is
 * the expanded source without comments, file the name of the kernel's file. The caller frees it. */
#define SOURCE_MEMBERS "_members"
char *source_kernel_flatten(const char *text, const char *file, struct source_kernel *kernel);

/* Adds the words that the kernel's code consists of, with those of the functions, types and macros
 * that it uses, to any depth (source/reach.c). text is the expanded source. */
void source_words_of_kernel(const char *text, const char *kernel, struct name_set *words);

/* Finds the macros of a source whose kernels are known (source/kernel_macros.c). */
struct code;
void kernel_source_read_macros(
	const struct code *code, const struct code *headers, struct kernel_source *source);

#endif
