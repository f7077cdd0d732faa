"""Runs of `tune` over a recording: a run that is killed and resumed writes the file of an undisturbed run and measures nothing twice
(tune/resume.h, format/journal.h), and strategies find the best candidate within their budgets (search/strategy.h)."""
import collections
import json
import os
import re
import subprocess
import tempfile
import zlib

from hypothesis import given, settings, strategies as draw

import oracle  # noqa: F401  pylint: disable=unused-import

ROOT = os.getcwd()
RECORDING = f"replay:{ROOT}/tests/data/replay/measured.jsonl.gz"
SPOILED = ("too_noisy", "device_lost")  # a resumed run tries these again
problems = draw.lists(draw.sampled_from(["M=1000,N=1000,K=512", "M=4096,N=256,K=2048"]), min_size=1, max_size=2, unique=True)
options = draw.tuples(draw.sampled_from([["-e", "exhaustive"], ["-e", "exhaustive", "--strategy", "random"], ["-e", "quick", "--evaluations", "9"],
	["-e", "thorough", "--strategy", "local", "--evaluations", "30"], ["-e", "thorough", "--strategy", "guided", "--evaluations", "30"]]),
	draw.sampled_from([[], ["-f", "split"]]), draw.sampled_from(["BM in [64, 128] and BK >= 32", "BN == 128", "BM == 64"]),
	draw.integers(1, 3))


def tiletune(folder, operation, device, *words):
	return subprocess.run([os.path.abspath(os.environ["TEST_OUT"]) + "/tiletune", "tune", operation, "-d", device, *words, "--budget", "10m", "-o", "tuned.json"], cwd=folder,
		capture_output=True, text=True, check=False, env={**os.environ, "TILETUNE_PATH": f"{ROOT}:{ROOT}/tests/data/replay"})


def tune(folder, wanted, effort, family, where, seed):
	words = [word for problem in wanted for word in ("-p", problem)]
	done = tiletune(folder, "tile", RECORDING, *words, *effort, *family, "--where", where, "--seed", str(seed))
	assert done.returncode == 0, done.stderr


def entries_of(folder):
	with open(folder + "/tuned.json", encoding="utf-8") as file:
		tuned = json.load(file)
	runs = {run["id"] for run in tuned["runs"]}
	assert all(entry.pop("run") in runs for entry in tuned["entries"])
	return tuned["entries"]


def runs_of(folder):
	"""Returns the lines that each run wrote: {event: [(problem, ...)]}."""
	runs, texts = [], {}
	with open(folder + "/tuned.journal.jsonl", encoding="utf-8") as file:
		for line in (json.loads(text) for text in file if text.startswith("{") and text.endswith("}\n")):
			if line["event"] == "run":
				runs.append({"evaluation": [], "final": [], "entry": [], "spoiled": []})
			if line["event"] == "problem":
				texts[line["number"]] = line["text"]
			if line["event"] in ("evaluation", "final", "entry"):
				event = "spoiled" if line["event"] == "evaluation" and line["outcome"] in SPOILED else line["event"]
				runs[-1][event].append((texts[line["problem"]], line.get("family"), line.get("configuration")))
	return runs


@settings(max_examples=40)
@given(problems, options, draw.lists(draw.floats(0, 1), min_size=1, max_size=4))
def test_a_resumed_run_is_an_undisturbed_one(wanted, said, cuts):
	with tempfile.TemporaryDirectory() as folder:
		tune(folder, wanted, *said)
		expected, [whole] = entries_of(folder), runs_of(folder)
		for cut in cuts:  # kills the run at each of these places, which may be within a line or before the first one
			os.remove(folder + "/tuned.json")
			os.truncate(folder + "/tuned.journal.jsonl", int(cut * (os.path.getsize(folder + "/tuned.journal.jsonl") - 2)))
			tune(folder, wanted, *said)
		*earlier, last = runs_of(folder)
		evaluated = [each for run in [*earlier, last] for each in run["evaluation"]]
		assert len(set(evaluated)) == len(evaluated) == len(whole["evaluation"])
		concluded = {problem for run in earlier for problem, *_ in run["entry"]}
		for event in ("entry", "final"):  # a final measurement is repeated completely
			assert len(last[event]) == len([each for each in whole[event] if each[0] not in concluded])
		assert {each for run in earlier for each in run["spoiled"] if each[0] not in concluded} <= set(last["spoiled"])
		if said[0][1] == "exhaustive":  # other strategies depend on what they know, so that a resumed run may request other candidates
			assert set(evaluated) == set(whole["evaluation"]) and entries_of(folder) == expected


