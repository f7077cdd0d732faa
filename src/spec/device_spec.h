/* SPDX-License-Identifier: MIT
 *
 * Describes a GPU model by the driver's limits and by the rates of its sheet
 * (configs/devices/NAME.json) or, without one (from_sheet false), of its architecture.
 */
#ifndef SPEC_DEVICE_SPEC_H
#define SPEC_DEVICE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "expr/expression.h"
#include "expr/dtype.h"

/* Columns: id, name in family JSON, unit of the rate per clock and SM, description. */
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
		"of these, a block's share of the distinct bytes that neighbouring SMs read; "     \
		"default: the rate for twelve SMs that share")                                     \
	ROW(L2_WRITE, "l2_write_bytes", "byte", "written to L2 by a block")                        \
	ROW(BARRIERS, "barriers", "barrier", "block-wide synchronisations")                        \
	ROW(MESSAGES, "cluster_messages", "message",                                               \
		"dependent messages between blocks of a cluster; in a step, those it waits for "   \
		"until its stage is free")

enum pipe {
#define ROW(id, name, unit, summary) PIPE_##id,
	PIPES(ROW)
#undef ROW
	PIPE_COUNT
};
extern const char *const pipe_names[]; /* "tensor_mma_flop", ...; NULL-terminated */

/* Columns: name, CU_DEVICE_ATTRIBUTE_..., kind of figure, smallest value of all GPUs since 7.0
 * (used if the driver reports none), description. */
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
#define DEVICE_LIMITS(ROW)                                                                         \
	DRIVER_LIMITS(ROW)                                                                         \
	ROW(dram_bytes, NONE, count, (int64_t)1 << 30, "")

enum {
#define ROW(name, attribute, kind, least, summary) DEVICE_LIMIT_##name,
	DEVICE_LIMITS(ROW)
#undef ROW
	DEVICE_LIMIT_COUNT
};

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
	char *name; /* as the user writes it */
	char *title;
	char **matches; /* patterns of the driver's GPU names; NULL-terminated */
	bool from_sheet;
	int compute_capability; /* 90 for 9.0 */
	char arch[16];          /* architecture for NVRTC, e.g. "sm_90a" */

	DEVICE_LIMIT_MEMBERS;
	int64_t smem_static_max_bytes; /* 49152: the limit without opt-in */

	double clock_hz;        /* boost clock, to which rates refer */
	double tensor_clock_hz; /* clock under dense tensor load */
	double dram_bytes_per_s;
	double l2_bytes_per_clock;        /* rate if L2_SHARING SMs read the same data */
	double l2_own_bytes_per_clock;    /* rate if SMs read different data; 0: unknown */
	double smem_bytes_per_clock_sm;   /* typically 128 */
	double instructions_per_clock_sm; /* typically 4 warp instructions */
	/* Rates per clock and SM; 0 without such a pipe. Pipes without a dtype use DTYPE_FP32. */
	double rate[PIPE_COUNT][DTYPE_COUNT];
	double launch_us; /* time of each additional kernel */
	double dram_latency_us, l2_latency_us, sync_us;
	/* number of clusters of 1, 2, 4, 8 and 16 blocks that fit, with one block per SM */
	int64_t max_clusters[5];
	bool max_clusters_measured;
	/* borrowed; may be NULL */
	const struct learned *learned;
	char *notice; /* names sheets that could not be read, or NULL */
};

/* Reads <folder>/devices/NAME.json, or the embedded sheet without a name. Fails if the sheet is
 * missing or invalid. */
enum status device_spec_load(const char *name, const char *const *config_folders,
	struct device_spec **spec, struct error *err);
void device_spec_free(struct device_spec *spec);
void device_spec_release(struct device_spec **spec);
/* Returns sorted names; the caller releases them. */
struct name_set device_spec_names(const char *const *config_folders);

/* Members are 0 or "" if the driver does not report them. */
struct device_facts {
	char name[256];
	int compute_capability;
	DEVICE_LIMIT_MEMBERS;
	double clock_hz, memory_clock_hz;
	int64_t memory_bus_bits;
};
#undef ROW
/* Stored with every run. */
struct device_identity {
	char kind[16];           /* cuda, model, replay, program */
	char name[256];          /* the GPU's name or the sheet's title */
	char uuid[64];           /* "GPU-...", "MIG-..." or empty */
	char driver[160];        /* "580.159.04", a program's versions, or empty */
	int driver_cuda_version; /* e.g. 13000; 0 without a driver */
	int process_count;       /* processes on the GPU before ours; 0: unknown */
	char mig[64];
	double clock_sm_hz, clock_memory_hz;   /* current clocks; 0: unknown */
	double clock_sm_max_hz, power_limit_w; /* 0: unknown */
	double anchor_us;                      /* time of the anchor kernel; 0: unknown */
};

/* Finds the sheet for name, compute capability and SM count, else the defaults of the architecture.
 * Skips unreadable sheets, which `notice` names. */
enum status device_spec_match(const struct device_facts *facts, const char *const *config_folders,
	struct device_spec **spec, struct error *err);

/* Returns the rate per clock and SM, or 0. Only fp64 has its own rate on CUDA cores. */
double device_spec_rate(const struct device_spec *spec, enum pipe pipe, enum dtype dtype);
/* Returns the pipe with the highest FLOP rate. */
enum pipe device_spec_fastest_pipe(const struct device_spec *spec, enum dtype dtype);
double device_spec_peak_flop_per_s(const struct device_spec *spec, enum dtype dtype);

/* Values for expressions: the limits, then two more. */
enum {
	DEVICE_VALUE_COUNT = DEVICE_LIMIT_COUNT + 2
};
extern const char *const device_value_names[DEVICE_VALUE_COUNT];
struct value device_spec_value(const struct device_spec *spec, size_t index);

#endif
