"""Occupancy and quantization (score/occupancy.h, score/time_model.h)."""
import json
import math

from hypothesis import given, strategies as draw

from oracle import ask, close

SHEETS = {}
for name in ("a100-sxm4", "h200-sxm", "a10", "l4", "b200", "rtx-5090"):
	with open(f"configs/devices/{name}.json", encoding="utf-8") as file:
		SHEETS[name] = json.load(file)
BARRIERS = {"a100-sxm4": 2, "h200-sxm": 2, "b200": 2, "a10": 1, "l4": 1, "rtx-5090": 1}  # barriers of an SM for each block that it can hold
near = draw.sampled_from([-129, -128, -1, 0, 1, 127, 128])


def limit(device, name):
	return SHEETS[device]["figures"][name]["value"]


@draw.composite
def demands(pick):
	"""Shared memory near a whole number of blocks, where one byte decides."""
	device = pick(draw.sampled_from([*SHEETS]))
	smem = limit(device, "smem_per_sm_bytes") // pick(draw.integers(1, 34)) - limit(device, "smem_reserved_bytes") + pick(near)
	smem = pick(draw.sampled_from([0, max(0, smem), limit(device, "smem_per_block_bytes"), limit(device, "smem_per_block_bytes") + 1]))
	static = pick(draw.sampled_from([0, min(smem, 4096)]))
	return {"device": device, "threads": pick(draw.one_of(draw.sampled_from([0, 1, 32, 33, 128, 256, 384, 512, 1024, 1025]), draw.integers(1, 1024))),
		"regs": pick(draw.one_of(draw.sampled_from([0, 8, 9, 16, 32, 40, 64, 128, 168, 255]), draw.integers(1, 255))),
		"smem_static": static, "smem_dynamic": smem - static, "barriers": pick(draw.sampled_from([0, 1, 2, 3, 5, 16])),
		"is_known": pick(draw.sampled_from([True, True, False]))}


def up(value, unit):
	return -(-value // unit) * unit


def occupancy(demand):
	"""NVIDIA's calculator allocates registers by warp in units of 256 and by quarter of an SM, and shared memory in units of 128
	bytes. For unknown architectures the same units are used."""
	def of(name):
		return limit(demand["device"], name)
	smem, warps, known = demand["smem_static"] + demand["smem_dynamic"], -(-demand["threads"] // 32), demand["is_known"]
	regs = up(32 * demand["regs"], 256)
	if not 0 < demand["threads"] <= of("max_threads_per_block") or smem > of("smem_per_block_bytes") or up(warps, 4 if known else 1) * regs > of("regs_per_block"):
		return 0, "none_fits"
	quarters = 4 if known else 1
	blocks = {"registers": of("regs_per_sm") // quarters // (regs if known else regs * warps) * quarters // (warps if known else 1) if regs else math.inf,
		"smem": of("smem_per_sm_bytes") // up(smem + of("smem_reserved_bytes"), 128), "threads": of("max_threads_per_sm") // (32 * warps),
		"blocks": of("max_blocks_per_sm"),
		"barriers": BARRIERS[demand["device"]] * of("max_blocks_per_sm") // max(1, demand["barriers"]) if known else math.inf}
	least = min(blocks.values())
	return least, next(name for name in blocks if blocks[name] == least) if least else "none_fits"


@given(demands())
def test_occupancy_is_nvidias(demand):
	got = ask("occupancy", **demand)
	blocks, limiter = occupancy(demand)
	assert (got["blocks"], got["limiter"]) == (blocks, limiter)
	warps = blocks * -(-demand["threads"] // 32)
	assert close(got["ratio"], min(1, warps * 32 / limit(demand["device"], "max_threads_per_sm")))


GRID, PERSISTENT, STREAM_K = range(3)


@given(draw.sampled_from([*SHEETS]), draw.one_of(draw.integers(1, 40), draw.sampled_from([98, 108, 120, 132, 140, 264, 265, 512])), draw.sampled_from([1, 7, 64]),
	draw.sampled_from([GRID, PERSISTENT, STREAM_K]), draw.sampled_from([1, 2, 64, 66, 128, 131, 132, 133, 264, 300]), draw.integers(0, 4))
def test_waves_are_units_over_places(device, units, steps, schedule, grid, blocks_per_sm):
	sms = limit(device, "sm_count")
	got = ask("waves", device=device, units=units, steps=steps, schedule=schedule, grid=[grid, 1, 1], cluster=[1, 1, 1], blocks_per_sm=blocks_per_sm, max_clusters=-1)
	if blocks_per_sm == 0:
		assert got["waves"] == 0
		return
	places = sms * blocks_per_sm if schedule == GRID else min(grid, sms * blocks_per_sm)
	assert got["per_wave"] == places
	assert got["per_sm"] == (blocks_per_sm if schedule == GRID else math.ceil(places / sms))
	assert got["sm_count"] == (sms if schedule == GRID else min(sms, places))
	if schedule == STREAM_K:
		assert close(got["efficiency"], min(1, units * steps / places))
		return
	assert close(got["waves_exact"], units / places) and got["waves"] == math.ceil(units / places)
	assert close(got["efficiency"], got["waves_exact"] / got["waves"])


@given(draw.integers(1, 3), draw.sampled_from([2, 4, 8, 16]), draw.sampled_from([-1, 0, 1, 14, 28]))
def test_clusters_leave_sms_idle(blocks_per_sm, size, max_clusters):
	"""The driver's number of clusters takes precedence. Without it the sheet's number for one block per SM is multiplied by the
	blocks per SM."""
	sheet = SHEETS["h200-sxm"]["max_clusters"]
	known = sheet[str(size)]["value"]
	max_clusters = min(max_clusters, 132 * blocks_per_sm // size)
	got = ask("waves", device="h200-sxm", units=512, steps=1, schedule=GRID, grid=[512, 1, 1], cluster=[size, 1, 1], blocks_per_sm=blocks_per_sm, max_clusters=max_clusters)
	clusters = max_clusters if max_clusters > 0 else known * blocks_per_sm
	assert got["per_wave"] == clusters * size
