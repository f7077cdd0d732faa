#!/usr/bin/python3
"""tests/run.py reports every way in which a test can end, and leaves no process running."""
import os
import signal
import subprocess
import sys
import tempfile
import time

RUNNER = os.path.abspath("tests/run.py")
SCRIPTS = {
	"passes": "exit 0",
	"fails": "echo what was wrong; exit 3",
	"is_skipped": "echo skipped: no such thing here; exit 77",
	"is_killed": "kill -9 $$",
}
LONG = 'sleep 600 & echo $! >"$TEST_BUILD/child"; wait'


def prepare(folder: str, scripts: dict[str, str]) -> None:
	os.makedirs(f"{folder}/tests/checks")
	for name, text in scripts.items():
		with open(f"{folder}/tests/checks/{name}.sh", "w") as file:
			file.write(text + "\n")


def run(folder: str, *patterns: str, limit_s: float = 600) -> subprocess.CompletedProcess[str]:
	return subprocess.run([sys.executable, RUNNER, "out", ".", "quick", *patterns], cwd=folder, text=True,
		capture_output=True, env=dict(os.environ, TEST_TIMEOUT=str(limit_s)))


def is_alive(pid: int) -> bool:
	try:
		with open(f"/proc/{pid}/stat") as file:
			return file.read().rsplit(")", 1)[1].split()[0] != "Z"
	except FileNotFoundError:
		return False


with tempfile.TemporaryDirectory() as folder:
	prepare(folder, SCRIPTS)
	all_of_them = run(folder)
	lines = all_of_them.stdout.splitlines()
	assert all_of_them.returncode == 1 and lines[-1] == "1 passed, 2 failed", all_of_them.stdout
	for name in ("fails", "is_killed"):
		assert any(line.startswith(f"FAIL  check/{name};") and f"T=check/{name}" in line for line in lines[-3:]), lines
	assert "SKIP  check/is_skipped: no such thing here" in lines, lines
	assert "      what was wrong" in lines, lines
	only = run(folder, "check/pass*")
	assert (only.returncode, only.stdout.splitlines()[-1]) == (0, "1 passed, 0 failed"), only.stdout
	none = run(folder, "checks/passes.sh")
	assert "did you mean check/passes?" in none.stdout, none.stdout
	assert (none.returncode, none.stdout.splitlines()[-1]) == (1, "0 passed, 0 failed"), none.stdout

with tempfile.TemporaryDirectory() as folder:
	prepare(folder, {"hangs": "sleep 600"})
	hung = run(folder, limit_s=0.2)
	assert hung.returncode == 1 and "stopped after 0.2 s" in hung.stdout and hung.stdout.endswith("\n0 passed, 1 failed\n"), hung.stdout

with tempfile.TemporaryDirectory() as folder:
	prepare(folder, {"long": LONG})
	runner = subprocess.Popen([sys.executable, RUNNER, "out", ".", "quick"], cwd=folder, stdout=subprocess.DEVNULL)
	child = f"{folder}/child"
	while not os.path.exists(child) or not os.path.getsize(child):
		time.sleep(0.01)
	second = run(folder)
	assert second.returncode == 1 and "another run" in second.stderr, second
	with open(child) as file:
		pid = int(file.read())
	assert is_alive(pid)
	runner.send_signal(signal.SIGINT)
	assert runner.wait() == 128 + signal.SIGINT
	while is_alive(pid):  # loops forever if a test's child survives the interrupt
		time.sleep(0.01)
