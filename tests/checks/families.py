"""Compiles a sample of every family's space for each compute capability that has a device sheet. The sample must reach each preprocessor
branch of the templates. On Hopper it covers each constant of a family's examples and each value of each parameter; the other devices
together cover each dtype (tests/tools/sample_families.c). TEST_SIZE=full compiles for every sheet, up to 400 configurations per problem.

	families.py OUT"""
import glob
import json
import os
import re
import subprocess
import sys

OUT = sys.argv[1]
FIRST = "h200-sxm"  # every family runs on this device
DIRECTIVE = re.compile(r"^#\s*(if|ifdef|ifndef|elif|else)\b")
# test programs and sanitizers define these, or winners in older files need them (baseline.py)
NEVER = re.compile(r"MBARRIER_POLL_LIMIT|ifndef ALPHA$")
MARK = re.compile(r"@([^@\n]*)@")
failures = []


def sheets():
	"""Returns one sheet per compute capability."""
	chosen = {}
	for path in [f"configs/devices/{FIRST}.json", *sorted(glob.glob("configs/devices/*.json"))]:
		with open(path, encoding="utf-8") as file:
			chosen.setdefault(json.load(file)["compute_capability"], os.path.basename(path)[:-5])
	return list(chosen.values())


def sample(limit, names):
	result = subprocess.run([f"{OUT}/tests/sample_families", ".", os.environ.get("TEST_BUILD", "build") + "/test-cache",
		f"{OUT}/tiletune", str(limit), *("model:" + name for name in names)], stdout=subprocess.PIPE, text=True)
	if result.returncode:
		failures.append(f"sample_families: exit {result.returncode}")
	return [json.loads(line) for line in result.stdout.splitlines()]


def marked(source, places):
	"""Returns the source with a mark in each preprocessor branch, and adds all marks to places."""
	lines, file, number = [], "", 0
	given = source.split("\n")
	for line, following in zip(given, [*given[1:], ""]):
		lines.append(line)
		begin = re.match(r'#line (\d+) "(.*)"', line)
		if begin:
			number, file = int(begin.group(1)), begin.group(2)
			continue
		if DIRECTIVE.match(line):
			if not following.startswith("#error"):
				places.setdefault(f"{file}:{number}", line)
			lines.append(f"@{file}:{number}@")
		number += 1
	return "\n".join(lines)


def check_branches(units):
	units = [unit for unit in units if "cuda_tile.h" not in unit["source"]]  # cpp cannot read tile kernels
	places, reached = {}, set()
	texts = {unit["source"]: None for unit in units}
	for source in texts:
		texts[source] = marked(source, places)
	wanted = {place for place, line in places.items() if not NEVER.search(line)}
	for unit in units:
		if reached.issuperset(wanted.intersection(re.findall(MARK, texts[unit["source"]]))):
			continue
		defines = [option for option in unit["options"] if option.startswith("-D")]
		result = subprocess.run(["cpp", "-P", "-w", f"-D__CUDA_ARCH__={unit['compute_capability']}0", "-x", "c++",
			*defines, "-"], input=texts[unit["source"]], capture_output=True, text=True, check=True)
		reached.update(re.findall(MARK, result.stdout))
	for place in sorted(wanted - reached):
		failures.append(f"templates/{place}: {places[place].strip()}: no kernel of the sample has this branch")
	print(f"{len(units)} kernels, {len(places)} branches")
	if len(places) < 50:
		failures.append("expected many branches")


if os.environ.get("TEST_SIZE") == "full":
	sample(400, [os.path.basename(path)[:-5] for path in sorted(glob.glob("configs/devices/*.json"))])
else:
	check_branches(sample(0, sheets()))
print("\n".join(failures))
sys.exit(1 if failures else 0)
