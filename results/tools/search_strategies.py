#!/usr/bin/python3
"""Measures how soon strategies find good configurations in recorded spaces. The program searches them with `replay:` as on a GPU.

	python3 results/tools/search_strategies.py spaces [-n SEEDS] [-e EVALUATIONS] [-s STRATEGY[:KNOWN]]... [-o TABLE.md] [--svg FILE] [--runs FILE] SPACE...
	python3 results/tools/search_strategies.py suites [-n SPLITS] [-o TABLE.md] JOURNAL...

SPACE is a journal (each family of each problem with at least 100 evaluations), or NAME.json of tiletune.recorded, a space that others
recorded. `spaces` prints optimum / best so far after 25, 50, ... evaluations, as mean over seeds with its standard error; failures
count as evaluations. KNOWN is the source of predictions: `nothing` (templates without their model), `physics`, or `learned` (physics
times the corrections learned from all other problems of the journals, tiletune.learn). For spaces in kernel_tuner.csv the table also
has the results of Kernel Tuner's strategies. With several contenders and spaces, the last rows have the result on each space of the
contender that is best on the others. `suites` prints how many evaluations ten problems of a journal, searched first, save for ten
others. learned and suites need numpy, --svg matplotlib. --runs writes a line for each search, for p_score.py.

The program is $TILETUNE, or build/release/tiletune; templates and configs are those of the working folder."""
import argparse
import csv
import gzip
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(HERE, "../../src/python")]
from p_score import Run  # noqa: E402  pylint: disable=wrong-import-position
TILETUNE = os.path.abspath(os.environ.get("TILETUNE", "build/release/tiletune"))
AFTER = (25, 50, 100, 200, 400)
SMALLEST = 100  # minimum number of candidates of a space
FIRST, NEXT, SUITE_EVALUATIONS, SHARES = 10, 10, 150, (0.95, 0.97, 0.99)


def lines_of(path):
	with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
		for line in file:
			try:
				yield json.loads(line)
			except ValueError:  # the last line is incomplete
				continue


def time_of(line):
	if line["outcome"] != "ok":
		return math.inf
	return line["time_us"]["median"] if "time_us" in line else statistics.median(line["samples_us"])


class Space:
	"""Selects a problem of a journal, with one family, or with all families if it is None."""

	def __init__(self, file, kernel, problem, family, times):
		self.file, self.problem, self.family, self.times = file, problem, family, times
		self.what = kernel or problem["operation"]
		self.best_us = min(times.values())
		self.name = os.path.basename(file).split(".")[0]

	def search(self, folder, words, evaluations, roots):
		"""Returns the times of the evaluations, in their order."""
		journal = os.path.join(folder, "journal.jsonl")
		done = subprocess.run([TILETUNE, "tune", self.what, "-p", self.problem["text"], "--device", f"replay:{os.path.abspath(self.file)}",
			*(["--family", self.family] if self.family else []), "--evaluations", str(evaluations), "--effort", "thorough", "--fresh", "--journal", journal,
			"-o", os.path.join(folder, "tuned.json"), *[word for root in roots for word in ("--path", root)], *words],
			capture_output=True, text=True, check=False, env={**os.environ, "TILETUNE_NVRTC": "/nonexistent"})
		if done.returncode not in (0, 1) or not os.path.exists(journal):
			sys.exit(f"{self.file}: {self.problem['text']}: {done.stderr}")
		return [time_of(line) for line in lines_of(journal) if line["event"] == "evaluation"][:evaluations]


def spaces_of(path, by_family):
	kernel = path if path.endswith(".json") else None
	file = path[:-len(".json")] + ".jsonl.gz" if kernel else path
	run, problems, times = None, {}, {}
	for line in lines_of(file):
		run = line["id"] if line["event"] == "run" else line.get("run", run)
		if line["event"] == "problem":
			problems[run, line["number"]] = line
		elif line["event"] == "evaluation" and line.get("timing") != "predicted":
			key = (run, line["problem"], line["family"] if by_family else None)
			times.setdefault(key, {})[line["family"], line["configuration"]] = time_of(line)
	for (run, number, family), found in times.items():
		if len(found) >= SMALLEST and math.isfinite(min(found.values())):
			yield Space(file, kernel, problems[run, number], family, found)


