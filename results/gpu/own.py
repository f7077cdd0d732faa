#!/usr/bin/env python3
"""Tunes kernels of other projects unchanged. Writes results/*/own_kernels.json, and the table of templates/README.md to stdout.

	own.py TILETUNE OUT SECONDS FILE.json [WORD ...] ...

FILE.json is an own kernel or a T1 file. Words after it: `owner/name@commit`, the source of the kernel; `exhaustive`: tune once more
over the whole space; `20s`: another budget; `known=FOLDER`: FOLDER/NAME.json and FOLDER/NAME.*.json are earlier tuned files. OUT gets
a tuned file, a journal and a log of each kernel, and own_kernels.json."""
import glob
import json
import os
import subprocess
import sys
import time


def tune(tiletune, name, path, out, *options):
	"""Returns the entry and its run, or None, and the seconds."""
	started = time.time()
	tuned = os.path.join(out, name + ".json")
	with open(os.path.join(out, name + ".log"), "w", encoding="utf-8") as log:
		code = subprocess.run([tiletune, "tune", path, "--fresh", "-o", tuned, *options], stdout=log, stderr=subprocess.STDOUT,
			check=False).returncode
	seconds = time.time() - started
	if code != 0:
		with open(os.path.join(out, name + ".log"), encoding="utf-8") as log:
			print(f"{name}: exit {code}\n{log.read()}", file=sys.stderr)
		return None, seconds
	with open(tuned, encoding="utf-8") as file:
		return json.load(file), seconds


def lines_of(path):
	"""Returns how many lines of JSON a user must write; 0 for a T1 file."""
	with open(path, encoding="utf-8") as file:
		text = file.read()
	return 0 if "KernelSpecification" in text else len(text.splitlines())


def median(tuned):
	return tuned["entries"][0]["winner"]["time_us"]["median"]


def best_known(tuned, name, known):
	"""Returns the best entry of all runs, and the part of the space that the most thorough run measured."""
	best, spaces = median(tuned), [tuned["entries"][0]["space"]]
	for path in sorted(glob.glob(f"{known}/{name}.json") + glob.glob(f"{known}/{name}.*.json")) if known else []:
		with open(path, encoding="utf-8") as file:
			earlier = json.load(file)
		best = min(best, median(earlier))
		spaces.append(earlier["entries"][0]["space"])
	return best, max(space["evaluated"] for space in spaces)


def result_of(tiletune, out, budget, path, job):
	name = os.path.basename(path).split(".")[0]
	tuned, seconds = tune(tiletune, name, path, out, "--effort", "quick", "--budget", job.get("budget", budget))
	if tuned is None:
		return None, None
	best, evaluated = best_known(tuned, name, job.get("known"))
	if job.get("exhaustive"):
		whole, _ = tune(tiletune, name + ".exhaustive", path, out, "--effort", "exhaustive")
		if whole is None:
			return None, None
		best, evaluated = min(best, median(whole)), whole["entries"][0]["space"]["evaluated"]
	entry = tuned["entries"][0]
	repository, _, commit = job.get("source", "").partition("@")
	return {"kernel": name, "repository": repository, "commit": commit, "json_lines": lines_of(path),
		"budget_s": float(job.get("budget", budget).rstrip("s")), "seconds": round(seconds, 1), "found_us": median(tuned), "best_known_us": best,
		"best_known_of": evaluated, "evaluated": entry["space"]["evaluated"], "legal": entry["space"]["legal"],
		"verified": entry["winner"].get("verified", "reference"), "configuration": entry["winner"]["configuration"]}, tuned["runs"][0]


def row(kernel):
	"""Returns a row of the table in templates/README.md, where results/checks/claims.py looks for it."""
	return (f"| {kernel['kernel']} | {kernel['repository']}@{kernel['commit'][:7]} | {kernel['json_lines']} | {kernel['found_us']:.1f} | "
		f"{kernel['best_known_us']:.1f} | {kernel['evaluated']} of {kernel['legal']} | {kernel['seconds']:.0f} |")


def write(out, runs, kernels):
	first = runs[0]
	document = {"format": "tiletune.own_kernel_results/1", "command": " ".join(["own.py", *sys.argv[3:]]), "date": first["date"],
		"commit": first["tiletune"]["commit"], "device": runs[0]["device"], "driver": first["driver"], "nvrtc": first["nvrtc"], "kernels": kernels}
	with open(os.path.join(out, "own_kernels.json"), "w", encoding="utf-8") as file:
		json.dump(document, file, indent="\t")
		file.write("\n")


def main():
	tiletune, out, seconds = sys.argv[1:4]
	jobs = []
	for word in sys.argv[4:]:
		if word.endswith(".json") and not word.startswith("known="):
			jobs.append((word, {}))
		elif word == "exhaustive":
			jobs[-1][1]["exhaustive"] = True
		elif word.startswith("known="):
			jobs[-1][1]["known"] = word.removeprefix("known=")
		elif "@" in word:
			jobs[-1][1]["source"] = word
		else:
			jobs[-1][1]["budget"] = word
	os.makedirs(out, exist_ok=True)
	runs, kernels = [], []
	for path, job in jobs:
		kernel, run = result_of(tiletune, out, f"{seconds}s", path, job)
		if kernel is None:
			continue
		with open(os.path.join(out, kernel["kernel"] + ".json"), encoding="utf-8") as file:
			runs.append({**run, "device": json.load(file)["device"]["name"]})
		kernels.append(kernel)
		print(row(kernel), flush=True)
		write(out, runs, kernels)
	return len(kernels) < len(jobs)


if __name__ == "__main__":
	sys.exit(main())
