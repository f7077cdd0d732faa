"""Tests statistics of samples, the noise rule, and comparisons by rounds (base/statistics.h, measure/sampler.h, engine/contenders.h)."""
import math

import numpy
from hypothesis import given, strategies as draw

from oracle import ask, close, close_interval, student

times = draw.lists(draw.floats(1, 1000), min_size=1, max_size=40)
tame = draw.lists(draw.sampled_from([98.0, 99.0, 101.0, 102.0, 102.5, 130.0]), min_size=1, max_size=70)


def interval(values, confidence=0.95):
	"""Estimates by equally weighted cosines. Returns (value, low, high)."""
	median = numpy.median(values)
	reach = 5 * 1.4826 * numpy.median(numpy.abs(numpy.array(values) - median))
	if reach > 0:  # outliers
		values = [min(max(each, median - reach), median + reach) for each in values]
	n, mean = len(values), sum(values) / len(values)
	if n == 1:
		return mean, mean, mean
	terms = min(n - 1, max(3, int(0.41 * n ** (2 / 3))))
	waves = [math.sqrt(2 / n) * sum(math.cos(math.pi * j * (t + 0.5) / n) * v for t, v in enumerate(values)) for j in range(1, terms + 1)]
	half = student(terms, confidence) * math.sqrt(sum(w * w for w in waves) / terms / n)
	return mean, mean - half, mean + half


@given(times, draw.sampled_from([0, 0.25, 0.5, 0.9, 1]))
def test_quantiles_are_interpolated_and_noise_is_a_wide_middle(samples, fraction):
	got = ask("summary", samples=samples, fraction=fraction)
	low, median, high = numpy.quantile(samples, [0.25, 0.5, 0.75])
	assert got["samples"] == len(samples)
	assert close(got["median"], median) and close(got["quantile"], numpy.quantile(samples, fraction))
	assert got["ci95_low"] <= got["median"] <= got["ci95_high"]
	width = (high - low) / 2 - 0.1 * median
	assert abs(width) < 1e-9 or got["noisy"] == (len(samples) >= 3 and width > 0)


@given(tame, draw.booleans())
def test_intervals_come_from_the_slowest_cosines(samples, strict):
	got = ask("summary", samples=samples, fraction=0.5, strict=strict)
	assert close_interval(got["interval"], interval(samples, 0.99 if strict else 0.95))
	value, low, high = interval(samples)
	median = numpy.median(samples)
	assert close_interval({"value": value, "low": got["ci95_low"], "high": got["ci95_high"]}, (value, max(0, min(low, median)), max(high, median)))


def test_intervals_hold_the_truth():
	"""Tests the ratio of two kernels whose times depend on their previous rounds, and a check that ends at the first of five looks with a
	narrow enough interval."""
	chance = numpy.random.default_rng(1)
	for carry, least in (0, 0.92), (0.3, 0.89):
		for rounds in 8, 18, 64:
			noise = 0.006 * chance.normal(size=(2, 300, rounds))
			for i in range(1, rounds):
				noise[:, :, i] += carry * noise[:, :, i - 1]
			found = [interval(list(each)) for each in (1 + noise[0]) / (1 + noise[1])]
			assert least <= sum(low <= 1 <= high for _, low, high in found) / 300 <= 0.98
	early = covered = 0
	for ratios in (1 + 0.006 * chance.normal(size=(300, 60))) / (1 + 0.006 * chance.normal(size=(300, 60))):
		looks = (interval(list(ratios[:look]), 0.99) for look in (12, 18, 27, 40, 60))
		low, high = next(((low, high) for _, low, high in looks if high - low <= 0.015), (0, 2))
		early += low > 0
		covered += low <= 1 <= high
	assert early > 150 and covered >= 0.95 * 300


@given(draw.lists(draw.tuples(draw.integers(0, 5), draw.integers(0, 5)), max_size=12))
def test_rank_correlation_gives_ties_their_mean_rank(pairs):
	def ranks(values):
		return [sum(w < v for w in values) + (values.count(v) - 1) / 2 for v in values]
	x, y = [a for a, _ in pairs], [b for _, b in pairs]
	same = len(set(x)) < 2 or len(set(y)) < 2
	assert close(ask("rank_correlation", x=x, y=y), 0 if same else numpy.corrcoef(ranks(x), ranks(y))[0][1])


@given(draw.lists(tame, min_size=1, max_size=4))
def test_only_rounds_that_all_have_are_compared(times):
	got = ask("rounds", times=[{"us": us} for us in times])
	common = min(map(len, times))
	assert got["common"] == common
	medians = [numpy.median(us[:common]) for us in times]
	assert medians[got["fastest"]] == min(medians)
	first, last = times[0], times[-1]
	ratios = [a / b for a, b in zip(first, last)]
	assert close_interval(got["ratio"], interval(ratios))
