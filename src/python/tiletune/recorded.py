# SPDX-License-Identifier: MIT
"""Converts another tuner's recording to a journal, so that `replay:` can search it.

	python3 -m tiletune.recorded FILE -o NAME	writes NAME.jsonl.gz, NAME.json and NAME.cu

FILE is a cache file of Kernel Tuner (whose closing brackets may be missing, as while it is written) or T4 results; it may be
compressed. The values of a parameter are those that occur. Times are those of the file's first objective. A failed configuration gets
the outcome closest to its message. Parameters and values whose names tiletune does not allow are renamed, with a message. NAME.json
describes a placeholder for the recorded kernel with the same parameters, which is never compiled or run. Then

	tiletune tune NAME.json --device replay:NAME.jsonl.gz"""
import argparse
import gzip
import json
import keyword
import math
import os
import re
import sys
import zlib

from .errors import Error
from .files import write_file
from .operation import BYTES, FUNCTIONS

OUTCOMES = {"correct": "ok", "InvalidConfig": "pruned_by_model", "constraints": "pruned_by_model", "CompilationFailedConfig": "compile_failed",
	"compile": "compile_failed", "correctness": "wrong_result", "timeout": "timed_out"}  # other failures, such as RuntimeFailedConfig and runtime, are launch_failed
UNITS_US = {"s": 1e6, "sec": 1e6, "second": 1e6, "ms": 1e3, "millisecond": 1e3, "milisecond": 1e3, "us": 1.0, "µs": 1.0, "microsecond": 1.0,
	"ns": 1e-3, "nanosecond": 1e-3}  # public files contain "milisecond"
OWN = ("operation", "problem", "family")  # in configurations that tiletune wrote
FAILED_MS = 1e20  # the time of a failed configuration in older cache files of Kernel Tuner
RESERVED = {*keyword.kwlist, *FUNCTIONS, *BYTES, "int", "any", "all", "sum", "sm_count", "warp_size", "max_threads_per_block", "max_threads_per_sm",
	"max_blocks_per_sm", "regs_per_block", "regs_per_sm", "smem_per_block_bytes", "smem_per_sm_bytes", "smem_reserved_bytes", "l2_bytes", "dram_bytes",
	"compute_capability", "max_warps_per_sm"}  # words of the expression language


def fail(text):
	raise Error(text)


def with_checksum(line, run):
	if run:
		line.setdefault("run", run)
	text = json.dumps(line, separators=(",", ":"), ensure_ascii=False)[:-1]
	return f'{text},"checksum":"{zlib.crc32(text.encode()) & 0xffffffff:08x}"}}\n'


def read(path):
	"""Returns the document of a file, which may be compressed."""
	with open(path, "rb") as file:
		data = file.read()
	try:
		text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8-sig")
	except (EOFError, OSError, zlib.error, UnicodeDecodeError) as error:
		return fail(f"{path}: not a text file in UTF-8, plain or compressed with gzip ({error})")
	try:
		return json.loads(text)
	except ValueError as error:
		try:
			return json.loads(text.rstrip(" \t\r\n,") + "}}")
		except ValueError:
			return fail(f"{path}: not JSON ({error})")


# ---- the two formats ----
def expect(value, kind, where):
	"""Returns the value, which must be an object, an array or a string."""
	if not isinstance(value, kind):
		fail(f"{where}: expected {'an object' if kind is dict else 'an array' if kind is list else 'a string'}, found {json.dumps(value)[:60]}")
	return value


def time_of(value, unit_us, where):
	"""Returns (time in us or None, outcome, detail) of a recorded time."""
	if isinstance(value, str):
		return None, OUTCOMES.get(value, "launch_failed"), value
	if value is None or (isinstance(value, float) and not math.isfinite(value)) or (isinstance(value, (int, float)) and value * unit_us >= FAILED_MS * 1e3):
		return None, "launch_failed", "no time was recorded"
	if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
		fail(f"{where}: expected a time above 0, found {json.dumps(value)[:60]}")
	return value * unit_us, "ok", None


