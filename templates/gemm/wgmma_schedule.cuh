// Which tiles a persistent block works on, and in which order. All threads of a cluster walk the
// same list; a cluster takes CLUSTER_M x CLUSTER_N tiles at once, called a unit here.
//
// Without STREAM_K, worker w takes the units w, w + workers, ... Neighbouring units run at the same
// time, so their order decides what L2 serves: units are numbered in bands of `group` units across,
// along the other direction.
//
// With STREAM_K, the units of the last full round and of the incomplete one are cut along k so that
// every worker gets the same number of steps, a run that begins and ends anywhere. A unit's first
// worker owns it: the others leave their partial sums in the workspace, and the owner, to whom the
// unit is the last of its run, adds them in the order of k. Nobody waits for a worker that waits.
#include "common/types.cuh"
#pragma once
// A tile's share of work: `steps` k steps from `first_step` on.
struct work {
	i32 product;     // of a batch
	i32 row, column; // first row and column of this block's tile, in elements
	i32 first_step, steps;
	i32 first_worker, last_worker; // whose sums make up the unit (equal: ours alone)
};

struct schedule {
	i32 units_m, units_n, units, steps; // units: of all products
	i32 worker, workers;
	i32 along_n, group;
	i32 block_row, block_column; // this block's place in the cluster, in tiles
	i32 next_unit;
#if STREAM_K
	i32 shared_units, at, end; // units that are cut, and this worker's run over their steps
#endif

	__device__ __forceinline__ schedule(i32 products, i32 m, i32 n, i32 k, i32 along_n,
		i32 group, i32 worker, i32 workers, i32 block_row, i32 block_column)
	    : units_m(ceil_div(m, BM * CLUSTER_M)), units_n(ceil_div(n, BN * CLUSTER_N)),
	      units(products * units_m * units_n), steps(ceil_div(k, BK)), worker(worker),
	      workers(workers), along_n(along_n), group(group), block_row(block_row),
	      block_column(block_column), next_unit(worker)
	{
#if STREAM_K
		i32 rounds = units / workers;
		shared_units = units - rounds * workers;
		if (shared_units && rounds)
			shared_units += workers;
		at = first_of(worker);
		end = first_of(worker + 1);
		next_unit = shared_units + worker;
#endif
	}

#if STREAM_K
	// The step at which a worker's run begins. The family's constraints keep the product in 32
	// bits.
	__device__ __forceinline__ i32 first_of(i32 index) const
	{
		return (i32)((u32)index * (u32)(shared_units * steps) / (u32)workers);
	}
	// The worker whose run contains a step: the last one that begins at or before it.
	__device__ __forceinline__ i32 worker_of(i32 step) const
	{
		return (i32)((((u32)step + 1) * (u32)workers - 1) / (u32)(shared_units * steps));
	}
#endif

	__device__ __forceinline__ void place(i32 unit, work &item) const
	{
		item.product = BATCHED ? unit / (units_m * units_n) : 0;
		unit -= item.product * (units_m * units_n);
		i32 across = along_n ? units_n : units_m, along = along_n ? units_m : units_n;
		i32 band = unit / (group * along);
		i32 width = min(across - band * group, group);
		i32 rest = unit - band * group * along;
		i32 line = rest / width;
		i32 lane = band * group + rest - line * width;
		i32 unit_m = along_n ? line : lane, unit_n = along_n ? lane : line;
		item.row = (unit_m * CLUSTER_M + block_row) * BM;
		item.column = (unit_n * CLUSTER_N + block_column) * BN;
	}

	// The next item of this worker's list; false at its end.
	__device__ __forceinline__ bool next(work &item)
	{
#if STREAM_K
		if (at < end) {
			i32 unit = at / steps;
			item.first_step = at - unit * steps;
			item.steps = min(steps - item.first_step, end - at);
			item.first_worker = worker_of(unit * steps);
			item.last_worker = worker_of(unit * steps + steps - 1);
			at += item.steps;
			place(unit, item);
			return true;
		}
#endif
		if (next_unit >= units)
			return false;
		item.first_step = 0;
		item.steps = steps;
		item.first_worker = item.last_worker = worker;
		place(next_unit, item);
		next_unit += workers;
		return true;
	}
};