@settings(max_examples=5)
@given(problems, options)
def test_a_finished_run_is_not_resumed(wanted, said):
	with tempfile.TemporaryDirectory() as folder:
		tune(folder, wanted, *said)
		tune(folder, wanted, *said)
		first, second = ({event: len(items) for event, items in run.items()} for run in runs_of(folder))
		assert first["evaluation"] + first["spoiled"] == second["evaluation"] + second["spoiled"] and first["entry"] == second["entry"]


# evaluations, of 305 recorded ones, within which a strategy must find the best
BUDGETS = {"guided": 50, "local": 100, "model_top": 40, "exhaustive": 305, "random": 305, "evolution": 305}


def test_every_strategy_finds_the_best():
	with open("src/search/strategy.c", encoding="utf-8") as file:
		assert sorted(re.findall(r"row\((\w+)\) ", file.read())) == sorted(BUDGETS), "give each strategy a number of evaluations"
	for strategy, budget in BUDGETS.items():
		for seed in range(1, 6):
			with tempfile.TemporaryDirectory() as folder:
				tune(folder, ["M=1000,N=1000,K=512"], ["-e", "exhaustive", "--strategy", strategy, "--evaluations", str(budget)], [], "BM > 0", seed)
				[run], [entry] = runs_of(folder), entries_of(folder)
				assert len(run["evaluation"] + run["spoiled"]) <= budget
				assert entry["winner"]["configuration"] == {"BM": 64, "BN": 192, "BK": 64, "STAGES": 3}, (strategy, seed)


def test_every_family_gets_a_few_evaluations():
	"""Every family gets them even if the stall rule ends the search early, unless the user names a strategy."""
	for words, number in (["-e", "quick"], 8), (["-e", "quick", "--strategy", "model_top", "--evaluations", "10"], 0):
		with tempfile.TemporaryDirectory() as folder:
			tune(folder, ["M=1000,N=1000,K=512"], words, [], "BM > 0", 1)
			[run] = runs_of(folder)
			counts = collections.Counter(family for _, family, _ in run["evaluation"] + run["spoiled"])
			assert min(counts["tile/direct"], counts["tile/split"]) >= number and (number or counts.total() == 10)


def test_a_recorded_model_predicts():
	with tempfile.TemporaryDirectory() as folder:
		done = tiletune(folder, "gemm", f"replay:{ROOT}/tests/data/replay/predicted.jsonl", "-p", "M=512,N=512,K=512,dtype=bf16", "-e", "exhaustive")
		assert done.returncode == 0, done.stderr
		[entry] = entries_of(folder)
		# today's templates decide which recorded configurations are still legal
		assert entry["timing"] == "predicted" and entry["space"]["outcomes"]["ok"] >= 10


def test_recordings_without_a_device_are_refused():
	run = {"event": "run", "format": "tiletune.journal/1", "id": "a", "date": "d", "tiletune": {"version": "0"}, "device_kind": "cuda", "signature": "b"}
	gpu = {"name": "x", "sheet": "nowhere", "compute_capability": 90, "sm_count": 1}
	for line, said in (None, "the journal has no run"), (run, "device"), ({**run, "device": {"name": "x"}}, "line 1: $.device"), ({**run, "device": gpu}, "nowhere"):
		text = json.dumps(line, separators=(",", ":"))[:-1] if line else ""
		with tempfile.TemporaryDirectory() as folder:
			with open(folder + "/bad.jsonl", "w", encoding="utf-8") as file:
				file.write(f'{text},"checksum":"{zlib.crc32(text.encode()):08x}"}}\n' if line else '{"event":"ru')
			done = tiletune(folder, "tile", "replay:bad.jsonl", "-p", "M=1000,N=1000,K=512")
			assert done.returncode == 2 and said in done.stderr, done.stderr
