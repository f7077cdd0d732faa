#!/usr/bin/env python3
"""The fused mixture of experts of tests/own/triton_moe.py over SGLang's 1,920 configurations, on a GPU with torch and Triton.

	programs.py TILETUNE OUT [--limit 560] [--tokens 1,8,...] [--budget 40s] [--evaluations 100] [--truth TOKENS] [--drawn 300 | --all]

Parts, in this order; what OUT holds already is not done again, and a part that --limit seconds cut short goes on the next time:

	run1	each number of tokens, from an empty cache of kernels: at most --evaluations and --budget each
	run2	as run1: is the same chosen?
	crash	eight configurations, of which one ends the process: it costs one line
	small	32 configurations of --truth tokens, from an empty cache of kernels
	peer	triton.autotune over the same 32, each product on its own, from an empty cache, too; then both choices timed in turn
	others	--drawn-others random configurations, the same for all numbers of tokens but --truth
	truth	--truth tokens: --drawn random configurations, or --all
	judged	what both runs chose and the best that is known, in turn in one process; once more whenever more is known; the others leave --reserve seconds for it

After each part what there is is written to OUT/triton_moe.json; the table of the page is printed at the end."""
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
PARTS = ("run1", "run2", "crash", "small", "peer", "others", "truth", "judged")
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
	"""tokens: {configuration: its evaluation}, of all runs of a journal; what the final measurement in turn said, likewise; seconds by (tokens, run)."""
	found, last, seconds, numbers = collections.defaultdict(dict), collections.defaultdict(dict), collections.Counter(), {}
	path = out.replace(".json", ".journal.jsonl")
	for text in open(path, encoding="utf-8") if os.path.exists(path) else ():  # pylint: disable=consider-using-with
		if not text.endswith("\n"):
			continue  # a run that was killed
		line = json.loads(text)
		if line["event"] == "problem":
			numbers[line["number"]] = line["problem"]["tokens"]
		elif line["event"] in ("evaluation", "final"):
			tokens = numbers[line["problem"]]
			(found if line["event"] == "evaluation" else last)[tokens][line["configuration"]] = line
			seconds[tokens, line["run"]] = max(seconds[tokens, line["run"]], line.get("at_s", 0))
	return found, last, seconds


def times(tried):
	return {configuration: line["time_us"]["median"] for configuration, line in tried.items() if line["outcome"] == "ok"}


def written(configuration):
	return ",".join(f"{name}={value}" for name, value in configuration.items())


def condition(configuration):
	return "(" + configuration.replace("=", " == ").replace(",", " and ") + ")"


class Session:
	def __init__(self, arguments):
		self.arguments, self.started, self.reserve = arguments, time.time(), arguments.reserve
		self.state_path = os.path.join(arguments.out, "state.json")
		self.state = read(self.state_path) if os.path.exists(self.state_path) else {}

	def left(self):
		return self.arguments.limit - self.reserve - (time.time() - self.started)

	def path(self, name):
		return os.path.join(self.arguments.out, name + ".json")

	def tune(self, name, tokens, *options, kernel=None, environment=None):
		"""Goes on where it was cut short. The entries by tokens, and seconds of all its calls."""
		if self.left() < 15:
			raise NoTime
		started, out = time.time(), self.path(name)
		command = [self.arguments.tiletune, "tune", kernel or self.arguments.kernel, "-p", f"tokens={','.join(map(str, tokens))}", "-o", out, *options]
		with open(out.replace(".json", ".log"), "a", encoding="utf-8") as log:
			child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "TILETUNE_PROGRAM_LOG": out.replace(".json", ".program.log"), **(environment or self.cache("all", keep=True))})
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

	def drawn(self, name, tokens, count):
		_, seconds = self.tune(name, tokens, "-e", "thorough", "--strategy", "random", "--seed", "7", "--evaluations", str(count), "--budget", self.arguments.truth_budget)
		return {"seconds": seconds}

	def others(self):
		others = [tokens for tokens in self.arguments.tokens if tokens != self.arguments.truth]
		return self.drawn("others", others, self.arguments.drawn_others) if others and self.arguments.drawn_others else {}

	def truth(self):
		arguments = self.arguments
		if not arguments.all:
			return self.drawn("truth", [arguments.truth], arguments.drawn)
		return {"seconds": self.tune("truth", [arguments.truth], "-e", "exhaustive")[1]}

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

	def known(self):
		"""tokens: {configuration: its best time}, and how many of them others and truth have."""
		best, tried = collections.defaultdict(dict), collections.Counter()
		for name in ("run1", "run2", "others", "truth"):
			for tokens, lines in evaluations(self.path(name))[0].items():
				tried[tokens] += len(lines) if name in ("others", "truth") else 0
				for configuration, us in times(lines).items():
					best[tokens][configuration] = min(us, best[tokens].get(configuration, us))
		return best, tried

	def judged(self):
		candidates, best = collections.defaultdict(set), self.known()[0]
		self.reserve = 0
		for path in glob.glob(self.path("judged").replace(".json", ".*")):
			os.remove(path)
		for part in ("run1", "run2"):
			for tokens, configuration in self.state.get(part, {}).get("chosen", {}).items():
				candidates[int(tokens)].add(configuration)
		for tokens, known in best.items():
			candidates[tokens].update(sorted(known, key=known.__getitem__)[:2])
		where = " or ".join(condition(one) for one in sorted(set().union(*candidates.values())))
		self.tune("judged", sorted(candidates), "-e", "exhaustive", "--where", where)
		found, last, _ = evaluations(self.path("judged"))
		rows = {}
		for tokens in sorted(candidates):
			# those of the final measurement, in turn; what was clearly slower has the search's times alone
			timed = {**times(found[tokens]), **{one: line["time_us"]["median"] for one, line in last[tokens].items()}}
			rows[tokens] = {"known": len(best[tokens]), "best_known": min(timed, key=timed.__getitem__), "best_us": min(timed.values()),
				"times": {one: timed.get(one) for one in sorted(candidates[tokens])}}
		return rows

	def cache(self, name, keep=False):
		return {"TRITON_CACHE_DIR": os.path.join(self.arguments.out, f"cache-{name}" + ("" if keep else f"-{os.getpid()}"))}

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
		for name in self.arguments.parts:
			known = {tokens: len(one) for tokens, one in self.known()[0].items()}
			if name in self.state and not (name == "judged" and self.state["judged of"] != json.loads(json.dumps(known))):
				continue
			try:
				self.state[name] = json.loads(json.dumps(getattr(self, name)()))
			except (NoTime, subprocess.TimeoutExpired):
				print(f"{name}: no time left, goes on with the next call", flush=True)
				continue
			except RuntimeError as error: # the parts that need it will say so, the others go on
				print(error, file=sys.stderr)
				continue
			if name == "judged":
				self.state["judged of"] = known
			write(self.state_path, self.state)
			made(self)
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


