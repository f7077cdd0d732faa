#!/usr/bin/env python3
"""Problems that nobody tuned: what the shipped model is worth. In the folder of `make dist TESTS=1`:

	unseen.py run OUT [OPTION ...]	tune and compare; OPTIONs go to every `tune`
	unseen.py table OUT		what came of it

Twenty problems drawn with SEED, each tuned quickly twice with a kernel cache of its own, with what is shipped and with
--no-learned; then thoroughly (BUDGET seconds, 12) as many as LIMIT (330 s) leaves time for; all winners are timed in turn.
From the environment: DEVICE (cuda:0), SEED, COUNTS (gemm=12,attention=5,gemm_chain=3); for tests SMALL=1, sizes that take no time anywhere."""
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
COMPARED_S, BUDGET_S, LIMIT_S = 0.3, float(os.environ.get("BUDGET", "12")), float(os.environ.get("LIMIT", "330"))
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


def tune(out, mode, cache, operation, problems, options):
	with open(os.path.join(out, mode + ".log"), "a", encoding="utf-8") as log:
		subprocess.run(["./tiletune", "tune", operation, *[word for problem in problems for word in ("-p", problem)],
			"--path", ".", "--device", os.environ.get("DEVICE", "cuda:0"), "--cache-dir", os.path.join(out, cache + ".cache"), "--wait",
			"30s", "-o", os.path.join(out, mode + ".json"), *FAMILIES.get(operation, []), *options], stdout=log, stderr=log, check=False)


def compare(out):
	comparisons = []
	for key, entry in entries(out, "shipped").items():
		rows = [{"name": mode, **{name: other[key]["winner"][name] for name in ("family", "configuration")}}
			for mode in ("shipped", "physics", "thorough") for other in [entries(out, mode)] if key in other]
		comparisons.append({"operation": key[0], "problem": entry["problem"], "rows": rows})
	path = os.path.join(out, "comparisons.json")
	with open(path, "w", encoding="utf-8") as file:
		json.dump({"seconds": COMPARED_S, "loads": 2, "comparisons": comparisons}, file)
	with open(os.path.join(out, "compared.json"), "w", encoding="utf-8") as file:
		subprocess.run(["./gpu/compare_rows", path, "--path", ".", "--device", os.environ.get("DEVICE", "cuda:0"), "--cache-dir",
			os.path.join(out, "shipped.cache")], stdout=file, check=False)


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
	compare(out)


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
	if len(sys.argv) < 3 or sys.argv[1] not in ("run", "table"):
		sys.exit(__doc__)
	if sys.argv[1] == "run":
		run(sys.argv[2], sys.argv[3:])
	table(sys.argv[2])


main()
