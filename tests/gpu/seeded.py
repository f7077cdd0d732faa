#!/usr/bin/python3
"""Tunings of a suite's problems that try only what the nearest problems of a tuned file had as winners
and ties: one `tiletune tune` a line and family, into one file. For a session too short to search.

	tests/gpu/seeded.py TUNED.json SUITE.json OUTPUT.json [ARGUMENT...]	| sh
"""
import json
import math
import shlex
import sys

TUNED, SUITE, OUTPUT, REST = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
NEAREST, MOST = 2, 12
# what the model may choose again where scales of blocks take room, or a tile is another
FREE = ("STAGES", "SMS", "BAND", "ALONG_N", "STORE_DEPTH")


def keys(problem):
	return dict(pair.split("=") for pair in problem.split(","))


def part(columns):
	return math.gcd(columns, 128)


def alternatives(configuration, problem):
	"""With scales of blocks a tile's columns lie in two blocks of B at most, and stages are larger. An
	activation takes time that another group's multiplications hide."""
	free = {k: v for k, v in configuration.items() if k not in FREE}
	columns, block = configuration["BN"], problem.get("scale") == "block"
	found = [free] if block else [configuration]
	if block and configuration.get("SWAP") != 1 and columns > 128 + part(columns):
		found = [{**free, "BN": n} for n in (128, 160) if n < columns]
	if "act" in problem and configuration.get("PINGPONG") == 0 and configuration["GROUPS"] == 2:
		found += [{**free, "BM": 128, "PINGPONG": 1, "BN": n} for n in (128, 192) if n <= max(columns, 128)]
	return found


def distance(entry, problem):
	return sum(abs(math.log(entry[k] / int(problem[k]))) for k in "MNK")


def main():
	with open(TUNED, encoding="utf-8") as file:
		entries = json.load(file)["entries"]
	with open(SUITE, encoding="utf-8") as file:
		suite = json.load(file)
	for text in suite["problems"]:
		problem = keys(text)
		accum = "promoted" if problem.get("scale") == "block" else problem.get("accum", "fast")
		like = [e for e in entries if e["operation"] == "gemm" and e["problem"]["dtype"] == problem["dtype"] and e["problem"]["accum"] == accum
			and e["problem"]["b_layout"] == "nk" and (int(problem["N"]) % 8 == 0) == (e["problem"]["N"] % 8 == 0)]
		like.sort(key=lambda e: distance(e["problem"], problem))
		families = {}
		for entry in like[:NEAREST]:
			for row in [entry["winner"]] + entry.get("tied", []) + entry.get("families", []):
				if row["family"] in ("gemm/wgmma", "gemm/wgmma_skinny") and (row["family"] == "gemm/wgmma" or int(problem["M"]) <= 256):
					for one in alternatives(row["configuration"], problem):
						if one not in families.setdefault(row["family"], []) and len(families[row["family"]]) < MOST:
							families[row["family"]].append(one)
		for family, found in families.items():
			where = " or ".join("(" + " and ".join(f"{k} == {v}" for k, v in one.items()) + ")" for one in found)
			print(shlex.join(["./tiletune", "tune", suite["operation"], "-p", text, "--family", family, "--where", where, "-o", OUTPUT] + REST) + " </dev/null")


main()
