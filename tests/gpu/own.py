#!/usr/bin/env python3
"""Kernels of others, tuned unchanged: a table.

	own.py TILETUNE OUT SECONDS FILE.json [SOURCE [exhaustive]] ...

FILE.json is an own kernel or a T1 file; SOURCE says where its kernel is from (a repository and a commit), for the
table. Each is tuned for so many seconds; those with `exhaustive` once more over the whole space. OUT gets a tuned
file, a journal and a log of each, and table.md."""
import json
import os
import subprocess
import sys
import time


def tune(tiletune, name, path, out, *options):
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
		return json.load(file)["entries"][0], seconds


def lines_of(path):
	"""0 of a T1 file: nobody had to write anything."""
	with open(path, encoding="utf-8") as file:
		text = file.read()
	return 0 if "KernelSpecification" in text else len(text.splitlines())


def row_of(tiletune, out, seconds, path, source, exhaustive):
	name = os.path.basename(path).split(".")[0]
	entry, took = tune(tiletune, name, path, out, "--effort", "quick", "--budget", f"{seconds}s")
	best = "-"
	if entry is None:
		return f"| {name} | {source} | {lines_of(path)} | failed | - | - | - | {took:.0f} |", True
	found = entry["winner"]["time_us"]["median"]
	if exhaustive:
		whole, _ = tune(tiletune, name + ".exhaustive", path, out, "--effort", "exhaustive")
		best = f"{whole['winner']['time_us']['median']:.2f}" if whole else "failed"
	space = entry["space"]
	config = ", ".join(f"{key}={value}" for key, value in entry["winner"]["configuration"].items())
	return (f"| {name} | {source} | {lines_of(path)} | {found:.2f} | {best} | {space['evaluated']} of {space['legal']} | {config} | "
		f"{took:.0f} |"), False


def main():
	tiletune, out, seconds = sys.argv[1:4]
	jobs, failed = [], False
	for word in sys.argv[4:]:
		if word.endswith(".json"):
			jobs.append([word, "", False])
		elif word == "exhaustive":
			jobs[-1][2] = True
		else:
			jobs[-1][1] = word
	os.makedirs(out, exist_ok=True)
	table = ["| kernel | source | lines of JSON | found, us | exhaustive, us | tried | configuration | s |", "|---|---|---|---|---|---|---|---|"]
	for path, source, exhaustive in jobs:
		row, bad = row_of(tiletune, out, seconds, path, source, exhaustive)
		failed |= bad
		table.append(row)
		print(row, flush=True)
		with open(os.path.join(out, "table.md"), "w", encoding="utf-8") as file:
			file.write("\n".join(table) + "\n")
	return failed


if __name__ == "__main__":
	sys.exit(main())
