/* SPDX-License-Identifier: MIT
 *
 * Launches tuned kernels from a bundle that `tiletune export --format bundle` wrote. One header,
 * for C11 and C++17; it needs the CUDA driver (12.0 or newer: cuda.h, libcuda) and nothing else.
 * In one source file of the program, and without the #define in the others:
 *
 *	#define TTL_IMPLEMENTATION
 *	#include <tiletune_launch.h>
 *
 *	ttl_open -> ttl_find -> ttl_load -> ttl_bind -> { ttl_launch }*
 *		-> ttl_unbind -> ttl_unload -> ttl_close
 *
 * - Bundle, entry and kernel are never written to once they are made: threads may share them. A run
 *   (what ttl_bind makes) belongs to one thread at a time, its workspaces to one launch at a time.
 * - A kernel with variables in constant memory has one set of them: its runs share it, so launch
 *   those on one stream, or load the entry once more.
 * - Work is done in the CUDA context that is current when a kernel is loaded; it is current in
 *   each later call for that kernel.
 * - ttl_launch neither allocates nor synchronises: it may be captured into a graph.
 * - Calls that fail return why; err (may be NULL) has the message. Nothing is left half done.
 * - A bundle's every offset is checked before use, and its checksum. That tells damage, not malice:
 *   a bundle holds machine code, so take it from where you would take a program.
 *
 * Driver functions are called directly. With TTL_DYNAMIC and TTL_IMPLEMENTATION defined
 * nothing is linked: ttl_driver() gets them through your cuGetProcAddress, once, before anything
 *else.
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

/* ---- the file: what the exporter writes is what is read, by mmap if you like ----
 *
 * Little-endian. A header, then tables, each an array of one of these structs that begins at a
 * multiple of 8 bytes. A `text` is the offset of a terminated string in the table of texts. */
enum {
	TTL_VERSION = 5,
	TTL_RANK_MAX = 5,
	TTL_KEYS_MAX = 64,
	TTL_NONE = -1, /* no key */
};
typedef uint32_t ttl_text;
struct ttl_range { /* of another table */
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
/* The value of a key in an entry; an entry has one for each key of its operation. */
struct ttl_size {
	int64_t value;               /* a number, or a ttl_text */
	uint32_t is_default, unused; /* 1: a problem that does not name the key has this value */
};
struct ttl_entry {
	ttl_text family, configuration, kernel_hash;
	uint32_t is_default; /* never tuned: for GPUs that the entry tuned for these sizes cannot
				run on; ttl_load() takes it then, ttl_find() never */
	uint32_t is_predicted, tensor_count; /* the first buffers; the others are workspaces */
	struct ttl_range sizes, buffers, maps, symbols, steps, images;
	int32_t up_to; /* the key (of the operation) that may be smaller, or TTL_NONE */
	uint32_t unused;
	int64_t least;  /* its smallest value; the largest is the one that was tuned */
	double time_us; /* measured, or predicted */
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
}; /* zeroed: never, by bind, by launch */
struct ttl_buffer {
	ttl_text name, dtype;
	uint32_t role, init;
	uint64_t bytes;             /* 0: the kernel gets a null pointer */
	uint64_t rows, columns, ld; /* of a tensor: all outer dimensions, the innermost; elements */
};
struct ttl_map { /* a TMA descriptor, innermost dimension first */
	ttl_text name;
	uint32_t buffer;                    /* of the entry */
	uint32_t type;                      /* CUtensorMapDataType */
	uint32_t rank;                      /* 0: the kernel gets 128 zero bytes and leaves them */
	uint64_t dims[TTL_RANK_MAX];        /* elements */
	uint64_t strides[TTL_RANK_MAX - 1]; /* bytes, of all dimensions but the innermost */
	uint32_t box[TTL_RANK_MAX];         /* elements */
	uint32_t sized;                     /* bit i: dimension i is the value of up_to */
	uint32_t swizzle, l2_promotion;     /* CUtensorMapSwizzle, CUtensorMapL2promotion */
};
struct ttl_symbol { /* a variable in __constant__ or __device__ memory that holds a tensor */
	ttl_text name;
	uint32_t unit;   /* whose image may have it; at least one image has each name */
	uint32_t buffer; /* of the entry: copied there by each launch, before the first step */
};
struct ttl_step { /* one launch; the launches of an entry follow one another on the stream */
	ttl_text entry;
	uint32_t unit; /* whose image holds it */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t smem_dynamic_bytes, repeat; /* launched that many times in a row */
	struct ttl_range arguments;
};
enum ttl_kind {
	TTL_BUFFER,
	TTL_MAP,
	TTL_I32,
	TTL_F32,
	TTL_NUMBER /* of any other type, or size */
};
struct ttl_argument {
	ttl_text name; /* of the buffer or map; of a number empty */
	uint32_t kind;
	uint32_t index;    /* of the buffer or map, within the entry; of a number its bytes */
	uint32_t is_sized; /* 1: the number is the value of up_to */
	int64_t bits;      /* a number */
};
struct ttl_image { /* a unit compiled for an architecture */
	uint32_t unit;
	uint32_t capability; /* 90: 9.0 */
	uint32_t suffix; /* 'a': that capability alone; 'f': its family; 0: that and later minors;
			    'p': PTX, for that and all later ones, where there is no other image */
	uint32_t unused;
	uint64_t offset, bytes; /* in the table of code */
};

/* That is how compilers for 64-bit machines lay them out, all that the driver is for. */
typedef char ttl_layout[sizeof(struct ttl_entry) == 96 && sizeof(struct ttl_map) == 120 &&
					sizeof(struct ttl_step) == 60 &&
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
	uint64_t bytes;    /* of the file */
	uint64_t checksum; /* ttl_checksum() of everything behind it */
	struct {
		uint64_t offset, count;
	} tables[TTL_TABLE_COUNT];
	ttl_text device, compiler; /* that it was tuned on; that it was compiled by */
};

/* Bytes are a multiple of 8. Every change of one word changes the checksum. */
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
	TTL_BAD_BUNDLE,   /* not a bundle, of another version, or damaged */
	TTL_BAD_ARGUMENT, /* an operation, key, size or tensor that is not there or does not fit */
	TTL_NOT_FOUND,    /* no entry for these sizes; no image for this GPU */
	TTL_NO_FILE,
	TTL_NO_MEMORY, /* of the host */
	TTL_DRIVER,    /* a call of the driver failed: err->cuda */
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
	CUdeviceptr address; /* 16-byte aligned if the kernel has a tensor map of it */
};

