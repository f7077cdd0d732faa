#!/usr/bin/env python3
"""Problems that nobody tuned: what the shipped model is worth. In the folder of `make dist TESTS=1`:

	unseen.py run OUT [OPTION ...]	tune and compare; OPTIONs go to every `tune`
	unseen.py table OUT		what came of it
	unseen.py suite OUT [OPTION ...]	what problems that were tuned first spare the next ones
	unseen.py suite_table OUT

run: twenty problems drawn with SEED, each tuned quickly twice with a kernel cache of its own, with what is shipped and with
--no-learned; GEMMs are looked up in TUNED, if it is there; then thoroughly (BUDGET seconds, 12) as many as LIMIT (330 s) leaves
time for; all winners are timed in turn. suite: on a card of which nothing is shipped: one half of the problems is tuned, the other
with what this taught, with --no-learned, and (LENT=FILE of configs/learned) with what is shipped for another card.
From the environment: DEVICE (cuda:0), SEED, COUNTS (gemm=12,attention=5,gemm_chain=3); for tests SMALL=1, sizes that take no time anywhere."""
import glob
import gzip
import json
import math
import os
import random
import subprocess
import sys
import time

import chain_points
import draw_attention
import lookup

SEED = int(os.environ.get("SEED", "20261124"))
COUNTS = dict(pair.split("=") for pair in os.environ.get("COUNTS", "gemm=12,attention=5,gemm_chain=3").split(","))
DTYPES = ["bf16", "bf16", "fp8_e4m3", "bf16", "fp16", "bf16", "fp32", "bf16"]
COMPARED_S, BUDGET_S, LIMIT_S = 0.3, float(os.environ.get("BUDGET", "12").rstrip("s")), float(os.environ.get("LIMIT", "330"))
FAMILIES = {"gemm_chain": ["--family", "fused"]}  # steps of the other one are problems of gemm
MODES = {"shipped": [], "physics": ["--no-learned"]}


def text(problem):
	return ",".join(f"{key}={value}" for key, value in problem.items())


def gemm(source, number):
	dtype = DTYPES[number % len(DTYPES)]
	while True:
		problem = lookup.draw(source, dtype)
		if number % 4 == 3 and not os.environ.get("SMALL"):
			problem["M"] = round(lookup.log_uniform(source, 1, 256))
		if 2 * problem["M"] * problem["N"] * problem["K"] <= lookup.FLOP_MAX["fp32" if dtype == "fp32" else "bf16"]:
			return text(problem)


def attention(source, number):
	if os.environ.get("SMALL"):
		return f"batch=1,heads=2,seq_q={64 + number},seq_k=64,head_dim=16,dtype=bf16"
	return draw_attention.draw(source, number)


def chain(source, _number):
	while True:
		m, k, n, p = chain_points.draw(source)
		if k <= 256 and p <= 256 and not os.environ.get("SMALL") or m <= 2048 and max(k, n, p) <= 64:
			return f"m={m},k={k},n={n},p={p},dtype=bf16"


def draw():
	"""Operation -> problems."""
	how = {"gemm": gemm, "attention": attention, "gemm_chain": chain}
	return {operation: [how[operation](source, number) for number in range(int(count))]
		for operation, count in COUNTS.items() for source in [random.Random(f"{SEED} {operation}")]}


def read(path):
	with open(path, encoding="utf-8") as file:
		return json.load(file)


def entries(out, mode):
	path = os.path.join(out, mode + ".json")
	found = read(path)["entries"] if os.path.exists(path) else []
	return {(entry["operation"], json.dumps(entry["problem"])): entry for entry in found}


def tune(out, mode, cache, operation, problems, options, folder="."):
	with open(os.path.join(out, mode + ".log"), "a", encoding="utf-8") as log:
		subprocess.run(["./tiletune", "tune", operation, *[word for problem in problems for word in ("-p", problem)],
			"--path", folder, "--device", os.environ.get("DEVICE", "cuda:0"), "--cache-dir", os.path.join(out, cache + ".cache"), "--wait",
			"30s", "-o", os.path.join(out, mode + ".json"), *FAMILIES.get(operation, []), *options], stdout=log, stderr=log, check=False)


def look_up(out, problems):
	"""Problem -> the row that `lookup` answers with."""
	tuned = os.environ.get("TUNED", "")
	if not os.path.exists(tuned):
		return {}
	ran = subprocess.run(["./tiletune", "lookup", tuned, "gemm", *[word for problem in problems for word in ("-p", problem)],
		"--path", ".", "--json"], stdout=subprocess.PIPE, check=False)
	with open(os.path.join(out, "lookups.json"), "wb") as file:
		file.write(ran.stdout)
	return {("gemm", json.dumps(entry["problem"])): entry["winner"] for entry in read(file.name)["entries"]}