def cached(root):
	"""Yields (configuration, time in us or None, outcome, detail) of each result of a cache file."""
	names = expect(root.get("tune_params_keys"), list, "$.tune_params_keys")
	for key, result in expect(root["cache"], dict, "$.cache").items():
		where = f"$.cache[{json.dumps(key)}]"
		# since version 1.4 of Kernel Tuner, a configuration that fails has no time
		measured = "__error__" if "__error__" in expect(result, dict, where) else "time"
		missing = [name for name in [*names, measured] if name not in result]
		if missing:
			fail(f"{where}: no member {json.dumps(missing[0])}")
		yield {name: result[name] for name in names}, *time_of(result[measured], UNITS_US["ms"], f"{where}.{measured}")


def results(root):
	"""Yields the same for T4 results."""
	general = expect(root.get("metadata") or {}, dict, "$.metadata").get("timeunit")
	for number, result in enumerate(expect(root["results"], list, "$.results")):
		where = f"$.results[{number}]"
		given = expect(expect(result, dict, where).get("configuration"), dict, f"{where}.configuration")
		configuration = {name: value for name, value in given.items() if name not in OWN}
		words = result.get("invalidity") or "correct"
		if words != "correct":
			yield configuration, None, OUTCOMES.get(expect(words, str, f"{where}.invalidity"), "launch_failed"), words
			continue
		measurements = [expect(one, dict, f"{where}.measurements") for one in expect(result.get("measurements"), list, f"{where}.measurements")]
		objectives = expect(result.get("objectives") or ["time"], list, f"{where}.objectives")
		wanted = "time" if "time" in objectives else objectives[0]
		found = next((one for one in measurements if one.get("name") == wanted), None)
		if found is None:
			fail(f"{where}.measurements: none is called {json.dumps(wanted)}")
		unit = str(found.get("unit") or general or "ms")
		scale = UNITS_US.get(unit.lower(), UNITS_US.get(unit.lower().removesuffix("s")))
		if scale is None:
			fail(f"{where}.measurements: expected a unit of time (s, ms, us or ns), found {json.dumps(unit)}")
		yield configuration, *time_of(found.get("value"), scale, f"{where}: {wanted}")


# ---- names that tiletune allows ----
class Names:
	"""Maps original names to written ones, each used once. renamed: those that changed."""

	def __init__(self, taken=(), is_value=False):
		self.names, self.taken, self.is_value, self.renamed = {}, set(taken), is_value, {}

	def name(self, original):
		if original not in self.names:
			word = re.sub(r"\W", "_", original, flags=re.ASCII)[:40] or "empty"
			if not self.is_value and (word in RESERVED or word[0].isdigit()):
				word += "_" if word in RESERVED else ""
				word = f"p_{word}" if word[0].isdigit() else word
			number, unique = 2, word
			while unique in self.taken:
				unique, number = f"{word}_{number}", number + 1
			self.taken.add(unique)
			self.names[original] = unique
			if unique != original:
				self.renamed[original] = unique
		return self.names[original]


class Values:
	"""Values of one parameter in tiletune's form."""

	def __init__(self, parameter):
		self.parameter, self.names, self.numbers = parameter, Names(is_value=True), set()  # numbers that replace values which are not texts

	def written(self, value):
		number = value
		if isinstance(value, str):
			try:
				number = int(value) if re.fullmatch(r"-?\d+", value) else float(value) if re.fullmatch(r"-?\d*\.?\d+(e[+-]?\d+)?", value) else None
			except ValueError:
				number = None
		if isinstance(number, (bool, int, float)):
			number = int(number) if not isinstance(number, float) or (number == int(number) and abs(number) < 2**53) else number
			if isinstance(value, str) and number in self.numbers:
				return self.names.name(f"text_{value}")
			if isinstance(number, int) and not -2**63 <= number < 2**63:
				fail(f"{self.parameter}: expected a number of 64 bits, found {value}")
			return number
		if value is not None and not isinstance(value, str):
			fail(f"{self.parameter}: expected a number or a text as a parameter's value, found {json.dumps(value)[:60]}")
		return self.names.name("none" if value is None else value)


def text_of(value):
	return value if isinstance(value, str) else json.dumps(value)


