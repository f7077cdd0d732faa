# SPDX-License-Identifier: MIT
"""Makes a journal of what another tuner recorded, so that `replay:` searches it.

	python3 -m tiletune.recorded FILE -o NAME	writes NAME.jsonl.gz, NAME.json and NAME.cu

FILE: a cache file of Kernel Tuner (its closing brackets may be missing, as while it is written) or T4 results. Every
value that occurs is one of its parameter's. Times are those that the file calls `time`, its objective; a configuration that
failed has the outcome that is nearest to its words. NAME.json is a kernel that stands for the recorded one: it has the same
parameters, and nothing compiles or runs it. Then

	tiletune tune NAME.json --device replay:NAME.jsonl.gz
"""
import argparse
import gzip
import json
import math
import os
import sys
import zlib

from .errors import Error
from .files import write_file

OUTCOMES = {"correct": "ok", "InvalidConfig": "pruned_by_model", "constraints": "pruned_by_model", "CompilationFailedConfig": "compile_failed",
	"compile": "compile_failed", "correctness": "wrong_result", "timeout": "timed_out"}  # RuntimeFailedConfig, runtime: launch_failed
UNITS_US = {"s": 1e6, "ms": 1e3, "us": 1.0}
OWN = ("operation", "problem", "family")  # of configurations that tiletune wrote


def fail(text):
	raise Error(text)


def with_checksum(line, run):
	if run:
		line.setdefault("run", run)
	text = json.dumps(line, separators=(",", ":"), ensure_ascii=False)[:-1]
	return f'{text},"checksum":"{zlib.crc32(text.encode()) & 0xffffffff:08x}"}}\n'


def read(path):
	with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
		text = file.read()
	try:
		return json.loads(text)
	except ValueError as error:
		try:
			return json.loads(text.rstrip(" \t\r\n,") + "}}")
		except ValueError:
			return fail(f"{path}: {error}")


def cached(root):
	"""(configuration, time in us or None, outcome, detail) of each result of a cache file."""
	for result in root["cache"].values():
		configuration = {name: result[name] for name in root["tune_params_keys"]}
		time = result["time"]
		if isinstance(time, str):
			yield configuration, None, OUTCOMES.get(time, "launch_failed"), time
		else:
			yield configuration, time * UNITS_US["ms"], "ok", None


def results(root):
	"""As above, for T4 results."""
	for result in root["results"]:
		configuration = {name: value for name, value in result["configuration"].items() if name not in OWN}
		words = result.get("invalidity", "correct")
		if words != "correct":
			yield configuration, None, OUTCOMES.get(words, "launch_failed"), words
			continue
		time = next((one for one in result["measurements"] if one["name"] == "time"), None)
		if time is None:
			fail("expected a measurement called \"time\", found none")
		yield configuration, time["value"] * UNITS_US[time.get("unit") or "ms"], "ok", None


def text_of(value):
	if isinstance(value, (list, dict)) or value is None:
		fail(f"expected a number or a text as a parameter's value, found {value}")
	return value if isinstance(value, str) else json.dumps(value)


def evaluation(family, configuration, time_us, outcome, detail):
	if time_us is not None and not (time_us > 0 and math.isfinite(time_us)):
		fail(f"expected a time above 0, found {time_us} us")
	line = {"event": "evaluation", "problem": 0, "family": family,
		"configuration": ",".join(f"{name}={text_of(value)}" for name, value in configuration.items()), "kernel_hash": "", "outcome": outcome}
	if detail:
		line["detail"] = detail
	line["flags"] = []
	if time_us is not None:
		line.update(timing="measured", samples_us=[time_us])
	return {**line, "compile_seconds": 0, "from_cache": True}


def write(root, name):
	operation = os.path.basename(name)
	rows = list(cached(root) if "cache" in root else results(root))
	if not rows:
		fail("expected recorded configurations, found none")
	parameters = {}
	for configuration, *_ in rows:
		if parameters and list(configuration) != list(parameters):
			fail(f"expected the parameters {', '.join(parameters)}, found {', '.join(configuration)}")
		for parameter, value in configuration.items():
			parameters.setdefault(parameter, set()).add(int(value) if isinstance(value, bool) else value)
	values = {parameter: sorted(found, key=lambda value: (isinstance(value, str), value)) for parameter, found in parameters.items()}
	family = f"{operation}/{operation}"
	write_file(f"{name}.json", json.dumps({"format": "tiletune.own_kernel/1", "source": f"{operation}.cu", "keys": {"n": {"default": 1, "min": 1, "max": 1}},
			"tensors": {"out": {"shape": [1], "dtype": "fp32", "role": "out"}}, "parameters": values,
			"launches": [{"entry": "recorded", "grid": ["1"], "block": ["32"], "args": ["out"]}]}, indent="\t") + "\n")
	write_file(f"{name}.cu", '/* Stands for a kernel that another tuner timed; nothing runs it. */\nextern "C" __global__ void recorded(float *out)\n{\n\tout[0] = 0;\n}\n')
	run = {"event": "run", "format": "tiletune.journal/1", "id": "recorded", "date": "", "command": "", "tiletune": {"version": "", "commit": ""},
		"signature": "recorded", "device_kind": "cuda",
		"device": {"name": root.get("device_name", "not known"), "compute_capability": 80, "sm_count": 1}}
	problem = {"event": "problem", "number": 0, "operation": operation, "text": "n=1", "problem": {"n": 1}, "families": [{"name": family,
		"parameters": [{"name": parameter, "values": list(map(text_of, found))} for parameter, found in values.items()]}]}
	lines = [with_checksum(run, None), with_checksum(problem, "recorded")]
	lines += [with_checksum(evaluation(family, {key: int(value) if isinstance(value, bool) else value for key, value in row[0].items()}, *row[1:]),
		"recorded") for row in rows]
	lines.append(with_checksum({"event": "finish", "run": "recorded", "status": 0}, "recorded"))
	write_file(f"{name}.jsonl.gz", gzip.compress("".join(lines).encode(), 9, mtime=0))
	return len(rows)


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("file")
	parser.add_argument("-o", dest="name", metavar="NAME", required=True)
	options = parser.parse_args()
	try:
		root = read(options.file)
		if not isinstance(root, dict) or not ("cache" in root or "results" in root):
			fail(f"{options.file}: expected a cache file of Kernel Tuner or T4 results, found neither")
		print(f"{options.name}.jsonl.gz: {write(root, options.name)} configurations")
	except (Error, OSError) as error:
		sys.exit(f"tiletune.recorded: {error}")


if __name__ == "__main__":
	main()
