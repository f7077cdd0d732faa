/* SPDX-License-Identifier: MIT
 *
 * Shared memory of the running blocks, mbarriers, and TMA copies; see hopper.h.
 */
#ifndef HOST_COPIES_H
#define HOST_COPIES_H

#include <deque>
#include <functional>
#include <map>

#include "ptx.h"

namespace host
{

/* Shared memory of running block i begins at windows[i]. The low 18 bits of an address are the
 * offset in it, as in descriptors. */
enum {
	WINDOW = 1 << 18,
	RESIDENTS_MAX = 40
};
alignas(WINDOW) static unsigned char windows[RESIDENTS_MAX][WINDOW];
static unsigned cluster_blocks = 1;
static uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

static unsigned own_block()
{
	return fibers[current].resident;
}

/* Returns the address with the same offset in block `rank` of the cluster. */
static uint32_t address_in(uint32_t address, unsigned rank)
{
	const unsigned to = own_block() / cluster_blocks * cluster_blocks + rank;

	return (uint32_t)(uintptr_t)windows[to] + (address & (WINDOW - 1));
}

/* ---- mbarrier ---- */
struct mbarrier {
	unsigned count, pending, phase;
	long long bytes; /* bytes that are expected but have not arrived; negative if they arrived
			    before they were expected */
};
static std::map<uint32_t, mbarrier> mbarriers;

static mbarrier &mbarrier_at(uint32_t address)
{
	auto found = mbarriers.find(address);
	const size_t block = (address - (uint32_t)(uintptr_t)windows[0]) / WINDOW;

	if (block >= residents.size() || !residents[block].alive)
		stop("an mbarrier of a block that has ended");
	if (found == mbarriers.end())
		stop("an mbarrier that was not initialised");
	return found->second;
}

static void mbarrier_turn(mbarrier &barrier)
{
	if (barrier.pending || barrier.bytes)
		return;
	barrier.phase ^= 1;
	barrier.pending = barrier.count;
	progress++;
}

static void mbarrier_arrived(uint32_t address, long long bytes)
{
	mbarrier &barrier = mbarrier_at(address);

	if (!barrier.pending)
		stop("more arrivals than an mbarrier counts");
	barrier.pending--;
	barrier.bytes += bytes;
	progress++;
	mbarrier_turn(barrier);
}

/* ---- copies ---- */
struct box_map {
	unsigned char *base;
	unsigned element_bytes, rank;
	long long dims[5], strides[5]; /* innermost dimension first; strides in bytes, and the
					  innermost one is the size of an element */
	unsigned box[5], swizzle_bytes;
};

/* Converts to the tensor_map type of each source. */
struct map_argument {
	const box_map *map;
	template <class MAP> operator MAP() const
	{
		MAP value = {};

		memcpy(&value, &map, sizeof(map));
		return value;
	}
};

static const box_map &map_of(const void *argument)
{
	const box_map *map;

	memcpy(&map, argument, sizeof(map));
	if (!map)
		stop("a tensor map that is not there");
	return *map;
}

/* 16-byte pieces are permuted within 8 lines of 128, 64 or 32 bytes. */
static uint32_t swizzled(uint32_t address, unsigned span)
{
	return span < 32 ? address : address ^ (address >> 7 & (span / 16 - 1)) << 4;
}

/* Calls visit(address in shared memory, pointer to the tensor's element, or NULL outside the
 * tensor). */
template <class VISIT>
static void box_visit(const box_map &map, uint32_t at, const std::vector<int> &first, VISIT visit)
{
	unsigned lines = 1;

	for (unsigned i = 1; i < map.rank; i++)
		lines *= map.box[i];
	for (unsigned line = 0; line < lines; line++)
		for (unsigned x = 0; x < map.box[0]; x++) {
			unsigned rest = line;
			long long place = first[0] + (long long)x;
			bool inside = place >= 0 && place < map.dims[0];
			long long offset = place * map.element_bytes;

			for (unsigned i = 1; i < map.rank; i++) {
				place = first[i] + (long long)(rest % map.box[i]);
				rest /= map.box[i];
				inside &= place >= 0 && place < map.dims[i];
				offset += place * map.strides[i];
			}
			visit(swizzled(at + (line * map.box[0] + x) * map.element_bytes,
				      map.swizzle_bytes),
				inside ? map.base + offset : nullptr);
		}
}

static unsigned box_bytes(const box_map &map)
{
	unsigned bytes = map.element_bytes;

	for (unsigned i = 0; i < map.rank; i++)
		bytes *= map.box[i];
	return bytes;
}

struct transfer {
	std::function<void()> copy;
	uint32_t barrier;
	unsigned bytes, sweeps; /* size of the copy, and number of sweeps until it happens */
};
static std::deque<transfer> transfers;

static void transfer_begin(
	uint32_t to, unsigned bytes, uint32_t barrier, std::function<void()> copy)
{
	set_not_a_number(shared_pointer(to), bytes);
	transfers.push_back({copy, barrier, bytes, random_below(2) ? random_below(4) : UINT32_MAX});
	progress++;
}

static void transfer_end(size_t number)
{
	const transfer due = transfers[number];

	transfers.erase(transfers.begin() + (long)number);
	due.copy();
	mbarrier_at(due.barrier).bytes -= due.bytes;
	mbarrier_turn(mbarrier_at(due.barrier));
	progress++;
}

static bool transfers_go_on(bool nobody_moves)
{
	bool moved = false;

	for (size_t i = transfers.size(); i-- > 0;) {
		if (!transfers[i].sweeps) {
			transfer_end(i);
			moved = true;
		} else if (transfers[i].sweeps != UINT32_MAX) {
			transfers[i].sweeps--;
			moved = true;
		}
	}
	if (!nobody_moves || moved || transfers.empty())
		return moved;
	transfer_end(random_below((uint32_t)transfers.size()));
	return true;
}

static void box_load(uint32_t to, const void *argument, uint32_t barrier, std::vector<int> first,
	unsigned blocks = 0)
{
	const box_map &map = map_of(argument);

	if (to % 128)
		stop("TMA writes to multiples of 128 bytes");
	if (!blocks)
		blocks = 1u << own_block() % cluster_blocks;
	for (unsigned rank = 0; rank < cluster_blocks; rank++)
		if (blocks >> rank & 1) {
			const uint32_t there = address_in(to, rank);

			transfer_begin(there, box_bytes(map), address_in(barrier, rank),
				[&map, there, first] {
					box_visit(map, there, first,
						[&](uint32_t at, const unsigned char *from) {
							if (from)
								memcpy(shared_pointer(at), from,
									map.element_bytes);
							else
								memset(shared_pointer(at), 0,
									map.element_bytes);
						});
				});
		}
}

/* The stores of a thread, in groups; the last group is still open. */
static std::map<unsigned, std::deque<std::vector<std::function<void()>>>> stores;

static void box_store(const void *argument, uint32_t from, std::vector<int> first)
{
	const box_map &map = map_of(argument);
	auto &groups = stores[current];

	if (groups.empty())
		groups.push_back({});
	groups.back().push_back([&map, from, first] {
		box_visit(map, from, first, [&](uint32_t at, unsigned char *to) {
			if (to)
				memcpy(to, shared_pointer(at), map.element_bytes);
		});
	});
}

/* Completes groups until at most `open` committed ones remain. */
static void stores_finish(size_t open)
{
	auto &groups = stores[current];

	while (groups.size() > open + 1) {
		for (auto &store : groups.front())
			store();
		groups.pop_front();
		progress++;
	}
}

} // namespace host

#endif
