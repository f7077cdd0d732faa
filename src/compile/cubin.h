/* SPDX-License-Identifier: MIT
 *
 * Reads what a cubin (an ELF file for the GPU) says of its kernels: their names and parameters.
 * Pure; any bytes may be given: every offset is checked, and what cannot be read is an error or not
 * known, never a fault. Registers, memory and spills are in the compiler's report (ptxas_report.h).
 */
#ifndef COMPILE_CUBIN_H
#define COMPILE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "candidate/resources.h"

enum {
	CUBIN_PARAMS_MAX = 64 /* of a kernel; of one with more it is not known how many */
};

/* A view of the caller's bytes, which must outlive it. */
struct cubin {
	const unsigned char *data;
	size_t size;
	size_t section_count;
	size_t sections_at;              /* offset of the section headers */
	size_t names_at, names_size;     /* section names */
	size_t symbols_at, symbol_count; /* .symtab */
	size_t strings_at, strings_size; /* .strtab */
};

struct cubin_kernel {
	int32_t param_count; /* -1: the cubin does not say */
	uint32_t param_bytes[CUBIN_PARAMS_MAX];
};

enum status cubin_open(struct cubin *cubin, const void *data, size_t size, struct error *err);

/* Whether the bytes begin as a cubin for this architecture does (90 for 9.0). */
bool cubin_is_for(const void *data, size_t size, int compute_capability);

/* The index-th kernel's name, borrowed; NULL beyond the last one. */
const char *cubin_kernel_name(const struct cubin *cubin, size_t index);

/* A variable in __device__ memory, which kernels may write; the name is borrowed. */
struct cubin_variable {
	const char *name;
	bool is_zeroed; /* the driver clears it when it loads the cubin; else it has initial values
			 */
};
/* False beyond the last one. Variables without a name are left out. */
bool cubin_variable_at(const struct cubin *cubin, size_t index, struct cubin_variable *variable);

bool cubin_has_kernel(const struct cubin *cubin, const char *name);
/* False if there is no kernel of this name. */
bool cubin_kernel_find(const struct cubin *cubin, const char *name, struct cubin_kernel *kernel);

/* Registers, static shared memory, stack and threads of a block, for a kernel without a report of
 * ptxas; members that the cubin does not tell stay as they are. */
void cubin_resources(
	const struct cubin *cubin, const char *name, struct kernel_resources *resources);

#endif
