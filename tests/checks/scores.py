#!/usr/bin/python3
"""Recomputes the golden scores (tests/data/score/golden.csv), which the program wrote, from the devices of tests/unit/score_cases.h and
the documented formulas (src/score): tiles, waves, occupancy, shared memory, traffic, and for one launch (SPLIT_K = 1) the physical
time within 0.5%. No time may be below the limits of memory and tensor cores.

	tests/checks/scores.py"""
import csv
import re
import sys
from math import ceil, inf

failures = 0


class Case(dict):
	def __getattr__(self, name):
		return self[name]


def device(source, name):
	"""Returns the numbers of case_device_ampere(), with the changes of case_device_hopper()."""
	numbers = {}
	for wanted in ("ampere", "hopper")[: 1 + (name == "hopper")]:
		body = source.split(f"case_device_{wanted}(void)\n{{")[1].split("\n}")[0]
		numbers.update({k: float(v) for k, v in re.findall(r"(?:\.|device\.)(\w+) = ([\d.e]+)[,;]", body)})
		numbers.update({"rate_" + k: float(v) for k, v in re.findall(r"rate\[PIPE_(\w+)\]\[DTYPE_(?:BF16|FP32)\] = (\d+)", body)})
	return Case(numbers)


def expect(row, what, found, wanted, tolerance):
	global failures
	if abs(found - wanted) > tolerance * abs(wanted) + (5e-5 if tolerance else 0):  # the file's numbers have four decimals
		failures += 1
		print(f"{row['device']}, {row['case']}: {what}: expected {wanted:.6g}, found {found:.6g}")


