/* SPDX-License-Identifier: MIT
 *
 * What a family may say about how its kernels are compiled: options from a safe list, under which
 * macro a value is seen, and which kernel of the source is meant.
 */
#ifndef FAMILY_COMPILE_OPTION_H
#define FAMILY_COMPILE_OPTION_H

#include "family/expression_json.h"

/* Options of NVRTC that neither read nor write a file nor change the architecture. */
extern const struct record_rule compile_option_rule;
/* Whether it chooses the dialect of C++. */
bool compile_option_is_standard(const char *option);

/* "as": how a value comes to the kernel. */
enum define_as {
	AS_DEFAULT,  /* nothing is said */
	AS_CONSTANT, /* -DNAME=8, -DNAME_word=1 */
	AS_ARGUMENT,
	AS_MACRO, /* "macro BLOCK_SIZE_X": -DBLOCK_SIZE_X=8, words as they are */
	AS_MODEL, /* no part of the kernel */
};
struct define_way {
	enum define_as as;
	const char *macro; /* borrowed from the JSON tree; of AS_MACRO */
};
/* Members of type struct define_way: of keys and parameters, of constants. */
extern const struct record_custom define_way_member, define_constant_member;

/* ---- entries ---- */
/* The name of a kernel: "gemm_mma", or a C++ name expression in which {expression} stands for a
 * value: "sgemm<{BM}, {BN}>", "layernorm_v{VERSION}". */
struct entry {
	const char *text; /* as written; borrowed from the JSON tree */
	struct expression_list values;
};
extern const struct record_custom entry_member;

/* values: by name. The caller frees *name. */
enum status entry_evaluate(
	const struct entry *entry, const struct value *values, char **name, struct error *err);

#endif
