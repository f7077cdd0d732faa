#!/usr/bin/python3
"""python3 -m tiletune.learn: corrections learned from the recorded toy run work with `tune --learned`, and are bitwise reproducible.
Effects of the configuration are learned, noise is not. Unsuitable journals give messages.

	tests/checks/learn.py OUT		OUT: the folder with the binary"""
import hashlib
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/tools")
sys.dont_write_bytecode = True
from journal_expand import parsed, with_checksum  # noqa: E402  pylint: disable=wrong-import-position

try:
	import numpy  # noqa: F401  pylint: disable=unused-import
except ImportError:
	print("skipped: python3 has no numpy")
	sys.exit(77)

TILETUNE = os.path.abspath(os.path.join(sys.argv[1], "tiletune"))
ROOT = os.getcwd()
RECORDED = f"{ROOT}/tests/data/replay/measured.jsonl.gz"
ENVIRONMENT = {**os.environ, "TILETUNE": TILETUNE, "TILETUNE_PATH": f"{ROOT}:{ROOT}/tests/data/replay", "TILETUNE_NVRTC": "/nonexistent",
	"PYTHONPATH": f"{ROOT}/src/python", "PYTHONDONTWRITEBYTECODE": "1"}
scratch = tempfile.TemporaryDirectory()
os.chdir(scratch.name)


def run(*words, code=0):
	done = subprocess.run(words, capture_output=True, text=True, check=False, env=ENVIRONMENT)
	assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
	return done


def learn(*words, code=0):
	return run(sys.executable, "-m", "tiletune.learn", *words, code=code)


def load(path):
	with open(path, encoding="utf-8") as file:
		return json.load(file)


def journal_of(path, time_us):
	"""Writes the recorded run with another time for each candidate, and ten problems. The closer their M, the more similar their times."""
	lines = [line for _, line in parsed(RECORDED)]
	run_line = lines[0]
	problem = next(line for line in lines if line["event"] == "problem")
	candidates = [line for line in lines if line["event"] == "evaluation" and line["problem"] == problem["number"] and line["outcome"] == "ok"][::4]
	with open(path, "w", encoding="utf-8") as file:
		file.write(with_checksum(run_line, None))
		for number in range(10):
			values = {**problem["problem"], "M": 1000 + 100 * number}
			text = ",".join(f"{key}={value}" for key, value in values.items())
			file.write(with_checksum({**problem, "number": number, "text": text, "problem": values}, run_line["id"]))
			for line in candidates:
				line = {name: value for name, value in line.items() if name not in ("samples_us", "score", "time_us")}
				median = time_us(number, line)
				file.write(with_checksum({**line, "problem": number,
					"time_us": {"median": median, "ci95_low": median, "ci95_high": median, "samples": 1}}, run_line["id"]))


def physics(path):
	"""Returns the time that physics predicts for each (problem, configuration)."""
	decoder, text, at, found = json.JSONDecoder(), run(TILETUNE, "export", path, "--format", "features").stdout, 0, {}
	while at < len(text):
		line, at = decoder.raw_decode(text, at)
		at += 1
		assert line["device"] and all(len(row) == 3 + len(line["features"]) for row in line["rows"])
		found.update({(line["problem"].split(",")[0], row[0]): row[2] for row in line["rows"]})
	return found


def left_out(path):
	return {family["family"]: family["left_out"] for family in load(path)["families"]}


# the recorded run gives one file, bitwise and valid, which corrects the predictions of `tune`
learn(RECORDED, "-o", "one.json")
learn(RECORDED, "-o", "again.json")
with open("one.json", "rb") as one, open("again.json", "rb") as again:
	assert one.read() == again.read()
run(TILETUNE, "validate", "one.json")
families = load("one.json")["families"]
assert [family["family"] for family in families] == ["tile/direct", "tile/split"]
assert families[0]["timings"] > 400 and families[0]["problems"] == 2
tune = ("tune", "tile", "-p", "M=1000,N=1000,K=512", "-f", "direct", "-d", f"replay:{RECORDED}", "-e", "quick", "--fresh")
alone = run(TILETUNE, *tune, "-o", "alone.json").stdout
named = run(TILETUNE, *tune, "--learned", "one.json", "-o", "named.json").stdout
assert f"learned: {families[0]['timings']} timings" in named and "learned" not in alone, (alone, named)
assert "--learned one.json" in load("named.json")["runs"][0]["command"]
refused = run(TILETUNE, *tune, "--learned", "one.json", "--no-learned", "-o", "x.json", code=2).stderr
assert "--no-learned" in refused, refused

