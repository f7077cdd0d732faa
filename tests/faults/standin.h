/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libcuda.so.1 (and libnvidia-ml.so.1). It implements the driver calls that tiletune
 * makes in host memory, on a virtual clock. Streams execute at once; events store the clock's
 * reading.
 *
 * The helper kernels (measure/helper_layout.h) run unchanged, as C++. Of other kernels the stand-in
 * knows only the sizes of the arguments, from the cubin. A kernel with an argument that points to
 * NaN doubles counts as the reference, and writes 0.75 everywhere. Any other kernel is a candidate.
 * It writes 0.75 into every argument that is a poisoned output, in the dtype of the poison. Kernels
 * named standin_* compute real values (fake_candidates.c), which tests indices, pitches, points and
 * in-place work.
 *
 * A script (the file named by $TILETUNE_STANDIN) defines the faults. It has lines and `#` comments:
 *
 *	name NVIDIA H200            devices 1            sm_count 132        compute_capability 90
 *	l2_bytes 2097152            memory_bytes N       driver_version 13000
 *	init 34                     result of cuInit
 *	context 46                  result of cuDevicePrimaryCtxRetain
 *	lost_while FILE             both return 100 while FILE exists
 *	killed_once FILE            cuInit makes FILE and kills the process, unless FILE exists
 *	killed_later FILE           the same for cuDevicePrimaryCtxRetain
 *	missing cuGraphUpload       an entry point that this driver lacks (repeatable)
 *	libraries_max N             number of libraries that can be loaded, including helpers
 *	mig 1                       the GPU is a MIG instance
 *	processes N                 number of processes on the GPU
 *	throttle N                  the first N NVML readings report heat (-1: all)
 *	slow_clock N                the first N readings report the idle clock
 *	log FILE                    receives each queued launch with its arguments, as JSON
 *	energy_step_mj N            step of the energy counter (10); 0: the card has no counter
 *	power_limit_w N             a kernel that runs alone for 20 ms with more watts is slowed
 *	                            down by their ratio
 *	pace F [A PERIOD_US]        multiplies all times by F, and by a sine of amplitude A and
 *	                            this period on the virtual clock, like a GPU's clock drift
 *	on N LINE                   LINE applies only to GPU N, once a process has selected it;
 *	                            before that, only a name applies
 *	kernel GLOB [OPTION=VALUE]... BEHAVIOUR
 *
 * The first kernel line whose conditions hold applies to a launch. Behaviours are ok, wrong, nan,
 * unwritten, out_of_bounds, workspace_out_of_bounds, input, pitch (standin_scale),
 * nondeterministic, crash, abort, killed (by SIGKILL), terminated (SIGINT and SIGTERM; then ok),
 * hang, refuse, refuse_load and lost. Options:
 *
 *	grid_x, block_x  the line applies only to launches of this size
 *	skip        the line does not apply to the kernel's first N launches in a process
 *	load        the line applies only to the Nth load of a kernel with this name
 *	once        the line applies only while FILE does not exist, and makes FILE
 *	until       the kernel waits until FILE exists
 *	us          duration (default: 20 to 120, from a hash of cubin, entry and grid)
 *	noise       relative spread of the duration
 *	hot_us      duration if the kernel uses the buffers of its previous launch
 *	empty_us    duration if none of its buffers was filled as an input
 *	written_us  duration if its first output does not hold the poison; it then writes nothing
 *	off_by      error that is added to the first element of a generic fp32 output
 *	far         additional distance in bytes of the writes of out_of_bounds
 *	place_us    maximum additional duration per load, the same for all launches of the load
 *	watts       power of the card (300)
 *
 * The kernels of tests/gpu/bad_kernels.cu run as C++, and take as long as the work that they do.
 *
 * A kernel spin_cycles_N in a cubin adds N cycles to the duration of the cubin's other kernels.
 *
 * A cubin is a real one, or text for tests without a compiler:
 *	standin cubin
 *	kernel NAME regs=32 smem=0 max_threads=1024 params=8,8,4 symbol=NAME:BYTES
 * A standin_scale with a symbol is correct only if the symbol holds the beginning of its input, and
 * then changes the symbol; with constant=NAME:BYTES instead, it does not change the symbol.
 */
#ifndef FAULTS_STANDIN_H
#define FAULTS_STANDIN_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STANDIN_NAME = 128,
	STANDIN_PATH = 256,
	STANDIN_PARAMS_MAX = 64,
	STANDIN_RULES_MAX = 64,
	STANDIN_OWN_MAX = 16,
};

/* ---- script (fake_script.c) ---- */
enum behaviour {
	BEHAVIOUR_OK,
	BEHAVIOUR_WRONG,
	BEHAVIOUR_NAN,
	BEHAVIOUR_UNWRITTEN,
	BEHAVIOUR_OUT_OF_BOUNDS,
	BEHAVIOUR_WORKSPACE_OUT_OF_BOUNDS,
	BEHAVIOUR_INPUT,
	BEHAVIOUR_PITCH,
	BEHAVIOUR_NONDETERMINISTIC,
	BEHAVIOUR_CRASH,
	BEHAVIOUR_ABORT,
	BEHAVIOUR_KILLED,
	BEHAVIOUR_TERMINATED,
	BEHAVIOUR_HANG,
	BEHAVIOUR_REFUSE,
	BEHAVIOUR_REFUSE_LOAD,
	BEHAVIOUR_LOST,
	BEHAVIOUR_COUNT
};

