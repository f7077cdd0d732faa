#!/usr/bin/python3
"""Wall time of quick tunings by two programs in turn, with cold caches: the 95% interval of the ratio.

	tests/gpu/wall.py OLD NEW [SECONDS]	folders of two checkouts, each with build/tiletune; default 240 s

Ten pairs, or as many as the time allows; which program is the first of a pair changes. Also the GPU's seconds for each sample. Both are
ratios of NEW to OLD; the interval is Student's of the logarithms.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

PAIRS = 10
PROBLEM = ["gemm", "-p", "M=2048,N=2048,K=2048,dtype=bf16", "--family", "mma", "--evaluations", "40", "--no-learned", "--seed", "1"]
STUDENT = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}  # by number of pairs


def tune(root: str) -> tuple[float, float]:
	"""Seconds, and the GPU's seconds for each sample."""
	with tempfile.TemporaryDirectory() as folder:
		environment = {**os.environ, "TILETUNE_PATH": root, "XDG_CACHE_HOME": f"{folder}/cache"}
		begun = time.monotonic()
		subprocess.run([f"{root}/build/tiletune", "tune", *PROBLEM, "-d", "cuda:0", "-o", f"{folder}/t.json"], env=environment, cwd=folder, check=True,
			stdout=subprocess.DEVNULL)
		wall_s = time.monotonic() - begun
		samples, device_s = 0, math.nan
		with open(f"{folder}/t.journal.jsonl", encoding="utf-8") as file:
			for line in map(json.loads, file):
				samples += len(line.get("samples_us", ())) if line["event"] in ("evaluation", "final") else 0
				device_s = line.get("device_s", device_s)
	return wall_s, device_s / samples


def interval(ratios: list[float]) -> str:
	logs = [math.log(ratio) for ratio in ratios]
	mean = statistics.fmean(logs)
	half = STUDENT[len(logs)] * statistics.stdev(logs) / math.sqrt(len(logs))
	return f"{math.exp(mean):.3f} [{math.exp(mean - half):.3f}, {math.exp(mean + half):.3f}]"


def main() -> None:
	roots = [os.path.abspath(root) for root in sys.argv[1:3]]
	end = time.monotonic() + (float(sys.argv[3]) if len(sys.argv) > 3 else 240)
	walls, samples, longest = [], [], 0.0
	while len(walls) < PAIRS and time.monotonic() + longest < end:
		begun = time.monotonic()
		order = (0, 1) if len(walls) % 2 == 0 else (1, 0)
		taken = {which: tune(roots[which]) for which in order}
		walls.append(taken[1][0] / taken[0][0])
		samples.append(taken[1][1] / taken[0][1])
		longest = max(longest, time.monotonic() - begun)
		print(f"pair {len(walls)}: {taken[0][0]:.2f} s, {taken[1][0]:.2f} s; {1e3 * taken[0][1]:.3f} ms, {1e3 * taken[1][1]:.3f} ms of the GPU for a sample", flush=True)
	if len(walls) < 2:
		sys.exit("expected time for two pairs at least")
	print(f"wall time: {interval(walls)}; GPU seconds for each sample: {interval(samples)}; {len(walls)} pairs")


main()
