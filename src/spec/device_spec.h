/* SPDX-License-Identifier: MIT
 *
 * What is known of a GPU model: limits from the driver's tables, rates from a spec sheet
 * (configs/devices/NAME.json, every figure with its source), names visible to expressions.
 *
 * A real GPU without a sheet works too: what the driver tells plus the default rates of its
 * architecture, marked by `from_sheet = false`.
 */
#ifndef SPEC_DEVICE_SPEC_H
#define SPEC_DEVICE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "expr/expression.h"
#include "expr/dtype.h"

/* Pipes that work goes through: id, name as in family JSON, unit of the rate per clock and SM, what
 * it is. */
#define PIPES(ROW)                                                                                 \
	ROW(TENSOR_MMA, "tensor_mma_flop", "flop", "tensor cores through mma.sync / wmma")         \
	ROW(TENSOR_WGMMA, "tensor_wgmma_flop", "flop", "tensor cores through wgmma (sm_90a)")      \
	ROW(FP32, "fp32_flop", "flop", "CUDA cores, a multiply-add counts 2")                      \
	ROW(MUFU, "mufu_op", "op", "special functions (ex2, rcp, ...)")                            \
	ROW(INSTRUCTIONS, "instructions", "instruction", "warp instructions issued")               \
	ROW(SMEM_READ, "smem_read_bytes", "byte", "shared memory reads, with bank conflicts")      \
	ROW(SMEM_WRITE, "smem_write_bytes", "byte", "shared memory writes, with bank conflicts")   \
	ROW(L2_READ, "l2_read_bytes", "byte", "requested from L2 by a block")                      \
	ROW(L2_DISTINCT, "l2_distinct_bytes", "byte",                                              \
		"of these, its share of what SMs that work side by side ask for once; left out: "  \
		"as where twelve share")                                                           \
	ROW(L2_WRITE, "l2_write_bytes", "byte", "written to L2 by a block")                        \
	ROW(BARRIERS, "barriers", "barrier", "block-wide synchronisations")                        \
	ROW(MESSAGES, "cluster_messages", "message",                                               \
		"from block to block of a cluster, waited for in turn; of a step: until its "      \
		"stage is free and full")

enum pipe {
#define ROW(id, name, unit, summary) PIPE_##id,
	PIPES(ROW)
#undef ROW
	PIPE_COUNT
};
extern const char *const pipe_names[]; /* "tensor_mma_flop", ...; NULL-terminated */

/* What a chip and its driver allow: name (a member of the structs, in sheets and in expressions),
 * its CU_DEVICE_ATTRIBUTE_..., the kind of its figure in a sheet, the least that every GPU since
 * compute capability 7.0 has, for drivers that do not tell, and what it is. */
#define DRIVER_LIMITS(ROW)                                                                         \
	ROW(sm_count, MULTIPROCESSOR_COUNT, count, 1, "")                                          \
	ROW(warp_size, WARP_SIZE, count, 32, "")                                                   \
	ROW(max_threads_per_block, MAX_THREADS_PER_BLOCK, count, 1024, "")                         \
	ROW(max_threads_per_sm, MAX_THREADS_PER_MULTIPROCESSOR, count, 1024, "")                   \
	ROW(max_blocks_per_sm, MAX_BLOCKS_PER_MULTIPROCESSOR, count, 16, "")                       \
	ROW(regs_per_block, MAX_REGISTERS_PER_BLOCK, count, 65536, "")                             \
	ROW(regs_per_sm, MAX_REGISTERS_PER_MULTIPROCESSOR, count, 65536, "")                       \
	ROW(smem_per_block_bytes, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, count, 49152,                 \
		"the most that a kernel may opt in to")                                            \
	ROW(smem_per_sm_bytes, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, count, 65536, "")             \
	ROW(smem_reserved_bytes, RESERVED_SHARED_MEMORY_PER_BLOCK, count_or_none, 0,               \
		"of each block")                                                                   \
	ROW(l2_bytes, L2_CACHE_SIZE, count, 1 << 20, "")
/* The memory has a call of its own. */
#define DEVICE_LIMITS(ROW)                                                                         \
	DRIVER_LIMITS(ROW)                                                                         \
	ROW(dram_bytes, NONE, count, (int64_t)1 << 30, "")

enum {
#define ROW(name, attribute, kind, least, summary) DEVICE_LIMIT_##name,
	DEVICE_LIMITS(ROW)
#undef ROW
	DEVICE_LIMIT_COUNT
};

/* The limits by name, and as an array in this order. */
#define ROW(name, attribute, kind, least, summary) int64_t name;
#define DEVICE_LIMIT_MEMBERS                                                                       \
	union {                                                                                    \
		struct {                                                                           \
			DEVICE_LIMITS(ROW)                                                         \
		};                                                                                 \
		int64_t limits[DEVICE_LIMIT_COUNT];                                                \
	}

