"""Rules: the C and Python functions agree with the file, have a default and a flag, and state their losses in their heads."""
import gzip
import json
import math
import os
import re
import subprocess
import sys

import pytest

import tiletune
from conftest import ROOT
from tiletune import rules
from tiletune.tuned import tied_rows

RESULTS = os.path.join(ROOT, "results/nvidia-h200")
SMALL, LARGE = "BM=64,BN=32", "BM=128,BN=256"


def exported(tmp_path, *words, form="py", file=f"{RESULTS}/tuned.json"):
	path = str(tmp_path / f"rule.{form}")
	done = subprocess.run([os.environ["TILETUNE"], "export", file, "gemm", "--format", f"rule-{form}", "-o", path, *words], capture_output=True,
		text=True, check=False)
	assert done.returncode == 0, done.stderr
	with open(path, encoding="utf-8") as source:
		return source.read()


def in_python(text):
	names = {}
	exec(text, names)  # pylint: disable=exec-used
	return names["gemm"]


def in_c(tmp_path, text, problems):
	(tmp_path / "rule.h").write_text(text)
	(tmp_path / "main.c").write_text('#include <stdio.h>\n#include "rule.h"\nint main(void)\n{\n\tlong long m, n, k;\n\n'
		'\twhile (scanf("%lld %lld %lld", &m, &n, &k) == 3) {\n\t\tconst struct gemm_rule r = gemm_rule(m, n, k);\n\n'
		'\t\tprintf("%s %s %d\\n", r.family, r.configuration, r.is_seen);\n\t}\n}\n')
	subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-std=c99", "-o", str(tmp_path / "main"), str(tmp_path / "main.c")], check=True)
	done = subprocess.run([str(tmp_path / "main")], input="".join("%d %d %d\n" % problem for problem in problems), text=True, capture_output=True, check=True)
	return [line.split() for line in done.stdout.splitlines()]


def test_of_results(tmp_path):
	text = exported(tmp_path, "-p", "dtype=bf16", "--leaves", "8")
	rule = in_python(text)
	entries = [entry for entry in tiletune.load(f"{RESULTS}/tuned.json").entries if entry["operation"] == "gemm" and entry["problem"]["dtype"] == "bf16"]
	seen = [tuple(entry["problem"][key] for key in "MNK") for entry in entries]
	nonsense = [(0, 4096, 4096), (-5, 4096, 4096), (4096, 0, 0), (10**15, 4096, 4096), (2**31, 2**31, 2**31)]
	answers = {problem: rule(*problem) for problem in [*seen, *nonsense, (100, 5000, 300), (16384, 512, 28672)]}
	assert all(answers[problem][2] for problem in seen) and len({answer[0] + str(answer[1]) for answer in answers.values()}) > 1
	default = answers[nonsense[0]]
	assert all(answers[problem] == default and not answers[problem][2] for problem in nonsense)
	# computes the same in C
	for (family, configuration, is_seen), found in zip(answers.values(), in_c(tmp_path, exported(tmp_path, "-p", "dtype=bf16", "--leaves", "8", form="c"), answers)):
		assert found == [family, ",".join(f"{key}={value}" for key, value in configuration.items()), str(int(is_seen))]
	assert len(set(re.findall(r"return (\d+)", text))) <= text.count("return ") - 1 <= 8
	# recomputes its losses from the journal
	times = {}
	with gzip.open(f"{RESULTS}/tuned.journal.jsonl.gz", "rt", encoding="utf-8") as journal:
		texts = {}
		for line in map(json.loads, journal):
			if line["event"] == "problem":
				texts[line["run"], line["number"]] = line["text"]
			elif line["event"] == "evaluation" and line["outcome"] == "ok":
				key = texts[line["run"], line["problem"]], line["family"], line["configuration"]
				times[key] = min(line["time_us"]["median"], times.get(key, math.inf))
	for entry in entries:
		problem = ",".join(f"{key}={value}" for key, value in entry["problem"].items())
		for row in (entry["winner"], *tied_rows(entry), *entry["families"]):
			key = problem, row["family"], ",".join(f"{name}={value}" for name, value in row["configuration"].items())
			times[key] = min(row["time_us"]["median"], times.get(key, math.inf))
	losses = []
	for entry in entries:
		problem = ",".join(f"{key}={value}" for key, value in entry["problem"].items())
		family, configuration, _ = answers[tuple(entry["problem"][key] for key in "MNK")]
		time = times.get((problem, family, ",".join(f"{key}={value}" for key, value in configuration.items())))
		if time:
			losses.append(time / min(value for key, value in times.items() if key[0] == problem) - 1)
	said = re.search(r"Its entries: (\d+) of (\d+) answers were timed, loss: mean (\S+)%, largest (\S+)%", text)
	assert said.groups() == (str(len(losses)), str(len(entries)), f"{100 * sum(losses) / len(losses):.1f}", f"{100 * max(losses):.1f}")
	known, left_out = text.split("Entries left out")
	assert known.count("  not timed: ") == len(entries) - len(losses)
	timed = int(re.match(r" of the fit: (\d+) of 50", left_out).group(1))
	assert left_out.count("  not timed: ") == 50 - timed


