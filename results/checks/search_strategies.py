#!/usr/bin/python3
"""results/tools/search_strategies.py makes the tables of results/search*.md, here for small spaces.

	results/checks/search_strategies.py OUT		OUT: the folder with the binary"""
import gzip
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path[:0] = ["tests/tools", "results/tools"]
sys.dont_write_bytecode = True
from journal_expand import with_checksum  # noqa: E402  pylint: disable=wrong-import-position
from p_score import p_score, read_runs, span  # noqa: E402  pylint: disable=wrong-import-position

ROOT = os.getcwd()
TILETUNE = os.path.abspath(os.path.join(sys.argv[1], "tiletune"))
ENVIRONMENT = {**os.environ, "TILETUNE": TILETUNE, "PYTHONPATH": f"{ROOT}/src/python", "PYTHONDONTWRITEBYTECODE": "1", "TILETUNE_PATH": ROOT}
RECORDED = f"{ROOT}/tests/data/replay/measured.jsonl.gz"
scratch = tempfile.TemporaryDirectory()
os.chdir(scratch.name)


def run(*words, code=0, cwd=None):
	done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, env=ENVIRONMENT, cwd=cwd)
	assert done.returncode == code, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
	return done


def tool(name, *words, code=0, cwd=ROOT):
	if name.startswith("tiletune."):  # this is a command of the module
		return run("-m", name, *words, code=code, cwd=f"{ROOT}/src/python")
	return run(f"{ROOT}/results/tools/{name}", *words, code=code, cwd=cwd)


def here(name):
	return os.path.join(scratch.name, name)


# ---- a cache file whose end is missing, as while it is written ----
source, cache = random.Random(3), {}
for x in (16, 32, 48, 64, 96, 128):
	for y in (1, 2, 4, 8):
		for z in (1, 2, 3, 4, 6, 8):
			for mode in "ab":
				time = 1 + abs(x - 64) / 64 + abs(y - 4) / 8 + abs(z - 3) / 6 + (mode == "b") * 0.2
				failed = source.choice(("RuntimeFailedConfig", "CompilationFailedConfig", "InvalidConfig")) if source.random() < 0.1 else None
				if x * y <= 512:  # a constraint, so that the file lacks the others
					cache[f"{x},{y},{z},{mode}"] = {"x": x, "y": y, "z": z, "mode": mode, "time": 1.0 if (x, y, z, mode) == (64, 4, 3, "a") else failed or time}
with open("cache.json", "w", encoding="utf-8") as out:
	out.write(json.dumps({"device_name": "A card", "kernel_name": "blur", "tune_params_keys": ["x", "y", "z", "mode"], "cache": cache})[:-2] + ",\n")
tool("tiletune.recorded", here("cache.json"), "-o", here("blur"))


# ---- strategies ----
def figures(path):
	rows = {}
	with open(path, encoding="utf-8") as file:
		for text in file:
			cells = [cell.strip() for cell in text.split("|")[1:-1]]
			if len(cells) == 7 and cells[2] and cells[2][0].isdigit() and cells[0] != "space":
				rows.setdefault(cells[1], []).append([float(cell.split()[0]) for cell in cells[2:] if cell])
	return rows


ordinary = "spaces", "-n", "4", "-e", "200"
tool("search_strategies.py", *ordinary, "-s", "guided", "-s", "random", "-o", here("one.md"), here("blur.json"))
tool("search_strategies.py", *ordinary, "-s", "guided", "-s", "random", "-o", here("again.md"), here("blur.json"))
with open("one.md", encoding="utf-8") as one, open("again.md", encoding="utf-8") as again:
	assert one.read() == again.read()
table = figures("one.md")
assert table["guided:nothing"][0][-1] == 1 and table["guided:nothing"][0] == sorted(table["guided:nothing"][0]), table
assert table["random:nothing"][0][1] < table["guided:nothing"][0][1], table
# every candidate in turn: the optimum counts from the moment when it was requested
tool("search_strategies.py", "spaces", "-n", "1", "-e", "400", "-s", "exhaustive", "-o", here("all.md"), here("blur.json"))
shares = figures("all.md")["exhaustive:nothing"][0]
assert shares[-1] == 1 and shares[0] < 1, shares
assert "expected nothing, physics or learned" in tool("search_strategies.py", "spaces", "-s", "guided:luck", here("blur.json"), code=1).stderr

# ---- the P score: of nine times, 9 to 1, random search is expected to have found 4, 2 and 1 after one to three evaluations ----
nine = [*range(1, 10), math.inf]
assert span(nine) == (1, 3)
for runs, wanted in ([[1]], 1), ([[4, 2, 1]], 0), ([[3, 3, 1]], (1 / 3 - 1) / 2), ([[1], [math.inf, 2]], (1 + 0.5) / 2), ([[1], [4], [4]], (1 / 3 - 1) / 2):
	assert math.isclose(p_score(nine, runs, 400), wanted), (runs, wanted, p_score(nine, runs, 400))
assert p_score(nine, [[1], [4], [4]], 1, lambda found: sorted(found)[1]) == 0
tool("search_strategies.py", *ordinary, "-s", "guided", "-s", "random", "--runs", here("runs.jsonl"), here("blur.json"))
runs = list(read_runs("runs.jsonl"))
assert [(run.space, run.strategy, run.seed) for run in runs] == [("blur", name, seed) for name in ("guided:nothing", "random:nothing") for seed in range(1, 5)]
assert all(abs(sum(1000 / min(run.times_us[:50]) for run in runs[at:at + 4]) / 4 - table[name][0][1]) < 1e-4
	for at, name in ((0, "guided:nothing"), (4, "random:nothing")))

