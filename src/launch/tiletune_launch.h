/* SPDX-License-Identifier: MIT
 *
 * Launches tuned kernels from a bundle that `tiletune export --format bundle` wrote. The header is
 * for C11 and C++17 and needs only the CUDA driver, 12.0 or newer (cuda.h and libcuda). One source
 * file of the program includes it as follows; others omit the #define:
 *
 *	#define TTL_IMPLEMENTATION
 *	#include <tiletune_launch.h>
 *
 *	ttl_open -> ttl_find -> ttl_load -> ttl_bind -> { ttl_launch }*
 *		-> ttl_unbind -> ttl_unload -> ttl_close
 *
 * - Threads may share bundles, entries and kernels. A run may be used by one thread at a time, and
 *   its workspaces by one launch at a time.
 * - All runs of a kernel share its variables in constant memory: launch them on one stream, or load
 *   the entry once per stream.
 * - The context in which a kernel was loaded must be current in each call for it.
 * - ttl_launch neither allocates nor synchronises, so it may be captured into a graph.
 * - A failed call returns the reason, sets the message in err (may be NULL) and changes nothing.
 * - Checksum and offsets are checked, which detects damage but not malice: trust a bundle only as
 *   you would trust a program.
 * - If TTL_DYNAMIC is defined, nothing is linked: call ttl_driver() first.
 */
#ifndef TILETUNE_LAUNCH_H
#define TILETUNE_LAUNCH_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the file ----
 *
 * Little-endian. After the header follow tables, arrays of these structs at multiples of 8 bytes. A
 * ttl_text is the offset of a zero-terminated string in the table of texts. */
enum {
	TTL_VERSION = 7,
	TTL_RANK_MAX = 5,
	TTL_KEYS_MAX = 64,
};
typedef uint32_t ttl_text;
struct ttl_range { /* a range of items in another table */
	uint32_t first, count;
};

struct ttl_operation {
	ttl_text name;
	struct ttl_range keys, entries;
};
struct ttl_key {
	ttl_text name;
	uint32_t is_text;
};
/* one for each key of the operation */
struct ttl_size {
	int64_t value;               /* a number, or a ttl_text */
	uint32_t is_default, unused; /* 1: the value if a problem does not name the key */
};
struct ttl_entry {
	ttl_text family, configuration, kernel_hash;
	uint32_t is_default; /* 1: not tuned, for GPUs that the tuned entry before it cannot run on
			      */
	uint32_t is_predicted, tensor_count; /* tensors are the first buffers */
	struct ttl_range sizes, buffers, maps, symbols, steps, images;
	double time_us; /* measured or predicted, see is_predicted */
};
enum ttl_role {
	TTL_INPUT,
	TTL_OUTPUT,
	TTL_WORKSPACE,
	TTL_INOUT /* read, then written */
};
enum ttl_init {
	TTL_INIT_NONE,
	TTL_INIT_ONCE,
	TTL_INIT_EACH
}; /* when a buffer is zeroed: never, by ttl_bind(), by each launch */
struct ttl_buffer {
	ttl_text name, dtype;
	uint32_t role, init;
	uint64_t bytes;             /* 0: the kernel gets a null pointer */
	uint64_t rows, columns, ld; /* product of the outer dimensions, innermost dimension, pitch;
				       in elements */
};
struct ttl_map { /* a TMA descriptor, innermost dimension first */
	ttl_text name;
	uint32_t buffer;             /* index in the entry */
	uint32_t type;               /* CUtensorMapDataType */
	uint32_t rank;               /* 0: the kernel gets 128 zero bytes, which it must not use */
	uint64_t dims[TTL_RANK_MAX]; /* elements */
	uint64_t strides[TTL_RANK_MAX - 1]; /* in bytes, for all dimensions but the innermost */
	uint32_t box[TTL_RANK_MAX];         /* elements */
	uint32_t swizzle, l2_promotion;     /* CUtensorMapSwizzle, CUtensorMapL2promotion */
	uint32_t unused;
};
struct ttl_symbol { /* a variable in __constant__ or __device__ memory that holds a tensor */
	ttl_text name;
	uint32_t unit;   /* unit whose image may contain the variable */
	uint32_t buffer; /* index in the entry; each launch copies it before the first step */
};
struct ttl_step { /* a launch */
	ttl_text entry;
	uint32_t unit; /* unit whose image contains the kernel */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t smem_dynamic_bytes, repeat; /* launches in a row */
	uint32_t is_cooperative;
	struct ttl_range arguments;
};
enum ttl_kind {
	TTL_BUFFER,
	TTL_MAP,
	TTL_I32,
	TTL_F32,
	TTL_NUMBER /* a number of any other type or size */
};
struct ttl_argument {
	ttl_text name; /* name of the buffer or map; empty for numbers */
	uint32_t kind;
	uint32_t index; /* index of buffer or map in the entry; for a number, its size in bytes */
	uint32_t unused;
	int64_t bits; /* value of a number */
};
struct ttl_image { /* a unit that was compiled for an architecture */
	uint32_t unit;
	uint32_t capability; /* 90 for 9.0 */
	uint32_t suffix;     /* 'a': only this capability; 'f': its family; 0: this and later minor
				versions; 'p': PTX for this and all later ones */
	uint32_t unused;
	uint64_t offset, bytes; /* range in the table of code */
};