def evaluation(family, configuration, time_us, outcome, detail):
	line = {"event": "evaluation", "problem": 0, "family": family,
		"configuration": ",".join(f"{name}={text_of(value)}" for name, value in configuration.items()), "kernel_hash": "", "outcome": outcome}
	if detail:
		line["detail"] = detail
	line["flags"] = []
	if time_us is not None:
		line.update(timing="measured", samples_us=[time_us])
	return {**line, "compile_seconds": 0, "from_cache": True}


def write(root, name):
	"""Writes the files; returns the number of configurations, and (original, written) names that differ."""
	rows = list(cached(root) if "cache" in root else results(root))
	if not rows:
		fail("expected recorded configurations, found none")
	parameters, values, written = Names(), {}, []
	for configuration, *rest in rows:
		if values and list(configuration) != list(values):
			fail(f"expected the parameters {', '.join(values)}, found {', '.join(configuration)}")
		for parameter, value in configuration.items():
			values.setdefault(parameter, Values(parameter))
			if isinstance(value, (int, float)):
				values[parameter].numbers.add(value)
	for configuration, *rest in rows:
		written.append(({parameters.name(parameter): values[parameter].written(value) for parameter, value in configuration.items()}, *rest))
	found = {parameter: sorted({row[0][parameter] for row in written}, key=lambda value: (isinstance(value, str), value)) for parameter in written[0][0]}
	operation = Names().name(os.path.basename(name))
	source, family = os.path.join(os.path.dirname(name), f"{operation}.cu"), f"{operation}/{operation}"
	key, out = (next(name for name in names if name not in found) for names in (("n", "run", "run_"), ("out", "result", "result_")))
	write_file(f"{name}.json", json.dumps({"format": "tiletune.own_kernel/1", "name": operation, "source": os.path.basename(source),
			"keys": {key: {"default": 1, "min": 1, "max": 1}}, "tensors": {out: {"shape": [1], "dtype": "fp32", "role": "out"}}, "parameters": found,
			"launches": [{"entry": "recorded", "grid": ["1"], "block": ["32"], "args": [out]}]}, indent="\t") + "\n")
	write_file(source, '/* In the place of a kernel that another tuner timed; nothing runs it. */\nextern "C" __global__ void recorded(float *out)\n{\n\tout[0] = 0;\n}\n')
	run = {"event": "run", "format": "tiletune.journal/1", "id": "recorded", "date": "", "command": "", "tiletune": {"version": "", "commit": ""},
		"signature": "recorded", "device_kind": "cuda",
		"device": {"name": str(root.get("device_name") or "not known"), "compute_capability": 80, "sm_count": 1}}
	problem = {"event": "problem", "number": 0, "operation": operation, "text": f"{key}=1", "problem": {key: 1}, "families": [{"name": family,
		"parameters": [{"name": parameter, "values": list(map(text_of, listed))} for parameter, listed in found.items()]}]}
	lines = [with_checksum(run, None), with_checksum(problem, "recorded")]
	lines += [with_checksum(evaluation(family, *row), "recorded") for row in written]
	lines.append(with_checksum({"event": "finish", "run": "recorded", "status": 0}, "recorded"))
	write_file(f"{name}.jsonl.gz", gzip.compress("".join(lines).encode(), 9, mtime=0))
	renamed = [*parameters.renamed.items(), *(pair for one in values.values() for pair in one.names.renamed.items())]
	return len(rows), renamed


def main(arguments=None):
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("file")
	parser.add_argument("-o", dest="name", metavar="NAME", required=True)
	options = parser.parse_args(arguments)
	try:
		root = read(options.file)
		if not isinstance(root, dict) or not ("cache" in root or "results" in root):
			fail("expected a cache file of Kernel Tuner or T4 results, found neither")
		count, renamed = write(root, options.name)
		print(f"{options.name}.jsonl.gz: {count} configurations" + "".join(f"\n  {json.dumps(old)} is called {new}" for old, new in renamed))
	except (Error, OSError) as error:
		where = "" if str(error).startswith(options.file) or isinstance(error, OSError) else f"{options.file}: "
		sys.exit(f"tiletune.recorded: {where}{error}")


if __name__ == "__main__":
	main()