struct standin_rule {
	char glob[STANDIN_NAME], once[STANDIN_PATH], until[STANDIN_PATH];
	long grid_x, block_x, skip, load; /* -1 matches any number */
	long far;
	double us, hot_us, empty_us,
		written_us; /* negative: the default for us, the value of `us` for hot_us and
			       empty_us, and for written_us a kernel that always does its work */
	double noise, place_us, off_by;
	double watts; /* 0 selects the default */
	enum behaviour behaviour;
};

struct standin_script {
	char name[STANDIN_PATH];
	int devices, sm_count, compute_capability, l2_bytes, driver_version;
	int init, context, energy_step_mj, mig, processes, power_limit_w;
	int libraries_max; /* 0: no limit */
	long throttle, slow_clock;
	double pace, drift, drift_period_us;
	uint64_t memory_bytes;
	char lost_while[STANDIN_PATH], log[STANDIN_PATH];
	char killed_once[STANDIN_PATH], killed_later[STANDIN_PATH];
	char missing[8][64];
	int missing_count;
	struct standin_rule rules[STANDIN_RULES_MAX];
	int rule_count;
	struct standin_own {
		int device;
		char line[600];
	} own[STANDIN_OWN_MAX];
	int own_count;
};

struct standin_script *standin_script(void); /* the script is read once */
void standin_take_device(int device);
const char *standin_name(int device);
/* Creates the file and kills this process, unless the file exists. */
void standin_killed_once(const char *path);
/* Whether the driver is currently "lost". */
bool standin_is_lost(void);

/* ---- memory (fake_memory.c) ---- */
/* Purposes of a piece of memory, which its first bytes reveal. */
enum mark {
	MARK_OUTPUT,    /* an output poisoned with the pattern of a dtype */
	MARK_WORKSPACE, /* a workspace with its poison */
	MARK_EXPECTED,  /* sums that were cleared to NaN doubles */
	MARK_FILLED,    /* the contents of an input */
	MARK_PITCH,     /* gap between the rows of an output; `pattern` is the pitch in bytes */
};
void standin_mark(enum mark mark, CUdeviceptr data, uint64_t bytes, uint32_t pattern);
bool standin_marked(CUdeviceptr data, enum mark mark, uint64_t *bytes, uint32_t *pattern);
/* Returns the first mark of that kind in data..data+bytes, or 0. */
CUdeviceptr standin_marked_within(
	CUdeviceptr data, uint64_t bytes, enum mark mark, uint32_t *pattern);
bool standin_is_device_memory(CUdeviceptr data);

/* ---- kernels (fake_library.c) ---- */
struct standin_kernel {
	char name[STANDIN_NAME];
	int regs, smem_static, max_threads;
	int param_count;
	uint32_t param_sizes[STANDIN_PARAMS_MAX];
	uint64_t cubin_hash;
	long launches,
		load; /* number of this load among kernels of that name in the process, from 1 */
	int smem_dynamic_max;
	CUdeviceptr last_buffer; /* first buffer argument of the previous launch */
	const struct standin_library *library;
	double place;   /* -1 to 1, effect of the code's placement */
	double spin_us; /* extra time that spin_cycles_N adds */
	char symbol[STANDIN_NAME];
	unsigned char *symbol_data; /* never freed, because a worker ends soon */
	size_t symbol_bytes;
	bool symbol_is_constant; /* the kernel does not write to it */
};

/* Content of a tensor map. */
struct standin_map {
	CUdeviceptr address; /* must be the first member, because it is found like a pointer */
	uint64_t dims[5], strides[5];
	uint16_t box[5];
	uint8_t rank, type, swizzle, promotion;
};
_Static_assert(sizeof(struct standin_map) <= sizeof(CUtensorMap), "a tensor map holds it");

/* ---- launches (fake_stream.c, fake_kernels.c, fake_candidates.c) ---- */
struct standin_launch {
	struct standin_kernel *kernel; /* NULL if this is a memset */
	uint32_t grid[3], block[3], cluster[3], smem;
	bool is_cooperative;
	void *params[STANDIN_PARAMS_MAX]; /* copies */
	CUdeviceptr memset_data;
	uint64_t memset_bytes;
	unsigned char memset_value;
};

/* Executes the launch and sets its duration in virtual microseconds. Sticky errors appear at the
 * next synchronisation. */
CUresult standin_execute(const struct standin_launch *launch, double *us, double *watts);
/* Returns the energy since the start on the virtual clock. */
double standin_energy_mj(void);
bool standin_at_power_limit(void);
/* Runs a helper kernel; returns false if the name is not one of them. */
bool standin_helper(const struct standin_launch *launch, double *us);
bool standin_run_helper(const char *name, void *const *params); /* fake_helpers.cc */
/* Runs a kernel of tests/gpu/bad_kernels.cu; returns false if the name is not one of them. */
bool standin_run_bad_kernel(const void *kernel, const char *name, void *const *params,
	unsigned blocks, unsigned threads, double clock_us, double *us); /* fake_bad_kernels.cc */
/* Returns a variable of the kernel's cubin, or NULL if it has none of this name. */
void *standin_variable(const void *kernel, const char *name);
double standin_clock_us(void);
/* Runs a kernel that computes real values; returns false for an unknown name. */
bool standin_candidate(const struct standin_launch *launch, enum behaviour behaviour,
	const struct standin_rule *rule);
extern CUresult standin_sticky; /* result of every synchronisation from now on */
extern bool standin_hanging;
double standin_noise(void); /* returns a reproducible random number from -1 to 1. */

#endif
