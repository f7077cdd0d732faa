#!/usr/bin/env python3
"""The fused mixture of experts of tests/own/triton_moe.py over SGLang's 1,920 configurations, on a GPU with torch and Triton.

	programs.py TILETUNE OUT [--limit 235] [--tokens 16,64,...] [--budget 15s] [--evaluations 100] [--truth TOKENS] [--drawn 300 | --all]

Parts, in this order; what OUT holds already is not done again, and a part that --limit seconds cut short goes on the next time:

	run1	each number of tokens, from nothing: at most --evaluations and --budget each
	truth	--truth tokens: --drawn random configurations within --truth-budget, or --all; --drawn-others of the other sizes
	crash	eight configurations, of which one ends the process: it costs one line
	run2	as run1: is the same chosen?
	judged	what both runs chose and the best that is known, in turn in one process
	small	32 configurations of --truth tokens, from an empty cache of kernels
	peer	triton.autotune over the same 32, each product on its own, from an empty cache, too; then both choices timed in turn

Prints a table of what there is and writes it to OUT/triton_moe.json."""
import argparse
import collections
import glob
import json
import os
import signal
import subprocess
import sys
import time

OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../own")
PEER = {"BLOCK_SIZE_M": [16], "BLOCK_SIZE_N": [32, 64, 128, 256], "BLOCK_SIZE_K": [64, 128], "GROUP_SIZE_M": [1], "num_warps": [4, 8], "num_stages": [3, 4]}
PARTS = ("run1", "truth", "crash", "run2", "judged", "small", "peer")
CRASHING = """import os, resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.path.insert(0, {own!r})
import triton_moe as moe
from tiletune.program import serve

def make(problem, configuration):
	if configuration["BLOCK_SIZE_N"] == 64 and configuration["num_stages"] == 3:
		os.abort()
	return moe.make(problem, configuration)

serve(make, moe.reference, moe.inputs, moe.prepare)
"""


class NoTime(Exception):
	pass


def read(path):
	with open(path, encoding="utf-8") as file:
		return json.load(file)


def write(path, value):
	with open(path, "w", encoding="utf-8") as file:
		json.dump(value, file, indent="\t")


def evaluations(out):
	"""tokens: {configuration: its evaluation}, of all runs of a journal; and what the final measurement in turn said, likewise."""
	found, last, numbers = collections.defaultdict(dict), collections.defaultdict(dict), {}
	with open(out.replace(".json", ".journal.jsonl"), encoding="utf-8") as file:
		for line in map(json.loads, file):
			if line["event"] == "problem":
				numbers[line["number"]] = line["problem"]["tokens"]
			elif line["event"] == "evaluation":
				found[numbers[line["problem"]]][line["configuration"]] = line
			elif line["event"] == "final":
				last[numbers[line["problem"]]][line["configuration"]] = line
	return found, last


def times(tried):
	return {configuration: line["time_us"]["median"] for configuration, line in tried.items() if line["outcome"] == "ok"}


def written(configuration):
	return ",".join(f"{name}={value}" for name, value in configuration.items())


def condition(configuration):
	return "(" + configuration.replace("=", " == ").replace(",", " and ") + ")"


