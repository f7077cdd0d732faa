/* SPDX-License-Identifier: MIT
 *
 * Kernels on the CPU: the parts of CUDA C++ that C++ lacks, for sources of templates/ that are
 * compiled as C++ (tests/checks/kernels.py). A thread of a block is a fiber. Blocks run one after
 * another, or several at a time: those of a cluster, or all if blocks wait for each other.
 *
 * A fiber runs until it waits for a barrier, or for the other lanes of its warp at a warp-wide
 * instruction. Nothing else suspends it, so that a missing barrier shows: threads run far ahead of
 * each other, and shared memory is full of NaN before a block starts. Programs are linked without
 * PIE, so that addresses of shared memory fit into 32 bits as in PTX.
 */
#ifndef HOST_DEVICE_H
#define HOST_DEVICE_H

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__    __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__       static

namespace host
{
struct dim {
	unsigned x = 1, y = 1, z = 1;
};
} // namespace host
static host::dim threadIdx, blockIdx, blockDim, gridDim;

struct alignas(8) float2 {
	float x, y;
};
struct alignas(16) float4 {
	float x, y, z, w;
};
static inline float2 make_float2(float x, float y)
{
	return {x, y};
}
static inline float4 make_float4(float x, float y, float z, float w)
{
	return {x, y, z, w};
}

