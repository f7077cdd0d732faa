"""Tests occupancy, quantization, cache lines and bank conflicts (score/occupancy.h, score/time_model.h, score/traffic.h)."""
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
	"""Draws shared memory sizes near a whole number of blocks, where one byte decides."""
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


# ---- cache lines and sectors ----
rows = draw.fixed_dictionaries({"pitch": draw.integers(1, 4100), "rows": draw.integers(1, 200), "size": draw.integers(1, 300)})


def units(shape, unit):
	"""Returns the mean number of units that a row touches."""
	starts = [row * shape["pitch"] for row in range(shape["rows"])]
	return sum((start + shape["size"] - 1) // unit - start // unit + 1 for start in starts) / shape["rows"]


@given(rows, draw.sampled_from([4, 32, 128]))
def test_units_are_the_mean_over_all_rows(shape, unit):
	assert close(ask("units_mean", unit=unit, **shape), units(shape, unit))


# ---- bank conflicts ----
@draw.composite
def accesses(pick):
	width = pick(draw.sampled_from([1, 2, 4, 8, 16]))
	stride, lanes, first = pick(draw.sampled_from([0, 1, 2, 3, 4, 8, 9, 32, 33])), pick(draw.sampled_from([1, 2, 4, 8, 16, 32])), pick(draw.integers(0, 40))
	address = pick(draw.one_of(
		draw.just([stride * lane for lane in range(32)]),  # columns of a matrix
		draw.just([first + stride * (lane % lanes) for lane in range(32)]),
		draw.just([stride * (lane // lanes) for lane in range(32)]),  # neighbouring lanes share an address
		draw.just([(lane & 1) | lane >> 2 << 1 for lane in range(32)]),  # n and n^2 have one address
		draw.just([lane % 16 * 8 + (lane // 16 ^ lane % 8) for lane in range(32)]),  # a swizzle
		draw.lists(draw.integers(0, 70), min_size=32, max_size=32)))
	return {"width": width, "address": [width * each for each in address]}


def words(address, width):
	return {(each + byte) // 4 for each in address for byte in range(width)}


def wavefronts(address, width):
	at_once = 32 if width <= 4 else 128 // width
	if width > 4 and any(all(address[n] == address[n ^ step] for n in range(32)) for step in (1, 2)):
		at_once *= 2
	groups = (words(address[at:at + at_once], width) for at in range(0, 32, at_once))
	return sum(max(sum(word % 32 == bank for word in group) for bank in range(32)) for group in groups)


@given(accesses())
def test_each_bank_serves_one_word_at_once(access):
	assert ask("wavefronts", **access) == [wavefronts(**access), max(1, access["width"] // 4), math.ceil(len(words(**access)) / 32)]


@given(rows, draw.lists(accesses(), max_size=3), draw.lists(draw.booleans(), min_size=3, max_size=3), draw.integers(1, 9), draw.integers(1, 5))
def test_misaligned_rows_and_conflicts_multiply_bytes(shape, drawn, writes, count, steps):
	drawn = [{**access, "bytes": 1000, "is_write": is_write} for access, is_write in zip(drawn, writes)]
	got = ask("traffic", accesses=drawn, units=count, steps=steps, read=64, written=32, **shape)
	lines, sectors = (units(shape, unit) / math.ceil(shape["size"] / unit) for unit in (128, 32))
	assert close(got["lines"], lines) and close(got["sectors"], sectors)
	assert close(got["l2"], count * (64 * steps + 32) * sectors)
	def bytes_of(each, count):  # bytes of an access that takes `count` wavefronts
		return 1000 * count / max(1, each["width"] // 4)

	for name, is_write in ("smem_read", False), ("smem_written", True):
		assert close(got[name], sum(bytes_of(each, wavefronts(each["address"], each["width"])) for each in drawn if each["is_write"] == is_write))
	least = sum(bytes_of(each, math.ceil(len(words(each["address"], each["width"])) / 32)) for each in drawn)
	assert close(got["conflicts"], (got["smem_read"] + got["smem_written"]) / least if drawn else 1)