struct learned;

struct device_spec {
	char *name;     /* "h200-sxm": file and user-visible name */
	char *title;    /* "NVIDIA H200 SXM5 141 GB" */
	char **matches; /* patterns of the driver's device names that the sheet is for; NULL-ended
			 */
	bool from_sheet;
	int compute_capability; /* 90 for 9.0 */
	char arch[16];          /* what NVRTC is asked for: "sm_90a" */

	DEVICE_LIMIT_MEMBERS;
	int64_t smem_static_max_bytes; /* 49152: what needs no opt-in */

	double clock_hz;        /* boost clock that the rates below are meant at */
	double tensor_clock_hz; /* sustained under dense tensor load; = clock_hz if unknown */
	double dram_bytes_per_s;
	double l2_bytes_per_clock;        /* whole chip, where L2_SHARING SMs read each part */
	double l2_own_bytes_per_clock;    /* where each SM reads parts of its own; 0: not known */
	double smem_bytes_per_clock_sm;   /* 128 */
	double instructions_per_clock_sm; /* 4 warp instructions */
	/* FLOP (or operations, bytes) per clock and SM by pipe and dtype; 0: does not exist. Pipes
	 * without a dtype use DTYPE_FP32's column. */
	double rate[PIPE_COUNT][DTYPE_COUNT];
	double launch_us; /* of one more kernel in a stream or graph */
	double dram_latency_us, l2_latency_us, sync_us;
	/* largest number of clusters of 1,2,4,8,16 blocks (one block per SM) that fit at once */
	int64_t max_clusters[5];
	bool max_clusters_measured;
	/* What timings on it taught beyond this sheet (score/learned.h), borrowed; NULL: nothing.
	 */
	const struct learned *learned;
	char *notice; /* which sheets could not be read when this one was looked for; NULL: none */
};

/* Looks for NAME.json under <folder>/devices of every folder; "" or NULL name: the embedded
 * default. Errors: not found (nearest name offered), broken sheet (file and JSON path). */
enum status device_spec_load(const char *name, const char *const *config_folders,
	struct device_spec **spec, struct error *err);
void device_spec_free(struct device_spec *spec);
void device_spec_release(struct device_spec **spec); /* for CLEANUP() */
/* Names of all sheets that can be loaded, in their order; caller releases. */
struct name_set device_spec_names(const char *const *config_folders);

/* What the driver tells of a real GPU; fields 0 or "" where it does not. */
struct device_facts {
	char name[256];
	int compute_capability;
	DEVICE_LIMIT_MEMBERS;
	double clock_hz, memory_clock_hz;
	int64_t memory_bus_bits;
};
#undef ROW
/* What is written into every run: which GPU, with what around it. */
struct device_identity {
	char kind[16];           /* cuda, model, replay, program */
	char name[256];          /* the driver's name of the GPU, or the sheet's title */
	char uuid[64];           /* "GPU-...", "MIG-..." or "" */
	char driver[160];        /* "580.159.04", a program's versions, or "" */
	int driver_cuda_version; /* 13000; 0 without a driver */
	int process_count;       /* with a context on the GPU, before ours; 0 unknown */
	char mig[64];
	double clock_sm_hz, clock_memory_hz;   /* now; 0 unknown */
	double clock_sm_max_hz, power_limit_w; /* 0 unknown */
	double anchor_us; /* the anchor kernel's median at the start; 0 unknown */
};

/* The sheet that matches (name, compute capability, SM count), limits overridden by the facts;
 * else the facts plus the default rates of the architecture. Sheets that cannot be read are
 * skipped; spec->notice says which. */
enum status device_spec_match(const struct device_facts *facts, const char *const *config_folders,
	struct device_spec **spec, struct error *err);

/* Per clock and SM, on numbers of this type; 0: none. CUDA cores have one rate for fp64, where the
 * sheet has it, and one for all others. */
double device_spec_rate(const struct device_spec *spec, enum pipe pipe, enum dtype dtype);
/* What does the most FLOP on numbers of this type: a tensor pipe where it has a rate for them, else
 * the CUDA cores. */
enum pipe device_spec_fastest_pipe(const struct device_spec *spec, enum dtype dtype);
double device_spec_peak_flop_per_s(const struct device_spec *spec, enum dtype dtype);

/* Names and values visible to expressions, in a fixed order: the limits, then two more. */
enum {
	DEVICE_VALUE_COUNT = DEVICE_LIMIT_COUNT + 2
};
extern const char *const device_value_names[DEVICE_VALUE_COUNT];
struct value device_spec_value(const struct device_spec *spec, size_t index);

#endif
