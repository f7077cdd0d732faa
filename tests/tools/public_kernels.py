#!/usr/bin/python3
"""Public CUDA files, unchanged: do they compile and validate without an edit or a stub written by hand, and are they right on a GPU?

	python3 tests/tools/public_kernels.py choose NAME=FOLDER[@COMMIT][:SUBFOLDER]... >tests/tools/public_kernels.json
	python3 tests/tools/public_kernels.py try FOLDER [-v]
	python3 tests/tools/public_kernels.py pack FOLDER FILE.tar.gz
	python3 tests/tools/public_kernels.py tune FOLDER OUT [--budget 5s] [--device cuda:0] [--limit SECONDS]

choose: of each checkout the first three .cu files by name that hold a __global__ function and call no library on the
device. try: FOLDER has a checkout of each project of tests/tools/public_kernels.json, under its name, at the commit that is named
there. `tiletune new` drafts each file's first kernel, what the draft leaves open ("?") gets a number that will do for compiling,
and `tiletune validate` compiles it. A row each, then how many.
pack: what try and tune read of FOLDER, for a machine that has no checkouts.
tune: each file that public_references.json says more of is tuned beside its reference (public_references.cu): a row each with the time that was
found over that of the default configuration, and OUT/public_kernels.json; what OUT holds already is not tuned again. `right` is said where
every configuration that ran agrees with the reference. Without a GPU (--device model:NAME) times are predicted and nothing is right or wrong."""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "public_kernels.json")
REFERENCES = os.path.join(HERE, "public_references")
TILETUNE = os.path.abspath(os.environ.get("TILETUNE", "build/release/tiletune"))
LIBRARIES = re.compile(r"#\s*include\s*[<\"](cub/|thrust/|cutlass/|cute/|cooperative_groups|curand_kernel|mma\.h|cudnn)")
EACH = 3
WRONG = {"wrong_result", "out_of_bounds", "nondeterministic", "crashed"}


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


def read(path):
	with open(path, encoding="utf-8") as file:
		return json.load(file)


def listed():
	return read(LIST)


def attempt(path, folder, item, includes):
	"""None, or what the first of new and validate says that fails."""
	out = os.path.join(folder, "kernel.json")
	drafted = subprocess.run([TILETUNE, "new", path, "-o", out], capture_output=True, text=True, check=False)
	if drafted.returncode:
		return "new: " + drafted.stderr
	own = fill(read(out))
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
	right = 0
	for item in listed():
		path = os.path.abspath(os.path.join(place, item["project"], item["file"]))
		with tempfile.TemporaryDirectory() as folder:
			said = attempt(path, folder, item, [os.path.abspath(os.path.join(place, item["project"], at)) for at in item.get("include_paths", [])])
		right += said is None
		print(f"{'ok  ' if said is None else 'FAIL'} {item['project']} {item['file']}")
		if said and verbose:
			print("     " + said.strip().replace("\n", "\n     "))
	print(f"{right} of {len(listed())} compile and validate")
	return int(right < len(listed()))


def needed(path, include_paths, found):
	"""The file and what it includes of its own project, by text."""
	if path in found:
		return
	found.add(path)
	with open(path, encoding="utf-8", errors="replace") as file:
		names = re.findall(r'#\s*include\s*[<"]([^>"]+)[>"]', file.read())
	for name in names:
		for folder in [os.path.dirname(path), *include_paths]:
			at = os.path.normpath(os.path.join(folder, name))
			if os.path.isfile(at):
				needed(at, include_paths, found)
				break


def pack(place, out):
	found, missing, place = set(), 0, os.path.abspath(place)
	for item in listed():
		project = os.path.join(place, item["project"])
		if os.path.exists(os.path.join(project, item["file"])):
			needed(os.path.join(project, item["file"]), [os.path.join(project, at) for at in item.get("include_paths", [])], found)
		else:
			missing += 1
	with tarfile.open(out, "w:gz") as archive:
		for path in sorted(found):
			archive.add(path, os.path.relpath(path, place))
	print(f"{out}: {len(found)} files, {os.path.getsize(out)} bytes" + (f"; {missing} of the list are not there" if missing else ""))
	return 0


def own_kernel(place, item, described, folder):
	"""Writes the JSON of a file that has a reference, beside that reference."""
	project = os.path.abspath(os.path.join(place, item["project"]))
	own = {"format": "tiletune.own_kernel/1", "source": os.path.join(project, item["file"]), **described}
	if "include_paths" in item:
		own["include_paths"] = [os.path.join(project, at) for at in item["include_paths"]]
	references = own["reference"] if isinstance(own["reference"], list) else [own["reference"]]
	own["reference"] = [{"source": "public_references.cu", "unit": "element", "units_per_block": 256, "block": 256, **one} for one in references]
	shutil.copy(REFERENCES + ".cu", folder)
	path = os.path.join(folder, os.path.basename(item["file"])[:-3].replace("+", "_") + ".json")
	with open(path, "w", encoding="utf-8") as file:
		json.dump(own, file, indent="\t")
	return path


