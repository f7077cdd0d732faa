#!/usr/bin/python3
"""Counts how often 95% intervals contain the truth, in GPU recordings.

	results/tools/intervals.py PROGRAM JOURNAL...	PROGRAM: build/release/tests/intervals (results/tools/intervals.c)

For candidates that were timed in turn two truths are known, whatever the clock did:
- A kernel is as fast as itself: the ratios of its consecutive observations, each pair in random order, have the median 1.
- The ratio of two kernels is the same in the first and the second half of the rounds. Older journals store single samples instead of
  one observation per sample batch. Batches are reconstructed by their length of 1 ms, where the first two of a long kernel are its
  first timings. Prints counts and returns the two rates."""
import gzip
import json
import math
import random
import statistics
import subprocess
import sys
from typing import Iterator

LEAST = 6  # minimum number of observations for an interval
VISIT_US, SAMPLE_US, VISIT_MOST = 1000, 300, 8


def groups(path: str) -> Iterator[list[list[float]]]:
    """Yields the samples of candidates that were timed in turn, found as consecutive lines of a journal."""
    group: dict[tuple[str, ...], list[float]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            found = json.loads(line) if '"event":"final"' in line[:40] else {}
            key = (str(found.get("problem")), str(found.get("family")), str(found.get("configuration")))
            if not found or key in group or any(other[0] != key[0] for other in group):
                yield list(group.values())
                group = {}
            if len(found.get("samples_us", [])) >= LEAST:
                group[key] = found["samples_us"]
    yield list(group.values())


def observations(samples: list[float]) -> list[float]:
    runs, median = 1, statistics.median(samples)
    while runs * median < SAMPLE_US and runs < 2048:
        runs *= 2
    visit = max(1, min(VISIT_MOST, int(VISIT_US / (runs * median))))
    first = 2 if runs == 1 else visit
    starts = [0, *range(first, len(samples), visit)]
    return [statistics.median(samples[start:end]) for start, end in zip(starts, [*starts[1:], len(samples)])]


def intervals(program: str, series: list[list[float]]) -> list[tuple[float, ...]]:
    text = "".join(" ".join(f"{value:.9g}" for value in values) + "\n" for values in series)
    found = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
    return [tuple(map(float, line.split())) for line in found.splitlines()]


def rates(program: str, journals: list[str]) -> tuple[float, float]:
    chance = random.Random(1)
    pairs: list[list[float]] = []
    halves: list[list[float]] = []
    for journal in journals:
        for group in groups(journal):
            timed = [observations(samples) for samples in group]
            for times in timed:
                if len(times) >= 2 * LEAST:
                    ratios = [times[i + 1] / times[i] for i in range(0, len(times) - 1, 2)]
                    pairs.append([ratio if chance.random() < 0.5 else 1 / ratio for ratio in ratios])
            common = min(map(len, timed), default=0)
            if len(timed) < 2 or common < 8:
                continue
            fastest = min(timed, key=lambda times: statistics.median(times[:common]))
            for times in timed:
                ratios = [a / b for a, b in zip(times, fastest)]
                if times is not fastest and len(ratios) >= 2 * LEAST:
                    halves += [ratios[:len(ratios) // 2], ratios[-(len(ratios) // 2):]]
    found = intervals(program, pairs)
    same = sum(low <= 1 <= high for _, low, high in found)
    both = intervals(program, halves)
    agree = sum(abs(a[0] - b[0]) <= math.hypot(a[2] - a[0], b[2] - b[0]) for a, b in zip(both[::2], both[1::2]))
    print(f"one kernel, pairs of observations: {same} of {len(found)} intervals hold 1 ({same / len(found):.1%})")
    print(f"two kernels, halves of the rounds: {agree} of {len(both) // 2} agree ({agree / (len(both) // 2):.1%})")
    return same / len(found), agree / (len(both) // 2)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    rates(sys.argv[1], sys.argv[2:])