namespace host
{

[[noreturn]] static void stop(const char *why)
{
	printf("block %u,%u,%u, thread %u: %s\n", blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
		why);
	exit(1);
}

/* ---- fibers ---- */
struct copy {
	void *to;
	const void *from;
	int bytes, valid;
	unsigned group;
};

struct fiber {
	ucontext_t start;
	jmp_buf here;
	std::unique_ptr<char[]> stack; /* not cleared, because most of the stack is never touched */
	dim thread, block;
	unsigned resident; /* index of its block among the running ones */
	bool started = false, done = false;
	std::vector<copy> copies; /* cp.async copies that the thread has not waited for */
	unsigned group = 0;
	int vote = 0;
};

struct warp {
	uint32_t arrived = 0, alive = 0;
	unsigned generation = 0;
	void *lane[32];
	void (*whole)(void **lane, uint32_t alive) = nullptr;
};

struct barrier {
	unsigned arrived = 0, generation = 0;
};

/* State of a running block. */
struct resident {
	barrier barriers[16];
	unsigned alive = 0; /* threads that have not ended */
	unsigned char *shared = nullptr;
};

static std::vector<fiber> fibers;
static std::vector<warp> warps;
static std::vector<resident> residents;
static unsigned current, alive, progress;
static unsigned char *block_shared; /* dynamic shared memory of the thread's block */
/* Hooks for asynchronous operations (hopper.h): after a sweep over all threads (returns whether
 * something happened), at the end of a thread, and when blocks begin. */
static bool (*sweep_ends)(bool nobody_moves);
static void (*thread_ends)();
static void (*blocks_begin)();
static jmp_buf scheduler;
static void (*kernel)(void *);
static void *kernel_context;

static void give_way()
{
	if (!_setjmp(fibers[current].here))
		_longjmp(scheduler, 1);
}

static void warp_complete(warp &w)
{
	if (!w.alive || w.arrived != w.alive)
		return;
	w.whole(w.lane, w.alive);
	w.arrived = 0;
	w.generation++;
	progress++;
}

/* Lets the lanes of a warp exchange data: `mine` is this lane's part, and `whole` runs once, when
 * all living lanes have arrived. */
static void warp_meet(void *mine, void (*whole)(void **lane, uint32_t alive))
{
	warp &w = warps[current / 32];
	const unsigned generation = w.generation;

	if (w.arrived && w.whole != whole)
		stop("lanes of a warp meet at different instructions");
	w.whole = whole;
	w.lane[current % 32] = mine;
	w.arrived |= 1u << current % 32;
	warp_complete(w);
	while (w.generation == generation)
		give_way();
}

static void barrier_arrive(unsigned id, unsigned count)
{
	barrier &b = residents[fibers[current].resident].barriers[id];

	if (++b.arrived >= count) {
		b.arrived = 0;
		b.generation++;
		progress++;
	}
}

static void barrier_wait(unsigned id, unsigned count)
{
	const barrier &b = residents[fibers[current].resident].barriers[id];
	const unsigned generation = b.generation;

	barrier_arrive(id, count);
	while (b.generation == generation)
		give_way();
}

static void fiber_main()
{
	kernel(kernel_context);
	if (thread_ends)
		thread_ends();
	fiber &self = fibers[current];
	resident &block = residents[self.resident];
	self.done = true;
	block.alive--;
	alive--;
	progress++;
	warps[current / 32].alive &= ~(1u << current % 32);
	warp_complete(warps[current / 32]);
	if (block.alive && block.barriers[0].arrived >= block.alive) {
		block.barriers[0].arrived = 0;
		block.barriers[0].generation++;
	}
	_longjmp(scheduler, 1);
}

static void resume(unsigned index)
{
	fiber &f = fibers[index];

	current = index;
	threadIdx = f.thread;
	blockIdx = f.block;
	block_shared = residents[f.resident].shared;
	if (_setjmp(scheduler))
		return;
	if (f.started)
		_longjmp(f.here, 1);
	f.started = true;
	setcontext(&f.start);
}

/* Runs `count` blocks from `first` on, along x. Their dynamic shared memory begins at `shared`
 * and is `apart` bytes apart. Several blocks must consist of whole warps. */
static void run_blocks(dim first, unsigned count, void *shared, size_t apart)
{
	const unsigned each = blockDim.x * blockDim.y * blockDim.z, threads = count * each;
	const size_t stack_bytes = 256 << 10;

	fibers.resize(threads);
	warps.assign((threads + 31) / 32, {});
	residents.assign(count, {});
	for (unsigned i = 0; i < count; i++) {
		residents[i].alive = each;
		residents[i].shared = (unsigned char *)shared + i * apart;
	}
	alive = threads;
	if (blocks_begin)
		blocks_begin();
	for (unsigned number = 0; number < threads; number++) {
		const unsigned i = number % each;
		fiber &f = fibers[number];

		f.resident = number / each;
		f.block = {first.x + f.resident, first.y, first.z};

		if (!f.stack)
			f.stack.reset(new char[stack_bytes]);
		f.started = f.done = false;
		f.copies.clear();
		f.group = 0;
		f.thread = {
			i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
		getcontext(&f.start);
		f.start.uc_stack.ss_sp = f.stack.get();
		f.start.uc_stack.ss_size = stack_bytes;
		f.start.uc_link = nullptr;
		makecontext(&f.start, fiber_main, 0);
		warps[number / 32].alive |= 1u << number % 32;
	}
	while (alive) {
		const unsigned before = progress;

		for (unsigned i = 0; i < threads; i++)
			if (!fibers[i].done)
				resume(i);
		const bool nobody_moves = progress == before;

		if (!(sweep_ends && sweep_ends(nobody_moves)) && nobody_moves)
			stop("everybody waits");
	}
}

static void set_not_a_number(void *data, size_t bytes)
{
	memset(data, 0xff, bytes);
}

/* Runs one block after another, from the first or from the last one on. */
template <class BODY>
static void launch(
	dim grid, dim block, void *shared, size_t shared_bytes, bool last_first, BODY body)
{
	gridDim = grid;
	blockDim = block;
	kernel = [](void *context) { (*(BODY *)context)(); };
	kernel_context = &body;
	for (unsigned done = 0; done < grid.x * grid.y * grid.z; done++) {
		const unsigned i = last_first ? grid.x * grid.y * grid.z - 1 - done : done;

		set_not_a_number(shared, shared_bytes);
		blockIdx = {i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y};
		run_blocks(blockIdx, 1, shared, 0);
	}
}

/* ---- exchanges between lanes ---- */
template <class T> struct exchange {
	T value, result;
	unsigned source;
};

template <class T> static T shuffle(T value, unsigned source)
{
	exchange<T> mine = {value, value, source};

	warp_meet(&mine, [](void **lane, uint32_t living) {
		for (unsigned i = 0; i < 32; i++)
			if (living >> i & 1) {
				auto *to = (exchange<T> *)lane[i];

				if (!(living >> to->source & 1))
					stop("a shuffle reads a lane that has ended");
				to->result = ((exchange<T> *)lane[to->source])->value;
			}
	});
	return mine.result;
}

static void expect_whole(unsigned mask)
{
	if (mask != 0xffffffffu)
		stop("only whole warps are known here");
}

} // namespace host

template <class T> static T __shfl_xor_sync(unsigned mask, T value, int distance)
{
	host::expect_whole(mask);
	return host::shuffle(value, host::current % 32 ^ distance);
}

template <class T> static T __shfl_sync(unsigned mask, T value, int lane)
{
	host::expect_whole(mask);
	return host::shuffle(value, lane & 31);
}

static inline int __any_sync(unsigned mask, int value)
{
	int any = 0;

	host::expect_whole(mask);
	for (int lane = 0; lane < 32; lane++)
		any |= host::shuffle(value, lane);
	return any != 0;
}

static inline unsigned __ballot_sync(unsigned mask, int value)
{
	unsigned all = 0;

	host::expect_whole(mask);
	for (int lane = 0; lane < 32; lane++)
		all |= (unsigned)(host::shuffle(value, (unsigned)lane) != 0) << lane;
	return all;
}

static inline int __ffs(int bits)
{
	return __builtin_ffs(bits);
}

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
	host::expect_whole(mask);
	host::warp_meet(nullptr, [](void **, uint32_t) {});
}

