#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests whether repeated runs of tiletune.autotune give the same answer, on the five public kernels of triton_autotune.py. Needs a GPU,
torch and triton.

	results/gpu/autotune_repeat.py SOURCES OUT [--runs 5] [--seconds 140]

SOURCES: as for triton_autotune.py. Each kernel is tuned `--runs` times into new files, in turn with the other kernels, as long as there is
time. Runs of a kernel share a process and compiled kernels, so that its later runs show what a new problem costs a program that runs. A line
for each kernel: how many different answers, the seconds of each run, and the answers. OUT gets autotune_repeat.json. Exit code 1: a kernel
did not run, or its answers differ.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import triton_autotune


def serve(path, folder):
	"""Runs in its own process: tunes once for each line of standard input."""
	import torch  # pylint: disable=import-outside-toplevel,import-error
	for number in map(int, sys.stdin):
		os.environ["TILETUNE_FILE"] = str(folder / f"run{number}" / "tuned.json")
		os.makedirs(folder / f"run{number}", exist_ok=True)
		module = triton_autotune.load(path)
		launch = module.launcher()
		torch.cuda.synchronize()
		started = time.perf_counter()
		launch(module.KERNEL)
		torch.cuda.synchronize()
		answer = {"seconds": time.perf_counter() - started, "configuration": triton_autotune.options_of(module.KERNEL.best_config), "device": torch.cuda.get_device_name()}
		del module, launch
		torch.cuda.empty_cache()
		sys.stdout.write("\n" + json.dumps(answer) + "\n")
		sys.stdout.flush()


class Kernel:
	"""A process that tunes one kernel, and its answers."""

	def __init__(self, name, sources, out):
		self.name, self.runs = name, []
		folder = out / name.replace(" ", "_")
		folder.mkdir(parents=True, exist_ok=True)
		path = triton_autotune.write_module(name, sources, folder)
		beside = {"TILETUNE": str(triton_autotune.ROOT / "tiletune")} if (triton_autotune.ROOT / "tiletune").is_file() else {}  # the program in a folder of `make dist`
		environment = {**beside, **os.environ, "TUNER": "tiletune", "TRITON_CACHE_DIR": str(folder / "compiled"), "PYTHONPATH": triton_autotune.PYTHONPATH,
			"XDG_CACHE_HOME": str(folder), "TILETUNE_PROGRAM_LOG": str(folder / "program.log")}
		with open(folder / "errors.log", "w", encoding="utf-8") as errors:
			self.process = subprocess.Popen([sys.executable, __file__, "--serve", str(path), str(folder)], env=environment, text=True, stdin=subprocess.PIPE,
				stdout=subprocess.PIPE, stderr=errors)
		self.errors = folder / "errors.log"

	def run(self, number):
		"""Returns whether the process answered."""
		try:
			self.process.stdin.write(f"{number}\n")
			self.process.stdin.flush()
		except BrokenPipeError:
			return False
		for line in self.process.stdout:
			if line.startswith("{"):
				self.runs.append(json.loads(line))
				return True
		return False

	def answers(self):
		return sorted({json.dumps(run["configuration"], sort_keys=True) for run in self.runs})


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("sources")
	parser.add_argument("out", type=pathlib.Path)
	parser.add_argument("--runs", type=int, default=5)
	parser.add_argument("--seconds", type=float, default=140)
	options = parser.parse_args()
	deadline, out = time.monotonic() + options.seconds, options.out.resolve()
	kernels = [Kernel(name, options.sources, out) for name in triton_autotune.KERNELS]
	failed = set()
	for number in range(1, options.runs + 1):
		for kernel in kernels:
			if kernel.name in failed or time.monotonic() + (kernel.runs[-1]["seconds"] if kernel.runs else 0) > deadline:
				continue
			if not kernel.run(number):
				failed.add(kernel.name)
	for kernel in kernels:
		kernel.process.stdin.close()
		kernel.process.wait()
	for kernel in kernels:
		print(f"{kernel.name}: {len(kernel.answers())} answers in {len(kernel.runs)} runs; seconds {' '.join(format(run['seconds'], '.1f') for run in kernel.runs)}")
		for answer in kernel.answers():
			print("  " + answer)
		if kernel.name in failed:
			print("  failed: " + "\n".join(kernel.errors.read_text(encoding="utf-8").strip().splitlines()[-3:]))
	with open(out / "autotune_repeat.json", "w", encoding="utf-8") as file:
		json.dump({"format": "tiletune.autotune_repeat/1", "date": time.strftime("%Y-%m-%d", time.gmtime()), "runs": {kernel.name: kernel.runs for kernel in kernels}}, file, indent=1)
	return 1 if failed or any(len(kernel.answers()) != 1 for kernel in kernels) else 0


if __name__ == "__main__":
	if len(sys.argv) > 1 and sys.argv[1] == "--serve":
		serve(sys.argv[2], pathlib.Path(sys.argv[3]))
		sys.exit(0)
	sys.exit(main())
