#!/usr/bin/python3
"""python3 -m tiletune.recorded converts other tuners' recordings to journals.

	tests/checks/recorded.py OUT		OUT: the folder with the binary"""
import gzip
import json
import math
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.getcwd()
TILETUNE = os.path.abspath(os.path.join(sys.argv[1], "tiletune"))
ENVIRONMENT = {**os.environ, "TILETUNE": TILETUNE, "PYTHONPATH": f"{ROOT}/src/python", "PYTHONDONTWRITEBYTECODE": "1", "TILETUNE_PATH": ROOT}
RECORDED = f"{ROOT}/tests/data/replay/measured.jsonl.gz"
scratch = tempfile.TemporaryDirectory()
os.chdir(scratch.name)


def tool(*words, code=0):
	done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False, env=ENVIRONMENT, cwd=f"{ROOT}/src/python")
	assert done.returncode == code, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
	return done


def here(name):
	return os.path.join(scratch.name, name)


def lines(path):
	with gzip.open(path, "rt", encoding="utf-8") as file:
		return [json.loads(line) for line in file]


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
subprocess.run([TILETUNE, "validate", "blur.jsonl.gz"], check=True, capture_output=True, env=ENVIRONMENT)
found = {line["configuration"]: line for line in lines("blur.jsonl.gz") if line["event"] == "evaluation"}
assert len(found) == len(cache) and lines("blur.jsonl.gz")[0]["device"]["name"] == "A card"
WORDS = {"RuntimeFailedConfig": "launch_failed", "CompilationFailedConfig": "compile_failed", "InvalidConfig": "pruned_by_model"}
for item in cache.values():
	line = found[f"x={item['x']},y={item['y']},z={item['z']},mode={item['mode']}"]
	failed = isinstance(item["time"], str)
	assert line["outcome"] == (WORDS[item["time"]] if failed else "ok"), (line, item)
	assert failed or line["samples_us"] == [item["time"] * 1000], (line, item)
	assert not failed or line["detail"] == item["time"]

# ---- files of tiletune.t4 are read again, as T4 and as cache files ----
tool("tiletune.t4", RECORDED, "--cache", "--problem", "M=1000", "--family", "tile/split", "-o", here("split.cache.json"))
tool("tiletune.recorded", here("split.cache.json"), "-o", here("split"))
original = {}
with gzip.open(RECORDED, "rt", encoding="utf-8") as file:
	for text in file:
		if text.endswith("}\n"):
			line = json.loads(text)
			if line["event"] == "evaluation" and line["problem"] == 0 and line["family"] == "tile/split":
				original[line["configuration"]] = line
again = {line["configuration"]: line for line in lines("split.jsonl.gz") if line["event"] == "evaluation"}
assert again.keys() == original.keys() and len(again) > 40
ok = [name for name, line in original.items() if line["outcome"] == "ok"]
middle = lambda values: (sorted(values)[(len(values) - 1) // 2] + sorted(values)[len(values) // 2]) / 2  # noqa: E731
assert all(math.isclose(again[name]["samples_us"][0], middle(original[name]["samples_us"]), rel_tol=1e-9) for name in ok)
with open("t4.json", "w", encoding="utf-8") as out:
	json.dump({"results": [{"configuration": {"x": 16, "fast": True}, "invalidity": "correct", "measurements": [
		{"name": "power", "value": 3, "unit": "W"}, {"name": "time", "value": 0.5, "unit": "ms"}]},
		{"configuration": {"x": 32, "fast": False}, "invalidity": "correctness"},
		{"configuration": {"x": 64, "fast": True}, "measurements": [{"name": "time", "value": 7, "unit": "us"}]}]}, out)
tool("tiletune.recorded", here("t4.json"), "-o", here("four"))
assert [(line["configuration"], line["outcome"], line.get("samples_us")) for line in lines("four.jsonl.gz") if line["event"] == "evaluation"] == [
	("x=16,fast=1", "ok", [500.0]), ("x=32,fast=0", "wrong_result", None), ("x=64,fast=1", "ok", [7.0])]

# ---- files that are not recordings ----
for content, said in ("{}", "expected a cache file"), ("nothing", "tiletune.recorded"), ('{"results": []}', "found none"), (
		'{"results": [{"configuration": {"x": 1}, "measurements": []}]}', 'called "time"'):
	with open("bad.json", "w", encoding="utf-8") as out:
		out.write(content)
	assert said in tool("tiletune.recorded", here("bad.json"), "-o", here("bad"), code=1).stderr, said
