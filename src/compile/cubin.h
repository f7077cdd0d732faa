/* SPDX-License-Identifier: MIT
 *
 * Reads kernels from a cubin, an ELF file for the GPU. Any bytes may be given: unreadable data is
 * an error or "not known".
 */
#ifndef COMPILE_CUBIN_H
#define COMPILE_CUBIN_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "candidate/resources.h"

enum {
	CUBIN_PARAMS_MAX = 64
};

/* A view of the caller's bytes. */
struct cubin {
	const unsigned char *data;
	size_t size, section_count;
	size_t sections_at;                 /* offset of the section headers */
	Elf64_Shdr names, symbols, strings; /* section names, .symtab, .strtab */
};

struct cubin_kernel {
	int32_t param_count; /* -1 if not known */
	uint32_t param_bytes[CUBIN_PARAMS_MAX];
};

enum status cubin_open(struct cubin *cubin, const void *data, size_t size, struct error *err);

/* Returns whether the bytes begin like a cubin for this compute capability (90 for 9.0). */
bool cubin_is_for(const void *data, size_t size, int compute_capability);

/* Returns a borrowed name, or NULL if there are fewer kernels. */
const char *cubin_kernel_name(const struct cubin *cubin, size_t index);

/* A variable in __device__ or __constant__ memory. The name is borrowed. */
struct cubin_variable {
	const char *name;
	uint64_t bytes;
	bool is_constant;
	bool is_zeroed; /* if false, the variable has initial values */
};
bool cubin_variable_at(const struct cubin *cubin, size_t index, struct cubin_variable *variable);
/* Appends "a::b" for _ZN1a1bE, and other names unchanged. */
void cubin_append_demangled(const char *name, struct text *text);

bool cubin_has_kernel(const struct cubin *cubin, const char *name);
/* Returns false if there is no kernel with this name. */
bool cubin_kernel_find(const struct cubin *cubin, const char *name, struct cubin_kernel *kernel);

/* Sets the registers, static shared memory, stack and threads per block that the cubin states. */
void cubin_resources(
	const struct cubin *cubin, const char *name, struct kernel_resources *resources);

/* Instructions of tensor cores and of asynchronous copies. */
enum {
	CUBIN_INSTRUCTIONS = 9
};
extern const char *const cubin_instruction_names[CUBIN_INSTRUCTIONS];
void cubin_instructions(
	const struct cubin *cubin, const char *name, uint32_t counts[CUBIN_INSTRUCTIONS]);

#endif
