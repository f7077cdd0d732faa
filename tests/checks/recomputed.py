#!/usr/bin/python3
"""Recomputes statistics of a run from the samples in its journal: medians and their intervals (tuned file, formats of benchmark
services, the report's data), the model's rank, the candidates of the re-measurement, and the results that a resumed run reuses.

	tests/checks/recomputed.py OUT		OUT: the folder with the binary"""
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TILETUNE = os.path.abspath(os.path.join(sys.argv[1], "tiletune"))
ROOT = os.getcwd()
RECORDING = os.path.join(ROOT, "tests/data/replay/measured.jsonl.gz")
PROBLEM = "M=1000,N=1000,K=512,dtype=bf16"
REACH = 1.06  # the slowest candidate that is re-measured, as a multiple of the best (src/tune)
ENVIRONMENT = {**os.environ, "TILETUNE_PATH": ROOT + ":" + ROOT + "/tests/data/replay", "TILETUNE_NVRTC": "/nonexistent"}
failures = 0


def expect(what, found, wanted, tolerance=2e-6):
	global failures
	if isinstance(wanted, float) or isinstance(found, float):
		same = abs(found - wanted) <= tolerance * max(1.0, abs(wanted))
	else:
		same = found == wanted
	if not same:
		failures += 1
		print(f"{what}: expected {wanted}, found {found}")


def run(*arguments):
	result = subprocess.run([TILETUNE, *arguments], env=ENVIRONMENT, capture_output=True, text=True, check=False)
	if result.returncode != 0:
		sys.exit(f"tiletune {' '.join(arguments)}: exit {result.returncode}: {result.stderr}")
	return result.stdout


def jq(name, path):
	result = subprocess.run(["jq", "-f", f"{ROOT}/configs/ci/{name}.jq", path], capture_output=True, text=True, check=True)
	return json.loads(result.stdout)


def tune(folder, name, *more):
	run("tune", "tile", "-p", PROBLEM, "-d", "replay:" + RECORDING, *([] if "-e" in more else ["-e", "exhaustive"]), "-o", os.path.join(folder, name), *more)


STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179)  # 95% quantiles by degrees of freedom


