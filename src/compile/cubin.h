/* SPDX-License-Identifier: MIT
 *
 * Reads what a cubin (an ELF file for the GPU) says of its kernels: registers, stack, barriers,
 * static shared memory. Pure; any bytes may be given: every offset is checked, and what cannot be
 * read is an error or unknown, never a fault.
 *
 * Spills are not recorded in a cubin; ptxas_report.h reads them from the compiler's log.
 */
#ifndef COMPILE_CUBIN_H
#define COMPILE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

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

/* Figures of one kernel; -1: the cubin does not say. */
struct cubin_kernel {
	int32_t regs_per_thread;
	int32_t stack_bytes;
	int32_t barriers;
	int32_t smem_static_bytes; /* without what the system reserves per block */
	int32_t param_count;
	uint32_t param_bytes[CUBIN_PARAMS_MAX];
};

enum status cubin_open(struct cubin *cubin, const void *data, size_t size, struct error *err);

/* Whether the bytes begin as a cubin for this architecture does (90 for 9.0). */
bool cubin_is_for(const void *data, size_t size, int compute_capability);

/* The index-th kernel's name, borrowed; NULL beyond the last one. */
const char *cubin_kernel_name(const struct cubin *cubin, size_t index);

/* False if there is no kernel of this name. */
bool cubin_kernel_find(const struct cubin *cubin, const char *name, struct cubin_kernel *kernel);

/* The bytes of a variable in __constant__ or __device__ memory; false if there is none. */
bool cubin_variable_find(const struct cubin *cubin, const char *name, uint64_t *bytes);

#endif
