"""Tests the verdicts of a check (check/judge.h)."""
import collections
import json
import xml.etree.ElementTree
from math import hypot

import numpy
from hypothesis import given, strategies as draw

from oracle import ask, close, close_interval, student
from test_statistics import interval

ratios = draw.sampled_from([0.85, 0.93, 0.95, 0.96, 0.97, 0.99, 1.0, 1.01, 1.02, 1.03, 1.035, 1.04, 1.05, 1.06, 1.1, 1.2])


@draw.composite
def intervals(pick, values=ratios):
	value = pick(values)
	return {"value": value, "low": value * (1 - pick(draw.sampled_from([0, 0.003, 0.01, 0.05]))), "high": value * (1 + pick(draw.sampled_from([0, 0.003, 0.01, 0.05])))}


def widened(one, half):
	value = one["value"]
	return value, value - hypot(value - one["low"], half), value + hypot(one["high"] - value, half)


def judge(threshold, floor, slowdown):
	low, high = slowdown["low"] - floor, slowdown["high"] + floor
	if min(map(abs, (high - 1 - threshold, low - 1 + threshold, low - 1, high - 1))) < 1e-9:
		return None  # at the limit itself rounding decides
	if low > 1 and high >= 1 + threshold:
		return "slower"
	if high < 1 and low <= 1 - threshold:
		return "faster"
	return "unclear" if high >= 1 + threshold else "same"


@given(intervals(), draw.sampled_from([0.02, 0.05, 0.1]), draw.sampled_from([0, 0.005, 0.01]), draw.sampled_from([0.9, 0.96, 0.98, 1.0, 1.02, 1.04, 1.1]), draw.booleans())
def test_the_widened_interval_decides_under_every_explanation(time, threshold, floor, anchor, clock_bound):
	got = ask("check_verdict", threshold=threshold, floor=floor, time=time, anchor=anchor, clock_bound=clock_bound)
	plain, scaled = time, {name: value / anchor for name, value in time.items()}
	verdict, under = judge(threshold, floor, time), judge(threshold, floor, scaled)
	assert verdict is None or got["verdict"] == verdict
	assert close_interval(got["slowdown"], (scaled if clock_bound else plain).values())
	own, other = (under, verdict) if clock_bound else (verdict, under)
	if abs(anchor - 1) > 0.03 and own == "slower" and other != "slower":
		own = "unclear"
	assert own is None or other is None or got["clocked"] == own


@given(intervals(draw.sampled_from([1.0, 2.0, 10.0])), intervals(draw.sampled_from([1.0, 3.0])), draw.sampled_from([0, 0.05, 0.2]), draw.sampled_from([0, 0.01, 1.0]), draw.integers(1, 4))
def test_errors_of_intervals_are_independent(now, then, half_width, deviation, loads):
	got = ask("check_estimate", now=now, then=then, half_width=half_width, deviation=deviation, loads=loads)
	ratio = now["value"] / then["value"]
	low = ratio * hypot(1 - now["low"] / now["value"], then["high"] / then["value"] - 1)
	high = ratio * hypot(now["high"] / now["value"] - 1, 1 - then["low"] / then["value"])
	assert close_interval(got["over"], (ratio, ratio - low, ratio + high))
	assert close_interval(got["widened"], widened(now, half_width))
	assert close(got["half_ratio"], (now["high"] - now["low"]) / 2 / now["value"])
	assert close(got["loads"], student(3, 0.99) * deviation / loads ** 0.5)
	stretch = student(3, 0.99) / student(3, 0.95)
	assert close_interval(got["stretched"], (now["value"], now["value"] - stretch * (now["value"] - now["low"]), now["value"] + stretch * (now["high"] - now["value"])))


@given(draw.sampled_from([0.25, 0.5]), draw.sampled_from([0, 0.125]), draw.integers(4, 32), draw.integers(0, 12))
def test_the_limits_themselves(threshold, floor, low, width):
	"""The sums are exact. An interval that ends at 1 does not exclude 1, and one that ends at 1 + threshold or 1 - threshold does not
	exclude this limit."""
	interval = {"low": low / 16, "value": (low + width / 2) / 16, "high": (low + width) / 16}
	below, above = interval["low"] - floor, interval["high"] + floor
	expected = ("slower" if below > 1 and above >= 1 + threshold else "faster" if above < 1 and below <= 1 - threshold else
		"unclear" if above >= 1 + threshold else "same")
	assert ask("check_verdict", threshold=threshold, floor=floor, time=interval, anchor=1, clock_bound=False)["verdict"] == expected