class Session:
	def __init__(self, arguments):
		self.arguments, self.started = arguments, time.time()
		self.state_path = os.path.join(arguments.out, "state.json")
		self.state = read(self.state_path) if os.path.exists(self.state_path) else {}

	def left(self):
		return self.arguments.limit - (time.time() - self.started)

	def path(self, name):
		return os.path.join(self.arguments.out, name + ".json")

	def tune(self, name, tokens, *options, kernel=None, environment=None):
		"""Goes on where it was cut short. The entries by tokens, and seconds of all its calls."""
		if self.left() < 15:
			raise NoTime
		started, out = time.time(), self.path(name)
		command = [self.arguments.tiletune, "tune", kernel or self.arguments.kernel, "-p", f"tokens={','.join(map(str, tokens))}", "-o", out, *options]
		with open(out.replace(".json", ".log"), "a", encoding="utf-8") as log:
			child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "TILETUNE_PROGRAM_LOG": out.replace(".json", ".program.log"), **(environment or {})})
			try:
				code = child.wait(self.left())
			except subprocess.TimeoutExpired:
				child.send_signal(signal.SIGINT)
				code = child.wait()
		key = f"{name} seconds"
		self.state[key] = self.state.get(key, 0) + time.time() - started
		write(self.state_path, self.state)
		if code == 130:
			raise NoTime
		if code:
			with open(out.replace(".json", ".log"), encoding="utf-8") as log:
				raise RuntimeError(f"{name}: exit {code}: {log.read()[-1500:]}")
		return {entry["problem"]["tokens"]: entry for entry in read(out)["entries"]}, self.state[key]

	# ---- parts ----
	def run(self, name):
		entries, seconds = self.tune(name, self.arguments.tokens, "--evaluations", str(self.arguments.evaluations), "--budget", self.arguments.budget)
		return {"seconds": seconds, "chosen": {tokens: written(entry["winner"]["configuration"]) for tokens, entry in entries.items()}}

	def run1(self):
		return self.run("run1")

	def run2(self):
		return self.run("run2")

	def truth(self):
		arguments = self.arguments
		drawn = ("-e", "exhaustive") if arguments.all else ("--strategy", "random", "--seed", "7", "--evaluations", str(arguments.drawn))
		_, seconds = self.tune("truth", [arguments.truth], *drawn, *([] if arguments.all else ["--budget", arguments.truth_budget]))
		others = [tokens for tokens in arguments.tokens if tokens != arguments.truth]
		if arguments.drawn_others and others:
			_, more = self.tune("truth_others", others, "--strategy", "random", "--seed", "7", "--evaluations", str(arguments.drawn_others))
			seconds += more
		return {"seconds": seconds}

	def crash(self):
		arguments, folder = self.arguments, os.path.abspath(self.arguments.out)
		described = read(arguments.kernel)
		if described["program"] == ["python3", "triton_moe.py"]:
			with open(os.path.join(folder, "crashing.py"), "w", encoding="utf-8") as file:
				file.write(CRASHING.format(own=OWN))
			described["program"] = ["python3", "crashing.py"]
		write(self.path("crashing"), described)
		self.tune("crash", [arguments.truth], "-e", "exhaustive", "--where",
			"BLOCK_SIZE_M == 16 and BLOCK_SIZE_K == 64 and GROUP_SIZE_M == 1 and num_warps == 4 and num_stages <= 3", kernel=self.path("crashing"))
		outcomes = collections.Counter(line["outcome"] for line in evaluations(self.path("crash"))[0][arguments.truth].values())
		return {"outcomes": dict(outcomes)}

	def judged(self):
		candidates, best = collections.defaultdict(set), {}
		for name in ("run1", "run2", "truth", "truth_others"):
			for tokens, tried in evaluations(self.path(name))[0].items() if os.path.exists(self.path(name)) else ():
				known = best.setdefault(tokens, {})
				for configuration, us in times(tried).items():
					known[configuration] = min(us, known.get(configuration, us))
		for part in ("run1", "run2"):
			for tokens, configuration in self.state.get(part, {}).get("chosen", {}).items():
				candidates[int(tokens)].add(configuration)
		for tokens, known in best.items():
			candidates[tokens].update(sorted(known, key=known.__getitem__)[:2])
		where = " or ".join(condition(one) for one in sorted(set().union(*candidates.values())))
		self.tune("judged", sorted(candidates), "-e", "exhaustive", "--where", where)
		found, last = evaluations(self.path("judged"))
		rows = {}
		for tokens in sorted(candidates):
			# those of the final measurement, in turn; what was clearly slower has the search's times alone
			timed = {**times(found[tokens]), **{one: line["time_us"]["median"] for one, line in last[tokens].items()}}
			rows[tokens] = {"known": len(best[tokens]), "best_known": min(timed, key=timed.__getitem__), "best_us": min(timed.values()),
				"times": {one: timed.get(one) for one in sorted(candidates[tokens])}}
		return rows

	def cache(self, name):
		return {"TRITON_CACHE_DIR": os.path.join(self.arguments.out, f"cache-{name}-{os.getpid()}")}

	def small(self):
		where = " and ".join(f"{name} in {values}" for name, values in PEER.items())
		entries, seconds = self.tune("small", [self.arguments.truth], "--where", where, "--evaluations", "32", environment=self.cache("small"))
		return {"seconds": seconds, "chosen": entries[self.arguments.truth]["winner"]["configuration"]}

	def peer(self):
		arguments, small = self.arguments, self.state.get("small")
		if not small or self.left() < 50:
			raise NoTime
		done = subprocess.run([sys.executable, os.path.abspath(__file__), "autotune", arguments.out, "--truth", str(arguments.truth), "--chosen", json.dumps(small["chosen"])],
			env={**os.environ, **self.cache("peer")}, capture_output=True, text=True, check=False, timeout=self.left())
		if done.returncode:
			raise RuntimeError(f"peer: {done.stderr[-1500:]}")
		return {**json.loads(done.stdout.splitlines()[-1]), "tiletune_seconds": small["seconds"], "tiletune_configuration": small["chosen"]}

	def go(self):
		for name in PARTS:
			if name in self.state or name not in self.arguments.parts:
				continue
			try:
				self.state[name] = json.loads(json.dumps(getattr(self, name)()))
			except (NoTime, subprocess.TimeoutExpired):
				print(f"{name}: no time left, goes on with the next call")
				return
			except RuntimeError as error: # the parts that need it will say so, the others go on
				print(error, file=sys.stderr)
				continue
			write(self.state_path, self.state)
			print(f"{name}: done after {time.time() - self.started:.0f} s", flush=True)


