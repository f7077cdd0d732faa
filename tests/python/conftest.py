"""Shared by the tests of the module. `tests/checks/python.py` sets the environment: the program, the launcher, the driver's stand-in."""
import json
import os
import subprocess

import pytest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CACHE = os.path.abspath(os.path.join(os.environ.get("TEST_BUILD", "build"), "test-cache"))
# a kernel without workspaces that also serves M=193 to 256, and one that needs zeroed memory and partial sums
PROBLEMS = {"M=256,N=64,K=64,dtype=fp16": "SPLIT_K == 1 and BM == 64 and BN == 64", "M=64,N=64,K=4096,dtype=fp16": "SPLIT_K == 4 and BM == 64"}


def program(*words):
	done = subprocess.run([os.environ["TILETUNE"], *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
	assert done.returncode == 0, (words, done.stderr)
	return done.stdout


@pytest.fixture(scope="session")
def tuned(tmp_path_factory):
	"""Makes a tuned file of two problems with predicted times and compiled kernels."""
	path = str(tmp_path_factory.mktemp("tuned") / "tuned.json")
	for problem, where in PROBLEMS.items():
		program("tune", "gemm", "-p", problem, "--family", "mma", "--where", where, "--device", "model:h200-sxm", "--effort", "estimate",
			"--evaluations", "1", "--no-journal", "--cache-dir", CACHE, "-o", path)
	return path


@pytest.fixture(scope="session")
def bundle(tuned, tmp_path_factory):
	path = str(tmp_path_factory.mktemp("bundle") / "kernels.bundle")
	program("export", tuned, "--format", "bundle", "--cache-dir", CACHE, "-o", path)
	return path


@pytest.fixture
def log():
	"""Yields the launches since the start of the test, from the stand-in's log."""
	path = os.environ["STANDIN_LOG"]

	def take():
		if not os.path.exists(path):
			return []
		with open(path, encoding="utf-8") as file:
			lines = [json.loads(line) for line in file]
		os.remove(path)
		return lines

	take()
	yield take
