"""The verdicts of a check (check/judge.h)."""
from math import hypot

from hypothesis import given, strategies as draw

from oracle import ask, close, close_interval, student

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
		return None  # rounding decides
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
