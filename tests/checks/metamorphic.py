#!/usr/bin/python3
"""Answers that must not change: problems tuned together or apart, in any order, split and merged; keys that have other names; --json or text.

	tests/checks/metamorphic.py OUT		OUT: the folder with the binary
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.getcwd()
TILETUNE = os.path.abspath(os.path.join(sys.argv[1], "tiletune"))
RECORDED = f"{ROOT}/tests/data/replay/measured.jsonl.gz"
PROBLEMS = ["M=1000,N=1000,K=512", "M=4096,N=256,K=2048"]
ENVIRONMENT = {**os.environ, "TILETUNE_PATH": f"{ROOT}:{ROOT}/tests/data/replay", "TILETUNE_NVRTC": "/nonexistent"}
DRAWN = random.Random(40)


def run(*words):
	done = subprocess.run([TILETUNE, *words], capture_output=True, text=True, check=False, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
	assert done.returncode == 0, (words, done.stdout, done.stderr)
	return done.stdout


def tune(name, *problems):
	run("tune", "tile", "-d", f"replay:{RECORDED}", *(word for each in problems for word in ("-p", each)), "--evaluations", "30", "--strategy", "model_top", "-o", name)
	return told(name)


def told(name):
	"""Returns what a tuned file contains for each problem, without members that differ from run to run."""
	with open(name, encoding="utf-8") as file:
		entries = json.load(file)["entries"]
	rows = {}
	for entry in entries:
		found = [entry["winner"], *entry["families"]]
		rows[json.dumps(entry["problem"], sort_keys=True)] = sorted((row["family"], json.dumps(row["configuration"], sort_keys=True), row["time_us"]["median"]) for row in found)
	return rows


def test_problems_together_apart_and_merged():
	together = tune("together.json", *PROBLEMS)
	assert len(together) == 2 and tune("reversed.json", *reversed(PROBLEMS)) == together
	parts = [tune(f"part{number}.json", problem) for number, problem in enumerate(PROBLEMS)]
	assert {**parts[0], **parts[1]} == together
	for first, second in (("part0.json", "part1.json"), ("part1.json", "part0.json"), ("together.json", "part0.json")):
		run("merge", first, second, "-o", "merged.json")
		assert told("merged.json") == together, (first, second)
	run("merge", "merged.json", "merged.json", "together.json", "-o", "again.json")
	assert told("again.json") == together
	with open("suite.json", "w", encoding="utf-8") as file:
		json.dump({"format": "tiletune.suite/1", "operation": "tile", "problems": PROBLEMS}, file)
	run("tune", "--suite", "suite.json", "-d", f"replay:{RECORDED}", "--evaluations", "30", "--strategy", "model_top", "-o", "suite_tuned.json")
	assert told("suite_tuned.json") == together


def test_the_order_of_entries_in_a_file():
	with open("together.json", encoding="utf-8") as file:
		document = json.load(file)
	document["entries"].reverse()
	document["runs"].reverse()
	with open("turned.json", "w", encoding="utf-8") as file:
		json.dump(document, file)
	for problem in (PROBLEMS[0], "M=1000,N=1000,K=1024"):
		answers = []
		for name in ("together.json", "turned.json"):
			winner = json.loads(run("lookup", name, "tile", "-p", problem, "--json"))["entries"][0]["winner"]
			answers.append((winner["configuration"], winner["time_us"]["median"], winner["why"]["grade"]))
		assert answers[0] == answers[1], problem


def test_text_says_what_json_says():
	for problem in (PROBLEMS[0], "M=1000,N=1000,K=1024"):
		winner = json.loads(run("lookup", "together.json", "tile", "-p", problem, "--json"))["entries"][0]["winner"]
		text = run("lookup", "together.json", "tile", "-p", problem)
		assert winner["why"]["grade"] in text and winner["family"] in text
		assert f"{winner['time_us']['median']:.2f} us" in text, (text, winner["time_us"])
		assert all(f"{name}={value}" in text for name, value in winner["configuration"].items())


def test_keys_with_other_names():
	"""An own kernel has the same predictions after its key, tensors and parameter were renamed in the JSON."""
	with open("kernel.cu", "w", encoding="utf-8") as file:
		file.write("__global__ void add(float *c, const float *a, const float *b, int n)\n{\n\tint i = blockIdx.x * block_size_x + threadIdx.x;\n\tif (i < n) c[i] = a[i] + b[i];\n}\n")
	drawn = {"format": "tiletune.own_kernel/1", "source": "kernel.cu", "keys": {"n": {}},
		"tensors": {name: {"shape": ["n"], "dtype": "fp32", "role": "out" if name == "c" else "in"} for name in "cab"},
		"parameters": {"block_size_x": sorted(DRAWN.sample([32, 64, 128, 256, 512, 1024], 4))},
		"launches": [{"entry": "add", "grid": ["ceil_div(n, block_size_x)"], "block": ["block_size_x"], "args": ["c", "a", "b", "n"]}]}
	text = json.dumps(drawn)
	answers = []
	for file, names in (("one.json", {}), ("two.json", {"n": "elements", "a": "left", "b": "right", "c": "sum", "block_size_x": "threads"})):
		renamed = text
		for old, new in names.items():
			renamed = re.sub(rf'\b{old}\b(?!")|"{old}"', lambda found, old=old, new=new: found[0].replace(old, new), renamed)
		with open(file, "w", encoding="utf-8") as out:
			out.write(renamed)
		key = names.get("n", "n")
		entry = json.loads(run("explain", file, "-p", f"{key}={1000 * DRAWN.choice([1000])}", "-d", "model:h200-sxm", "--json"))["entries"][0]
		answers.append((list(entry["winner"]["configuration"].values()), entry["winner"]["score"]))
	assert answers[0] == answers[1], answers


with tempfile.TemporaryDirectory() as scratch:
	os.chdir(scratch)
	for test_name, test in list(globals().items()):
		if test_name.startswith("test_"):
			test()
	os.chdir(ROOT)