def made(session):
	"""What is known so far, into OUT/triton_moe.json."""
	state, arguments, rows, tried_more = session.state, session.arguments, [], session.known()[1]
	found = {name: evaluations(session.path(name)) for name in ("run1", "run2")}
	for tokens in arguments.tokens:
		key, judged = str(tokens), state.get("judged", {}).get(str(tokens), {})
		chosen = [state.get(part, {}).get("chosen", {}).get(key) for part in found]
		us = judged.get("times", {}).get(chosen[0])
		rows.append({"tokens": tokens, "configurations": chosen, "same": chosen[0] == chosen[1] if all(chosen) else None,
			"tried": [len(lines[tokens]) for lines, _, _ in found.values()],
			"seconds": [sum(s for (of, _), s in seconds.items() if of == tokens) for _, _, seconds in found.values()], "drawn": tried_more[tokens],
			"outcomes": dict(collections.Counter(line["outcome"] for line in found["run1"][0][tokens].values())), **judged,
			"found_us": us, "ratio": us / judged["best_us"] if us else None})
	whole = {"format": "tiletune.program_rates/1", "kernel": "triton_moe", "rows": rows, "evaluations": arguments.evaluations, "budget": arguments.budget,
		"seconds": {name.split()[0]: seconds for name, seconds in state.items() if name.endswith(" seconds")}, "crash": state.get("crash"), "peer": state.get("peer")}
	for path in glob.glob(session.path("run1")):
		whole.update(device=read(path)["device"]["name"], run={key: read(path)["runs"][0].get(key) for key in ("date", "tiletune", "driver", "uuid")})
	write(session.path("triton_moe"), whole)
	return whole


def row(each):
	"""Of a page's table."""
	def both(name, digits):
		return ", ".join(f"{value:.{digits}f}" for value in each.get(name, ()))

	return (f"| {each['tokens']} | {each['found_us'] or 0:.1f} | {each['ratio'] or 0:.3f} | {each.get('known', 0)} | {both('tried', 0)} |"
		f" {both('seconds', 0) or '-'} | {({True: 'yes', False: 'no'}.get(each['same'], '-'))} |")


def report(session):
	whole = made(session)
	print("\n| tokens | found, us | over best | known | tried by the two runs | seconds | the same twice |\n|---|---|---|---|---|---|---|")
	for each in whole["rows"]:
		print(row(each))
	for each in whole["rows"]:
		print(f"{each['tokens']} tokens: {each['drawn']} drawn or all; outcomes of the first run: {each['outcomes']}")
	for name in ("seconds", "crash", "peer"):
		print(f"{name}: {json.dumps(whole[name])}")
	rows = whole["rows"]
	print(f"within 1% of the best known: {sum((each['ratio'] or 2) <= 1.01 for each in rows)} of {len(rows)}; the same choice twice: {sum(each['same'] is True for each in rows)}; "
		f"at most {max(each_s for each in rows for each_s in each['seconds'] or [0]):.0f} s and {max(count for each in rows for count in each['tried'])} evaluations a size")


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("tiletune")
	parser.add_argument("out")
	parser.add_argument("--kernel", default=f"{OWN}/triton_moe.json", help="another JSON with the same parameters (tests)")
	parser.add_argument("--limit", type=float, default=560, help="seconds")
	parser.add_argument("--reserve", type=float, default=60, help="of them, for the part judged")
	parser.add_argument("--parts", type=lambda text: text.split(","), default=PARTS)
	parser.add_argument("--tokens", type=lambda text: [int(word) for word in text.split(",")], default=[1, 8, 16, 64, 256, 512, 1024, 4096])
	parser.add_argument("--budget", default="40s", help="of each number of tokens")
	parser.add_argument("--evaluations", type=int, default=100)
	parser.add_argument("--truth", type=int, default=64, help="tokens")
	parser.add_argument("--truth-budget", default="120s", help="of each number of tokens, for those that are drawn")
	parser.add_argument("--drawn", type=int, default=300)
	parser.add_argument("--drawn-others", type=int, default=200)
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
