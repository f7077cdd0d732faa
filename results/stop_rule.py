#!/usr/bin/env python3
"""Computes the expected gain of continuing a quick search, from the journals in results/.

	stop_rule.py [JOURNAL.gz...]

A search has not gained (by at least 0.3%) for n evaluations. Prints, for each n, how much faster the best candidate of the whole
search is than the best so far: the mean over all searches that reached n, and how often it is more than 0.5%. `quick` stops at
the first n whose expected gain is below 0.5% (src/tune/budget.c).
"""
import glob
import gzip
import json
import math
import os
import statistics
import sys
from collections.abc import Iterator

GAIN = 0.003
STEPS = (16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112)


def searches(path: str) -> Iterator[list[float]]:
    """Yields the times of each quick search of whole spaces, in the order of the evaluations; infinite for failures."""
    problems: dict[int, list[float]] = {}
    whole = False
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for event in map(json.loads, file):
            if event["event"] == "run":
                yield from problems.values()
                problems = {}
                whole = event["options"].get("effort") == "quick" and not event["options"].get("where")
            elif event["event"] == "evaluation" and whole:
                time_us = event["time_us"]["median"] if event["outcome"] == "ok" else math.inf
                problems.setdefault(event.get("problem", 0), []).append(time_us)
    yield from problems.values()


def gains_left(times: list[float]) -> Iterator[tuple[int, float]]:
    """Yields, for each step that the search reached, the steps without a gain so far, and the logarithm of the remaining gain."""
    least, best, since = min(times), math.inf, 0
    for count, time_us in enumerate(times, 1):
        since = 0 if time_us < best * (1 - GAIN) else since + 1
        best = min(best, time_us)
        if count >= 32 and since in STEPS and best < math.inf:
            yield since, math.log(best / least)


def main() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    paths = sys.argv[1:] or sorted(glob.glob(f"{here}/*/*.journal.jsonl.gz"))
    left: dict[int, list[float]] = {step: [] for step in STEPS}
    count = 0
    for path in paths:
        for times in searches(path):
            if len(times) > 130:
                count += 1
                for step, gain in gains_left(times):
                    left[step].append(gain)
    print(f"{count} searches with more than 130 evaluations")
    print("without a gain   cases   expected gain   above 0.5%")
    for step, gains in left.items():
        if gains:
            print(f"{step:14} {len(gains):7}          {100 * statistics.mean(gains):5.2f}%         {100 * sum(gain > 0.005 for gain in gains) / len(gains):3.0f}%")


if __name__ == "__main__":
    main()
