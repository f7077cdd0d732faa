#!/usr/bin/python3
"""Applies each patch of tests/mutants/listed in a copy of the checkout, builds it, and runs the tests of its part.

	tests/mutants/listed.py [NAME...]

The authors of the patches read only headers and pages, and no tests. NAME is a part of a patch's file name. Prints which test detects each
mistake. Exits with 1 if fewer than 85% are detected. Uncommitted changes are not in the copy.
"""
import fnmatch
import os
import re
import subprocess
import sys

COPY = os.path.abspath("build/mutants/listed")
# tests that may detect a mistake in a file; the first matching pattern counts
TESTS = {
	"src/advise/*": "unit/variant rules/lookup cli/lookup cli/bits cli/advise*",
	"src/base/*": "rules/statistics rules/selection rules/check rules/keys",
	"src/candidate/*": "unit/configuration unit/candidate rules/keys cli/known cli/own_data",
	"src/check/*": "unit/check rules/check cli/check_* check/check_walk",
	"src/compile/*": "unit/cache* unit/compiler rules/keys cli/cache",
	"src/device/*": "rules/runs rules/journal cli/replay",
	"src/export/*": "rules/export cli/export check/export",
	"src/family/*": "unit/problem unit/plan rules/problem unit/floor",
	"src/format/*": "rules/keys unit/journal unit/entry rules/records rules/tuned rules/journal rules/lookup fuzz/journal cli/merge cli/replay cli/known cli/retune",
	"src/launch/*": "unit/launch fuzz/bundle check/launch",
	"src/measure/*": "rules/keys unit/device_* unit/sampling unit/energy cli/bad_kernels",
	"src/plan/*": "unit/plan",
	"src/python/*": "check/python",
	"src/report/*": "cli/report rules/journal",
	"src/score/*": "rules/score unit/score unit/score_promises check/scores",
	"src/search/*": "unit/strategy unit/gaussian unit/search_promises rules/search",
	"src/tune/*": "rules/runs unit/selection unit/conclude rules/selection rules/budget rules/problem rules/journal cli/bits cli/known cli/replay cli/shards "
		"cli/retune cli/remeasure cli/gpus",
	"templates/*": "check/functions check/kernels check/tolerances",
}


def run(command: str, **options) -> subprocess.CompletedProcess[str]:
	return subprocess.run(command, shell=True, capture_output=True, text=True, cwd=COPY, **options)


def build() -> bool:
	return run("make -j2 all build/release/tests/unit build/release/tests/rules build/release/faults/libcuda.so.1 build/release/tests/fuzz_journal "
		"build/release/tests/fuzz_bundle build/release/tests/sample_families build/release/tests/kernel_text build/release/tests/intervals "
		"build/release/libtiletune_launch.so build/release/faults/libnvrtc.so.13 build/release/faults/libnvrtc-builtins.so.13.0").returncode == 0


def seen_by(changed: str) -> str:
	"""Returns the first failing tests, or "" if all pass."""
	names = next((names for pattern, names in TESTS.items() if fnmatch.fnmatch(changed, pattern)), "")
	if not build():
		return "the compiler"
	for kinds in ("unit rules fuzz", "cli", "check"):  # the quick ones first
		tests = [repr(name) for name in names.split() if name.split("/")[0] in kinds.split()]
		text = run(f"/usr/bin/python3 tests/run.py build/release build quick {' '.join(tests)}").stdout if tests else ""
		if "FAIL" in text:
			return " ".join(dict.fromkeys(re.findall(r"^FAIL +([^ ;]+)", text, re.M)))
	return ""


def main() -> int:
	names = sorted(os.listdir("tests/mutants/listed"))
	wanted = [name for name in names if not sys.argv[1:] or any(part in name for part in sys.argv[1:])]
	if not os.path.exists(COPY):
		subprocess.run(["git", "worktree", "add", "--quiet", "--detach", COPY], check=True)
	head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
	run(f"git reset --hard {head}")
	if not build():
		sys.exit(f"{COPY}: the copy does not build")
	seen = 0
	for name in wanted:
		patch = os.path.abspath(f"tests/mutants/listed/{name}")
		with open(patch, encoding="utf-8") as file:
			text = file.read()
		if run(f"git apply {patch}").returncode:
			print(f"{name}: does not apply", flush=True)
			continue
		by = seen_by(re.findall(r"^\+\+\+ b/(.*)", text, re.M)[0])
		run("git checkout -q .")
		seen += bool(by)
		print(f"{name}: {'seen by ' + by if by else 'MISSED: ' + text.splitlines()[0]}", flush=True)
	print(f"{seen} of {len(wanted)} seen")
	return seen < 0.85 * len(wanted)


if __name__ == "__main__":
	sys.exit(main())
