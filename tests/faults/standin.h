/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libcuda.so.1 (and libnvidia-ml.so.1): the driver's calls that tiletune makes, in
 * host memory, on a virtual clock. Streams are executed at once; events hold the clock's reading.
 *
 * The helper kernels (measure/helper_layout.h) run as they are, as C++. Of other kernels it knows
 *only the arguments' sizes (from the cubin): the reference is the kernel that is handed memory
 *cleared to NaN doubles, and gets 0.75 everywhere; a candidate writes 0.75, in the dtype of the
 *poison that it finds, into every argument that is a poisoned output. Kernels named standin_*
 *compute something real (fake_candidates.c), so that indices, pitches, points and work in place are
 *tested too.
 *
 * A script (the file named by $TILETUNE_STANDIN) tells what goes wrong. Lines, `#` comments:
 *
 *	name NVIDIA H200            devices 1            sm_count 132        compute_capability 90
 *	l2_bytes 2097152            memory_bytes N       driver_version 13000
 *	init 34                     cuInit's answer
 *	context 46                  cuDevicePrimaryCtxRetain's answer
 *	lost_while FILE             both answer 100 while FILE exists
 *	killed_once FILE            cuInit kills the process, and makes FILE, unless that is there
 *	killed_later FILE           the same of cuDevicePrimaryCtxRetain
 *	missing cuGraphUpload       an entry point that this driver lacks (repeatable)
 *	libraries_max N             so many libraries fit, its own and candidates'
 *	mig 1                       the GPU is an instance of MIG   processes N   so many use it
 *	throttle N                  N readings of NVML tell of heat (-1: all)
 *	slow_clock N                N readings show the idle clock
 *	log FILE                    each launch that is queued, as JSON: what it was given
 *	energy_step_mj N            how the energy counter moves (10); 0: the card has none
 *	pace F [A PERIOD_US]        everything takes F times as long, and A more or less of that, in
 *	                            a sine over so much of the virtual clock: the GPU's clock drifts
 *	on N LINE                   LINE holds for GPU N alone, once a process took it; of what is
 *	                            asked before that only its name
 *	kernel GLOB [grid_x=N] [block_x=N] [skip=N] [load=N] [once=FILE] [until=FILE]
 *[us=T] [noise=R] [hot_us=T] [empty_us=T] [off_by=E] [far=B] [place_us=T] [watts=W]
 *[written_us=T] BEHAVIOUR
 *
 * The first line whose conditions hold decides; `skip` leaves out that kernel's first N launches of
 * a process, `load` holds for the Nth load of a kernel of that name alone, `once` makes FILE and
 *holds only as long as there was none; it waits until `until` is there. Behaviours: ok, wrong, nan,
 *unwritten, out_of_bounds, workspace_out_of_bounds, input, pitch (standin_scale), nondeterministic,
 *crash, abort, killed (by SIGKILL), hang, refuse, refuse_load, lost. us: duration (default: from a
 *hash of the cubin, entry and grid, 20..120); noise: relative spread of the duration; hot_us: when
 *it runs on the buffers of its last launch; empty_us: when none of its buffers was filled as an
 *input; far: out_of_bounds writes so many bytes further behind; off_by: what it adds to the
 *first element of a generic fp32 output; watts: its power (300); place_us: each load of the kernel
 *takes up to so much longer, the same for all its launches.
 *
 * written_us: if its first output no longer holds the poison, it returns at once, after so long.
 *
 * A kernel spin_cycles_N in a cubin says that the others in it spin for N cycles before they begin:
 * they take so much longer.
 *
 * A cubin is a real one, or text for tests without a compiler:
 *	standin cubin
 *	kernel NAME regs=32 smem=0 max_threads=1024 params=8,8,4 symbol=NAME:BYTES
 * A standin_scale with a symbol is right only where that holds the beginning of its input, and
 * spoils it.
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
	BEHAVIOUR_HANG,
	BEHAVIOUR_REFUSE,
	BEHAVIOUR_REFUSE_LOAD,
	BEHAVIOUR_LOST,
	BEHAVIOUR_COUNT
};

