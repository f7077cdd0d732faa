#!/usr/bin/python3
"""Runs the tests of the module tiletune (tests/python) by pytest, with the built program, the launcher and the driver's stand-in.

	tests/checks/python.py OUT [PYTEST ARGUMENT...]		OUT: the folder with the binary

TEST_PYTHON: an interpreter that has torch. Without one, the tests that need torch are skipped, with a message."""
import collections
import os
import re
import subprocess
import sys
import tempfile

OUT, ROOT = os.path.abspath(sys.argv[1]), os.getcwd()
PYTHON = os.environ.get("TEST_PYTHON", "/usr/bin/python3")
if "san-" in os.path.basename(OUT):
	sys.exit(print("skipped: a sanitized library does not load into a plain python3") or 77)
if subprocess.run([PYTHON, "-c", "import pytest"], capture_output=True, check=False).returncode:
	sys.exit(print(f"skipped: {PYTHON} has no pytest") or 77)
with tempfile.TemporaryDirectory() as folder:
	os.symlink(os.path.join(OUT, "faults", "libcuda.so.1"), os.path.join(folder, "libcuda.so.1"))
	log = os.path.join(folder, "log")
	with open(os.path.join(folder, "script"), "w", encoding="utf-8") as file:
		print("log", log, file=file)
	environment = {**os.environ, "LD_LIBRARY_PATH": folder, "TILETUNE_STANDIN": os.path.join(folder, "script"), "STANDIN_LOG": log,
		"TILETUNE": os.path.join(OUT, "tiletune"), "TILETUNE_LAUNCH": os.path.join(OUT, "libtiletune_launch.so"), "TILETUNE_PATH": ROOT,
		"PYTHONPATH": os.path.join(ROOT, "src/python"), "PYTHONDONTWRITEBYTECODE": "1"}
	done = subprocess.run([PYTHON, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--rootdir", "tests/python", "tests/python", *sys.argv[2:]],
		env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
print(done.stdout)
skipped = collections.Counter()
for count, reason in re.findall(r"^SKIPPED \[(\d+)\] \S+ (.*)", done.stdout, re.M):
	skipped[reason] += int(count)
if skipped:
	print("skipped: " + "; ".join(f"{count} of tests/python: {reason}" for reason, count in skipped.items()))
sys.exit(done.returncode)