def compare(out, cache, modes, looked_up):
	comparisons = []
	for key, entry in entries(out, modes[0]).items():
		found = {mode: other[key]["winner"] for mode in modes for other in [entries(out, mode)] if key in other}
		if key in looked_up:
			found["looked up"] = looked_up[key]
		rows = [{"name": mode, "family": row["family"], "configuration": row["configuration"]} for mode, row in found.items()]
		comparisons.append({"operation": key[0], "problem": entry["problem"], "rows": rows})
	path = os.path.join(out, "comparisons.json")
	with open(path, "w", encoding="utf-8") as file:
		json.dump({"seconds": COMPARED_S, "loads": 2, "comparisons": comparisons}, file)
	with open(os.path.join(out, "compared.json"), "w", encoding="utf-8") as file:
		subprocess.run(["./gpu/compare_rows", path, "--path", ".", "--device", os.environ.get("DEVICE", "cuda:0"), "--cache-dir",
			os.path.join(out, cache + ".cache")], stdout=file, check=False)


def run(out, options):
	ends, problems = time.monotonic() + LIMIT_S, draw()
	os.makedirs(out, exist_ok=True)
	os.environ["TILETUNE_LEARNED"] = "shipped"
	elapsed = {}
	for mode, its in MODES.items():
		for operation, texts in problems.items():
			begin = time.monotonic()
			tune(out, mode, mode, operation, texts, [*its, *options])
			elapsed[f"{mode} {operation}"] = time.monotonic() - begin
			print(f"{mode} {operation}: {time.monotonic() - begin:.1f} s", flush=True)
	with open(os.path.join(out, "elapsed.json"), "w", encoding="utf-8") as file:
		json.dump(elapsed, file)
	spare = 1.5 * sum(map(len, problems.values())) + 5
	for number in range(max(map(len, problems.values()))):
		for operation, texts in problems.items():
			if number < len(texts) and ends - time.monotonic() - spare > BUDGET_S:
				tune(out, "thorough", "shipped", operation, texts[number:number + 1],
					["--effort", "thorough", "--budget", f"{BUDGET_S}s", *options])
	compare(out, "shipped", ("shipped", "physics", "thorough"), look_up(out, problems.get("gemm", [])))


def bare(out, name, lent=None):
	"""Templates and sheets without what is shipped; `lent`, if any, as of this card."""
	folder = os.path.join(out, name)
	os.makedirs(os.path.join(folder, "configs", "learned"), exist_ok=True)
	for part in ("templates", "configs/devices"):
		os.symlink(os.path.abspath(part), os.path.join(folder, part))
	if lent:
		sheet = os.environ.get("SHEET", "h100-sxm")
		with open(os.path.join(folder, "configs", "learned", sheet + ".json"), "w", encoding="utf-8") as file:
			json.dump(read(lent) | {"device": sheet}, file)
	return folder


