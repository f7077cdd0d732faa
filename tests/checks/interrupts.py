#!/usr/bin/python3
"""Ctrl-C ends every phase of every command without delay; commands may still save their results.

	tests/checks/interrupts.py OUT		OUT: the folder with the binary

A command gets the signal after a certain amount of processor time. The processor time that it uses afterwards is limited, not the
real time, which depends on other processes. A command that waits in vain would exceed the generous limit."""
import os
import signal
import subprocess
import sys
import tempfile
import time

TILETUNE = os.path.join(os.path.abspath(sys.argv[1]), "tiletune")
ROOT = os.getcwd()
AFTER_S, WAIT_S = 0.4, 20.0
MODEL = ["-d", "model:h200-sxm"]
LARGE = ["gemm", "-p", "M=4096,N=4096,K=4096,dtype=bf16", *MODEL]
# commands, each with the processor times of the signal: during enumeration, scoring, compilation and search
COMMANDS = [
	(["tune", *LARGE, "-e", "exhaustive", "--no-journal", "-o", "-"], (0.3, 1.2)),
	(["tune", *LARGE, "--compile-only"], (0.6,)),
	(["tune", *LARGE, "-e", "thorough", "--fresh"], (0.8,)),
	(["tune", "gemm", "-p", "M=1:4096:64,N=4096,K=4096,dtype=bf16", *MODEL, "-e", "estimate", "--fresh"], (0.6,)),
	(["tune", "--suite", "llm", *MODEL, "--fresh"], (0.9,)),
	(["advise", "gemm", "-p", "M=4095,N=4097,K=4099,dtype=bf16", *MODEL], (0.8,)),
	(["advise", "gemm", "-p", "M=N=K=1700:1900:1,dtype=bf16", *MODEL], (0.5,)),
	(["check", "results/nvidia-h200/tuned.json", *MODEL], (0.1,)),
]


def used_s(pid: int) -> float | None:
	"""Returns the processor time of the process and its threads without its children, or None if it has ended."""
	try:
		with open(f"/proc/{pid}/stat", encoding="ascii") as file:
			fields = file.read().rpartition(")")[2].split()
	except OSError:
		return None
	return None if fields[0] == "Z" else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupt(command: list[str], at_s: float, folder: str) -> str:
	environment = {**os.environ, "TILETUNE_PATH": ROOT, "XDG_CACHE_HOME": folder}
	command = [os.path.join(ROOT, word) if word.startswith("results/") else word for word in command]
	with subprocess.Popen([TILETUNE, *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
			stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
		begun = time.monotonic()
		while (used := used_s(process.pid)) is not None and used < at_s and time.monotonic() < begun + 3 * WAIT_S:
			time.sleep(0.002)
		if used is None:
			return f"ended with {process.wait()} before {at_s} s"
		process.send_signal(signal.SIGINT)
		sent, last = time.monotonic(), used
		while (now := used_s(process.pid)) is not None and time.monotonic() < sent + WAIT_S:
			last = now
			time.sleep(0.002)
		waited = time.monotonic() - sent
		if now is not None:
			process.kill()
			return f"did not end within {WAIT_S} s"
		code = process.wait()
	print(f"{last - used:5.2f} s of processor, {waited:5.2f} s after a signal at {at_s} s: {' '.join(command)[:80]}")
	return f"exit {code}, expected 130" if code != 130 else \
		f"used {last - used:.2f} s after the signal, expected at most {AFTER_S} s" if last - used > AFTER_S else ""


failed = 0
for words, times in COMMANDS:
	for at in times:
		with tempfile.TemporaryDirectory() as scratch:
			problem = interrupt(words, at, scratch)
		if problem:
			print(f"signal at {at} s: {' '.join(words)}: {problem}")
			failed += 1
sys.exit(f"{failed} interrupts" if failed else 0)