# factors of 2 for one value of a parameter and of 3 always are both learned, and hold on problems left out
journal_of("plain.jsonl", lambda number, line: 1.0)
predicted = physics("plain.jsonl")
key = lambda number, line: (f"tile M={1000 + 100 * number}", line["configuration"])  # noqa: E731
slow = lambda line: 2.0 if re.search(r"\bBM=96\b", line["configuration"]) else 1.0  # noqa: E731
journal_of("told.jsonl", lambda number, line: 3 * slow(line) * predicted.get(key(number, line), 1.0))
learn("told.jsonl", "-o", "told.json")
found = left_out("told.json")["tile/direct"]
assert found["problems"] == 10 and found["learned_mean"] > 0.99 and found["learned_lowest"] > 0.97, found

# noise is not learned: predictions of problems left out are as good as those of physics
source = random.Random(5)
journal_of("noise.jsonl", lambda number, line: predicted.get(key(number, line), 1.0) * math.exp(source.gauss(0, 0.3)))
learn("noise.jsonl", "-o", "noise.json")
found = left_out("noise.json")["tile/direct"]
assert found["learned_mean"] <= found["physics_mean"] + 0.05, found

# fixed samples give this file on every machine and with every version of numpy
sys.path.insert(0, f"{ROOT}/src/python")
from tiletune import learn as module  # noqa: E402  pylint: disable=wrong-import-position
source = random.Random(7)
samples = []
for number in range(12):
	for item in range(40):
		x, y, z = source.random(), source.randrange(4), source.random()
		time = round(10 * (1 + (x > 0.3) + y * z / 4) * (1 + source.random() / 50), 4)
		samples.append(module.Sample(f"gemm M={number}", [f"A={item}", time, 10.0, x, y, z]))
fixed = module.learn_family("gemm/fixed", ["x", "y", "z"], module.put_together({"gemm/fixed": samples})["gemm/fixed"])
assert fixed["left_out"]["learned_mean"] > fixed["left_out"]["physics_mean"] + 0.1, fixed["left_out"]
digest = hashlib.sha256(json.dumps(fixed).encode()).hexdigest()[:16]
assert digest == "f445b330cafc692f", digest

# repeated measurements count once, with their geometric mean, so that a candidate timed by several runs has no extra weight
def drawn(times):
	chance, made = random.Random(11), []
	for number in range(6):
		for item in range(30):
			x, truth = chance.random(), 10 * (1 + (item % 3)) * chance.uniform(0.9, 1.1)
			made += [module.Sample(f"gemm M={number}", [f"A={item}", time, 10.0, x, item % 3]) for time in times(number, item, truth)]
	chance.shuffle(made)
	return module.learn_family("gemm/twice", ["x", "y"], module.put_together({"gemm/twice": made})["gemm/twice"])


once = drawn(lambda number, item, truth: [truth])
often = drawn(lambda number, item, truth: [truth] * (1 + (number * item) % 4))
apart = drawn(lambda number, item, truth: [truth * 1.02, truth / 1.02] if item % 2 else [truth])
for other in once, often, apart:
	assert (other["timings"], other["problems"]) == (180, 6), (other["timings"], other["problems"])
	for name, value in once["left_out"].items():
		assert abs(other["left_out"][name] - value) < 1e-6, (name, once["left_out"], other["left_out"])
assert often["model"] == once["model"], "what is measured twice changes the trees"

# unsuitable journals
with open("words.jsonl", "w", encoding="utf-8") as file:
	file.write("no journal\n")
assert "exit code 2" in learn("words.jsonl", "-o", "x.json", code=1).stderr
assert "predicted.jsonl: no timings of families" in learn(f"{ROOT}/tests/data/replay/predicted.jsonl", "-o", "x.json", code=1).stderr
assert not os.path.exists("x.json")
print(f"{families[0]['timings']} timings, {len(families[0]['model']['trees'])} trees; noise: {found}")
