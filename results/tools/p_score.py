#!/usr/bin/python3
"""The P score of Kernel Tuner's methodology (autotuning_methodology 1.1.0) for runs over recorded spaces.

	python3 results/tools/p_score.py [-e EVALUATIONS] [--median] [--runs RUNS.jsonl]... SPACE.json...

RUNS.jsonl: lines that search_strategies.py --runs and kernel_tuner_runs.py write; SPACE: as for search_strategies.py.

0 is random search, and 1 is the optimum at once: (random - found) / (random - optimum), where `found` is the best so far, as mean
over the runs (--median: as in that version of the package), and `random` is the expected result of random search. The score is the
mean over evaluations, from the one at which random search has covered 0.01 of the distance from the median of all times to the
optimum, up to 0.95 of it. It counts evaluations, not time, up to EVALUATIONS (400)."""
from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
from collections.abc import Iterable
from typing import NamedTuple

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
FROM, TO = 0.01, 0.95  # shares of the distance from the median to the optimum


class Run(NamedTuple):
	"""One search; the time of a failed configuration is infinite."""
	space: str
	strategy: str
	seed: int
	times_us: list[float]

	def line(self) -> str:
		return json.dumps({**self._asdict(), "times_us": [time if math.isfinite(time) else None for time in self.times_us]}) + "\n"


def read_runs(path: str) -> Iterable[Run]:
	with open(path, encoding="utf-8") as file:
		for line in map(json.loads, file):
			yield Run(line["space"], line["strategy"], line["seed"], [math.inf if time is None else time for time in line["times_us"]])


def best_so_far(times: list[float], evaluations: int) -> list[float]:
	"""Returns the best after 1, 2, ... evaluations; a run that has ended keeps its last value."""
	found, best = [], math.inf
	for time in times[:evaluations]:
		best = min(best, time)
		found.append(best)
	return found + [best] * (evaluations - len(found))


def random_after(slowest_first: list[float], evaluations: int) -> float:
	"""Returns the expected result of random search without replacement (over the known times)."""
	count = len(slowest_first)
	return slowest_first[min(count - 1, round(evaluations * (count + 1) / (evaluations + 1)))]


def cutoff(slowest_first: list[float], share: float) -> int:
	"""Returns after how many evaluations random search has covered this share of the distance from the median to the optimum."""
	count, optimum = len(slowest_first), slowest_first[-1]
	wanted = optimum + (statistics.median(slowest_first) - optimum) * (1 - share)
	index = next(i for i, time in enumerate(slowest_first) if time <= wanted)
	if slowest_first[index] == optimum and index > 0:
		index -= 1
	return math.ceil(index / (count + 1 - index))


def span(times: Iterable[float]) -> tuple[int, int]:
	"""Returns the first and last evaluation of the score."""
	slowest_first = sorted(filter(math.isfinite, times), reverse=True)
	first, last = cutoff(slowest_first, FROM), cutoff(slowest_first, TO)
	return max(1, first), max(last, first + 1)


def p_score(times: Iterable[float], runs: list[list[float]], evaluations: int, middle=statistics.fmean) -> float:
	"""times: all configurations of the space. runs: the requests of each run in order. middle: the mean or median over runs."""
	slowest_first = sorted(filter(math.isfinite, times), reverse=True)
	optimum, (first, last) = slowest_first[-1], span(slowest_first)
	curves = [best_so_far(run, evaluations) for run in runs]
	scores = []
	for at in range(first, min(last, evaluations) + 1):
		found = [curve[at - 1] for curve in curves if math.isfinite(curve[at - 1])]
		expected = random_after(slowest_first, at)
		if found and expected > optimum:
			scores.append((expected - middle(found)) / (expected - optimum))
	return statistics.fmean(scores)


def main() -> None:
	from search_strategies import spaces_of  # pylint: disable=import-outside-toplevel
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("-e", dest="evaluations", type=int, default=400)
	parser.add_argument("--runs", action="append", required=True, metavar="RUNS.jsonl")
	parser.add_argument("spaces", nargs="+", metavar="SPACE.json")
	parser.add_argument("--median", action="store_true")
	options = parser.parse_args()
	middle = statistics.median if options.median else statistics.fmean
	runs: dict[tuple[str, str], list[list[float]]] = {}
	for run in (run for path in options.runs for run in read_runs(path)):
		runs.setdefault((run.strategy, run.space), []).append(run.times_us)
	spaces = {space.name: space.times.values() for path in options.spaces for space in spaces_of(path, by_family=True)}
	rows = []
	for strategy in sorted({strategy for strategy, _ in runs}):
		scores = [p_score(times, runs[strategy, name], options.evaluations, middle) if (strategy, name) in runs else None for name, times in spaces.items()]
		known = [score for score in scores if score is not None]
		rows.append((statistics.fmean(known) if len(known) == len(spaces) else None, statistics.fmean(known or [0]), strategy, scores))
	print("| strategy | " + " | ".join(spaces) + " | mean |\n" + "|---" * (len(spaces) + 2) + "|")
	for mean, _, strategy, scores in sorted(rows, key=lambda row: -row[1]):
		print(f"| {strategy} | " + " | ".join("" if score is None else f"{score:.3f}" for score in [*scores, mean]) + " |")
	print("| evaluations | " + " | ".join("{} to {}".format(*span(times)) for times in spaces.values()) + " | |")


if __name__ == "__main__":
	main()
