#!/usr/bin/env python3
"""Measures the latencies and rates of a device sheet with rates.cu, and prints each figure next to the sheet's.

	rates.py TILETUNE OUT SHEET.json [OPTION ...]

OPTIONs go to `tune` (--device). OUT gets the tuned file and its journal. Rates per clock refer to the sheet's clock_hz."""
import json
import os
import subprocess
import sys

LOADED = 1024 * 16  # bytes that a block of rates.cu loads in one round
MULTIPLIED = 32 * 8 * 2 * 16 * 8 * 16  # FLOP of a block's warps in a round


def read(path):
	with open(path, encoding="utf-8") as file:
		return file.read()


def rounds_of(journal):
	"""Returns {measured quantity: {ROUNDS: us}}."""
	times, what = {}, None
	for event in map(json.loads, journal.splitlines()):
		if event["event"] == "problem":
			what = event["problem"]["what"]
		elif event["event"] == "evaluation":
			rounds = int(event["configuration"].split("=")[1])
			times.setdefault(what, {})[rounds] = event["time_us"]["median"]
	return times


def main():
	tiletune, out, sheet_path, *options = sys.argv[1:]
	sheet = json.loads(read(sheet_path))
	figures = {name: figure["value"] for name, figure in sheet["figures"].items()}
	here, sms, per_us = os.path.dirname(os.path.abspath(__file__)), figures["sm_count"], figures["clock_hz"] * 1e-6
	tuned = os.path.join(out, "rates.json")
	subprocess.run([tiletune, "tune", os.path.join(here, "rates.json"), "-p",
		f"what=launch,barrier,l2_latency,dram_latency,l2_port,l2_chip,l2_shared,tensor_mma,sms={sms}", "--effort", "exhaustive", "--fresh", "-o", tuned,
		*options], stdout=sys.stderr, check=True)
	times = rounds_of(read(tuned.replace(".json", ".journal.jsonl")))
	us = {what: (max(t.items())[1] - min(t.items())[1]) / (max(t) - min(t)) for what, t in times.items() if len(t) > 1}
	if min(us.values()) <= 0:
		sys.exit("expected twice the rounds to take longer, found the same time: was this a GPU?")
	rows = [("launch_us", times["launch"][1], figures["launch_us"]), ("sync_us", us["barrier"], figures["sync_us"]),
		("l2_latency_us", us["l2_latency"], figures["l2_latency_us"]), ("dram_latency_us", us["dram_latency"], figures["dram_latency_us"]),
		("L2 port, bytes per clock", LOADED / (us["l2_port"] * per_us), 64),
		("l2_bytes_per_clock", sms * LOADED / (us["l2_shared"] * per_us), figures["l2_bytes_per_clock"]),
		("l2_own_bytes_per_clock", sms * LOADED / (us["l2_chip"] * per_us), figures.get("l2_own_bytes_per_clock", 0)),
		("tensor_mma bf16, FLOP per clock and SM", MULTIPLIED / (us["tensor_mma"] * per_us), sheet["rates"]["tensor_mma"]["bf16"]["value"])]
	for name, found, said in rows:
		print(f"{name:40} measured {found:9.4g}, sheet {said:9.4g}")


main()