# ---- predictions ----
def without_model(folder):
	"""Makes a root whose templates have no time model."""
	for where, _, names in os.walk("templates"):
		os.makedirs(os.path.join(folder, where), exist_ok=True)
		for name in names:
			source, copy = os.path.abspath(os.path.join(where, name)), os.path.join(folder, where, name)
			if not name.endswith(".json"):
				os.symlink(source, copy)
				continue
			with open(source, encoding="utf-8") as file:
				content = json.load(file)
			for launch in content.get("launches", ()):
				launch.pop("model", None)
			with open(copy, "w", encoding="utf-8") as file:
				json.dump(content, file)
	os.symlink(os.path.abspath("configs"), os.path.join(folder, "configs"))
	return folder


class Teacher:
	"""Learns corrections from all problems but one."""

	def __init__(self, journals):
		from tiletune import learn  # pylint: disable=import-outside-toplevel
		os.environ["TILETUNE"] = TILETUNE
		self.learn = learn
		self.device, self.names, self.samples = learn.read_features(journals)

	def teach(self, path, families, left_out):
		"""Writes the corrections for these families; returns False if no other problem has enough timings."""
		samples = {family: [self.learn.Sample(one.problem, [one.configuration, one.measured_us, one.predicted_us, *one.features])
			for one in self.samples.get(family, ()) if not left_out(one.problem)] for family in families}
		found = [self.learn.learn_family(family, self.names[family], several, judged=False)
			for family, several in self.learn.put_together(samples).items() if len(several) >= self.learn.FEWEST]
		with open(path, "w", encoding="utf-8") as file:
			json.dump({"format": "tiletune.learned/1", "device": self.device, "families": found}, file)
		return bool(found)


class Knowledge:
	"""Holds options of a search for each KNOWN, and the roots of templates."""

	def __init__(self, folder, contenders, journals):
		known = {name for _, name in contenders}
		self.folder = folder
		self.bare = without_model(os.path.join(folder, "bare")) if "nothing" in known else None
		self.teacher = Teacher(journals) if "learned" in known else None
		self.files = {}

	def of(self, space, name):
		if name == "nothing":
			return ["--no-learned"], [self.bare]
		if name == "learned":
			key = space.problem["operation"], space.problem["text"], space.family
			if key not in self.files:
				path = os.path.join(self.folder, f"learned-{len(self.files)}.json")
				whole = f"{key[0]} {key[1]}"
				taught = self.teacher.teach(path, [space.family], lambda problem: problem == whole or problem.startswith(whole + ","))
				self.files[key] = path if taught else None
			if self.files[key]:
				return ["--learned", self.files[key]], [os.getcwd()]
		return ["--no-learned"], [os.getcwd()]


# ---- spaces ----
def reached(space, times):
	"""Returns optimum / best so far after each number of evaluations."""
	shares = []
	for after in AFTER:
		best_us = min(times[:after], default=math.inf)
		shares.append(space.best_us / best_us if math.isfinite(best_us) else 0.0)
	return shares


def contender_of(name):
	strategy, _, known = name.partition(":")
	if known not in ("", "nothing", "physics", "learned"):
		sys.exit(f"{name}: expected nothing, physics or learned after the colon")
	return strategy, known or "nothing"


def bench(space, contender, knowledge, seeds, evaluations):
	"""Returns the times of a search with each seed."""
	words, roots = knowledge.of(space, contender[1])

	def one(seed):
		with tempfile.TemporaryDirectory() as folder:
			return space.search(folder, [*words, "--strategy", contender[0], "--seed", str(seed)], evaluations, roots)
	with ThreadPoolExecutor(os.cpu_count()) as pool:
		return list(pool.map(one, range(1, seeds + 1)))


def figures_of(space, searches):
	"""Returns the mean and standard error of the shares."""
	return [(statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0)
		for values in zip(*(reached(space, times) for times in searches))]