def made(tmp_path, sizes, time_of, configurations=(SMALL, LARGE)):
	"""Makes a tuned file and a journal in which every configuration was timed for every size of M."""
	runs = [{"event": "run", "id": "r"}]
	entries = []
	for number, m in enumerate(sizes):
		problem = {"M": m, "kind": "x"}
		times = {configuration: time_of(m, configuration) for configuration in configurations}
		best = min(times, key=times.get)
		runs.append({"event": "problem", "run": "r", "number": number, "operation": "mine", "text": f"M={m},kind=x", "problem": problem})
		runs += [{"event": "evaluation", "run": "r", "problem": number, "family": "mine/one", "configuration": configuration, "outcome": "ok",
			"time_us": {"median": time}} for configuration, time in times.items()]
		entries.append({"operation": "mine", "problem": problem, "timing": "measured", "winner": {"family": "mine/one",
			"configuration": rules.numbers(best), "time_us": {"median": times[best]}}})
	(tmp_path / "made.json").write_text(json.dumps({"format": "tiletune.tuned/1", "device": {}, "entries": entries}))
	(tmp_path / "made.journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in runs))
	return str(tmp_path / "made.json")


def rule_of(path, **options):
	return rules.Rule.make(path, "mine", {}, rules.journals_of(path), options.get("leaves", 32))


def test_finds_the_border(tmp_path):
	path = made(tmp_path, range(100, 4100, 100), lambda m, c: 10.0 if (c == SMALL) == (m < 1050) else 12.0)
	rule = rule_of(path)
	assert rule.known.losses == [0] * 40 and not rule.known.untimed and sum(loss > 0 for loss in rule.left_out.losses) <= 1
	names = {}
	exec(rule.python(), names)  # pylint: disable=exec-used
	assert [names["mine"](m)[1]["BM"] for m in (100, 1000, 1100, 4000)] == [64, 64, 128, 128]
	assert names["mine"](4001) == ("mine/one", {"BM": 128, "BN": 256}, False) == names["mine"](0)
	assert "M 100 to 4000" in rule.python() and "For kind=x" in rule.python()
	one = rule_of(path, leaves=1)
	assert not one.root.children and abs(sum(one.known.losses) / 40 - 0.2 * 10 / 40) < 1e-9
	with pytest.raises(tiletune.Error, match="expected measured entries of other , found 0"):
		rules.Rule.make(path, "other", {}, [], 32)


def test_keeps_a_class(tmp_path):
	"""LARGE is faster everywhere, but only SMALL has the required bits of the entries below M=1050 and at M=2000."""
	sizes = range(100, 4100, 100)
	is_small = lambda m: m < 1050 or m == 2000  # noqa: E731
	path = made(tmp_path, sizes, lambda m, c: 10.0 if c == LARGE else 12.0)
	of = lambda m, c: ["0" * 16] if (c == SMALL) == is_small(m) else ["f" * 16]  # noqa: E731
	with open(path, encoding="utf-8") as file:
		document = json.load(file)
	for entry in document["entries"]:
		m = entry["problem"]["M"]
		right = SMALL if is_small(m) else LARGE
		entry["bits"] = {"rule": "invariant=M"}
		entry["winner"] = {"family": "mine/one", "configuration": rules.numbers(right), "time_us": {"median": 12.0 if is_small(m) else 10.0},
			"bits": {"inputs": 2, "rows": 1, "digests": ["0" * 16]}}
	(tmp_path / "made.json").write_text(json.dumps(document))
	lines = [json.loads(line) for line in (tmp_path / "made.journal.jsonl").read_text().splitlines()]
	for line in lines:
		if line["event"] == "evaluation":
			line["bits"] = {"inputs": 2, "rows": 1, "digests": of(sizes[line["problem"]], line["configuration"])}
	(tmp_path / "made.journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
	rule = rule_of(path)
	names = {}
	exec(rule.python(), names)  # pylint: disable=exec-used
	assert [m for m in sizes if (names["mine"](m)[1]["BM"] == 64) != is_small(m)] == []
	assert "have the bits that these were tuned for" in rule.python()
	with pytest.raises(tiletune.Error, match="expected a rule with 1 leaves that keeps the bits of every entry, found none for M="):
		rule_of(path, leaves=1)


def test_noise_is_not_learned(tmp_path):
	"""The better of two configurations does not depend on the size: on entries left out, the rule loses about as much as the best
	single answer."""
	path = made(tmp_path, range(1, 400, 10), lambda m, c: 10.0 + (hash((m * 7919, c == SMALL)) % 100) / 100)
	rule = rule_of(path)
	single = rule_of(path, leaves=1)
	assert sum(rule.left_out.losses) <= 1.5 * sum(single.left_out.losses)


def test_untimed(tmp_path):
	"""Answers without a time are counted and named, and the command that times them is printed."""
	path = made(tmp_path, range(100, 4100, 100), lambda m, c: 10.0 if c == LARGE else 12.0)
	with open(tmp_path / "made.journal.jsonl", encoding="utf-8") as file:
		lines = [json.loads(line) for line in file]
	missing = [line for line in lines if line["event"] == "evaluation" and line["problem"] == 5 and line["configuration"] == LARGE]
	lines.remove(missing[0])
	(tmp_path / "made.journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
	document = json.loads((tmp_path / "made.json").read_text())
	document["entries"][5]["winner"].update(configuration=rules.numbers(SMALL), time_us={"median": 12.0})
	(tmp_path / "made.json").write_text(json.dumps(document))
	done = subprocess.run([sys.executable, "-m", "tiletune.rules", path, "mine", "--format", "py", "-o", str(tmp_path / "rule.py"), "--untimed",
		str(tmp_path / "untimed.sh")], capture_output=True, text=True, check=False)
	assert done.returncode == 0 and "Its entries: 39 of 40 answers were timed" in done.stderr, done.stderr
	assert "  not timed: M=600,kind=x" in (tmp_path / "rule.py").read_text()
	assert set((tmp_path / "untimed.sh").read_text().splitlines()) == {f"tiletune tune mine -p M=600,kind=x --family=one --config={LARGE} "
		"-o rule_times.json --journal rule_times.journal.jsonl"}


def test_hostile_texts_run_nothing(tmp_path):
	"""Texts that would end a comment, a string or a word stay texts; a text that cannot be a name is refused."""
	evil = '*/\nint evil;/*"\\\n??/\n*\\\n/ $(touch ran) ; touch ran'
	path = made(tmp_path, range(100, 4100, 100), lambda m, c: 10.0 if c == LARGE else 12.0)
	document = json.loads((tmp_path / "made.json").read_text())
	for entry in document["entries"]:
		entry["problem"]["kind"] = evil
		entry["winner"]["family"] = "mine/" + evil.replace("/", "")
	lines = [json.loads(line) for line in (tmp_path / "made.journal.jsonl").read_text().splitlines()]
	hostile = tmp_path / "*\\\nevil.json"
	hostile.write_text(json.dumps(document))
	rule = rules.Rule.make(str(hostile), "mine", {}, [], 32)
	rule.known.untimed = [(rule.cases[0], rule.pool[0])]
	names = {}
	exec(rule.python(), names)  # pylint: disable=exec-used
	assert names["mine"](100)[0] == "mine/" + evil.replace("/", "") and "evil" not in names
	(tmp_path / "rule.h").write_text(rule.c())
	(tmp_path / "main.c").write_text('#include "rule.h"\nint evil = 1;\nint main(void) { return mine_rule(100).family[0] != \'m\'; }\n')
	for standard in ("c99", "gnu11"):  # c99 has trigraphs
		subprocess.run(["gcc", f"-std={standard}", "-o", str(tmp_path / "main"), str(tmp_path / "main.c")], check=True)
		subprocess.run([str(tmp_path / "main")], check=True)
	subprocess.run(["sh", "-c", "tiletune() { :; }; " + rule.untimed()], cwd=tmp_path, check=True)
	assert not (tmp_path / "ran").exists() and len(lines) > 40
	for key in ("M;evil", "class", "9M"):
		document = json.loads((tmp_path / "made.json").read_text())
		for entry in document["entries"]:
			entry["problem"] = {key: entry["problem"]["M"]}
		(tmp_path / "keys.json").write_text(json.dumps(document))
		with pytest.raises(tiletune.Error, match="cannot be a name in C and Python"):
			rules.Rule.make(str(tmp_path / "keys.json"), "mine", {}, [], 32)
	# the program validates the file first
	done = subprocess.run([os.environ["TILETUNE"], "export", path, "mine", "--format", "rule-c"], capture_output=True, text=True, check=False)
	assert done.returncode == 2 and "$.device" in done.stderr, done.stderr


def test_imports_nothing_from_the_current_folder(tmp_path):
	for name in ("argparse.py", "tiletune.py", "runpy.py"):
		(tmp_path / name).write_text("open('ran', 'w')\n")
	done = subprocess.run([os.environ["TILETUNE"], "export", f"{RESULTS}/tuned.json", "gemm", "-p", "dtype=bf16", "--format", "rule-c"], cwd=tmp_path,
		capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""})
	assert done.returncode == 0 and not (tmp_path / "ran").exists(), done.stderr


def test_refused(tmp_path):
	for words, said in ((("gemm",), "expected entries of one dtype, found bf16"), (("gemm", "-p", "dtype=fp64"), "found 0"), ((), "needs an operation")):
		done = subprocess.run([os.environ["TILETUNE"], "export", f"{RESULTS}/tuned.json", *words, "--format", "rule-py"], capture_output=True, text=True,
			check=False)
		assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
