#!/usr/bin/env python3
"""Compares the choice of published rules of thumb with the best configuration that a run measured.

	results/tools/rules_of_thumb.py JOURNAL[.gz]... [--json]

Each rule tries tiles in its order of preference and takes the first one that the run measured; of several configurations with that
tile the fastest counts. Shared memory and threads come from the family's JSON, whose expressions are Python's, with the device sheet
that the run names. Times are those of the search, which are comparable; the best is the run's winner if the journal has one. Run it
in the repository's root. Needs no GPU and no packages."""
import argparse
import gzip
import json
import sys

BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8_e4m3": 1}


def ceil_div(a, b):
	return -(-a // b)


def round_up(a, b):
	return ceil_div(a, b) * b


FUNCTIONS = {"ceil_div": ceil_div, "round_up": round_up, "dtype_bytes": BYTES.get, "is_pow2": lambda n: n > 0 and n & (n - 1) == 0,
	"min": min, "max": max, "abs": abs, "len": len, "range": range, "__builtins__": {}}


def value(expression, names):
	return eval(expression, {**FUNCTIONS, **names}) if isinstance(expression, str) else expression


def load(path):
	with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
		return [json.loads(line) for line in file]


# ---- rules: (which families, tiles from the most preferred, what makes a tile better; None: the order alone) ----
def square(tiles):
	return [{"BM": t, "BN": t} for t in tiles]


def is_tiled(names):
	return names.get("TILED") == 1


def occupancy_per_iteration(names):
	"""Returns an SM's blocks by shared memory only, as a share of its threads, over the iterations along the keys."""
	blocks = names["smem_per_block_bytes"] // names["smem_bytes"]
	return min(blocks * names["THREADS"] / names["max_threads_per_sm"], 1.0) / ceil_div(names["seq_k"], names["BN"])


def fewest_idle_slots(names):
	"""Returns the useful share of the tiles times the efficiency of their waves, with one block on each SM."""
	tiles = ceil_div(names["M"], names["BM"]) * ceil_div(names["N"], names["BN"])
	useful = names["M"] * names["N"] / (tiles * names["BM"] * names["BN"])
	return useful * tiles / round_up(tiles, names["sm_count"])


RULES = {
	"attention": [
		("largest_fit", is_tiled, lambda names: square(range(128, 31, -8)), None),
		("occupancy_per_iteration", is_tiled, lambda names: square(range(32, 129, 8)), occupancy_per_iteration)],
	"gemm": [
		("fewest_idle_slots", None, lambda names: square([256, 192, 160, 128, 96, 64, 32]), fewest_idle_slots),
		("largest_fit", None, lambda names: square([t for t in [256, 192, 160, 128, 96, 64, 48, 32] if t < 2 * min(names["M"], names["N"])]), None)],
	"gemm_chain": [
		("whole_rows", None, lambda names: [{"BM": t, "BP": round_up(names["p"], 16)} for t in [256, 192, 128, 96, 64, 48, 32, 16]], None)],
}


# ---- a run ----
def configuration(text):
	return {name: int(number) if number.lstrip("-").isdigit() else number for name, number in (item.split("=") for item in text.split(",") if item)}


def device_names(run):
	with open(f"configs/devices/{run['device']['sheet']}.json", encoding="utf-8") as file:
		sheet = json.load(file)
	return {"compute_capability": sheet["compute_capability"], **{name: figure["value"] for name, figure in sheet["figures"].items()}}


def completed(operation, problem, templates):
	"""Returns the problem, completed with the defaults of keys that were added to the operation later."""
	with open(f"{templates}/{operation}/operation.json", encoding="utf-8") as file:
		defaults = {name: key["default"] for name, key in json.load(file)["keys"].items() if "default" in key and name not in problem}
	names = dict(problem)
	while defaults:
		known = {}
		for name, default in defaults.items():
			try:
				known[name] = value(default, names)
			except NameError:  # the default reads another default
				pass
		if not known:
			raise SystemExit(f"{operation}: defaults of {', '.join(defaults)} depend on keys that the problem lacks")
		names.update(known)
		defaults = {name: default for name, default in defaults.items() if name not in known}
	return names


def names_of(family, problem, device, chosen):
	"""Returns every name that the family's expressions may read, and smem_bytes of its first launch."""
	names = {**device, **problem, **chosen}
	for name, constant in family.get("constants", {}).items():
		names[name] = value(constant["value"] if isinstance(constant, dict) else constant, names)
	names["smem_bytes"] = value(family["launches"][0].get("smem_bytes", 0), names)
	return names


def pick(rule, family, problem, device, measured):
	"""Returns the fastest evaluation with the tile that the rule prefers, or None if the rule does not apply to the family."""
	_, applies, tiles, worth = rule
	best, best_worth = None, None
	for tile in tiles({**device, **problem}):
		fits = [(time, chosen) for time, chosen in measured if all(chosen.get(key) == size for key, size in tile.items())]
		if not fits:
			continue
		time, chosen = min(fits, key=lambda item: item[0])
		names = names_of(family, problem, device, chosen)
		if applies and not applies(names):
			return None
		tile_worth = worth(names) if worth else 0
		if best is None or tile_worth > best_worth:
			best, best_worth = (time, chosen), tile_worth
	return best


def rows_of(events, templates="templates"):
	"""Returns a row for each problem, family and rule."""
	run = next(event for event in events if event["event"] == "run")
	device, rows = device_names(run), []
	for event in (event for event in events if event["event"] == "problem"):
		number, problem = event["number"], completed(event["operation"], event["problem"], templates)
		measured = {}
		for e in events:
			if e["event"] == "evaluation" and e["problem"] == number and e["outcome"] == "ok":
				measured.setdefault(e["family"], []).append((e["time_us"]["median"], configuration(e["configuration"])))
		if not measured:
			continue
		best_us = min(time for times in measured.values() for time, _ in times)
		for entry in (e["entry"] for e in events if e["event"] == "entry" and e["problem"] == number):
			winner = entry["winner"]
			best_us = min((time for time, chosen in measured.get(winner["family"], []) if chosen == winner["configuration"]), default=best_us)
		for name, times in sorted(measured.items()):
			with open(f"{templates}/{name}.json", encoding="utf-8") as file:
				family = json.load(file)
			for rule in RULES.get(event["operation"], []):
				picked = pick(rule, family, problem, device, times)
				if picked:
					rows.append({"problem": event["text"], "family": name, "rule": rule[0], "configuration": picked[1],
						"time_us": picked[0], "slower_than_best": picked[0] / best_us - 1})
	return rows


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("journals", nargs="+", metavar="JOURNAL")
	parser.add_argument("--json", action="store_true")
	options = parser.parse_args()
	rows = [row for path in options.journals for row in rows_of(load(path))]
	if options.json:
		json.dump(rows, sys.stdout, indent="\t")
		print()
	for row in rows if not options.json else []:
		tile = ",".join(f"{key}={row['configuration'][key]}" for key in ("BM", "BN", "BP") if key in row["configuration"])
		print(f"{row['problem']}: {row['family']} {row['rule']}: {tile}, {row['time_us']:.2f} us, {100 * row['slower_than_best']:.1f}% slower than the best")
	return 0


if __name__ == "__main__":
	sys.exit(main())