struct standin_rule {
	char glob[STANDIN_NAME], once[STANDIN_PATH], until[STANDIN_PATH];
	long grid_x, block_x, skip, load; /* -1: any */
	long far;
	double us, hot_us, empty_us, written_us; /* < 0: default; as us; as us; always works */
	double noise, place_us, off_by;
	double watts; /* 0: default */
	enum behaviour behaviour;
};

struct standin_script {
	char name[STANDIN_PATH];
	int devices, sm_count, compute_capability, l2_bytes, driver_version;
	int init, context, energy_step_mj, mig, processes;
	int libraries_max; /* 0: any number */
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

struct standin_script *standin_script(void); /* read once */
void standin_take_device(int device);
const char *standin_name(int device);
/* Kills this process, and makes the file, unless that is there. */
void standin_killed_once(const char *path);
/* Whether the driver is "lost" at present. */
bool standin_is_lost(void);

/* ---- memory (fake_memory.c) ---- */
/* What was written to the beginning of a piece of memory, and tells what it is for. */
enum mark {
	MARK_OUTPUT,    /* poisoned with the pattern of a dtype */
	MARK_WORKSPACE, /* poisoned as a workspace */
	MARK_EXPECTED,  /* cleared to NaN doubles */
	MARK_FILLED,    /* an input's contents */
	MARK_PITCH,     /* between an output's rows: its bytes; `pattern` is the pitch */
};
void standin_mark(enum mark mark, CUdeviceptr data, uint64_t bytes, uint32_t pattern);
bool standin_marked(CUdeviceptr data, enum mark mark, uint64_t *bytes, uint32_t *pattern);
/* The first mark of that kind in data..data+bytes; 0: none. */
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
	long launches, load; /* load: of the process, of a kernel of that name, from 1 */
	int smem_dynamic_max;
	CUdeviceptr last_buffer; /* the first that it was launched on last */
	double place;            /* -1..1, where its code lies */
	double spin_us;          /* see spin_cycles_N above */
	char symbol[STANDIN_NAME];
	unsigned char *symbol_data; /* never freed: a worker ends soon */
	size_t symbol_bytes;
	bool symbol_is_constant; /* the kernel does not write to it */
};

/* A tensor map. */
struct standin_map {
	CUdeviceptr address; /* first: it is found as a pointer is */
	uint64_t dims[5], strides[5];
	uint16_t box[5];
	uint8_t rank, type, swizzle, promotion;
};
_Static_assert(sizeof(struct standin_map) <= sizeof(CUtensorMap), "a tensor map holds it");

/* ---- launches (fake_stream.c, fake_kernels.c, fake_candidates.c) ---- */
struct standin_launch {
	struct standin_kernel *kernel; /* NULL: a memset */
	uint32_t grid[3], block[3], cluster[3], smem;
	void *params[STANDIN_PARAMS_MAX]; /* copies */
	CUdeviceptr memset_data;
	uint64_t memset_bytes;
	unsigned char memset_value;
};

/* Runs it; duration in virtual microseconds. Sticky errors come at the next synchronisation. */
CUresult standin_execute(const struct standin_launch *launch, double *us, double *watts);
/* Since the start, by the virtual clock. */
double standin_energy_mj(void);
/* The helper kernels; false if it is not one of them. */
bool standin_helper(const struct standin_launch *launch, double *us);
bool standin_run_helper(const char *name, void *const *params); /* fake_helpers.cc */
/* Kernels that compute: true if the name is known. */
bool standin_candidate(const struct standin_launch *launch, enum behaviour behaviour,
	const struct standin_rule *rule);
extern CUresult standin_sticky; /* what synchronisation answers from now on */
extern bool standin_hanging;
double standin_noise(void); /* -1..1, reproducible */

#endif
