#!/usr/bin/python3
"""Public CUDA files, unchanged: do they compile and validate without an edit or a stub written by hand?

	python3 tests/tools/public_kernels.py choose NAME=FOLDER[@COMMIT][:SUBFOLDER]... >tests/tools/public_kernels.json
	python3 tests/tools/public_kernels.py try FOLDER [-v]

choose: of each checkout the first three .cu files by name that hold a __global__ function and call no library on the
device. try: FOLDER has a checkout of each project of tests/tools/public_kernels.json, under its name, at the commit that is named
there. `tiletune new` drafts each file's first kernel, what the draft leaves open ("?") gets a number that will do for compiling,
and `tiletune validate` compiles it. A row each, then how many."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "public_kernels.json")
TILETUNE = os.path.abspath(os.environ.get("TILETUNE", "build/release/tiletune"))
LIBRARIES = re.compile(r"#\s*include\s*[<\"](cub/|thrust/|cutlass/|cute/|cooperative_groups|curand_kernel|mma\.h|cudnn)")
EACH = 3


def choose(places):
	chosen = []
	for place in places:
		name, folder, commit, below = re.fullmatch(r"([^=]+)=([^@:]+)(?:@([0-9a-f]+))?(?::(.*))?", place).groups()
		files = []
		for where, _, names in os.walk(os.path.join(folder, below or "")):
			files += [os.path.join(where, name) for name in names if name.endswith(".cu")]
		fit = []
		for path in sorted(files):
			with open(path, encoding="utf-8", errors="replace") as file:
				text = file.read()
			if re.search(r"\b__global__\b", text) and not LIBRARIES.search(text):
				fit.append(os.path.relpath(path, folder))
		chosen += [{"project": name, "commit": commit or "", "file": path} for path in fit[:EACH]]
	print(json.dumps(chosen, indent="\t"))


OPEN = {"role": "inout", "shape": 1 << 20, "dtype": "fp32", "type": "f32"}


def fill(item, key=None):
	"""What a draft leaves open, with values that any kernel compiles for."""
	if isinstance(item, dict):
		return {name.replace("?", "size"): fill(value, name) for name, value in item.items()}
	if key in ("grid", "block"):
		return [64, 1, 1]
	if isinstance(item, list):
		return [fill(value, key) for value in item]
	return OPEN.get(key, 1) if item == "?" else item


def attempt(path, folder, item, includes):
	"""None, or what the first of new and validate says that fails."""
	out = os.path.join(folder, "kernel.json")
	drafted = subprocess.run([TILETUNE, "new", path, "-o", out], capture_output=True, text=True, check=False)
	if drafted.returncode:
		return "new: " + drafted.stderr
	with open(out, encoding="utf-8") as file:
		own = fill(json.load(file))
	for name, value in own.get("keys", {}).items():
		if not value or not isinstance(value, dict):
			own["keys"][name] = {"default": 1024}
	own.get("parameters", {}).update(item.get("parameters", {}))
	if includes:
		own["include_paths"] = includes
	with open(out, "w", encoding="utf-8") as file:
		json.dump(own, file, indent="\t")
	done = subprocess.run([TILETUNE, "validate", out], capture_output=True, text=True, check=False)
	return None if done.returncode == 0 else "validate: " + done.stdout


def try_all(place, verbose):
	with open(LIST, encoding="utf-8") as file:
		listed = json.load(file)
	right = 0
	for item in listed:
		path = os.path.abspath(os.path.join(place, item["project"], item["file"]))
		with tempfile.TemporaryDirectory() as folder:
			said = attempt(path, folder, item, [os.path.abspath(os.path.join(place, item["project"], at)) for at in item.get("include_paths", [])])
		right += said is None
		print(f"{'ok  ' if said is None else 'FAIL'} {item['project']} {item['file']}")
		if said and verbose:
			print("     " + said.strip().replace("\n", "\n     "))
	print(f"{right} of {len(listed)} compile and validate")
	return int(right < len(listed))


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("what", choices=["choose", "try"])
	parser.add_argument("places", nargs="+", metavar="PLACE")
	parser.add_argument("-v", dest="verbose", action="store_true", help="also what is said of those that fail")
	options = parser.parse_args()
	return choose(options.places) if options.what == "choose" else try_all(options.places[0], options.verbose)


if __name__ == "__main__":
	sys.exit(main())
