#!/usr/bin/env python3
"""Kernels below 300 us are timed in graphs, longer ones by single runs: are both on one scale?

    bias.py [--tiletune PROGRAM] [--device cuda:0] [--rounds 5]

One kernel whose time grows evenly with a number, at ten values on either side of 300 us, tuned some times over. A line
through the times in graphs says what the longer ones should take; how far they lie beside it, in microseconds, is the bias.
Exit 1 where its median is above 0.3 us.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

KERNEL = """
extern "C" __global__ void spin(float *out, const float *in, int steps)
{
	float x = in[blockIdx.x * blockDim.x + threadIdx.x];
	for (int i = 0; i < steps; ++i)
		x = fmaf(x, 0.999f, 0.001f);
	out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""
OWN = {"format": "tiletune.own_kernel/1", "source": "spin.cu", "keys": {"steps": {"default": 1000}},
	"tensors": {"out": {"shape": [132 * 128], "dtype": "fp32", "role": "out"}, "input": {"shape": [132 * 128], "dtype": "fp32", "role": "in"}},
	"parameters": {"THREADS": [128]},
	"launches": [{"entry": "spin", "grid": [132], "block": ["THREADS"], "args": ["out", "input", "steps"]}]}
GRAPHS_BELOW_US = 300
STEPS_A_US = 470  # of an H100 or H200 at its highest clock: about four clocks a step


def times(options: argparse.Namespace, folder: str) -> list[tuple[int, float]]:
	output = os.path.join(folder, "tuned.json")
	problems = [argument for us in (110, 150, 190, 230, 270, 330, 370, 410, 450, 490) for argument in ("-p", f"steps={us * STEPS_A_US}")]
	command = [options.tiletune, "tune", os.path.join(folder, "spin.json"), *problems, "--device", options.device, "--fresh", "--no-journal", "--cache-dir", os.path.join(folder, "cache"), "-o", output]
	done = subprocess.run(command, capture_output=True, text=True, check=False)
	if done.returncode:
		sys.exit(f"{' '.join(command)}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
	with open(output, encoding="utf-8") as file:
		tuned = json.load(file)
	return [(entry["problem"]["steps"], entry["winner"]["time_us"]["median"]) for entry in tuned["entries"]]


def line(points: list[tuple[int, float]]) -> tuple[float, float]:
	fit = statistics.linear_regression([float(x) for x, _ in points], [y for _, y in points])
	return fit.slope, fit.intercept


def main() -> int:
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("--tiletune", default="./tiletune")
	parser.add_argument("--device", default="cuda:0")
	parser.add_argument("--rounds", type=int, default=5)
	options = parser.parse_args()
	beside: list[float] = []
	with tempfile.TemporaryDirectory() as folder:
		with open(os.path.join(folder, "spin.cu"), "w", encoding="utf-8") as file:
			file.write(KERNEL)
		with open(os.path.join(folder, "spin.json"), "w", encoding="utf-8") as file:
			json.dump(OWN, file)
		for _ in range(options.rounds):
			found = times(options, folder)
			graphs = [point for point in found if point[1] < GRAPHS_BELOW_US]
			single = [point for point in found if point[1] >= GRAPHS_BELOW_US]
			slope, constant = line(graphs)
			inside, outside = ([y - slope * x - constant for x, y in points] for points in (graphs, single))
			beside += outside
			print(f"{len(graphs)} in graphs, off their line by {' '.join(f'{d:+.2f}' for d in inside)}; {len(single)} single runs: {' '.join(f'{d:+.2f}' for d in outside)} us")
	median = statistics.median(beside)
	print(f"single runs beside graphs: median {median:+.3f} us, {min(beside):+.2f} to {max(beside):+.2f}")
	return int(abs(median) > 0.3)


if __name__ == "__main__":
	sys.exit(main())