def baseline(run=None, launches=None, timing="measured", us=10.0, score=None):
	entry = {"operation": "gemm", "problem": {"M": 1}, "timing": timing, "run": "r", "tied": [], "families": [], "winner": {"family": "gemm/a", "configuration": {"BM": 1},
		"kernel_hash": "", "time_us": {"median": us, "ci95_low": us, "ci95_high": us, "samples": 9}, "launches": launches or WINNER["launches"], **({"score": score} if score else {})}}
	return {"format": "tiletune.tuned/1", "device": {"name": "x", "sheet": "h200-sxm", "compute_capability": 90, "sm_count": 132},
		"runs": [{"id": "r", "date": "d", "tiletune": {"version": "1"}, **(run or {})}], "entries": [entry]}


with open("tests/data/report/small.json", encoding="utf-8") as small:
	WINNER = json.load(small)["entries"][0]["winner"]
amounts = {"threads": draw.sampled_from([128, 256]), "regs_per_thread": draw.sampled_from([64, 128]), "spill_bytes": draw.sampled_from([0, 0, 8, 96]),
	"stack_bytes": draw.sampled_from([0, 0, 16, 96]), "smem_static_bytes": draw.sampled_from([0, 1024]), "smem_dynamic_bytes": draw.sampled_from([0, 2048]),
	"blocks_per_sm": draw.sampled_from([1, 2])}


@given(draw.fixed_dictionaries(amounts), draw.fixed_dictionaries(amounts), draw.sampled_from(["score", "old score", "none"]), draw.booleans())
def test_what_is_said_of_resources(then, now, stored, compiled):
	"""Old baselines lack local memory, or the whole score. A kernel that spilled used local memory. Unknown values are not compared."""
	launch = {**WINNER["launches"][0], "block": [then["threads"], 1, 1], "smem_dynamic_bytes": then["smem_dynamic_bytes"]}
	for name in ("regs_per_thread", "spill_bytes", "smem_static_bytes", "blocks_per_sm"):
		launch[name] = then[name]
	if not compiled:
		launch = {name: value for name, value in launch.items() if name not in ("regs_per_thread", "spill_bytes", "smem_static_bytes", "blocks_per_sm")}
	score = {**WINNER["score"], **({"stack_bytes": then["stack_bytes"]} if stored == "score" else {})}
	got = ask("resources", tuned=baseline(launches=[launch], score=score if stored != "none" else None), now=[now])
	before = {name: value for name, value in then.items() if compiled or name in ("threads", "smem_dynamic_bytes")}
	before["stack_bytes"] = None if stored == "none" else then["stack_bytes"] if stored == "score" else 0
	if not before["stack_bytes"] and (before.get("spill_bytes") or not compiled):
		before["stack_bytes"] = None
	expected = []
	for what, unit, name, worse in (("threads", "", "threads", 0), ("registers", "", "regs_per_thread", 0), ("spills", " B", "spill_bytes", 1),
			("local memory", " B", "stack_bytes", 1), ("shared memory", " B", "smem", 0), ("occupancy", " blocks per SM", "blocks_per_sm", -1)):
		def value(of):
			return of["smem_static_bytes"] + of["smem_dynamic_bytes"] if name == "smem" and "smem_static_bytes" in of else of.get(name)
		old, new = value(before), value(now)
		if old is not None and old != new:
			expected.append([f"{what} {old} -> {new}{unit}", (new - old) * worse > 0])
	assert got == expected


rounds = draw.lists(draw.sampled_from([9.9, 10.0, 10.1, 10.7]), min_size=12, max_size=14)


@given(rounds, draw.sampled_from([1, 1.04, 1.2, 0.8]), draw.booleans(), draw.booleans(), draw.sampled_from([0.0, 900.0, 1000.0, 1100.0]),
	draw.sampled_from([0.0, 1000.0]), draw.booleans(), draw.lists(draw.sampled_from([1.0, 1.1, 1.5]), min_size=14, max_size=14), draw.sampled_from(["measured", "predicted"]))
