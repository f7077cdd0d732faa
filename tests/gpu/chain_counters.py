#!/usr/bin/env python3
"""Puts ncu's counters beside what the facts count: one row per kernel launch, in launch order.

	chain_counters.py COUNTED.json NCU.csv COMMAND > chain_counters.json

COUNTED.json: chain_vs_cublaslt --once, the same launches without ncu. Prints a table on stderr.
"""
import csv
import json
import sys

def counted_bytes(family, problem, facts):
	"""What a launch moves by our loop nests, 16-bit elements: to and from memory each tensor once."""
	if family.startswith("gemm/"):
		m, n, k = (problem[key] for key in "MNK")
		read, written, loaded = m * k + k * n, m * n, facts["elements loaded by all tiles"]
	else:
		m, k, n, p = (problem[key] for key in "mknp")
		name = family.split("/")[1]
		read, written = m * k + k * n + n * p, m * p
		loaded = facts[name + ": elements loaded from L2"]
	return {"dram_read": 2 * read, "dram_written": 2 * written, "l2_read": 2 * loaded, "l2_written": 2 * written}


def problem_of(text):
	pairs = (part.split("=") for part in text.split(","))
	return {key: int(value) if value.isdigit() else value for key, value in pairs}


def launches(lines):
	"""ncu --csv: one line per launch and metric, after whatever the program printed."""
	lines = list(lines)
	start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
	result = {}
	for row in csv.DictReader(lines[start:]):
		launch = result.setdefault(int(row["ID"]), {"kernel": row["Kernel Name"]})
		try:
			launch[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
		except ValueError:
			launch[row["Metric Name"]] = None
	return [result[key] for key in sorted(result)]


def main():
	counted = json.load(open(sys.argv[1]))
	measured = launches(open(sys.argv[2]))
	if len(measured) != len(counted["entries"]):
		sys.exit("expected %d launches, found %d" % (len(counted["entries"]), len(measured)))
	rows = []
	for entry, launch in zip(counted["entries"], measured):
		if not launch["kernel"].startswith(entry["kernel"]):
			sys.exit("expected %s, found %s" % (entry["kernel"], launch["kernel"]))
		facts = entry.pop("facts")
		entry["counted_bytes"] = counted_bytes(entry["family"], problem_of(entry["problem"]), facts)
		kernel = launch.pop("kernel")
		entry["kernel"] = kernel
		entry["counters"] = launch
		rows.append(entry)
		counters, bytes_counted = entry["counters"], entry["counted_bytes"]
		sys.stderr.write("%-28s %-26s counted/found: DRAM read %d/%d written %d/%d, L2 read %d/%d\n" % (
			entry["problem"].split(",dtype")[0], entry["family"], bytes_counted["dram_read"],
			counters["dram__bytes_read.sum"], bytes_counted["dram_written"], counters["dram__bytes_write.sum"],
			bytes_counted["l2_read"], 32 * counters["lts__t_sectors_op_read.sum"]))
	head = {key: value for key, value in counted.items() if key not in ("entries", "seconds")}
	head["format"] = "tiletune.chain_counters/1"
	head["profiler"] = sys.argv[3]
	head["entries"] = rows
	print(json.dumps(head, indent="\t"))


main()
