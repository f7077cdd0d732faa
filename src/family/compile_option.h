/* SPDX-License-Identifier: MIT
 *
 * How a family's kernels are compiled: options from a safe list, the macros that receive values,
 * and the name of the kernel in its source.
 */
#ifndef FAMILY_COMPILE_OPTION_H
#define FAMILY_COMPILE_OPTION_H

#include "family/expression_json.h"

/* Accepts NVRTC options that write no files and do not change the architecture. */
extern const struct record_rule compile_option_rule;
#define COMPILE_OPTION_CONTROLS "--ptxas-options=--apply-controls="
/* Returns the file of compiler controls that the option names, relative to the family's JSON, or
 * NULL. */
const char *compile_option_controls(const char *option);
bool compile_option_is_standard(const char *option);

/* How the kernel receives the value of a name ("as" in JSON). */
enum define_as {
	AS_DEFAULT,  /* not specified */
	AS_CONSTANT, /* -DNAME=8, -DNAME_word=1 */
	AS_ARGUMENT,
	AS_MACRO,  /* "macro BLOCK_SIZE_X": -DBLOCK_SIZE_X=8; strings are passed unchanged */
	AS_OPTION, /* "option --maxrregcount": the compiler option --maxrregcount=64 */
	AS_MODEL,  /* not passed to the kernel */
};
struct define_binding {
	enum define_as as;
	const char *macro;  /* for AS_MACRO; borrowed from the JSON tree */
	const char *option; /* for AS_OPTION, without "=VALUE"; also borrowed */
};
/* Sets *option to the option of a parameter with AS_OPTION, which the caller frees, or to NULL if
 * the value is the empty string. Returns STATUS_BAD_INPUT if the option does not take the value. */
enum status compile_option_of(const char *name, const struct define_binding *binding,
	struct value value, char **option, struct error *err);
/* Members of type struct define_binding: the first is for keys and parameters, the second for
 * constants. */
extern const struct record_custom define_binding_member, define_constant_member;

/* ---- entries ---- */
/* A kernel's name, or a C++ name expression with {expression}: "sgemm<{BM}, {BN}>". */
struct entry {
	const char *text; /* the JSON text, borrowed from its tree */
	struct expression_list values;
};
extern const struct record_custom entry_member;

/* values has one value per name. The caller frees *name. */
enum status entry_evaluate(
	const struct entry *entry, const struct value *values, char **name, struct error *err);

#endif