def row(title, name, figures, evaluations):
	cells = [("" if after > evaluations else f"{mean:.4f} ±{error:.4f}" if error else f"{mean:.4f}") for after, (mean, error) in zip(AFTER, figures)]
	return f"| {title} | {name} | " + " | ".join(cells) + " |"


def others():
	"""Returns results of Kernel Tuner's strategies: space -> [(strategy, shares)]."""
	found = {}
	with open(os.path.join(HERE, "kernel_tuner.csv"), encoding="utf-8") as file:
		for space, strategy, *shares in csv.reader(line for line in file if not line.startswith("#")):
			if space != "space":
				found.setdefault(space, []).append((strategy, [float(share) for share in shares]))
	return found


def draw(path, means):
	import matplotlib  # pylint: disable=import-outside-toplevel
	matplotlib.use("svg")
	matplotlib.rcParams["svg.hashsalt"] = "search"
	from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
	_, axes = pyplot.subplots(figsize=(8, 5))
	for name, figures in means:
		axes.plot(AFTER[:len(figures)], [mean for mean, _ in figures], marker="o", label=name)
	axes.set(xlabel="evaluations", ylabel="optimum / best so far", title="How soon strategies find what is good")
	axes.legend()
	pyplot.savefig(path, metadata={"Date": None})


def left_out(spaces, all_figures, evaluations):
	"""Returns, for each space, the row of the contender that is best on average on all other spaces."""
	rows = []
	for i, space in enumerate(spaces):
		def elsewhere(contender, i=i):
			return statistics.fmean(mean for j, figures in enumerate(all_figures[contender]) if j != i for mean, _ in figures)
		chosen = max(all_figures, key=elsewhere)
		rows.append(row(f"{space.name}, chosen on the others", ":".join(chosen), all_figures[chosen][i], evaluations))
	return rows


def run_spaces(options):
	contenders = [contender_of(name) for name in options.strategy or ("guided", "local", "evolution", "random")]
	spaces = [space for path in options.files for space in spaces_of(path, by_family=True)]
	if not spaces:
		sys.exit(f"expected a space of {SMALLEST} candidates, found none")
	shown = sum(after <= options.evaluations for after in AFTER)
	rows, all_figures = [], {contender: [] for contender in contenders}
	with tempfile.TemporaryDirectory() as folder:
		knowledge = Knowledge(folder, contenders, [path for path in options.files if not path.endswith(".json")])
		for space in spaces:
			title = f"{space.name}, {len(space.times)} candidates"
			for contender in contenders:
				searches = bench(space, contender, knowledge, options.number, options.evaluations)
				figures = figures_of(space, searches)
				if options.runs:
					with open(options.runs, "a", encoding="utf-8") as file:
						file.writelines(Run(space.name, ":".join(contender), seed, times).line() for seed, times in enumerate(searches, 1))
				all_figures[contender].append(figures)
				rows.append(row(title, ":".join(contender), figures, options.evaluations))
				title = ""
				print(rows[-1], flush=True)
			rows += [row("", strategy, [(share, 0.0) for share in shares], options.evaluations) for strategy, shares in others().get(space.name, ())]
	title, means = f"mean of {len(spaces)} spaces", []
	for contender in contenders:
		figures = [(statistics.fmean(mean for mean, _ in column), math.sqrt(sum(error * error for _, error in column)) / len(spaces))
			for column in zip(*all_figures[contender])]
		means.append((":".join(contender), figures[:shown]))
		rows.append(row(title, means[-1][0], figures, options.evaluations))
		title = ""
	if options.svg:
		draw(options.svg, means)
	if len(spaces) > 1 and len(contenders) > 1:
		rows += left_out(spaces, all_figures, options.evaluations)
	return "\n".join([f"Optimum / best so far after so many evaluations, mean of {options.number} seeds ± standard error; `tune` over `replay:` "
		"(`results/tools/search_strategies.py spaces`).", "", "| space | | " + " | ".join(map(str, AFTER)) + " |", "|---" * (2 + len(AFTER)) + "|", *rows, ""])