def run_tune(path, out, device, *more):
	"""Exit code, what was said, the entry, and the evaluation of each configuration."""
	problem = ",".join(f"{name}={key['default']}" for name, key in read(path)["keys"].items())
	done = subprocess.run([TILETUNE, "tune", path, "-p", problem, "--device", device, "--fresh", "-o", out, *more], stdout=subprocess.PIPE,
		stderr=subprocess.STDOUT, text=True, check=False)
	journal, tried = out.replace(".json", ".journal.jsonl"), {}
	if os.path.exists(journal):
		with open(journal, encoding="utf-8") as file:
			tried = {line["configuration"]: line for line in map(json.loads, file) if line["event"] == "evaluation"}
	return done.returncode, done.stdout, read(out)["entries"][0] if os.path.exists(out) else None, tried


def median(tried, configuration):
	return tried.get(configuration, {}).get("time_us", {}).get("median")


def tuned(path, options):
	"""What a row says of the kernel."""
	started, own, out = time.time(), read(path), os.path.join(os.path.dirname(path), "tuned.json")
	code, said, entry, tried = run_tune(path, out, options.device, "--budget", options.budget)
	outcomes = collections.Counter(line["outcome"] for line in tried.values())
	row = {"exit": code, "verdict": "WRONG" if WRONG & set(outcomes) else "FAILED", "outcomes": dict(outcomes)}
	if not entry:
		return {**row, "said": said[-2000:], "seconds": round(time.time() - started, 1)}
	values = {name: one["values"] if isinstance(one, dict) else one for name, one in own["parameters"].items()}
	chosen = entry["winner"]["configuration"]
	default, best = (",".join(f"{name}={each.get(name, values[name][0])}" for name in values) for each in (own.get("defaults", {}), chosen))
	if median(tried, default) is None: # both in one process, in turn
		both = " or ".join("(" + one.replace("=", " == ").replace(",", " and ") + ")" for one in (default, best))
		tried = run_tune(path, out.replace("tuned", "both"), options.device, "-e", "exhaustive", "--where", both)[3]
	if row["verdict"] == "FAILED":
		row["verdict"] = entry["timing"] if entry["timing"] != "measured" else "FAILED" if "verified" in entry["winner"] else "right"
	return {**row, "default_us": median(tried, default), "best_us": median(tried, best), "configuration": chosen, "seconds": round(time.time() - started, 1)}


def tune_all(place, out, options):
	started, described = time.time(), read(REFERENCES + ".json")
	os.makedirs(out, exist_ok=True)
	results = os.path.join(out, "public_kernels.json")
	document = read(results) if os.path.exists(results) else {"format": "tiletune.public_kernels/1", "budget": options.budget, "kernels": []}
	rows = {f"{row['project']} {row['file']}": row for row in document["kernels"]}
	print(f"{'file':56} {'':9} {'tried':>5} {'best us':>10} {'default us':>10} {'seconds':>7}")
	for item in listed():
		name = f"{item['project']} {item['file']}"
		if name not in described:
			continue
		if name not in rows and time.time() - started < options.limit:
			folder = os.path.join(out, re.sub(r"[^A-Za-z0-9]+", "_", name))
			os.makedirs(folder, exist_ok=True)
			rows[name] = {key: item[key] for key in ("project", "commit", "file")} | tuned(own_kernel(place, item, described[name], folder), options)
			document["kernels"] = list(rows.values())
			if os.path.exists(os.path.join(folder, "tuned.json")):
				made = read(os.path.join(folder, "tuned.json"))
				document.update(device=made["device"]["name"], run={key: made["runs"][0][key] for key in ("date", "tiletune", "driver", "nvrtc")})
			with open(results, "w", encoding="utf-8") as file:
				json.dump(document, file, indent="\t")
		row = rows.get(name, {"verdict": "no time left"})
		times = [f"{row[key]:10.2f}" if row.get(key) else f"{'-':>10}" for key in ("best_us", "default_us")]
		print(f"{item['project'] + ' ' + os.path.basename(item['file']):56} {row['verdict']:9} {sum(row.get('outcomes', {}).values()):5} {times[0]} {times[1]}"
			f" {row.get('seconds', 0):7.1f}", flush=True)
		others = {outcome: count for outcome, count in row.get("outcomes", {}).items() if outcome != "ok"}
		print("".join(f"     {line}\n" for line in [str(others) if others else "", *row.get("said", "").splitlines()[-6:]] if line), end="")
	verdicts = collections.Counter(row["verdict"] for row in rows.values())
	print(f"{verdicts['right']} of {len(described)} files with a reference are right ({len(listed())} files in all)")
	return int(set(verdicts) - {"right", "predicted"} != set() or len(rows) < len(described))


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("what", choices=["choose", "try", "pack", "tune"])
	parser.add_argument("places", nargs="+", metavar="PLACE")
	parser.add_argument("-v", dest="verbose", action="store_true", help="also what is said of those that fail")
	parser.add_argument("--budget", default="5s", help="of each file that is tuned")
	parser.add_argument("--device", default="cuda:0")
	parser.add_argument("--limit", type=float, default=150, help="seconds after which no other file is begun")
	options = parser.parse_args()
	place, *more = options.places
	if len(more) != {"try": 0, "pack": 1, "tune": 1}.get(options.what, len(more)):
		parser.error(f"{options.what}: expected the places that the usage shows, found {options.places}")
	if options.what == "choose":
		return choose(options.places)
	return try_all(place, options.verbose) if options.what == "try" else pack(place, *more) if options.what == "pack" else tune_all(place, *more, options)


if __name__ == "__main__":
	sys.exit(main())
