#!/usr/bin/python3
"""--strategy program:CMD: `random` in another process measures the same candidates as the built-in one. Invalid requests are answered,
counted, and end the search.

	tests/checks/strategy_program.py OUT		OUT: the folder with the binary"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.getcwd()
TILETUNE = os.path.abspath(os.path.join(sys.argv[1], "tiletune"))
RECORDED = f"{ROOT}/tests/data/replay/measured.jsonl.gz"
STRATEGY = f"program:/usr/bin/python3 {ROOT}/tests/tools/strategy_in_python.py"
ENVIRONMENT = {**os.environ, "TILETUNE_PATH": f"{ROOT}:{ROOT}/tests/data/replay", "TILETUNE_NVRTC": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
REFUSED_MAX = 20


def tune(strategy, *arguments, codes=(0,)):
	for name in ("tuned.json", "tuned.journal.jsonl", "log"):
		if os.path.exists(name):
			os.remove(name)
	done = subprocess.run([TILETUNE, "tune", "tile", "-d", f"replay:{RECORDED}", "-p", "M=1000,N=1000,K=512", "--strategy", strategy, *arguments],
		capture_output=True, text=True, check=False, env={**ENVIRONMENT, "TILETUNE_PROGRAM_LOG": "log"})
	assert done.returncode in codes, (done.returncode, strategy, done.stdout, done.stderr)
	return done


def measured():
	"""Returns the journal without dates and run ids."""
	with open("tuned.journal.jsonl", encoding="utf-8") as file:
		lines = [json.loads(line) for line in file]
	for line in lines:
		for member in ("at_s", "checksum", "run"):
			line.pop(member, None)
	return [line for line in lines if line["event"] in ("evaluation", "final")]


def expect(what, found, expected):
	if found != expected:
		raise AssertionError(f"{what}: expected {expected!r}, found {found!r}"[:600])


def test_random():
	for seed in ("1", "7"):
		tune("random", "--seed", seed, "--evaluations", "60")
		inside = measured()
		tune(STRATEGY, "--seed", seed, "--evaluations", "60")
		expect(f"random, seed {seed}", measured(), inside)
		expect("how many", len([line for line in inside if line["event"] == "evaluation"]), 60)
		expect("whether some were timed again", any(line["event"] == "final" for line in inside), True)


def test_refused():
	for what, words in (("outside", "the configuration is not in the search space"), ("repeated", "the configuration was proposed before"),
			("nonsense", "invalid JSON"), ("another_id", "the answer is to question"), ("late", "it is late")):
		done = tune(f"{STRATEGY} {what}")
		expect(f"{what}: what was measured", len([line for line in measured() if line["event"] == "evaluation"]), 3)
		with open("log", encoding="utf-8") as file:
			errors = file.read().splitlines()
		# the last two answers may arrive after the end
		expect(f"{what}: how many were answered", REFUSED_MAX - 2 <= len(errors) <= REFUSED_MAX, True)
		expect(f"{what}: the answer", words in errors[0], True)
		expect(f"{what}: the end", f"stopped because the strategy program made {REFUSED_MAX} invalid proposals in a row" in done.stdout, True)


def test_in_a_row():
	"""Valid requests in between are accepted, and restart the count."""
	tune(f"{STRATEGY} sometimes", "--evaluations", "60")
	expect("what was measured", len([line for line in measured() if line["event"] == "evaluation"]), 60)


def test_interrupt():
	"""Tests a strategy that does not read its input, which is larger than a pipe's buffer."""
	with open("asleep.sh", "w", encoding="ascii") as file:
		file.write("touch started; exec sleep 1000\n")
	environment = {name: value for name, value in ENVIRONMENT.items() if name != "TILETUNE_NVRTC"}
	with subprocess.Popen([TILETUNE, "tune", "gemm", "-p", "M=4096,N=4096,K=4096,dtype=bf16", "-f", "mma", "--where", "BM == 128", "-d", "model:h200-sxm",
			"--strategy", "program:sh asleep.sh", "-o", "interrupted.json"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tuning:
		while not os.path.exists("started") and tuning.poll() is None:
			time.sleep(0.01)
		time.sleep(1)  # wait until the message is sent
		tuning.send_signal(signal.SIGINT)
		try:
			expect("the exit code", tuning.wait(20), 130)
		except subprocess.TimeoutExpired:
			tuning.kill()
			raise


def test_budget():
	"""A silent strategy ends when the budget is used up."""
	started = time.monotonic()
	done = tune("program:sleep 1000", "--budget", "4s", codes=(1,))
	expect("in time", time.monotonic() - started < 20, True)
	expect("why", "no candidate was tried, because the strategy's program gave no answer before the budget was spent" in done.stderr, True)


def test_end():
	done = tune(f"{STRATEGY} silent_end")
	expect("three were measured", len([line for line in measured() if line["event"] == "evaluation"]), 3)
	expect("why", "stopped because the strategy's program ended with exit code 5" in done.stdout, True)
	expect("no command", "a command must follow program:" in tune("program:", codes=(2,)).stderr, True)
	expect("no program", "cannot start ./none: No such file or directory" in tune("program:./none", codes=(1,)).stderr, True)
	expect("a typing error", "did you mean random?" in tune("randm", codes=(2,)).stderr, True)


with tempfile.TemporaryDirectory() as scratch:
	os.chdir(scratch)
	for name, test in list(globals().items()):
		if name.startswith("test_"):
			test()
	os.chdir(ROOT)