def middle(values):
	ordered, count = sorted(values), len(values)
	return (ordered[(count - 1) // 2] + ordered[count // 2]) / 2


def summary(samples):
	"""Returns the median and its 95% interval: the mean without outliers, with the variance of the slowest cosine terms."""
	count, median = len(samples), middle(samples)
	reach = 5 * 1.4826 * middle([abs(sample - median) for sample in samples]) or math.inf
	values = [max(median - reach, min(median + reach, sample)) for sample in samples]
	mean = math.fsum(values) / count
	waves = min(max(3, int(0.41 * count ** (2 / 3))), 12, count - 1)
	parts = [sum((value - mean) * math.cos(math.pi * wave * (2 * place + 1) / (2 * count)) for place, value in enumerate(values)) for wave in range(1, waves + 1)]
	half = STUDENT[waves - 1] * math.sqrt(2 * sum(part * part for part in parts) / waves) / count if waves else 0
	return median, min(median, mean - half), max(median, mean + half)


def lines(path):
	with open(path, encoding="utf-8") as file:
		return [json.loads(line) for line in file]


def ranks(values):
	order = sorted(values)
	return [(order.index(v) + len(order) - 1 - order[::-1].index(v)) / 2 for v in values]


def correlation(x, y):
	x, y = ranks(x), ranks(y)
	mean = (len(x) - 1) / 2
	product = lambda a, b: sum((i - mean) * (k - mean) for i, k in zip(a, b))
	return product(x, y) / math.sqrt(product(x, x) * product(y, y))


def predictions(ok):
	"""Returns predictions before compilation, as `explain` computes them without a compiler, in the order of the search."""
	def one(line):
		answer = run("explain", "tile", "-p", PROBLEM, "-d", "replay:" + RECORDING, "-f", line["family"].split("/")[1], "-c", line["configuration"], "--json")
		return json.loads(answer)["entries"][0]["winner"]["score"]["predicted_time_us"]

	with ThreadPoolExecutor(2) as pool:
		return list(pool.map(one, ok))


def check_model(folder):
	"""Checks the model's rank in the search's measurements, in the order of the predictions. Equal predictions may have any order."""
	tune(folder, "m.json", "--where", "BK == 32 or BK == 64 and BM <= 96")
	with open(folder + "/m.json", encoding="utf-8") as file:
		model = json.load(file)["entries"][0]["model"]
	ok = [line for line in lines(folder + "/m.journal.jsonl") if line["event"] == "evaluation" and line["outcome"] == "ok"]
	predicted, times = predictions(ok), [line["time_us"]["median"] for line in ok]
	best = min(times)
	orders = [[time for _, time in sorted(zip(predicted, times), key=lambda pair: (pair[0], sign * pair[1]))] for sign in (1, -1)]
	ranks_of_best = [order.index(best) + 1 for order in orders]
	expect("measured", model["measured"], len(ok))
	expect("rank_of_best", ranks_of_best[0] <= model["rank_of_best"] <= ranks_of_best[1], True)
	expect("rank_correlation", model["rank_correlation"], correlation(predicted, times))
	if ranks_of_best[1] > ranks_of_best[0] + 1 or ranks_of_best[0] < 2:
		sys.exit("the recording tells a rank from one beside it no longer apart")


def check_remeasured(folder):
	"""All candidates that may still be the best were timed again, and few others."""
	tune(folder, "q.json", "-e", "quick", "--strategy", "exhaustive", "-b", "77s", "--where", "not (BM == 64 and BN == 192)")
	journal = lines(folder + "/q.journal.jsonl")
	ok = [line for line in journal if line["event"] == "evaluation" and line["outcome"] == "ok"]
	again = {(line["family"], line["configuration"]) for line in journal if line["event"] == "final"}
	best = min(line["time_us"]["median"] for line in ok)
	expect("budget in the journal", journal[0]["options"]["budget_s"], 77)
	near = {(line["family"], line["configuration"]) for line in ok if line["time_us"]["median"] <= best * REACH}
	expect("near the best and not timed again", near - again, set())
	# the best of two families and of the model's first
	expect("far from the best and timed again all the same", len(again - near) <= 2, True)
	if len(near) < 3:
		sys.exit("the recording holds nothing that is near the best")


def check_intervals(journal, tuned, folder):
	entry = tuned["entries"][0]
	winner = next(line for line in journal if line["event"] == "final" and line["family"] == entry["winner"]["family"]
		and line["configuration"] == ",".join(f"{k}={v}" for k, v in entry["winner"]["configuration"].items()))
	median, low, high = summary(winner["samples_us"])
	if not low < median < high or high - median == median - low:
		sys.exit("the winner's interval tells its bounds no longer apart")
	expect("winner's median", entry["winner"]["time_us"]["median"], median)
	expect("winner's low bound", entry["winner"]["time_us"]["ci95_low"], low)
	expect("winner's high bound", entry["winner"]["time_us"]["ci95_high"], high)
	for line in journal:
		if line["event"] in ("evaluation", "final") and line.get("samples_us"):
			for name, value in zip(("median", "ci95_low", "ci95_high", "samples"), (*summary(line["samples_us"]), len(line["samples_us"]))):
				expect(f"journal: {line['configuration']}: {name}", float(line["time_us"][name]), float(value))
	metric = jq("bencher", folder + "/a.json").popitem()[1]["latency"]
	for name, value in (("value", median), ("lower_value", low), ("upper_value", high)):
		expect("bencher: " + name, float(metric[name]), 1000 * value)
	item = jq("github-benchmark", folder + "/a.json")[0]
	expect("github-benchmark: range", float(item["range"].split()[1]), (high - low) / 2, 1e-3)


with tempfile.TemporaryDirectory() as scratch:
	tune(scratch, "a.json")
	recorded = lines(scratch + "/a.journal.jsonl")
	with open(scratch + "/a.json", encoding="utf-8") as opened:
		written = json.load(opened)
	check_model(scratch)
	check_remeasured(scratch)
	check_intervals(recorded, written, scratch)
sys.exit(failures > 0)
