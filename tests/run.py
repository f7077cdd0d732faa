#!/usr/bin/python3
"""Runs the tests, one more in parallel than there are cores, and ends with one line: N passed, N failed.

	tests/run.py OUT BUILD quick|full [KIND/NAME...]

A test is unit/NAME (tests/unit/test_NAME.c), rules/NAME (tests/rules/test_NAME.py), fuzz/NAME, cli/NAME, check/NAME or figures/NAME (results/checks);
names may contain * and ?. A check that cannot run here exits with 77 and a line "skipped: REASON". The output of each test goes to
OUT/tests/logs. A test without a verdict has failed, and so has a run of no tests. An interrupt ends the tests, too."""
import fcntl
import fnmatch
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

# these tests start first, so that all lanes end at about the same time
SLOW = ("wheel", "families", "slurm", "readme", "schemas", "kernels", "report_browser", "report_why", "unit/check", "launch",
	"gpu_scripts", "baseline", "device_faults", "advise")
# checks of the pages of results; `make figures` and `make test-full` run them
SLOW_FIGURES = ("figures/claims", "figures/stale", "figures/gpu_scripts", "figures/search_strategies")
# `make test SAN=thread` runs only these, because the scored pool and its users have threads
WITH_THREADS = ("scoring", "evaluator", "worker")


class Test(NamedTuple):
	name: str  # each test is KIND/NAME
	command: list[str]


class Verdict(NamedTuple):
	passed: int
	failed: int
	skipped: str  # skipped parts, each with its reason


def find_tests(out: str, size: str, patterns: list[str]) -> list[Test]:
	def programs(kind: str, prefix: str) -> list[tuple[str, str]]:
		found = (path for path in sorted(glob.glob(f"{out}/tests/{prefix}*")) if not path.endswith((".o", ".d")))
		sources = {os.path.splitext(os.path.basename(path))[0] for path in glob.glob(f"tests/{kind}/*.c")}
		return [(os.path.basename(path)[len(prefix):], path) for path in found
			if os.access(path, os.X_OK) and os.path.basename(path) in sources]

	names = [os.path.basename(path)[len("test_"):-len(".c")] for path in sorted(glob.glob("tests/unit/test_*.c"))]
	if "san-thread" in out:
		names = [name for name in names if name in WITH_THREADS]
	tests = [Test(f"unit/{name}", [f"{out}/tests/unit", name]) for name in names]
	if "san-thread" in out:
		return tests
	tests += [Test(f"fuzz/{name}", [path, f"tests/fuzz/corpus/{name}"]) for name, path in programs("fuzz", "fuzz_")]
	for path in sorted(glob.glob("tests/rules/test_*.py")):
		call = ["/usr/bin/python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", "tests/rules", path]
		tests.append(Test("rules/" + os.path.basename(path)[len("test_"):-len(".py")], call))
	for path in sorted(set(glob.glob("tests/cli/*")) - {"tests/cli/README.md", "tests/cli/session.py"}):  # a file that is not a session makes its test fail
		name = os.path.basename(path).removesuffix(".session")
		tests.append(Test("cli/" + name, ["/usr/bin/python3", "tests/cli/session.py", path]))
	folders = ["tests/checks"] + (["tests/checks/full"] if size == "full" else [])
	for path in sorted(path for folder in folders for ending in ("sh", "py") for path in glob.glob(f"{folder}/*.{ending}")):
		interpreter = "/usr/bin/python3" if path.endswith(".py") else "sh"
		tests.append(Test("check/" + os.path.basename(path)[:-3], [interpreter, path, out]))
	for path in sorted(path for ending in ("sh", "py") for path in glob.glob(f"results/checks/*.{ending}")):
		name = "figures/" + os.path.basename(path)[:-3]
		if size == "full" or name not in SLOW_FIGURES or any("figures/" in pattern for pattern in patterns):
			tests.append(Test(name, ["/usr/bin/python3" if path.endswith(".py") else "sh", path, out]))
	rank = {test.name: next((i for i, slow in enumerate(SLOW) if slow in test.name), len(SLOW)) for test in tests}
	return sorted(tests, key=lambda test: rank[test.name])


def judge(test: Test, code: int, log: str) -> Verdict:
	reasons = re.findall(r"^skipped: (.*)", log, re.M)
	if not test.name.startswith("unit/"):
		if code == 77 and test.name.startswith(("check/", "figures/")):
			return Verdict(0, 0, reasons[-1] if reasons else "no reason given")
		return Verdict(int(code == 0), int(code != 0), reasons[-1] if reasons and code == 0 else "")
	passed = sum(map(int, re.findall(r"^\[  PASSED  \] (\d+) test", log, re.M)))
	failed = sum(map(int, re.findall(r"^\[  FAILED  \] (?:.*: )?(\d+) test", log, re.M)))
	skipped = " ".join(sorted(set(re.findall(r"^\[  SKIPPED \] ([a-z_0-9]+)$", log, re.M))))
	if not failed and (code != 0 or not (passed or skipped)):
		failed = 1  # the program crashed or ran no test
	return Verdict(passed, failed, skipped)


def wait(process: subprocess.Popen[bytes], limit_s: float) -> tuple[int, float]:
	"""Returns the exit status, and the processor time of the test and of its children."""
	end = time.monotonic() + limit_s
	while time.monotonic() < end:
		pid, status, usage = os.wait4(process.pid, os.WNOHANG)
		if pid:
			process.returncode = os.waitstatus_to_exitcode(status)
			return process.returncode, usage.ru_utime + usage.ru_stime
		time.sleep(0.02)
	raise subprocess.TimeoutExpired(process.args, limit_s)