# ---- suites ----
def evaluations_to(space, times):
	"""Returns the number of evaluations to reach each share of the best; one more than all evaluations if a share is not reached."""
	return [next((i + 1 for i, time in enumerate(times) if time * share <= space.best_us), len(times) + 1) for share in SHARES]


def run_split(spaces, folder):
	"""Sums the evaluations to reach the shares: with physics only, and with corrections learned from the first ten problems."""
	from tiletune import learn  # pylint: disable=import-outside-toplevel
	os.environ["TILETUNE"] = TILETUNE
	journals = []
	for number, space in enumerate(spaces[:FIRST]):
		place = os.path.join(folder, f"first-{number}")
		os.makedirs(place)
		space.search(place, ["--no-learned"], SUITE_EVALUATIONS, [os.getcwd()])
		journals.append(os.path.join(place, "journal.jsonl"))
	path = os.path.join(folder, "learned.json")
	with open(path, "w", encoding="utf-8") as file:
		json.dump(learn.learn(journals, judged=False), file)
	counts = [[0] * len(SHARES), [0] * len(SHARES)]
	for space in spaces[FIRST:FIRST + NEXT]:
		for way, words in enumerate((["--no-learned"], ["--learned", path])):
			with tempfile.TemporaryDirectory() as place:
				times = space.search(place, words, SUITE_EVALUATIONS, [os.getcwd()])
			counts[way] = [a + b for a, b in zip(counts[way], evaluations_to(space, times))]
	return counts


def run_suites(options):
	rows, means = [], []
	for path in options.files:
		spaces = list(spaces_of(path, by_family=False))
		for operation in sorted({space.problem["operation"] for space in spaces}):
			those = [space for space in spaces if space.problem["operation"] == operation]
			chance, counts = random.Random(1), [[0] * len(SHARES), [0] * len(SHARES)]
			if len(those) < FIRST + NEXT:
				continue
			for _ in range(options.number):
				chance.shuffle(those)
				with tempfile.TemporaryDirectory() as folder:
					counts = [[a + b for a, b in zip(old, new)] for old, new in zip(counts, run_split(those, folder))]
			searches = options.number * NEXT
			means.append([[count / searches for count in way] for way in counts])
			rows.append((f"{those[0].name}, {len(those)} problems of {operation}", means[-1]))
			print(rows[-1], flush=True)
	if not means:
		sys.exit(f"expected a journal with {FIRST + NEXT} problems of an operation, found none")
	rows.append(("mean", [[statistics.fmean(column) for column in zip(*(mean[way] for mean in means))] for way in (0, 1)]))
	text = [f"Evaluations to shares of the best recorded: by physics, with what ten other problems of the suite taught ({SUITE_EVALUATIONS} evaluations "
		f"each, by physics), and the ratio. Ten problems a split, mean of {options.number} splits (`results/tools/search_strategies.py suites`).", "",
		"| suite |" + "".join(f" {share}: physics | learned | ratio |" for share in SHARES), "|---" * (1 + 3 * len(SHARES)) + "|"]
	for title, (physics, learned) in rows:
		text.append(f"| {title} |" + "".join(f" {a:.1f} | {b:.1f} | {b / a:.2f} |" for a, b in zip(physics, learned)))
	return "\n".join(text) + "\n"


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("what", choices=("spaces", "suites"))
	parser.add_argument("files", nargs="+", metavar="SPACE")
	parser.add_argument("-n", dest="number", type=int, help="seeds (50) or splits (3)")
	parser.add_argument("-e", dest="evaluations", type=int, default=AFTER[-1])
	parser.add_argument("-s", dest="strategy", action="append", metavar="STRATEGY[:KNOWN]")
	parser.add_argument("-o", dest="output", metavar="TABLE.md")
	parser.add_argument("--svg", metavar="FILE")
	parser.add_argument("--runs", metavar="FILE", help="lines are added to it")
	options = parser.parse_args()
	options.number = options.number or (50 if options.what == "spaces" else 3)
	text = run_spaces(options) if options.what == "spaces" else run_suites(options)
	if options.output:
		with open(options.output, "w", encoding="utf-8") as file:
			file.write(text)
	else:
		print(text)


if __name__ == "__main__":
	main()