#ifdef TTL_DYNAMIC
/* get: cuGetProcAddress, as dlsym(libcuda, "cuGetProcAddress_v2") or CUDA's runtime has it. */
enum ttl_status ttl_driver(void *get, struct ttl_error *err);
#endif

/* The second borrows data, which is 8-byte aligned and stays as it is until ttl_close(). */
enum ttl_status ttl_open(const char *path, struct ttl_bundle **bundle, struct ttl_error *err);
enum ttl_status ttl_open_memory(
	const void *data, size_t size, struct ttl_bundle **bundle, struct ttl_error *err);
void ttl_close(struct ttl_bundle *bundle);

/* For those who look around: tables begin at their offsets from the header. */
const struct ttl_header *ttl_bundle_header(const struct ttl_bundle *bundle);
const char *ttl_string(const struct ttl_bundle *bundle, ttl_text text);
const struct ttl_buffer *ttl_buffers(
	const struct ttl_bundle *bundle, const struct ttl_entry *entry);

/* The entry for a problem, "M=4096,N=4096,K=4096,dtype=bf16"; keys that it does not name have their
 * defaults, as on tiletune's command line. Of the entries that hold for it the one that was tuned
 * for the nearest size is found. */
enum ttl_status ttl_find(const struct ttl_bundle *bundle, const char *operation,
	const char *problem, const struct ttl_entry **entry, struct ttl_error *err);

/* Loads the entry's kernels for the GPU of the current context; where it has none for it, those of
 * the default entry of the same sizes (`tiletune export --arch`). */
enum ttl_status ttl_load(const struct ttl_bundle *bundle, const struct ttl_entry *entry,
	struct ttl_kernel **kernel, struct ttl_error *err);
/* What was loaded: the entry that was asked for, or a default one (is_default). */
const struct ttl_entry *ttl_kernel_entry(const struct ttl_kernel *kernel);
void ttl_unload(struct ttl_kernel *kernel);

/* A kernel with sizes and tensors. problem: as given to ttl_find(), where it may be less than the
 * entry was tuned for; NULL: those very sizes. tensors: each of the operation's by name; workspaces
 * that are not among them are allocated. Zeroes workspaces that need it once, and waits for that:
 * not while the stream is captured. */
enum ttl_status ttl_bind(const struct ttl_kernel *kernel, const char *problem,
	const struct ttl_tensor *tensors, size_t count, CUstream stream, struct ttl_run **run,
	struct ttl_error *err);
/* Another address for one tensor or workspace, from the next launch on. */
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
