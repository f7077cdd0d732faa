#!/usr/bin/python3
"""Tests lookup on recorded timings by leaving out one problem at a time. Each problem of a tuned file is looked up in the file without
its entry, and the answer is compared with the entry's winner if the journal timed both for this problem. A ratio is the winner's time
over that of the answer, both from the search and therefore equally warm. Answers that the journal did not time are counted, not
guessed.

	results/tools/lookup_quality.py [-v] OUT TUNED.json JOURNAL	OUT: the folder with the binary; -v: every problem"""
import gzip
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Iterator, NamedTuple


class Found(NamedTuple):
	problem: str
	ratio: float | None  # None if lookup refuses or the answer was not timed
	refused: bool
	text: str


def read(path: str) -> Iterator[dict]:
	"""Yields the JSON documents in a file, or the lines of a journal."""
	with gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
		if ".jsonl" in path:
			yield from map(json.loads, file)
		else:
			yield json.load(file)


def key_of(operation: str, problem: dict, row: dict | str, family: str) -> tuple[str, ...]:
	text = row if isinstance(row, str) else ",".join(f"{name}={value}" for name, value in row.items())
	return operation, json.dumps(problem, sort_keys=True), family, text


def times_of(journal: str) -> dict[tuple[str, ...], float]:
	"""Returns (operation, problem, family, configuration): the shortest time of the search."""
	problems, times, run = {}, {}, None
	for line in read(journal):
		run = line["id"] if line["event"] == "run" else line.get("run", run)
		if line["event"] == "problem":
			problems[run, line["number"]] = line
		elif line["event"] == "evaluation" and line["outcome"] == "ok" and line.get("timing") != "predicted":
			problem = problems[run, line["problem"]]
			key = key_of(problem["operation"], problem["problem"], line["configuration"], line["family"])
			times[key] = min(line["time_us"]["median"], times.get(key, math.inf))
	return times


def look_up(out: str, tuned: dict, entry: dict, device: str) -> dict | None:
	"""Returns lookup's answer without the entry, with the shipped corrections; None if lookup refuses."""
	problem = ",".join(f"{name}={value}" for name, value in entry["problem"].items())
	with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
		json.dump({**tuned, "entries": [each for each in tuned["entries"] if each is not entry]}, file)
		file.flush()
		done = subprocess.run([f"{out}/tiletune", "lookup", file.name, entry["operation"], "-p", problem, "--device", device, "--path", ".", "--quick", "--json"],
			capture_output=True, text=True, check=False, env={**os.environ, "TILETUNE_LEARNED": ""})
	if done.returncode not in (0, 1):
		sys.exit(f"{problem}: {done.stderr}")
	answers = json.loads(done.stdout)["entries"] if done.stdout else []
	return answers[0]["winner"] if answers else None


def qualities(out: str, path: str, journal: str) -> list[Found]:
	tuned, times = next(read(path)), times_of(journal)

	def one(entry: dict) -> Found:
		problem = ",".join(f"{name}={value}" for name, value in entry["problem"].items())
		found = look_up(out, tuned, entry, f"model:{tuned['device'].get('sheet', 'h200-sxm')}")
		if not found:
			return Found(problem, None, True, "refused")
		best_us, found_us = (times.get(key_of(entry["operation"], entry["problem"], row["configuration"], row["family"])) for row in (entry["winner"], found))
		ratio = best_us / found_us if best_us and found_us else None
		return Found(problem, ratio, False, f"{found_us or math.nan:8.2f} us, the winner {best_us or math.nan:8.2f} us  {found['family']} {found['configuration']}")
	with ThreadPoolExecutor(os.cpu_count()) as pool:
		return list(pool.map(one, tuned["entries"]))


def main() -> None:
	verbose = sys.argv[1] == "-v"
	found = qualities(*sys.argv[1 + verbose:])
	for each in found if verbose else ():
		print(f"{each.text}  {each.problem}")
	timed = [each for each in found if each.ratio]
	worst = min(timed, key=lambda each: each.ratio)
	print(f"{len(found)} problems, {sum(each.refused for each in found)} refused, {len(timed)} of what was found were timed: mean "
		f"{100 * statistics.fmean(each.ratio for each in timed):.1f}% of the winner's speed, geometric mean "
		f"{100 * statistics.geometric_mean(each.ratio for each in timed):.1f}%, worst {100 * worst.ratio:.1f}% ({worst.problem})")


if __name__ == "__main__":
	main()
