/* SPDX-License-Identifier: MIT
 *
 * Hopper's asynchronous instructions on the CPU: mbarriers, TMA, wgmma, clusters. Each happens at
 * the worst time that its rules allow, so that data read or freed too early is garbage:
 *
 *	TMA load      fills its destination with NaN at once; the data comes some sweeps over all
 *	              threads later or when every thread waits, in any order, and then counts
 *	              on the mbarrier
 *	TMA store     reads shared memory when it is waited for, or when its thread ends
 *	wgmma         reads its operands when a warp of the group waits for it; its sums are NaN
 *	              until then
 *	elect.sync    selects lane 7
 *	a block       loses its mbarriers when it ends
 *
 * Sources: PTX ISA, "Asynchronous warpgroup level matrix instructions", "mbarrier", "Tensors".
 */
#ifndef HOST_HOPPER_H
#define HOST_HOPPER_H

#include "products.h"

namespace host
{

/* ---- clusters and blocks ---- */
struct cluster_barrier {
	unsigned arrived, generation;
};
static std::vector<cluster_barrier> cluster_barriers;
static std::vector<unsigned> cluster_waits; /* generation in which each thread arrived */

static void hopper_begin()
{
	mbarriers.clear();
	transfers.clear();
	stores.clear();
	warp_groups.clear();
	shadows.clear();
	cluster_barriers.assign(residents.size() / cluster_blocks + 1, {});
	cluster_waits.assign(fibers.size(), 0);
	for (size_t i = 0; i < residents.size(); i++)
		set_not_a_number(windows[i], WINDOW);
}

static void hopper_thread_ends()
{
	stores_finish(0);
}

/* Runs `resident` blocks at a time: those of a cluster, or all of a grid. */
template <class BODY>
static void launch_clusters(
	dim grid, dim block, unsigned cluster, unsigned resident_count, BODY body)
{
	if (resident_count > RESIDENTS_MAX)
		stop("too many blocks at a time");
	sweep_ends = transfers_go_on;
	thread_ends = hopper_thread_ends;
	blocks_begin = hopper_begin;
	cluster_blocks = cluster;
	gridDim = grid;
	blockDim = block;
	kernel = [](void *context) { (*(BODY *)context)(); };
	kernel_context = &body;
	/* the last blocks come first, so that a block that writes into the result of another is
	 * not hidden */
	for (unsigned y = grid.y; y > 0; y--)
		for (unsigned x = grid.x; x > 0; x -= resident_count)
			run_blocks({x - resident_count, y - 1, 0}, resident_count, windows, WINDOW);
	if (!transfers.empty())
		stop("a copy into shared memory is under way when its block ends");
	if (!shadows.empty())
		stop("products that nobody waited for");
}

} // namespace host

static inline void ptx_mbarrier_init_shared_cta_b64(uint32_t barrier, unsigned count)
{
	host::mbarriers[barrier] = {count, count, 0, 0};
	host::progress++;
}
static inline void ptx_mbarrier_arrive_shared_cta_b64(uint32_t barrier)
{
	host::mbarrier_arrived(barrier, 0);
}
static inline void ptx_mbarrier_arrive_expect_tx_shared_cta_b64(uint32_t barrier, unsigned bytes)
{
	host::mbarrier_arrived(barrier, bytes);
}
/* mapa and mbarrier.arrive in one statement */
static inline void ptx_mapa_shared_cluster_u32(uint32_t barrier, unsigned rank)
{
	host::mbarrier_arrived(host::address_in(barrier, rank), 0);
}
template <class T>
static void ptx_mapa_shared_cluster_u32(T &remote, uint32_t address, unsigned rank)
{
	remote = host::address_in(address, rank);
}
template <class T>
static void ptx_mbarrier_try_wait_parity_shared_cta_b64(T &done, uint32_t barrier, unsigned parity)
{
	done = host::mbarrier_at(barrier).phase != parity;
	if (!done) {
		host::give_way();
		done = host::mbarrier_at(barrier).phase != parity;
	}
}
static inline void ptx_fence_mbarrier_init_release_cluster()
{
}
static inline void ptx_fence_proxy_async_shared_cta()
{
}
template <class T> static void ptx_elect_sync(T &yes)
{
	yes = host::current % 32 == 7;
}
static inline void ptx_prefetch_tensormap(const void *)
{
}
template <class T> static void ptx_createpolicy_fractional_L2_evict_first_b64(T &policy)
{
	policy = 1;
}
template <class T> static void ptx_createpolicy_fractional_L2_evict_last_b64(T &policy)
{
	policy = 1;
}
static inline void ptx_setmaxnreg_inc_sync_aligned_u32(int)
{
}
static inline void ptx_setmaxnreg_dec_sync_aligned_u32(int)
{
}

