#!/usr/bin/python3
"""Gives each line of a journal its run's id and its checksum, if it lacks them.

	python3 tests/tools/journal_expand.py OLD.jsonl[.gz] -o NEW.jsonl[.gz]

Lines with a wrong checksum are left out, and no figure changes. NEW may be OLD; it is compressed if its name ends with .gz.

	--thin	for archives: leaves out scores, hashes of kernels, the samples of the search (but not their summary), and
		digits beyond the sixth"""
import argparse
import gzip
import json
import os
import re
import sys
import zlib


def fail(text):
	sys.exit(f"journal_expand.py: {text}")


def rounded(value):
	"""Rounds times to six digits, which is finer than any clock's accuracy."""
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
	return {**kept, "kernel_hash": ""}  # the tuned file stores the winner's hash


def with_checksum(line, run):
	line = {name: value for name, value in line.items() if name != "checksum"}
	if run:
		line.setdefault("run", run)
	text = json.dumps(line, separators=(",", ":"), ensure_ascii=False)[:-1]
	return f'{text},"checksum":"{zlib.crc32(text.encode()) & 0xffffffff:08x}"}}\n'


def is_whole(text):
	"""Returns whether a line's checksum is right or absent."""
	checksum = re.search(r',"checksum":"([0-9a-f]{8})"}\n?$', text)
	return not checksum or checksum.group(1) == f"{zlib.crc32(text[:checksum.start()].encode()) & 0xffffffff:08x}"


def parsed(path):
	"""Yields (place, line) of each complete line; reports and skips incomplete and damaged lines."""
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
	"""Yields (line, the run that it belongs to) for each line."""
	run = None
	for where, line in parsed(path):
		if line["event"] == "run":
			run = line["id"]
		elif run is None:
			fail(f"{where}: expected a run line first, found event {line['event']}")
		yield line, None if line["event"] == "run" else line.get("run", run)


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
