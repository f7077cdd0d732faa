#!/usr/bin/python3
"""Quality of the first predicted kernels on the eight large bf16 spaces that were measured completely, by tiletune's model and by
NVIDIA's nvMatmulHeuristics (from PyPI: nvidia-matmul-heuristics; it needs no GPU).

	python3 results/tools/first_guess.py OUT		OUT: the folder with the binary, build/release

Prints the speed of the best of the first 1, 4, 8 and 16 kernels as a share of the fastest, and the lowest share of the eight problems
for the first 8. nvMatmulHeuristics names tiles: for each tile the fastest measured configuration counts, which is an advantage. It
was made for CUTLASS's kernels, which is a disadvantage. A tile that the space lacks counts as a guess. tiletune's model names whole
configurations; "learned" was fitted to timings that include these."""
import collections
import gzip
import json
import os
import re
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import FOLDER  # noqa: E402  pylint: disable=wrong-import-position
from model_quality import qualities  # noqa: E402  pylint: disable=wrong-import-position

FIRST, LARGE = (1, 4, 8, 16), 512
JOURNALS = ("exhaustive_wgmma", "exhaustive_drawn")


def spaces():
	"""Returns (M, N, K): {(BM, BN): the shortest time in us}."""
	found, problems = collections.defaultdict(dict), {}
	for name in JOURNALS:
		with gzip.open(f"{FOLDER}/{name}.journal.jsonl.gz", "rt", encoding="utf-8") as file:
			for line in map(json.loads, file):
				if line["event"] == "problem":
					problems[name, line["number"]] = line["problem"]
				elif line["event"] == "evaluation" and line["outcome"] == "ok":
					problem = problems[name, line["problem"]]
					values = dict(part.split("=") for part in line["configuration"].split(","))
					tiles = found[problem["M"], problem["N"], problem["K"]]
					tile = int(values["BM"]), int(values["BN"])
					if problem["dtype"] == "bf16" and problem["M"] >= LARGE:
						tiles[tile] = min(tiles.get(tile, float("inf")), line["time_us"]["median"])
	return {sizes: tiles for sizes, tiles in found.items() if tiles}


def of_tiletune(sizes, learned):
	"""Yields the shares of one prediction method for each of the problems."""
	for name in JOURNALS:
		for problem, (_, _, losses) in qualities(sys.argv[1], f"{FOLDER}/{name}.journal.jsonl.gz", learned).items():
			*values, dtype = re.match(r"gemm M=(\d+),N=(\d+),K=(\d+),dtype=(\w+)", problem).groups()
			if dtype == "bf16" and tuple(map(int, values)) in sizes:
				yield [1 / (1 + loss) for loss in losses]


def of_heuristics(sizes):
	import nvMatmulHeuristics as nv  # pylint: disable=import-outside-toplevel,import-error
	asked = nv.NvMatmulHeuristicsInterfaceEx(backend=nv.NvMatmulHeuristicsTarget.CUTLASS3,
		flags=nv.NvMatmulHeuristicsFlags.PERF_MODEL_BASED_AUTO_TUNING, gpu=nv.NvMatmulHeuristicsNvidiaGpu.H200_SXM)
	for (m, n, k), tiles in sizes.items():
		problem = asked.makeNvMatmulHeuristicsProblem(m, n, k, nv.NvMatmulHeuristicsMatmulLayout.TN_ROW_MAJOR)
		answers = asked.get(problem, 64, precision="TST")  # best first, in the order in which users try them
		order = list(dict.fromkeys((answer["kernel"].cta_tile_m, answer["kernel"].cta_tile_n) for answer in answers))
		best = min(tiles.values())
		yield [best / min((tiles.get(tile, float("inf")) for tile in order[:first]), default=float("inf")) for first in FIRST]


def row(name, shares):
	shares = list(shares)
	means = " | ".join(f"{statistics.fmean(share[i] for share in shares):.3f}" for i in range(len(FIRST)))
	return f"| {name} | {means} | {min(share[FIRST.index(8)] for share in shares):.3f} |"


def main():
	sizes = spaces()
	print(f"{len(sizes)} problems\n\n| share of the best that its first reach | 1 | 4 | 8 | 16 | lowest of the first 8 |\n|---|---|---|---|---|---|")
	print(row("tiletune, physics", of_tiletune(sizes, False)))
	print(row("tiletune, learned", of_tiletune(sizes, True)))
	try:
		print(row("nvMatmulHeuristics (tile; the rest by oracle)", of_heuristics(sizes)))
	except ImportError:
		print("nvMatmulHeuristics: left out: python3 -m pip install nvidia-matmul-heuristics")


if __name__ == "__main__":
	main()
