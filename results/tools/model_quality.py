#!/usr/bin/python3
"""Compares the current model with recorded timings. Every measured candidate of a journal is predicted again (`tiletune export --format
features`), before compilation, as in a search. For each problem: candidates, rank correlation, per cent by which the best of the
model's first 1, 4, 8 and 16 kernels is slower than the fastest; then means over the problems with at least ten candidates. Of
configurations that share a kernel (they differ only in launch arguments) the model's first counts.

	results/tools/model_quality.py [-c] OUT JOURNAL...	OUT: the folder with the binary; -c: with learned corrections (configs/learned)"""
import collections
import functools
import json
import math
import os
import subprocess
import sys

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/tools"))
import family_file  # noqa: E402  pylint: disable=wrong-import-position

FIRST, FEWEST = (1, 4, 8, 16), 10
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
DEPTH, LEAF_ZERO = 6, 2048


def learned_logs(model, names, rows):
	"""Returns ln(measured / predicted) according to the trees of a learned file, as src/score/trees.h describes them."""
	answers = np.array([rows[:, names.index(feature["name"])] > np.float32(threshold)
		for feature in model["features"] for threshold in feature["thresholds"]])
	total = np.zeros(len(rows), dtype=np.int64)
	for text in model["trees"]:
		numbers = [64 * DIGITS.index(text[i]) + DIGITS.index(text[i + 1]) for i in range(0, len(text), 2)]
		leaf = sum(answers[question].astype(np.int64) << level for level, question in enumerate(numbers[:DEPTH]))
		total += np.array(numbers[DEPTH:])[leaf] - LEAF_ZERO
	return model["offset"] + model["leaf_step"] * total


@functools.cache
def arguments_of(family):
	"""Returns the parameters that are not constants of the kernel."""
	parameters = family_file.load(f"templates/{family}.json")["parameters"]
	return {name for name, each in parameters.items() if isinstance(each, dict) and each.get("as") == "argument"}


def kernel_of(family, configuration):
	return family, *(part for part in configuration.split(",") if part.split("=")[0] not in arguments_of(family))


@functools.cache
def predicted(out, journal, learned):
	"""Returns problem -> {(family, configuration): (predicted, measured us)}; repeated measurements count once, with the geometric mean."""
	said = subprocess.run([f"{out}/tiletune", "export", journal, "--format", "features"], capture_output=True, text=True, check=True).stdout
	found, decoder, at, models = collections.defaultdict(lambda: collections.defaultdict(list)), json.JSONDecoder(), 0, {}
	while at < len(said):
		line, at = decoder.raw_decode(said, at)
		at += 1
		rows = np.array([row[3:] for row in line["rows"]], dtype=np.float32)
		if learned and not models:
			with open(f"configs/learned/{line['device']}.json", encoding="utf-8") as file:
				models = {each["family"]: each["model"] for each in json.load(file)["families"]}
		logs = learned_logs(models[line["family"]], line["features"], rows) if line["family"] in models else np.zeros(len(rows))
		for (configuration, measured, physics, *_), log in zip(line["rows"], logs.tolist()):
			found[line["problem"]][line["family"], configuration].append((physics * math.exp(log), measured))
	return {problem: {candidate: (times[0][0], math.exp(sum(math.log(measured) for _, measured in times) / len(times)))
		for candidate, times in each.items()} for problem, each in found.items()}


def ranks(values):
	"""Ranks values; equal values get the mean of their ranks."""
	_, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
	return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def quality(candidates):
	"""Returns the number of candidates, the rank correlation, and the slowdown of the first kernels as a ratio."""
	chosen, kernels = [], set()
	for _, candidate, measured in sorted((guess, candidate, measured) for candidate, (guess, measured) in candidates.items()):
		if len(kernels) < FIRST[-1] and kernel_of(*candidate) not in kernels:
			kernels.add(kernel_of(*candidate))
			chosen.append(measured)
	best = min(measured for _, measured in candidates.values())
	times = np.array(list(candidates.values()))
	spread = np.ptp(times, axis=0).all()
	return len(candidates), float(np.corrcoef(ranks(times[:, 0]), ranks(times[:, 1]))[0, 1]) if spread else 0.0, [min(chosen[:first]) / best - 1 for first in FIRST]


def qualities(out, journal, learned):
	"""Returns problem -> quality, in the order of the journal."""
	return {problem: quality(candidates) for problem, candidates in predicted(out, journal, learned).items()}


def summary(each):
	"""Returns the mean rank correlation and the mean loss of the first kernels, over problems with enough candidates."""
	each = [one for one in each if one[0] >= FEWEST]
	return sum(rank for _, rank, _ in each) / len(each), [math.exp(sum(math.log1p(losses[i]) for *_, losses in each) / len(each)) - 1 for i in range(len(FIRST))]


def main():
	learned = sys.argv[1] == "-c"
	out, *journals = sys.argv[1 + learned:]
	found = [item for journal in journals for item in qualities(out, journal, learned).items()]
	for problem, (count, rank, losses) in found:
		print(f"{count:4d} rank {rank:5.2f} regret {' '.join(f'{100 * loss:5.1f}' for loss in losses)}%  {problem}")
	rank, losses = summary(one for _, one in found)
	within = sum(count >= FEWEST and losses[2] <= 0.01 for _, (count, _, losses) in found)
	print(f"{len(found)} problems: mean rank correlation {rank:.2f}, mean regret of the first 1, 4, 8, 16: {' '.join(f'{100 * loss:.1f}' for loss in losses)}%, first 8 within 1% of the best in {within}")


if __name__ == "__main__":
	main()