def suite(out, options):
	os.makedirs(out, exist_ok=True)
	halves = {operation: (texts[:len(texts) // 2], texts[len(texts) // 2:]) for operation, texts in draw().items()}
	folder, lent = bare(out, "bare"), os.environ.get("LENT")
	taught = os.path.join(out, "learned.json")
	ways = [("first", 0, folder, ["--no-learned"]), ("learned", 1, folder, ["--learned", taught]), ("physics", 1, folder, ["--no-learned"])]
	if lent:
		ways.append(("lent", 1, bare(out, "lending", lent), []))
	for mode, half, path, its in ways:
		if mode == "learned":
			subprocess.run([sys.executable, "-m", "tiletune.learn", *sorted(glob.glob(os.path.join(out, "first*.journal.jsonl"))), "-o", taught],
				check=True, env=os.environ | {"PYTHONPATH": "src/python", "TILETUNE": "./tiletune", "TILETUNE_PATH": folder})
		for operation, texts in halves.items():
			begin = time.monotonic()
			tune(out, mode, "suite", operation, texts[half], [*its, *options], path)
			print(f"{mode} {operation}: {time.monotonic() - begin:.1f} s", flush=True)
	compare(out, "suite", ("learned", "physics", "lent"), {})


def timings(out, mode):
	"""Problem -> medians in the order in which they were measured; infinite for what failed."""
	path, found, texts = os.path.join(out, mode + ".journal.jsonl"), {}, {}
	if not os.path.exists(path) and not os.path.exists(path + ".gz"):
		return found
	with open(path, encoding="utf-8") if os.path.exists(path) else gzip.open(path + ".gz", "rt") as file:
		for line in map(json.loads, file):
			if line["event"] == "problem":
				texts[line["number"]] = line["text"]
			if line["event"] == "evaluation":
				found.setdefault(texts[line["problem"]], []).append(line["time_us"]["median"] if line["outcome"] == "ok" else math.inf)
	return found


def suite_table(out):
	modes = {mode: times for mode in ("physics", "learned", "lent") for times in [timings(out, mode)] if times}
	counts = {}
	for problem in sorted(set.intersection(*map(set, modes.values()))):
		best = min(min(times[problem]) for times in modes.values())
		said = [f"{problem.split(',dtype')[0]}: {best:.2f} us"]
		for share in (0.95, 0.97, 0.99):
			for mode, times in modes.items():
				its = times[problem]
				count = next((i + 1 for i, time_us in enumerate(its) if time_us * share <= best), len(its) + 1)
				counts.setdefault((share, mode), []).append(count)
				said.append(f"{mode} {share}: {count}")
		print("  ".join(said))
	for (share, mode), its in sorted(counts.items()):
		print(f"evaluations to {share} of the best known: {mode:8} mean {sum(its) / len(its):6.1f}, "
			f"{sum(its) / sum(counts[share, 'physics']):.2f} of physics")
	path = os.path.join(out, "compared.json")
	for comparison in read(path)["comparisons"] if os.path.exists(path) else []:
		print(comparison["problem"].split(",dtype")[0], *[f"{row['name']} {row.get('time_us', math.nan):.2f} us" for row in comparison.get("rows", [])])


def geometric(values):
	return math.exp(sum(map(math.log, values)) / len(values))


def table(out):
	modes = {mode: entries(out, mode) for mode in ("shipped", "physics", "thorough")}
	ratios, rows = {}, []
	for comparison in read(os.path.join(out, "compared.json"))["comparisons"]:
		times = {row["name"]: row["time_us"] for row in comparison.get("rows", []) if "time_us" in row}
		sizes = text(dict(pair.split("=") for pair in comparison["problem"].split(",") if not pair.split("=")[0].startswith(
			("ld", "rows_", "alpha", "beta", "scale", "bias", "residual", "accum"))))
		key = next(key for key in modes["shipped"] if key[0] == comparison["operation"] and text(json.loads(key[1])) == comparison["problem"])
		if "shipped" not in times:
			print(f"not compared: {sizes}: {comparison.get('error', comparison)}")
			continue
		best = min(times.values())
		row = {mode: best / its for mode, its in times.items()}
		for mode in MODES:
			model = modes[mode].get(key, {}).get("model")
			if model and mode in row:
				row[f"{mode} first"], row[f"{mode} first 8"] = (row[mode] / (1 + model[name]) for name in ("regret_top1", "regret_shortlist8"))
		row["physics / shipped"] = times["shipped"] / times.get("physics", math.nan)
		if "thorough" in times:
			row["shipped / thorough"] = times["thorough"] / times["shipped"]
		if "looked up" in times:
			row["looked up / shipped"] = times["shipped"] / times["looked up"]
		rows.append(row)
		for name, value in row.items():
			ratios.setdefault((comparison["operation"], name), []).append(value)
			ratios.setdefault(("all", name), []).append(value)
		counts = "  ".join(f"{mode} {modes[mode][key]['space']['evaluated']}" for mode in modes if key in modes[mode])
		print(f"{sizes}: {best:.2f} us, evaluations {counts}\n  " + "  ".join(f"{name} {value:.3f}" for name, value in row.items()))
	for (operation, name), values in sorted(ratios.items()):
		print(f"{operation:10} {name:20} {len(values):2}: geometric mean {geometric(values):.4f}, lowest {min(values):.4f}")
	elapsed = read(os.path.join(out, "elapsed.json"))
	seconds = {mode: sum(value for name, value in elapsed.items() if name.startswith(mode)) for mode in MODES}
	print("seconds: " + ", ".join(f"{mode} {value:.1f}" for mode, value in seconds.items()) + f": {seconds['physics'] / seconds['shipped']:.2f} times")


def main():
	commands = {"run": (run, table), "table": (table,), "suite": (suite, suite_table), "suite_table": (suite_table,)}
	if len(sys.argv) < 3 or sys.argv[1] not in commands:
		sys.exit(__doc__)
	for command in commands[sys.argv[1]]:
		command(sys.argv[2], *([sys.argv[3:]] if command in (run, suite) else []))


main()
