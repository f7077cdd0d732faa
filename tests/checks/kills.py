#!/usr/bin/python3
"""Killing workers at random moments loses nothing: each candidate has an outcome, each problem an entry.

	tests/checks/kills.py OUT		OUT: the folder with the binary

A tuning on the stand-in driver, whose GPU workers or compilers are killed by SIGKILL several times (TEST_SIZE=full: 200 and 50). A
candidate whose worker was killed twice gets that outcome; no other failures may occur. The times are those of a run without kills."""
import glob
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

OUT = os.path.abspath(sys.argv[1])
ROOT = os.getcwd()
FULL = os.environ.get("TEST_SIZE") == "full"
WAIT_S = 600.0


def children(pid: int, role: str) -> list[int]:
	found = []
	for path in glob.glob("/proc/[0-9]*/stat"):
		try:
			with open(path, encoding="ascii", errors="replace") as file:
				fields = file.read().rpartition(")")[2].split()
			with open(path.replace("stat", "cmdline"), encoding="utf-8", errors="replace") as file:
				words = file.read().split("\0")
		except OSError:
			continue
		if int(fields[1]) == pid and role in words:
			found.append(int(path.split("/")[2]))
	return found


def has_begun(journal: str) -> bool:
	"""Returns whether a candidate was evaluated, which means that helper kernels and the reference are compiled."""
	if not os.path.exists(journal):
		return False
	with open(journal, encoding="utf-8") as file:
		return '"event":"evaluation"' in file.read()


def tune(folder: str, name: str, role: str | None, times: int, rng: random.Random) -> int:
	"""Returns the number of killed processes."""
	environment = {**os.environ, "LD_LIBRARY_PATH": f"{folder}/lib", "TILETUNE_STANDIN": f"{folder}/script", "TILETUNE_LOCK_FOLDER": folder,
		"TILETUNE_PATH": ROOT, "XDG_CACHE_HOME": f"{folder}/cache"}
	compiles = "compile" in name
	command = [f"{OUT}/tiletune", "tune", "row_softmax", "-p", f"rows=64:{512 if FULL else 192}:64,cols=64", "-f", "online", "--path", "tests/toy", "--strategy",
		"exhaustive", "--evaluations", "1000", "--budget", "60m", "--fresh", "-d", "cuda:0", "-o", f"{folder}/{name}.json"]
	if compiles:
		command += ["--no-cache", "--where", "UNROLL == 1"]
	killed = 0
	begun = time.monotonic()
	with open(f"{folder}/{name}.txt", "w", encoding="utf-8") as talk, \
			subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=talk, stderr=subprocess.STDOUT) as process:
		while process.poll() is None and time.monotonic() < begun + WAIT_S:
			# two kills in a row for one unit or candidate are rare, and never happen during shared preparations
			time.sleep(rng.uniform(0.02, 0.3) if role == "worker-measure" else rng.uniform(0.2, 1.2) if role else 0.05)
			victims = children(process.pid, role) if role and killed < times and has_begun(f"{folder}/{name}.journal.jsonl") else []
			if victims:
				os.kill(rng.choice(victims), signal.SIGKILL)
				killed += 1
		if process.poll() is None:
			process.kill()
			raise AssertionError(f"{name}: expected an end within {WAIT_S} s, found none after {killed} kills")
	if process.returncode:
		with open(f"{folder}/{name}.txt", encoding="utf-8") as talk:
			raise AssertionError(f"{name}: expected exit 0, found {process.returncode} after {killed} kills: {talk.read()[-1500:]}")
	return killed


def look(folder: str, name: str) -> tuple[dict[str, str], dict[str, str]]:
	"""Returns the outcomes of candidates, and the winning kernel of each problem."""
	with open(f"{folder}/{name}.journal.jsonl", encoding="utf-8") as file:
		lines = [json.loads(line) for line in file]
	problems = {line["number"]: line["text"] for line in lines if line["event"] == "problem"}
	outcomes = {}
	for line in lines:
		if line["event"] == "evaluation":
			key = f"{problems[line['problem']]} {line['configuration']}"
			if key in outcomes:
				raise AssertionError(f"{name}: expected one evaluation of {key}, found two")
			charged = "killed by signal 9" in line.get("detail", "")
			outcomes[key] = "ok" if charged else line["outcome"]
	with open(f"{folder}/{name}.json", encoding="utf-8") as file:
		entries = json.load(file)["entries"]
	return outcomes, {json.dumps(entry["problem"]): "" for entry in entries}


def main() -> None:
	rng = random.Random(30)
	with tempfile.TemporaryDirectory() as folder:
		os.mkdir(f"{folder}/lib")
		os.symlink(f"{OUT}/faults/libcuda.so.1", f"{folder}/lib/libcuda.so.1")
		with open(f"{folder}/script", "w", encoding="utf-8") as script:
			script.write("kernel row_softmax_online us=20 ok\n")
		for role, times in (("worker-measure", 200 if FULL else 8), ("worker-compile", 50 if FULL else 4)):
			killed = runs = 0
			while killed < times:
				runs += 1
				name = f"{role}-{runs}"
				now = tune(folder, name, role, times - killed, rng)
				if runs == 1:
					tune(folder, f"{role}-calm", None, 0, rng)
				if now == 0:
					raise AssertionError(f"{role}: expected a process to kill, found none")
				killed += now
				outcomes, entries = look(folder, name)
				calm_outcomes, calm_entries = look(folder, f"{role}-calm")
				if outcomes != calm_outcomes:
					wrong = {key: (calm_outcomes.get(key), outcomes.get(key)) for key in {*outcomes, *calm_outcomes}
						if outcomes.get(key) != calm_outcomes.get(key)}
					raise AssertionError(f"{name}: expected the outcomes of the run without kills, found: {dict(list(wrong.items())[:5])}")
				if entries != calm_entries:
					raise AssertionError(f"{name}: expected {len(calm_entries)} entries, found {len(entries)}")
			print(f"{role}: {killed} killed in {runs} runs, nothing lost")


main()
