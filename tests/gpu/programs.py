#!/usr/bin/env python3
"""The fused mixture of experts of tests/own/triton_moe.py over SGLang's 1,920 configurations, on a GPU with torch and Triton.

	programs.py TILETUNE OUT [--tokens 1,16,...] [--budget 150s] [--exhaustive TOKENS] [--drawn 200] [--peer SECONDS]

For each number of tokens: two fresh runs (at most 100 evaluations), then what is known of the truth: all configurations for
--exhaustive, --drawn random ones for the others. Prints a row each and writes OUT/triton_moe.json: the time that was found over the
best known, whether both runs chose the same, seconds, outcomes. --peer: what a loop like `triton.autotune`'s (each
configuration compiled and timed by triton.testing.do_bench, in turn) has found after so many seconds on the exhaustive size."""
import argparse
import collections
import json
import os
import subprocess
import sys
import time

OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../own")
TOKENS = "1,8,32,64,256,512,1024,4096"
EVALUATIONS = "100"


def tune(arguments, tokens, name, *options):
	"""The entry, all evaluations, seconds."""
	started = time.time()
	out = os.path.join(arguments.out, f"{name}-{tokens}.json")
	done = subprocess.run([arguments.tiletune, "tune", f"{OWN}/triton_moe.json", "-p", f"tokens={tokens}", "--fresh", "-o", out, *options],
		capture_output=True, text=True, check=False)
	if done.returncode:
		sys.exit(f"tokens={tokens}: exit {done.returncode}\n{done.stdout}{done.stderr}")
	seconds = time.time() - started
	with open(out, encoding="utf-8") as file:
		entry = json.load(file)["entries"][0]
	with open(out.replace(".json", ".journal.jsonl"), encoding="utf-8") as file:
		lines = [line for line in map(json.loads, file) if line["event"] in ("evaluation", "remeasurement")]
	return entry, lines, seconds


def times_of(lines):
	"""The median of each configuration in the search, where all are timed alike."""
	return {line["configuration"]: line["time_us"]["median"] for line in lines if line["event"] == "evaluation" and line["outcome"] == "ok"}


def written(configuration):
	return ",".join(f"{name}={value}" for name, value in configuration.items())


def row_of(arguments, tokens):
	runs = [tune(arguments, tokens, f"run{i}", "--evaluations", EVALUATIONS, "--budget", arguments.budget) for i in (1, 2)]
	options = ("-e", "exhaustive") if tokens == arguments.exhaustive else ("--strategy", "random", "--evaluations", str(arguments.drawn))
	known = times_of(tune(arguments, tokens, "truth", *options)[1])
	chosen = [written(run[0]["winner"]["configuration"]) for run in runs]
	# what was found and the best known, timed by the same process in the same rounds
	best = min(known, key=known.__getitem__)
	judged = times_of(tune(arguments, tokens, "judged", "-e", "exhaustive", "--where",
		" or ".join("(" + " and ".join(f"{part.replace('=', ' == ')}" for part in one.split(",")) + ")" for one in {*chosen, best}))[1])
	outcomes = collections.Counter(line["outcome"] for line in runs[0][1] if line["event"] == "evaluation")
	return {"tokens": tokens, "configurations": chosen, "same": chosen[0] == chosen[1], "best_known": best, "known": len(known),
		"ratio": judged[chosen[0]] / min(judged.values()), "time_us": judged[chosen[0]], "seconds": [run[2] for run in runs],
		"evaluations": sum(outcomes.values()), "outcomes": dict(outcomes)}


def peer(seconds, tokens):
	"""What do_bench finds, one configuration after the other, in the order of the space."""
	import itertools  # pylint: disable=import-outside-toplevel

	sys.path.insert(0, OWN)
	import torch  # pylint: disable=import-outside-toplevel,import-error
	import triton  # pylint: disable=import-outside-toplevel,import-error
	import triton_moe  # pylint: disable=import-outside-toplevel,import-error
	from tiletune.program import Data, Program  # pylint: disable=import-outside-toplevel,import-error

	with open(f"{OWN}/triton_moe.json", encoding="utf-8") as file:
		described = json.load(file)
	problem = {"tokens": tokens, **{name: key["default"] for name, key in described["keys"].items() if "default" in key}}
	inputs = Data(problem, Program(triton_moe.make, triton_moe.reference, triton_moe.inputs, None)).sets[0]
	times, started = {}, time.time()
	for values in itertools.product(*described["parameters"].values()):
		if time.time() - started > seconds:
			break
		configuration = dict(zip(described["parameters"], values))
		try:
			run, outputs = triton_moe.make(problem, configuration)
			output = torch.empty(outputs[0][0], dtype=outputs[0][1], device="cuda")
			times[written(configuration)] = 1e3 * triton.testing.do_bench(lambda run=run, output=output: run(*inputs, output), return_mode="median")
		except Exception as error:  # pylint: disable=broad-exception-caught
			print(f"{written(configuration)}: {type(error).__name__}", file=sys.stderr)
	best = min(times, key=times.__getitem__)
	return {"tokens": tokens, "configuration": best, "time_us": times[best], "timed": len(times), "seconds": time.time() - started}


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("tiletune")
	parser.add_argument("out")
	parser.add_argument("--tokens", default=TOKENS)
	parser.add_argument("--budget", default="150s")
	parser.add_argument("--exhaustive", type=int, default=64)
	parser.add_argument("--drawn", type=int, default=200)
	parser.add_argument("--peer", type=float, default=0)
	arguments = parser.parse_args()
	os.makedirs(arguments.out, exist_ok=True)
	rows = []
	print(f"{'tokens':>7} {'found us':>9} {'over best':>9} {'known':>6} {'same':>5} {'tried':>6} {'seconds':>8}  outcomes")
	for tokens in map(int, arguments.tokens.split(",")):
		row = row_of(arguments, tokens)
		rows.append(row)
		print(f"{tokens:7} {row['time_us']:9.1f} {row['ratio']:9.3f} {row['known']:6} {'yes' if row['same'] else 'no':>5} {row['evaluations']:6}"
			f" {max(row['seconds']):8.0f}  {row['outcomes']}", flush=True)
	made = {"rows": rows, "peer": peer(arguments.peer, arguments.exhaustive) if arguments.peer else None}
	with open(os.path.join(arguments.out, "triton_moe.json"), "w", encoding="utf-8") as file:
		json.dump(made, file, indent="\t")
	within = sum(row["ratio"] <= 1.01 for row in rows)
	print(f"within 1% of the best known: {within} of {len(rows)}; the same choice twice: {sum(row['same'] for row in rows)} of {len(rows)}")


if __name__ == "__main__":
	main()