def autotune(arguments):
	"""In a process of its own: triton.autotune's choice for each product, and the whole with it beside tiletune's choice, in turn."""
	import itertools  # pylint: disable=import-outside-toplevel

	sys.path.insert(0, OWN)
	import triton  # pylint: disable=import-outside-toplevel,import-error
	import triton_moe as moe  # pylint: disable=import-outside-toplevel,import-error
	from tiletune.program import Data, Job, Program  # pylint: disable=import-outside-toplevel,import-error

	described, kernel = read(f"{OWN}/triton_moe.json"), moe.experts
	problem = {**{name: key["default"] for name, key in described["keys"].items() if "default" in key}, "tokens": arguments.truth}
	ours = [name for name in PEER if name.startswith(("BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP"))]
	configs = [triton.Config(dict(zip(ours, values)), num_warps=warps, num_stages=stages) for *values, warps, stages in
		itertools.product(*(PEER[name] for name in [*ours, "num_warps", "num_stages"]))]
	program = Program(moe.make, moe.reference, moe.inputs, None)
	data = Data(problem, program)
	tuned = triton.autotune(configs, key=["N", "K"])(kernel)
	block = {"BLOCK_SIZE_M": PEER["BLOCK_SIZE_M"][0]}

	def with_kernel(experts, what):
		moe.experts = experts
		return what()

	started = time.time()
	theirs = with_kernel(tuned, lambda: Job(problem, block, program, data)) # its first run tunes
	seconds = time.time() - started
	mine = with_kernel(kernel, lambda: Job(problem, json.loads(arguments.chosen), program, data))
	samples = [(with_kernel(tuned, theirs.sample_us), with_kernel(kernel, mine.sample_us)) for _ in range(41)]
	middle = [sorted(each)[20] for each in zip(*samples)]
	right = [with_kernel(*each)["violations"] == 0 for each in ((tuned, theirs.verified), (kernel, mine.verified))]
	print(json.dumps({"autotune_seconds": seconds, "configurations": len(configs), "autotune_us": middle[0], "tiletune_us": middle[1],
		"autotune_configurations": [str(config) for config in tuned.cache.values()], "right": right}))


