#!/usr/bin/python3
"""The requests of Kernel Tuner's strategies in recorded spaces, by its simulation mode, with default options.

	python3 results/tools/kernel_tuner_runs.py [-n SEEDS] [-e EVALUATIONS] [-s STRATEGY]... [--csv FILE] -o RUNS.jsonl CACHE.json[.gz]...

Kernel Tuner removes configurations that fail from the space before it simulates. CACHE: a cache file of Kernel Tuner; its name up to the
first full stop is the space's name. RUNS.jsonl: one line per run, for p_score.py. --csv: writes kernel_tuner.csv. Needs the package
kernel_tuner (1.4.0)."""
from __future__ import annotations

import argparse
import contextlib
import csv
import json
import math
import os
import random
import statistics
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(HERE, "../../src/python")]
from p_score import Run, best_so_far  # noqa: E402  pylint: disable=wrong-import-position
from tiletune.recorded import read  # noqa: E402  pylint: disable=wrong-import-position

STRATEGIES = ("adaptive_tabu_greywolf", "diff_evo", "genetic_algorithm", "greedy_ils", "hybrid_vndx", "mls", "pso", "random_sample", "simulated_annealing")
AFTER = (25, 50, 100, 200, 400)


def run_once(path: str, strategy: str, seed: int, evaluations: int) -> Run:
	"""Returns the times in us of the strategy's requests, in the order of the first request."""
	import kernel_tuner  # pylint: disable=import-outside-toplevel
	import numpy  # pylint: disable=import-outside-toplevel
	root, asked = read(path), {}
	random.seed(seed)
	numpy.random.seed(seed)
	with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(None), warnings.catch_warnings():
		warnings.simplefilter("ignore")
		with open(f"{folder}/cache.json", "w", encoding="utf-8") as file:
			json.dump(root, file)
		found, _ = kernel_tuner.tune_cache(file.name, strategy=strategy, strategy_options={"max_fevals": evaluations}, quiet=True, seed=seed)
	for result in found:
		time = result.get("time")
		asked.setdefault(tuple(result[name] for name in root["tune_params_keys"]), time * 1000 if isinstance(time, (int, float)) else math.inf)
	return Run(os.path.basename(path).split(".")[0], strategy, seed, list(asked.values()))


def shares(path: str, runs: list[Run]) -> list[float]:
	"""Returns optimum / best so far after each number in AFTER, as the mean over the runs."""
	times = [result["time"] * 1000 for result in read(path)["cache"].values() if not isinstance(result["time"], str)]
	curves = [best_so_far(run.times_us, AFTER[-1]) for run in runs]
	return [round(statistics.fmean(min(times) / curve[after - 1] for curve in curves), 4) for after in AFTER]


def main() -> None:
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("caches", nargs="+", metavar="CACHE")
	parser.add_argument("-n", dest="seeds", type=int, default=20)
	parser.add_argument("-e", dest="evaluations", type=int, default=AFTER[-1])
	parser.add_argument("-s", dest="strategies", action="append", metavar="STRATEGY")
	parser.add_argument("--csv", metavar="FILE")
	parser.add_argument("-o", dest="output", required=True, metavar="RUNS.jsonl")
	options = parser.parse_args()
	rows = [["space", "strategy", *AFTER]]
	with open(options.output, "w", encoding="utf-8") as file, ProcessPoolExecutor(os.cpu_count()) as pool:
		for path in options.caches:
			for strategy in options.strategies or STRATEGIES:
				todo = [pool.submit(run_once, path, strategy, seed, options.evaluations) for seed in range(options.seeds)]
				runs = [one.result() for one in todo]
				file.writelines(run.line() for run in runs)
				rows.append([runs[0].space, strategy, *shares(path, runs)])
				print(*rows[-1], flush=True)
	if options.csv:
		with open(options.csv, "w", encoding="utf-8") as file:
			file.write(f"# Kernel Tuner 1.4.0, simulation mode over the recorded spaces of the benchmark hub, mean of {options.seeds} seeds, defaults; its simulation removes configurations that fail\n")
			csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
	main()
