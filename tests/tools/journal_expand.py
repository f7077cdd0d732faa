#!/usr/bin/python3
"""Converts a journal of an earlier version to the current format.

	python3 tests/tools/journal_expand.py OLD.jsonl[.gz] -o NEW.jsonl[.gz]

OLD may have tables of evaluations ("event": "evaluations", the compact form that `tiletune export --format journal` wrote), and lines
without a checksum or the id of their run. NEW has one line for each evaluation, and every line has its run's id and its checksum. No
figure changes. NEW may be OLD; it is compressed if its name ends with .gz.

	--thin	for archives: leaves out scores, hashes of kernels, the samples of the search (but not their summary), and
		digits beyond the sixth"""
import argparse
import gzip
import json
import os
import re
import sys
import zlib

# members of an evaluation, in the order of the program
MEMBERS = ("family", "configuration", "outcome", "detail", "predicted", "time_us", "energy", "samples_us", "flags", "resources")


def fail(text):
	sys.exit(f"journal_expand.py: {text}")


def numbered(tree):
	"""Turns objects whose keys are 0, 1, ... into lists."""
	if not isinstance(tree, dict):
		return tree
	whole = {key: numbered(value) for key, value in tree.items()}
	numbers = [str(i) for i in range(len(whole))]
	return [whole[number] for number in numbers] if whole and set(whole) == set(numbers) else whole


def evaluation_of(paths, parameters, where):
	"""One evaluation from {path: value}; a path names a nested member, "resources.0.regs_per_thread"."""
	tree, configuration = {}, {}
	for path, value in paths.items():
		*way, last = path.split(".")
		if way == ["configuration"]:
			configuration[last] = value
			continue
		node = tree
		for key in way:
			node = node.setdefault(key, {})
			if not isinstance(node, dict):
				fail(f"{where}: expected one value at {path}, found another above it")
		node[last] = value
	found = {**numbered(tree), "configuration": ",".join(
		f"{name}={configuration[name] if isinstance(configuration[name], str) else json.dumps(configuration[name])}"
		for name in parameters if name in configuration)}
	order = [name for name in MEMBERS if name in found] + [name for name in found if name not in MEMBERS]
	return {name: found[name] for name in order}


def rows_of(table, where):
	"""(place in the problem's list, evaluation) of each row of a table."""
	for name, column in table["columns"].items():
		if len(column) != len(table["places"]):
			fail(f"{where}: expected {len(table['places'])} values of {name}, found {len(column)}")
	for row, place in enumerate(table["places"]):
		paths = dict(table["same"])
		paths.update({name: column[row] for name, column in table["columns"].items() if column[row] is not None})
		yield place, evaluation_of(paths, table["parameters"], where)


def rounded(value):
	"""Rounds times to six digits, which exceeds the accuracy of any clock."""
	if isinstance(value, float):
		return float(f"{value:.6g}")
	if isinstance(value, list):
		return [rounded(item) for item in value]
	return {name: rounded(item) for name, item in value.items()} if isinstance(value, dict) else value


def thinned(line):
	if line["event"] != "evaluation" and line["event"] != "final":
		return line
	left_out = ("score", "samples_us") if line["event"] == "evaluation" else ("score",)
	kept = {name: rounded(value) for name, value in line.items() if name not in left_out}
	if not kept.get("verification", {}).get("violations"):
		kept.pop("verification", None)
	return {**kept, "kernel_hash": ""}  # the tuned file has the winner's


def with_checksum(line, run):
	line = {name: value for name, value in line.items() if name != "checksum"}
	if run:
		line.setdefault("run", run)
	text = json.dumps(line, separators=(",", ":"), ensure_ascii=False)[:-1]
	return f'{text},"checksum":"{zlib.crc32(text.encode()) & 0xffffffff:08x}"}}\n'


def is_whole(text):
	"""Whether a line's checksum is right, or absent."""
	checksum = re.search(r',"checksum":"([0-9a-f]{8})"}\n?$', text)
	return not checksum or checksum.group(1) == f"{zlib.crc32(text[:checksum.start()].encode()) & 0xffffffff:08x}"


def parsed(path):
	"""(place, line) of each complete line; incomplete and damaged ones are reported and skipped."""
	opened = gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open
	with opened(path, "rt", encoding="utf-8") as file:
		for number, text in enumerate(file, 1):
			where = f"{path}: line {number}"
			try:
				line = json.loads(text)
				if not isinstance(line.get("event"), str) or not is_whole(text):
					raise ValueError
			except (ValueError, AttributeError):
				print(f"{where}: left out: expected a whole line of a journal", file=sys.stderr)
				continue
			yield where, line


def expanded(path):
	"""The lines of a journal, each with its run's id, and tables as one evaluation per line, in the problem's order."""
	run, tables = None, {}

	def flush():
		for (event, problem, of_run), rows in sorted(tables.items(), key=lambda item: item[0][0] == "final"):
			for place in sorted(rows):
				yield {"event": event, "problem": problem, **rows[place]}, of_run
		tables.clear()

	for where, line in parsed(path):
		if line["event"] == "evaluations":
			rows = tables.setdefault((line["of"], line["problem"], line.get("run", run)), {})
			for place, evaluation in rows_of(line, where):
				if place in rows:
					fail(f"{where}: expected a place that no other row has, found {place} again")
				rows[place] = evaluation
			continue
		yield from flush()
		if line["event"] == "run":
			run = line["id"]
			yield line, None
		elif run is None:
			fail(f"{where}: expected a run line first, found event {line['event']}")
		else:
			yield line, line.get("run", run)
	yield from flush()


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("old")
	parser.add_argument("-o", dest="new", metavar="NEW", required=True)
	parser.add_argument("--thin", action="store_true")
	options = parser.parse_args()
	text = "".join(with_checksum(thinned(line) if options.thin else line, run) for line, run in expanded(options.old)).encode()
	temporary = f"{options.new}.{os.getpid()}"
	with open(temporary, "xb") as file:
		file.write(gzip.compress(text, 9, mtime=0) if options.new.endswith(".gz") else text)
	os.replace(temporary, options.new)


if __name__ == "__main__":
	main()
