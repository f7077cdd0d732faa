#!/usr/bin/env python3
"""Counts how often repeated tunings select the same configuration.

	repeat.py rates FOLDER			FOLDER/run-*.json, each a fresh tuning of the same problems
	repeat.py simulate FOLDER RUNS JOURNAL...	the same without a GPU: tunes replays of the journals, with noise

Prints a table and writes FOLDER/rates.json (tiletune.repeat_rates/1). $TILETUNE: the tuner.

The simulated noise is the difference of one configuration's time between runs on an H200 (results/nvidia-h200), measured separately
in the search and in turn in the re-measurement. A replay gives all loads of a binary the same time, so $LOADS sets the number of
loads over which the noise is averaged."""
import collections
import glob
import gzip
import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/tools"))
sys.dont_write_bytecode = True
from journal_expand import with_checksum  # noqa: E402  pylint: disable=wrong-import-position

# parameters that are not part of a schedule: launch arguments and depths of pipelines
DETAILS = {"STAGES", "STORE_DEPTH", "SMS", "ALONG_N", "BAND", "GROUP_M", "PAD", "MIN_BLOCKS"}
SEARCH_SPREAD, SEARCH_OUTLIERS, SEARCH_OUTLIER_SPREAD = 0.006, 0.1, 0.02
FINAL_SPREAD = 0.0028 / float(os.environ.get("LOADS", "1")) ** 0.5
PROBLEMS = 12


def problem_text(problem):
    return ",".join(f"{key}={value}" for key, value in problem.items())


def winners(path):
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)["entries"]
    return {problem_text(entry["problem"]): entry["winner"] for entry in entries}


def seconds_of(path):
    """Returns the seconds for each problem, in the order of the suite, from the output of the tuning."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"evaluated in (?:(\d+)m )?([\d.]+) (m?s)", file.read())
    return [60 * int(minutes or 0) + float(number) * (0.001 if unit == "ms" else 1) for minutes, number, unit in found]


def agreement(values):
    """Returns how often the most frequent value occurs."""
    return collections.Counter(values).most_common(1)[0][1]


def rates(folder):
    paths = [path for path in sorted(glob.glob(os.path.join(folder, "run-*.json"))) if "journal" not in path]
    runs = [winners(path) for path in paths]
    if len(runs) < 2:
        sys.exit(f"{folder}: expected run-*.json of two tunings at least, found {len(runs)}")
    with open(paths[0], encoding="utf-8") as file:
        first = json.load(file)
    seconds = list(zip(*(seconds_of(path.replace(".json", ".log")) for path in paths)))
    problems = []
    for number, text in enumerate(runs[0]):
        rows = [run[text] for run in runs if text in run]
        whole = [json.dumps([row["family"], row["configuration"]]) for row in rows]
        tile = [json.dumps([row["family"], {name: value for name, value in row["configuration"].items()
            if name not in DETAILS}]) for row in rows]
        times = [row["time_us"]["median"] for row in rows]
        problems.append({"problem": text, "runs": len(rows), "same_configuration": agreement(whole),
            "same_tile": agreement(tile), "spread_ratio": round(max(times) / min(times) - 1, 5),
            "configurations": [json.loads(one) for one in sorted(set(whole))]})
        if number < len(seconds):
            problems[-1]["seconds"] = list(seconds[number])
    for problem in problems:
        print(f"{problem['same_tile']}/{problem['runs']} tiles and schedules, {problem['same_configuration']}/"
            f"{problem['runs']} configurations, times within {problem['spread_ratio']:.1%}  {problem['problem'][:60]}")
    equal = sum(problem["same_configuration"] == problem["runs"] for problem in problems)
    tiles = sum(problem["same_tile"] == problem["runs"] for problem in problems)
    pairs = sum(problem["same_configuration"] for problem in problems) / sum(problem["runs"] for problem in problems)
    print(f"of {len(problems)} problems: whole configuration the same in all runs in {equal}, tile and schedule in {tiles}; "
        f"runs that choose the most frequent one: {pairs:.0%}")
    with open(os.path.join(folder, "rates.json"), "w", encoding="utf-8") as file:
        json.dump({"format": "tiletune.repeat_rates/1", "device": first["device"], "run": first["runs"][0],
            "runs": len(runs), "problems": problems,
            "same_configuration": equal, "same_tile": tiles}, file, indent="\t")
        file.write("\n")


def candidate(line):
    return line["problem"], line["family"], line["configuration"]


def median(line):
    return line.get("time_us", {}).get("median")


def scaled(line, factor, event):
    """Returns an evaluation with its time multiplied by `factor`; the summary replaces the samples."""
    line = {name: value for name, value in line.items() if name != "samples_us"} | {"event": event}
    if median(line):
        line["time_us"] = {name: value if name == "samples" else value * factor for name, value in line["time_us"].items()}
    return line


def add_noise(journal, path, seed):
    """Gives every candidate a time in the search and one in the re-measurement."""
    chance = random.Random(seed)
    with gzip.open(journal, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    again = {candidate(line): median(line) for line in lines if line["event"] == "final"}
    warm = collections.defaultdict(list)  # re-measured times over those of the search, by family of a problem
    for line in lines:
        if line["event"] == "evaluation" and median(line) and again.get(candidate(line)):
            warm[candidate(line)[:2]].append(again[candidate(line)] / median(line))
    with open(path, "w", encoding="utf-8") as file:
        run = None
        for line in lines:
            run = line["id"] if line["event"] == "run" else run
            if line["event"] in ("run", "problem"):
                file.write(with_checksum(line, run if line["event"] == "problem" else None))
            if line["event"] != "evaluation":
                continue
            ratios = sorted(warm[candidate(line)[:2]])
            warming = ratios[len(ratios) // 2] if ratios else 1
            time = median(line) or 1
            true = again.get(candidate(line)) or time * warming
            spread = SEARCH_OUTLIER_SPREAD if chance.random() < SEARCH_OUTLIERS else SEARCH_SPREAD
            file.write(with_checksum(scaled(line, true / warming / time * (1 + chance.gauss(0, spread)), "evaluation"), run))
            file.write(with_checksum(scaled(line, true / time * (1 + chance.gauss(0, FINAL_SPREAD)), "final"), run))


def simulate(folder, runs, journals):
    os.makedirs(folder, exist_ok=True)
    for number in range(runs):
        output = os.path.join(folder, f"run-{number}.json")
        done = 0
        for index, journal in enumerate(journals):
            noisy = os.path.join(folder, f"noisy-{number}-{index}.jsonl")
            add_noise(journal, noisy, 1000 * number + index)
            with open(noisy, encoding="utf-8") as file:
                heads = [line for line in map(json.loads, file) if line["event"] == "problem"]
            for head in heads[:PROBLEMS - done]:
                subprocess.run([os.environ.get("TILETUNE", "build/tiletune"), "tune", head["operation"], "-p", head["text"],
                    "--device", f"replay:{noisy}", "--effort", "quick", "--fresh", "--no-journal",
                    "-o", output], check=True, stdout=subprocess.DEVNULL)
                done += 1
            os.remove(noisy)
    rates(folder)


if len(sys.argv) > 2 and sys.argv[1] == "rates":
    rates(sys.argv[2])
elif len(sys.argv) > 4 and sys.argv[1] == "simulate":
    simulate(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
else:
    sys.exit(__doc__)