def test_a_timed_row(times, factor, has_kept, same_binary, then_us, now_us, dram, drift, timing):
	today = [each * factor for each in times]
	common = {"threshold": 0.05, "deviation": 0.01, "dram": dram, "kept": times if has_kept else [], "anchor": [1000.0] * len(times)}

	def asked(then=then_us, now=now_us, scale=None, **more):
		drawn = {name: [a * b for a, b in zip(each, scale)] if scale else each for name, each in (("today", today), ("kept", common["kept"]), ("anchor", common["anchor"]))}
		run = {"anchor_us": then} if then else {}
		return ask("timed_row", **{**common, **drawn, "tuned": baseline(run, timing=timing), "anchor_us": now, "same_binary": same_binary, **more})
	got = asked()
	if same_binary:
		assert got["verdict"] == "same"
	elif not has_kept and timing == "predicted":
		assert got["verdict"] == "not comparable"
	elif factor == 1.2 and has_kept:
		assert got["verdict"] == "slower"
	if not then_us or not now_us:  # an unknown anchor counts as unchanged
		assert got == asked(then=1000.0, now=1000.0)
	if has_kept:  # drift between rounds and the anchor's time do not affect kernels of the same rounds
		drifted, other = asked(scale=drift), asked(then=1100.0, now=1000.0)
		assert (got["verdict"], got["verdict"]) == (drifted["verdict"], other["verdict"]) and close(got["slowdown"], drifted["slowdown"])
	median = sorted(today)[len(today) // 2] if len(today) % 2 else sum(sorted(today)[len(today) // 2 - 1:len(today) // 2 + 1]) / 2
	assert close(got["time"], median)
	if timing == "measured" and (has_kept or same_binary):
		assert close(got["machine"], (median / factor if has_kept else median) / 10)


VERDICTS = ["same", "faster", "slower", "unclear", "not comparable", "other bits", "failed"]
rows_drawn = draw.lists(draw.fixed_dictionaries({"verdict": draw.sampled_from(VERDICTS), "ratio": draw.sampled_from([0, 0.5, 0.97, 1.25]),
	"baseline_us": draw.sampled_from([0, 12.5]), "time_us": draw.sampled_from([0, 7.25]), "reason": draw.sampled_from(["fine", "a | b", "<x> & \"y\""])}), min_size=1, max_size=9)


@given(rows_drawn)
def test_all_outputs_tell_the_same(rows):
	got = ask("check_outputs", tuned=baseline(), rows=rows)
	counts = collections.Counter(row["verdict"] for row in rows)
	worst = 1 if counts["failed"] else 3 if counts["slower"] or counts["other bits"] else 4 if counts["unclear"] or counts["not comparable"] else 0
	assert got["status"] == got["json"]["exit_code"] == worst
	assert {name: count for name, count in got["json"]["counts"].items() if count} == dict(counts)
	assert [row["verdict"] for row in got["json"]["entries"]] == [row["verdict"] for row in rows]
	suite = xml.etree.ElementTree.fromstring(got["junit"])
	for element in (suite, suite[0]):
		assert [int(element.get(name)) for name in ("tests", "failures", "errors", "skipped")] == [
			len(rows), counts["slower"] + counts["other bits"], counts["failed"], counts["unclear"] + counts["not comparable"]]
	kinds = {"slower": "failure", "other bits": "failure", "failed": "error", "unclear": "skipped", "not comparable": "skipped"}
	cases = suite.findall(".//testcase")
	for case, row in zip(cases, rows, strict=True):
		found = [child for child in case if child.tag != "system-out"]
		assert [child.tag for child in found] == ([kinds[row["verdict"]]] if row["verdict"] in kinds else [])
		assert all(child.get("message") == f"{row['verdict']}: {row['reason']}" for child in found)
		assert close(float(case.get("time")), row["time_us"] * 1e-6)
	table = [line.split(" | ") for line in got["markdown"].splitlines() if line.startswith("| ") and not line.startswith("| verdict")]
	told = sorted((line[0].split(" ", 2)[2], line[3].strip(), line[4].strip(), line[5].strip()) for line in table)
	assert told == sorted((row["verdict"], f"{row['baseline_us']:.2f}" if row["baseline_us"] else "", f"{row['time_us']:.2f}" if row["time_us"] else "",
		f"{100 * (row['ratio'] - 1):+.1f}%" if row["ratio"] else "") for row in rows)
	assert f"{got['text'].splitlines()[-1]}" == ", ".join(f"{counts[name]} {name}" for name in
		("failed", "other bits", "slower", "unclear", "not comparable", "faster", "same") if counts[name])


def checked(chance, truth, rounds):
	"""Returns the verdict of a simulated check; sometimes another process disturbs a sample."""
	def estimate(factor):
		times = factor * (1 + 0.02 * (2 * chance.random(rounds) - 1)) * numpy.where(chance.random(rounds) < 0.05, 1.3, 1)
		return interval(list(times), 0.99)
	(then, then_low, then_high), (now, now_low, now_high) = estimate(1), estimate(truth)
	ratio = now / then
	return judge(0.05, 0.01, {"value": ratio, "low": ratio * (1 - hypot(1 - now_low / now, then_high / then - 1)), "high": ratio * (1 + hypot(now_high / now - 1, 1 - then_low / then))})


def test_rates_are_as_promised():
	"""No check reports a regression for equal kernels or for a slowdown of 1%. A slowdown of 5% is found in the last look, and never called
	"same" in the first."""
	chance = numpy.random.default_rng(11)
	for truth, rounds, allowed in (1, 24, {"same", "unclear"}), (1, 99, {"same"}), (1.01, 24, {"same", "unclear"}), (1.05, 99, {"slower"}), (1.05, 24, {"slower", "unclear"}):
		assert {checked(chance, truth, rounds) for _ in range(150)} <= allowed, (truth, rounds)