# Kernel Tuner's runs, simulated by a stand-in module: a repeated request counts once, a failure is infinite
os.makedirs("stand_in")
with open("stand_in/numpy.py", "w", encoding="utf-8") as file:
	file.write("class random:\n\tseed = staticmethod(lambda seed: None)\n")
with open("stand_in/kernel_tuner.py", "w", encoding="utf-8") as file:
	file.write("""import json
def tune_cache(path, strategy, strategy_options, quiet, seed):
	rows = list(json.load(open(path))["cache"].values())
	asked = [rows[(seed + 1) * i % len(rows)] for i in range(strategy_options["max_fevals"])]
	return [{**row, "time": row["time"] if isinstance(row["time"], float) else object()} for row in asked + asked[:3]], {}
""")
ENVIRONMENT["PYTHONPATH"] = f"{here('stand_in')}:{ENVIRONMENT['PYTHONPATH']}"
tool("kernel_tuner_runs.py", "-n", "2", "-e", "60", "-s", "pso", "--csv", here("tuner.csv"), "-o", here("tuner.jsonl"), here("cache.json"))
ENVIRONMENT["PYTHONPATH"] = f"{ROOT}/src/python"
first = next(read_runs("tuner.jsonl"))
assert (first.space, first.strategy, first.seed, len(first.times_us)) == ("cache", "pso", 0, 60), first
assert first.times_us == [time * 1000 if isinstance(time, float) else math.inf for time in (item["time"] for item in list(cache.values())[:60])]
with open("tuner.csv", encoding="utf-8") as file:
	words = file.read().splitlines()[-1].split(",")
bests = [min(run.times_us[:25]) for run in read_runs("tuner.jsonl")]
assert words[:2] == ["cache", "pso"] and math.isclose(float(words[2]), sum(1000 / best for best in bests) / 2, abs_tol=1e-4), (words, bests)
os.replace("tuner.jsonl", "blur_tuner.jsonl")
with open("blur_tuner.jsonl", encoding="utf-8") as file:
	text = file.read().replace('"cache"', '"blur"')
with open("blur_tuner.jsonl", "w", encoding="utf-8") as file:
	file.write(text)
scores = {cells[0].strip(): cells[1].strip() for cells in (line.strip("|").split("|") for line in
	tool("p_score.py", "--runs", here("runs.jsonl"), "--runs", here("blur_tuner.jsonl"), here("blur.json")).stdout.splitlines())}
times = [item["time"] * 1000 if isinstance(item["time"], float) else math.inf for item in cache.values()]
assert scores["guided:nothing"] == f"{p_score(times, [run.times_us for run in runs[:4]], 400):.3f}" and "pso" in scores, scores
assert float(scores["guided:nothing"]) > max(0.5, float(scores["random:nothing"])) and scores["evaluations"] == "{} to {}".format(*span(times)), scores

# ---- suites: ten problems save evaluations of ten others ----
try:
	import numpy  # noqa: F401  pylint: disable=unused-import
except ImportError:
	print("python3 has no numpy: suites are not looked at")
	sys.exit(0)
root = here("root")
os.makedirs(root)
os.symlink(f"{ROOT}/tests/data/replay/templates", f"{root}/templates")
os.symlink(f"{ROOT}/configs", f"{root}/configs")
os.symlink(f"{ROOT}/tests", f"{root}/tests")
with gzip.open(RECORDED, "rt", encoding="utf-8") as file:
	whole = [json.loads(text) for text in file if text.endswith("}\n")]
candidates = [line for line in whole if line["event"] == "evaluation" and line["problem"] == 0 and line["outcome"] == "ok" and line["family"] == "tile/direct"]
with open("suite.jsonl", "w", encoding="utf-8") as file:
	file.write(with_checksum(whole[0], None))
	for number in range(20):
		values = {**whole[1]["problem"], "M": 1000 + 50 * number}
		text = ",".join(f"{key}={value}" for key, value in values.items())
		file.write(with_checksum({**whole[1], "number": number, "text": text, "problem": values,
			"families": [one for one in whole[1]["families"] if one["name"] == "tile/direct"]}, whole[0]["id"]))
		for line in candidates:
			tile = dict(pair.split("=") for pair in line["configuration"].split(","))
			# the best configuration is one with a poor prediction
			time = 100 * (1 if tile["BM"] == "96" and tile["BN"] == "96" else 3) + int(tile["BK"]) + 5 * int(tile["STAGES"])
			file.write(with_checksum({**line, "problem": number, "samples_us": [float(time)]}, whole[0]["id"]))
ENVIRONMENT["TILETUNE_PATH"] = f"{ROOT}:{ROOT}/tests/data/replay"
tool("search_strategies.py", "suites", "-n", "1", "-o", here("suites.md"), here("suite.jsonl"), cwd=root)
with open("suites.md", encoding="utf-8") as file:
	text = file.read()
numbers = [float(cell) for cell in re.search(r"^\| suite, 20 problems of tile \|(.*)\|$", text, re.M).group(1).split("|")]
assert numbers[1] < 0.7 * numbers[0] and abs(numbers[2] - numbers[1] / numbers[0]) < 0.01, numbers
print(f"{len(cache)} configurations; suites: {numbers}")