static inline void __syncthreads()
{
	host::barrier_wait(0, host::residents[host::fibers[host::current].resident].alive);
}

static inline int __syncthreads_or(int value)
{
	const unsigned block = host::fibers[host::current].resident;
	int any = 0;

	host::fibers[host::current].vote = value;
	__syncthreads();
	for (const host::fiber &each : host::fibers)
		any |= each.resident == block && !each.done && each.vote;
	__syncthreads();
	return any;
}

static inline unsigned atomicInc(unsigned *at, unsigned limit)
{
	const unsigned old = *at;

	*at = old >= limit ? 0 : old + 1;
	host::progress++;
	return old;
}

/* ---- arithmetic ---- */
template <class A, class B> static constexpr typename std::common_type<A, B>::type min(A a, B b)
{
	return a < b ? a : b;
}

template <class A, class B> static constexpr typename std::common_type<A, B>::type max(A a, B b)
{
	return a > b ? a : b;
}

static inline float __uint_as_float(unsigned bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline unsigned __float_as_uint(float value)
{
	unsigned bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
	return shift & 31 ? low >> (shift & 31) | high << (32 - (shift & 31)) : low;
}

static inline long long __double_as_longlong(double value)
{
	long long bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline double __longlong_as_double(long long bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#define __expf expf /* glibc has a function of this name */

static inline float __fdividef(float a, float b)
{
	return a / b;
}

static inline float rsqrtf(float x)
{
	return 1 / sqrtf(x);
}

static inline int __float2int_rn(float x)
{
	return (int)nearbyintf(x);
}

template <class T> static T __ldcg(const T *from)
{
	return *from;
}

template <class T> static void __stcg(T *to, T value)
{
	*to = value;
}

static inline void __threadfence()
{
}

static inline void __trap()
{
	host::stop("a trap");
}

static inline size_t __cvta_generic_to_shared(const void *pointer)
{
	if ((uintptr_t)pointer >> 32)
		host::stop("an address that is not one of shared memory");
	return (size_t)pointer;
}

#endif
