#!/usr/bin/python3
"""The golden scores (tests/data/score/golden.csv), which the program wrote itself, worked out again from
the devices of tests/unit/score_cases.h and the documented formulas (src/score): tiles, waves, occupancy,
shared memory, traffic, and for one launch (SPLIT_K = 1) the physical time within 0.5%. Nothing may be
faster than memory and tensor cores allow.

	tests/checks/scores.py
"""
import csv
import re
import sys
from math import ceil, inf

failures = 0


class Case(dict):
	def __getattr__(self, name):
		return self[name]


def device(source, name):
	"""The numbers of case_device_ampere(), and of case_device_hopper() on top of it."""
	numbers = {}
	for wanted in ("ampere", "hopper")[: 1 + (name == "hopper")]:
		body = source.split(f"case_device_{wanted}(void)\n{{")[1].split("\n}")[0]
		numbers.update({k: float(v) for k, v in re.findall(r"(?:\.|device\.)(\w+) = ([\d.e]+)[,;]", body)})
		numbers.update({"rate_" + k: float(v) for k, v in re.findall(r"rate\[PIPE_(\w+)\]\[DTYPE_(?:BF16|FP32)\] = (\d+)", body)})
	return Case(numbers)


def expect(row, what, found, wanted, tolerance):
	global failures
	if abs(found - wanted) > tolerance * abs(wanted) + (5e-5 if tolerance else 0):  # four digits behind the point
		failures += 1
		print(f"{row['device']}, {row['case']}: {what}: expected {wanted:.6g}, found {found:.6g}")


def occupancy(d, threads, regs, smem):
	"""Blocks per SM: registers go to warps in units of 256, by schedulers in fours; shared memory in units of 128."""
	warps = ceil(threads / 32)
	by_regs = d.regs_per_sm // 4 // (ceil(regs * 32 / 256) * 256) * 4 // warps
	by_smem = inf if not smem else d.smem_per_sm_bytes // (ceil((smem + d.smem_reserved_bytes) / 128) * 128)
	if smem > d.smem_per_block_bytes:
		return 0, "none_fits"
	limits = [(by_regs, "registers"), (by_smem, "smem"), (d.max_threads_per_sm // 32 // warps, "threads"), (d.max_blocks_per_sm, "blocks")]
	return min(limits, key=lambda limit: limit[0])


def units_per_row(pitch, rows, size, unit):
	"""Lines or sectors that a row touches, over the fewest: rows start where the pitch puts them."""
	touched = sum((row * pitch % unit + size - 1) // unit + 1 for row in range(rows))
	return touched / (rows * ceil(size / unit))


def physical_us(d, c, score):
	"""One launch in whole waves, copies by threads: src/score/block_model.c, time_model.c."""
	warps, slice_bytes = c.BM // c.WM * (c.BN // c.WN), (c.BM + c.BN) * c.BK * 2
	mma_count = warps * (c.WM // 16) * (c.WN // 8) * (c.BK // 16)
	issue = d.instructions_per_clock_sm * 0.8
	step = {"tensor": 2 * c.BM * c.BN * c.BK / d.rate_TENSOR_MMA,
		"instructions": (mma_count + warps * (c.WM + c.WN) // 16 * (c.BK // 16) + slice_bytes / 512 + warps * 30) / issue,
		"smem": (slice_bytes + warps * (c.WM + c.WN) * c.BK * 2) / d.smem_bytes_per_clock_sm,
		"l2": (1 + score.lines_read - 1) * slice_bytes}
	epilogue = {"instructions": c.BM * c.BN / 32 / issue, "l2": 2.7 * c.BM * c.BN * 2, "tensor": 0, "smem": 0}
	steps, stages = ceil(c.K / c.BK), max(1, c.STAGES - 0.55)
	per_us = d.clock_hz * 1e-6
	dram_read = 2 * (c.M * c.K + c.N * c.K)
	latency = per_us * (d.l2_latency_us + min(1, dram_read / score.l2_bytes) * (d.dram_latency_us - d.l2_latency_us))
	barrier = d.sync_us * per_us

	def phase(amounts, count, l2_rate, running):
		idle = 4 / running if running < 4 else 1
		return {k: v * count * (1 / l2_rate if k == "l2" else 1 if k == "smem" else idle) for k, v in amounts.items()}

	def together(clocks, per_scheduler):
		most = max(clocks.values())
		rest = (sum(clocks.values()) - most) * 0.21
		return most + (rest / per_scheduler if per_scheduler > 1 else rest)

	def wave(resident, sm_count):
		l2_rate = min(110, d.l2_bytes_per_clock / sm_count)
		under_load = latency * 2.7  # of the copy path by threads, whatever the number of SMs
		own_step = together(phase(step, 1, l2_rate, warps), warps / 4) + barrier
		chain = under_load + steps * own_step + together(phase(epilogue, 1, l2_rate, warps), warps / 4)
		running = resident * warps
		all_steps, ends = phase(step, resident * steps, l2_rate, running), phase(epilogue, resident, l2_rate, running)
		busy = together({k: all_steps[k] + ends[k] for k in step}, running / 4)
		serial = together(all_steps, running / 4) + together(ends, running / 4)
		busy += (serial - busy) / resident + steps * barrier / resident
		waiting = steps / stages * (under_load + own_step)
		longer, shorter = max(busy, chain, waiting), min(max(busy, chain), waiting)
		exposed = under_load + together(ends, running / 4)
		return longer * (1 + (shorter / longer) ** 4.5) ** (1 / 4.5), exposed

	full, rest = divmod(score.tiles, score.slots)
	clocks = exposed = 0
	if full:
		clocks, exposed = wave(score.blocks, d.sm_count)
		clocks *= full
	if rest:
		last = wave(ceil(rest / d.sm_count), min(rest, d.sm_count))
		clocks, exposed = clocks + last[0], exposed if full else last[1]
	busy = min(1, steps * step["tensor"] * score.tiles / (clocks * d.sm_count))
	sm_us = clocks / (d.clock_hz + busy * (d.tensor_clock_hz - d.clock_hz)) * 1e6
	dram_us = (dram_read + c.M * c.N * 2) / d.dram_bytes_per_s * 1e6 + 0.8 * exposed / per_us
	return d.launch_us + 1 + max(sm_us, dram_us) + 0.08 * min(sm_us, dram_us)


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
	# of what is computed for C, steps filled up with zeros; of what moves, the parts of split sums
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