/* coordinates; the other two forms add an L2 policy, or the blocks that receive the copy */
#define HOST_LOAD(rank, form)                                                                      \
	ptx_cp_async_bulk_tensor_##rank##_shared_cluster_global_mbarrier_complete_tx_bytes##form
#define HOST_LOADS(rank, ...)                                                                      \
	static inline void HOST_LOAD(rank, )(                                                      \
		uint32_t to, const void *map, uint32_t barrier, HOST_PLACE_##rank)                 \
	{                                                                                          \
		host::box_load(to, map, barrier, {__VA_ARGS__});                                   \
	}                                                                                          \
	static inline void HOST_LOAD(rank, _L2_cache_hint)(                                        \
		uint32_t to, const void *map, uint32_t barrier, HOST_PLACE_##rank, uint64_t)       \
	{                                                                                          \
		host::box_load(to, map, barrier, {__VA_ARGS__});                                   \
	}                                                                                          \
	static inline void HOST_LOAD(rank, _multicast_cluster)(uint32_t to, const void *map,       \
		uint32_t barrier, HOST_PLACE_##rank, unsigned blocks)                              \
	{                                                                                          \
		host::box_load(to, map, barrier, {__VA_ARGS__}, blocks);                           \
	}
#define HOST_PLACE_2d int x, int y
#define HOST_PLACE_3d int x, int y, int z
#define HOST_PLACE_4d int x, int y, int z, int w
HOST_LOADS(2d, x, y)
HOST_LOADS(3d, x, y, z)
HOST_LOADS(4d, x, y, z, w)
static inline void ptx_cp_async_bulk_shared_cluster_global_mbarrier_complete_tx_bytes(
	uint32_t to, const void *from, unsigned bytes, uint32_t barrier)
{
	host::transfer_begin(
		to, bytes, barrier, [=] { memcpy(host::shared_pointer(to), from, bytes); });
}
static inline void ptx_cp_async_bulk_tensor_2d_global_shared_cta_bulk_group(
	const void *map, uint32_t from, int x, int y)
{
	host::box_store(map, from, {x, y});
}
static inline void ptx_cp_async_bulk_commit_group()
{
	if (!host::stores[host::current].empty())
		host::stores[host::current].push_back({});
}
static inline void ptx_cp_async_bulk_wait_group_read(unsigned open)
{
	host::stores_finish(open);
}

static inline void ptx_wgmma_fence_sync_aligned()
{
}
static inline void ptx_wgmma_commit_group_sync_aligned()
{
	host::warp_meet(nullptr, [](void **, uint32_t) {
		host::warp_group &group = host::own_group();
		const unsigned warp = host::own_warp();

		group.commits[warp].push_back(group.issued[warp]);
	});
}
static inline void ptx_wgmma_wait_group_sync_aligned(unsigned open)
{
	host::products_wait(open);
}

static inline void ptx_barrier_cluster_arrive_release_aligned()
{
	host::cluster_barrier &barrier =
		host::cluster_barriers[host::own_block() / host::cluster_blocks];

	host::cluster_waits[host::current] = barrier.generation;
	if (++barrier.arrived == host::cluster_blocks * blockDim.x) {
		barrier.arrived = 0;
		barrier.generation++;
	}
	host::progress++;
}
static inline void ptx_barrier_cluster_wait_acquire_aligned()
{
	while (host::cluster_barriers[host::own_block() / host::cluster_blocks].generation ==
		host::cluster_waits[host::current])
		host::give_way();
}
/* %cluster_ctarank is the only special register that templates/ read this way */
template <class T> static void ptx_mov_u32(T &rank)
{
	rank = host::own_block() % host::cluster_blocks;
}

template <class T> static void ptx_ld_acquire_gpu_global_u32(T &value, const unsigned *at)
{
	host::give_way();
	value = *at;
}
static inline void ptx_st_release_gpu_global_u32(unsigned *at, unsigned value)
{
	*at = value;
	host::progress++;
}

static inline void host_stmatrix(uint32_t address, const uint32_t *words, int matrices)
{
	struct part {
		uint32_t address, words[4];
		int matrices;
	} mine = {address, {}, matrices};

	memcpy(mine.words, words, (size_t)matrices * 4);
	host::warp_meet(&mine, [](void **lane, uint32_t) {
		const int count = ((part *)lane[0])->matrices;

		for (int matrix = 0; matrix < count; matrix++)
			for (int i = 0; i < 32; i++)
				memcpy((char *)host::shared_pointer(
					       ((part *)lane[matrix * 8 + i / 4])->address) +
						i % 4 * 4,
					&((part *)lane[i])->words[matrix], 4);
	});
}
static inline void ptx_stmatrix_sync_aligned_m8n8_x4_shared_b16(
	uint32_t address, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t words[] = {a, b, c, d};

	host_stmatrix(address, words, 4);
}
static inline void ptx_stmatrix_sync_aligned_m8n8_x2_shared_b16(
	uint32_t address, uint32_t a, uint32_t b)
{
	const uint32_t words[] = {a, b};

	host_stmatrix(address, words, 2);
}

/* Transposes an 8x8 matrix: lane l holds row l / 4, columns 2 (l % 4) and the next. */
static inline uint32_t host_transposed(uint32_t word)
{
	const unsigned lane = host::current % 32, row = lane / 4;
	uint32_t other = 0;

	for (unsigned half = 0; half < 2; half++) {
		const uint32_t from = host::shuffle(word, (lane % 4 * 2 + half) * 4 + row / 2);

		other |= (from >> 16 * (row % 2) & 0xffff) << 16 * half;
	}
	return other;
}
template <class T> static void ptx_movmatrix_sync_aligned_m8n8_trans_b16(T &result, uint32_t word)
{
	result = host_transposed(word);
}
static inline void ptx_stmatrix_sync_aligned_m8n8_x4_trans_shared_b16(
	uint32_t address, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t words[] = {
		host_transposed(a), host_transposed(b), host_transposed(c), host_transposed(d)};

	host_stmatrix(address, words, 4);
}
static inline void ptx_stmatrix_sync_aligned_m8n8_x2_trans_shared_b16(
	uint32_t address, uint32_t a, uint32_t b)
{
	const uint32_t words[] = {host_transposed(a), host_transposed(b)};

	host_stmatrix(address, words, 2);
}

static inline void ptx_st_shared_cluster_f32(uint32_t to, float a)
{
	memcpy(host::shared_pointer(to), &a, 4);
}
static inline void ptx_st_shared_cluster_v2_f32(uint32_t to, float a, float b)
{
	const float values[] = {a, b};

	memcpy(host::shared_pointer(to), values, sizeof(values));
}
static inline void ptx_st_shared_cluster_v4_f32(uint32_t to, float a, float b, float c, float d)
{
	const float values[] = {a, b, c, d};

	memcpy(host::shared_pointer(to), values, sizeof(values));
}
static inline void ptx_ld_shared_cluster_v4_f32(
	float &a, float &b, float &c, float &d, uint32_t from)
{
	float values[4];

	memcpy(values, host::shared_pointer(from), sizeof(values));
	a = values[0], b = values[1], c = values[2], d = values[3];
}
template <class T> static void ptx_cvt_rn_f16x2_e4m3x2(T &halves, unsigned pair)
{
	halves = (T)(host::half_of(host::of_fp8((uint8_t)pair)) |
		     host::half_of(host::of_fp8((uint8_t)(pair >> 8))) << 16);
}
template <class T> static void ptx_cvt_rn_satfinite_e4m3x2_f32(T &pair, float high, float low)
{
	pair = (T)(host::fp8_of(low) | host::fp8_of(high) << 8);
}

static inline void ptx_max_NaN_f32(float &larger, float a, float b)
{
	larger = a != a || b != b ? NAN : a > b ? a : b;
}
template <class T> static T __ldg(const T *from)
{
	return *from;
}
static inline unsigned __reduce_max_sync(unsigned mask, unsigned value)
{
	unsigned most = 0;

	host::expect_whole(mask);
	for (unsigned lane = 0; lane < 32; lane++)
		most = max(most, host::shuffle(value, lane));
	return most;
}
template <class T> static T atomicAdd(T *at, int more)
{
	const T old = *at;

	*at += (T)more;
	host::progress++;
	return old;
}

#endif