/* Fails to compile unless structs have the layout of 64-bit machines. */
typedef char ttl_layout[sizeof(struct ttl_entry) == 80 && sizeof(struct ttl_map) == 120 &&
					sizeof(struct ttl_step) == 64 &&
					sizeof(struct ttl_image) == 32
				? 1
				: -1];

#define TTL_TABLES(table)                                                                          \
	table(texts, char) table(code, unsigned char) table(operations, struct ttl_operation)      \
		table(keys, struct ttl_key) table(entries, struct ttl_entry)                       \
			table(sizes, struct ttl_size) table(buffers, struct ttl_buffer)            \
				table(maps, struct ttl_map) table(symbols, struct ttl_symbol)      \
					table(steps, struct ttl_step)                              \
						table(arguments, struct ttl_argument)              \
							table(images, struct ttl_image)
enum ttl_table {
#define TTL_TABLE(name, type) TTL_TABLE_##name,
	TTL_TABLES(TTL_TABLE)
#undef TTL_TABLE
	TTL_TABLE_COUNT
};

struct ttl_header {
	char magic[8]; /* "ttbundle" */
	uint32_t version, header_bytes;
	uint64_t bytes;    /* size of the file */
	uint64_t checksum; /* ttl_checksum() of all bytes after this member */
	struct {
		uint64_t offset, count;
	} tables[TTL_TABLE_COUNT];
	ttl_text device, compiler; /* device that was tuned; compiler */
};

/* `bytes` is a multiple of 8. */
static inline uint64_t ttl_checksum(const void *data, size_t bytes)
{
	uint64_t sum = bytes, word;

	for (size_t at = 0; at + sizeof(word) <= bytes; at += sizeof(word)) {
		memcpy(&word, (const char *)data + at, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
		sum ^= sum >> 32;
	}
	return sum;
}

/* ---- calls ---- */
enum ttl_status {
	TTL_OK,
	TTL_BAD_BUNDLE,   /* not a bundle, another version, or damaged */
	TTL_BAD_ARGUMENT, /* an operation, key, size or tensor does not exist or fit */
	TTL_NOT_FOUND,    /* no entry for these sizes, or no image for this GPU */
	TTL_NO_FILE,
	TTL_NO_MEMORY, /* host memory is exhausted */
	TTL_DRIVER,    /* a driver call failed; err->cuda has its result */
};
struct ttl_error {
	enum ttl_status status;
	CUresult cuda;
	char text[256];
};
struct ttl_bundle;
struct ttl_kernel;
struct ttl_run;
struct ttl_tensor {
	const char *name;
	CUdeviceptr address; /* aligned to 16 bytes for a tensor map */
};

#ifdef TTL_DYNAMIC
/* `get`: dlsym(libcuda, "cuGetProcAddress_v2"), or the same from the CUDA runtime. */
enum ttl_status ttl_driver(void *get, struct ttl_error *err);
#endif

/* ttl_open_memory() borrows data, aligned to 8 bytes, until ttl_close(). */
enum ttl_status ttl_open(const char *path, struct ttl_bundle **bundle, struct ttl_error *err);
enum ttl_status ttl_open_memory(
	const void *data, size_t size, struct ttl_bundle **bundle, struct ttl_error *err);
void ttl_close(struct ttl_bundle *bundle);

const struct ttl_header *ttl_bundle_header(const struct ttl_bundle *bundle);
const char *ttl_string(const struct ttl_bundle *bundle, ttl_text text);
const struct ttl_buffer *ttl_buffers(
	const struct ttl_bundle *bundle, const struct ttl_entry *entry);

/* problem: "M=4096,N=4096,K=4096,dtype=bf16"; other keys have their default values. */
enum ttl_status ttl_find(const struct ttl_bundle *bundle, const char *operation,
	const char *problem, const struct ttl_entry **entry, struct ttl_error *err);

/* Loads the entry for the GPU of the current context, or the default entry for its sizes if it has
 * no image for the GPU (`tiletune export --arch`). */
enum ttl_status ttl_load(const struct ttl_bundle *bundle, const struct ttl_entry *entry,
	struct ttl_kernel **kernel, struct ttl_error *err);
/* The entry that was loaded. */
const struct ttl_entry *ttl_kernel_entry(const struct ttl_kernel *kernel);
void ttl_unload(struct ttl_kernel *kernel);

/* Allocates workspaces that `tensors` does not list. Waits until workspaces are zeroed, so the
 * stream must not be captured. */
enum ttl_status ttl_bind(const struct ttl_kernel *kernel, const struct ttl_tensor *tensors,
	size_t count, CUstream stream, struct ttl_run **run, struct ttl_error *err);
/* Sets a tensor's address from the next launch on. */
enum ttl_status ttl_set(
	struct ttl_run *run, const char *name, CUdeviceptr address, struct ttl_error *err);
/* Queues the kernel's launches on the stream. */
enum ttl_status ttl_launch(struct ttl_run *run, CUstream stream, struct ttl_error *err);
void ttl_unbind(struct ttl_run *run);

#ifdef __cplusplus
}
#endif
#endif

#ifdef TTL_IMPLEMENTATION
#undef TTL_IMPLEMENTATION
#include "launch_bundle.h"
#include "launch_problem.h"
#include "launch_kernel.h"
#include "launch_run.h"
#endif