def report(session):
	state, arguments = session.state, session.arguments
	found = {name: evaluations(session.path(name))[0] for name in ("run1", "run2") if os.path.exists(session.path(name).replace(".json", ".journal.jsonl"))}
	rows = []
	print(f"{'tokens':>7} {'found us':>9} {'over best':>9} {'known':>6} {'same':>5} {'tried':>9}  outcomes of the first run")
	for tokens in arguments.tokens:
		key, judged = str(tokens), state.get("judged", {}).get(str(tokens), {})
		chosen = [state.get(part, {}).get("chosen", {}).get(key) for part in ("run1", "run2")]
		tried = [len(found.get(part, {}).get(tokens, ())) for part in ("run1", "run2")]
		outcomes = collections.Counter(line["outcome"] for line in found.get("run1", {}).get(tokens, {}).values())
		row = {"tokens": tokens, "configurations": chosen, "same": chosen[0] == chosen[1] if all(chosen) else None, "tried": tried, "outcomes": dict(outcomes), **judged}
		us = judged.get("times", {}).get(chosen[0])
		row["found_us"], row["ratio"] = us, us / judged["best_us"] if us else None
		rows.append(row)
		print(f"{tokens:7} {us or 0:9.1f} {row['ratio'] or 0:9.3f} {row.get('known', 0):6} {({True: 'yes', False: 'no'}.get(row['same'], '-')):>5} {'/'.join(map(str, tried)):>9}"
			f"  {row['outcomes']}")
	made = {"format": "tiletune.program_rates/1", "kernel": "triton_moe", "rows": rows, "evaluations": arguments.evaluations, "budget": arguments.budget,
		"seconds": {name.split()[0]: seconds for name, seconds in state.items() if name.endswith(" seconds")}, "crash": state.get("crash"), "peer": state.get("peer")}
	for path in glob.glob(session.path("run1")):
		made.update(device=read(path)["device"]["name"], run={key: read(path)["runs"][0].get(key) for key in ("date", "tiletune", "driver", "uuid")})
	write(session.path("triton_moe"), made)
	for name in ("seconds", "crash", "peer"):
		print(f"{name}: {json.dumps(made[name])}")
	print(f"within 1% of the best known: {sum((row['ratio'] or 2) <= 1.01 for row in rows)} of {len(rows)}; the same choice twice: {sum(row['same'] is True for row in rows)} of {len(rows)}")


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("tiletune")
	parser.add_argument("out")
	parser.add_argument("--kernel", default=f"{OWN}/triton_moe.json", help="another JSON with the same parameters (tests)")
	parser.add_argument("--limit", type=float, default=235, help="seconds")
	parser.add_argument("--parts", type=lambda text: text.split(","), default=PARTS)
	parser.add_argument("--tokens", type=lambda text: [int(word) for word in text.split(",")], default=[16, 64, 256, 1024])
	parser.add_argument("--budget", default="15s", help="of each number of tokens")
	parser.add_argument("--evaluations", type=int, default=100)
	parser.add_argument("--truth", type=int, default=64, help="tokens")
	parser.add_argument("--truth-budget", default="45s")
	parser.add_argument("--drawn", type=int, default=300)
	parser.add_argument("--drawn-others", type=int, default=0)
	parser.add_argument("--all", action="store_true", help="truth of all configurations")
	parser.add_argument("--chosen", help=argparse.SUPPRESS)
	arguments = parser.parse_args()
	if arguments.tiletune == "autotune":
		return autotune(arguments)
	arguments.out = os.path.abspath(arguments.out)
	os.makedirs(arguments.out, exist_ok=True)
	session = Session(arguments)
	session.go()
	return report(session)


if __name__ == "__main__":
	sys.exit(main())