class Runner:
	def __init__(self, logs: str, limit_s: float) -> None:
		self.logs, self.limit_s = logs, limit_s
		self.running: set[subprocess.Popen[bytes]] = set()
		self.lock = threading.Lock()
		self.ended = False
		self.verdicts: dict[str, Verdict] = {}

	def log_of(self, test: Test) -> str:
		return f"{self.logs}/{test.name.replace('/', '-')}.log"

	def run(self, test: Test) -> None:
		start = time.monotonic()
		with open(self.log_of(test), "wb") as log:
			with self.lock:
				if self.ended:
					return
				process = subprocess.Popen(test.command, stdin=subprocess.DEVNULL, stdout=log,
					stderr=subprocess.STDOUT, start_new_session=True)
				self.running.add(process)
			try:
				code, cpu_s = wait(process, self.limit_s)
			except subprocess.TimeoutExpired:
				log.write(f"stopped after {self.limit_s:g} s\n".encode())
				code, cpu_s = 124, 0.0
			with self.lock:
				self.end(process)
				self.running.discard(process)
				if self.ended:
					return
		with open(self.log_of(test), errors="replace") as log_file:
			text = log_file.read()
		verdict = self.verdicts[test.name] = judge(test, code, text)
		took = f"{time.monotonic() - start:.0f} s, {cpu_s:.1f} s of processor time"
		if verdict.failed:
			tail = "".join(f"      {line}\n" for line in text.splitlines()[-40:])
			print(f"FAIL  {test.name} (exit {code}, {took})\n{tail}", end="", flush=True)
		else:
			skipped = f": skipped: {verdict.skipped}" if verdict.skipped else ""
			print(f"{'ok  ' if verdict.passed else 'SKIP'}  {test.name} ({verdict.passed}, {took}){skipped}", flush=True)

	def end(self, process: subprocess.Popen[bytes]) -> None:
		"""Ends the test and all processes that it started."""
		try:
			os.killpg(process.pid, signal.SIGKILL)
		except ProcessLookupError:
			pass
		process.wait()

	def end_all(self) -> None:
		with self.lock:
			self.ended = True
			for process in self.running:
				self.end(process)


def main(out: str, build: str, size: str, patterns: list[str]) -> int:
	logs = f"{out}/tests/logs"
	os.makedirs(logs, exist_ok=True)
	lock = open(f"{out}/tests/lock", "w")
	try:
		fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
	except BlockingIOError:
		print(f"another run of the tests uses {out}", file=sys.stderr)
		return 1
	for path in glob.glob(f"{logs}/*"):
		os.remove(path)
	scratch = os.path.abspath(f"{build}/tmp")  # killed tests leave their folders in this folder
	shutil.rmtree(scratch, ignore_errors=True)
	os.makedirs(scratch)
	# predictions use only physics, even if corrections are shipped, and the user's caches are not used
	os.environ.setdefault("TILETUNE_LEARNED", "none")
	os.environ.update(TEST_OUT=out, TEST_BUILD=build, TEST_SIZE=size, TMPDIR=scratch,
		XDG_CACHE_HOME=os.path.abspath(f"{build}/test-cache"))
	tests = find_tests(out, size, patterns)
	for pattern in patterns:
		if not any(fnmatch.fnmatch(test.name, pattern) for test in tests):
			word = re.sub(r"^.*/|^(test|fuzz)_|\..*$", "", pattern)
			like = [test.name for test in tests if word and word in test.name]
			print(f"{pattern}: expected the name of a test (unit/NAME, rules/NAME, fuzz/NAME, cli/NAME, check/NAME, with * and ?); {'did you mean ' + ', '.join(like[:5]) + '?' if like else 'none is like it'}")
	if patterns:
		tests = [test for test in tests if any(fnmatch.fnmatch(test.name, pattern) for pattern in patterns)]
	runner = Runner(logs, float(os.environ.get("TEST_TIMEOUT", "600")))

	def interrupted(number: int, _frame: object) -> None:
		runner.end_all()
		os._exit(128 + number)

	for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
		signal.signal(number, interrupted)
	pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)) + 1)
	for future in [pool.submit(runner.run, test) for test in tests]:
		future.result()

	missing = [test for test in tests if test.name not in runner.verdicts]
	for test in tests:
		verdict = runner.verdicts.get(test.name)
		if verdict and verdict.skipped:
			print(f"SKIP  {test.name}: {verdict.skipped}")
	for test in tests:
		verdict = runner.verdicts.get(test.name)
		if not verdict or verdict.failed:
			print(f"FAIL  {test.name}{'' if verdict else ' left no verdict'}; log {runner.log_of(test)}; again: make test T={test.name}")
	passed = sum(verdict.passed for verdict in runner.verdicts.values())
	failed = sum(verdict.failed for verdict in runner.verdicts.values()) + len(missing)
	print(f"{passed} passed, {failed} failed")
	return int(failed != 0 or not (passed or any(verdict.skipped for verdict in runner.verdicts.values())))


if __name__ == "__main__":
	if len(sys.argv) < 4 or sys.argv[3] not in ("quick", "full"):
		sys.exit(__doc__)
	sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