def occupancy(d, threads, regs, smem):
	"""Returns the blocks per SM. Registers are allocated per warp in units of 256, for four schedulers; shared memory in units of 128."""
	warps = ceil(threads / 32)
	by_regs = d.regs_per_sm // 4 // (ceil(regs * 32 / 256) * 256) * 4 // warps
	by_smem = inf if not smem else d.smem_per_sm_bytes // (ceil((smem + d.smem_reserved_bytes) / 128) * 128)
	if smem > d.smem_per_block_bytes:
		return 0, "none_fits"
	limits = [(by_regs, "registers"), (by_smem, "smem"), (d.max_threads_per_sm // 32 // warps, "threads"), (d.max_blocks_per_sm, "blocks")]
	return min(limits, key=lambda limit: limit[0])


def units_per_row(pitch, rows, size, unit):
	"""Returns the mean number of lines or sectors that a row touches, over the minimum. The pitch determines where rows start."""
	touched = sum((row * pitch % unit + size - 1) // unit + 1 for row in range(rows))
	return touched / (rows * ceil(size / unit))


def physical_us(d, c, score):
	"""Returns the clocks of one launch in whole waves, with copies by threads: src/score/block_model.c, time_model.c."""
	warps, slice_bytes = c.BM // c.WM * (c.BN // c.WN), (c.BM + c.BN) * c.BK * 2
	mma_count = warps * (c.WM // 16) * (c.WN // 8) * (c.BK // 16)
	issue = d.instructions_per_clock_sm
	step_issued = max(2 * c.BM * c.BN * c.BK / d.rate_TENSOR_MMA,
		(mma_count + warps * (c.WM + c.WN) // 16 * (c.BK // 16) + slice_bytes / 512 + warps * 30) / issue)
	step_smem = (slice_bytes + warps * (c.WM + c.WN) * c.BK * 2) / d.smem_bytes_per_clock_sm
	step_l2, end_issued, end_l2 = score.lines_read * slice_bytes, c.BM * c.BN / 32 / issue, c.BM * c.BN * 2
	steps = ceil(c.K / c.BK)
	per_us = d.clock_hz * 1e-6
	dram_read = 2 * (c.M * c.K + c.N * c.K)
	latency = per_us * (d.l2_latency_us + min(1, dram_read / score.l2_bytes) * (d.dram_latency_us - d.l2_latency_us))

	def phase(issued, smem, l2, count, l2_rate):
		"""Combines instructions that warps issue with concurrent copies. The shorter part is hidden except for one block's share."""
		running = count * warps
		issued, beside = count * issued * max(1, 4 / running), count * max(smem, l2 / l2_rate)
		return max(issued, beside) + min(issued, beside) / max(1, running / 4)

	def wave(resident, sm_count):
		l2_rate = min(64, d.l2_bytes_per_clock / sm_count)
		chain, busy = (steps * phase(step_issued, step_smem, step_l2, count, l2_rate) + phase(end_issued, 0, end_l2, count, l2_rate) for count in (1, resident))
		chain += latency + steps * d.sync_us * per_us
		return max(chain, busy) + steps * latency / (c.STAGES * resident)

	full, rest = divmod(score.tiles, score.slots)
	clocks = full * wave(score.blocks, d.sm_count) if full else 0
	if rest:
		clocks += wave(ceil(rest / d.sm_count), min(rest, d.sm_count))
	busy = min(1, steps * 2 * c.BM * c.BN * c.BK / d.rate_TENSOR_MMA * score.tiles / (clocks * d.sm_count))
	sm_us = clocks / (d.clock_hz + busy * (d.tensor_clock_hz - d.clock_hz)) * 1e6
	dram_us = (dram_read + c.M * c.N * 2) / d.dram_bytes_per_s * 1e6
	return d.launch_us + max(sm_us, dram_us) + min(sm_us, dram_us) / (steps * max(1, score.tiles / score.slots))


def check(row, d):
	c = Case({k: int(v) for k, v in (pair.split("=") for pair in row["case"].split())})
	tiles = ceil(c.M / c.BM) * ceil(c.N / c.BN)
	smem, threads = c.STAGES * (c.BM + c.BN) * c.BK * 2, 32 * (c.BM // c.WM) * (c.BN // c.WN)
	blocks, limiter = occupancy(d, threads, min(255, c.WM * c.WN // 32 + (c.WM + c.WN) // 2 + 40), smem)
	expect(row, "blocks_per_sm", float(row["blocks_per_sm"]), blocks, 0)
	expect(row, "limited by " + limiter, row["occupancy_limiter"] == limiter, True, 0)
	expect(row, "smem_bytes", float(row["smem_bytes"]), smem, 0)
	expect(row, "tiles", float(row["tiles"]), tiles * c.SPLIT_K, 0)
	expect(row, "tile_efficiency_ratio", float(row["tile_efficiency_ratio"]), c.M * c.N / (tiles * c.BM * c.BN), 1e-4)
	expect(row, "occupancy_ratio", float(row["occupancy_ratio"]), blocks * ceil(threads / 32) / 64, 1e-3)
	# Computes the FLOP for C, including padded steps, and the bytes moved, including the parts of split sums.
	depth = ceil(c.K / (c.BK * c.SPLIT_K)) * c.BK * c.SPLIT_K
	intensity = 2 * c.M * c.N * depth / (2 * (c.M * c.K + c.N * c.K) + c.M * c.N * (4 * c.SPLIT_K if c.SPLIT_K > 1 else 2))
	expect(row, "arithmetic_intensity", float(row["arithmetic_intensity"]), intensity, 1e-3)
	if not blocks:
		expect(row, "predicted_time_us", float(row["predicted_time_us"]) == inf, True, 0)
		return
	slots = blocks * d.sm_count
	waves = tiles * c.SPLIT_K / slots
	expect(row, "slots_per_wave", float(row["slots_per_wave"]), slots, 0)
	expect(row, "waves", float(row["waves"]), ceil(waves), 0)
	expect(row, "wave_efficiency_ratio", float(row["wave_efficiency_ratio"]), waves / ceil(waves), 1e-3)
	rows = [(c.BM, 2 * c.BK), (c.BN, 2 * c.BK)]

	def ratio(unit):
		return sum(n * units_per_row(2 * c.K, n, size, unit) for n, size in rows) / sum(n for n, _ in rows)

	expect(row, "lines_per_row_ratio", float(row["lines_per_row_ratio"]), ratio(128), 1e-3)
	expect(row, "sectors_per_row_ratio", float(row["sectors_per_row_ratio"]), ratio(32), 1e-3)
	steps = ceil(c.K / (c.BK * c.SPLIT_K))
	l2_bytes = tiles * c.SPLIT_K * (steps * (c.BM + c.BN) * c.BK * 2 + c.BM * c.BN * (4 if c.SPLIT_K > 1 else 2)) * ratio(32)
	expect(row, "l2_bytes", float(row["l2_bytes"]), l2_bytes, 1e-3)
	time_us = float(row["predicted_time_us"])
	floor_us = max(2 * (c.M * c.K + c.N * c.K + c.M * c.N) / d.dram_bytes_per_s, 2 * c.M * c.N * c.K / (d.rate_TENSOR_MMA * d.sm_count * d.clock_hz)) * 1e6
	expect(row, f"time of at least {floor_us:.4g} us", time_us >= floor_us, True, 0)
	if c.SPLIT_K == 1:
		score = Case(tiles=tiles, slots=slots, blocks=blocks, l2_bytes=l2_bytes, lines_read=ratio(128))
		expect(row, "predicted_time_us", time_us, physical_us(d, c, score), 0.005)


def main():
	with open("tests/unit/score_cases.h", encoding="utf-8") as file:
		source = file.read()
	with open("tests/data/score/golden.csv", encoding="utf-8") as file:
		rows = list(csv.DictReader(file))
	for row in rows:
		check(row, device(source, row["device"]))
	print(f"{len(rows)} scores, {failures} numbers that differ")
	sys.exit(failures > 0 or len(rows) < 20)


main()
