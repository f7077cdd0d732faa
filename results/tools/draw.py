#!/usr/bin/python3
"""Draws the pictures of results/ as SVG, with matplotlib, from the tables and journals in that folder.

	draw.py tiles JOURNAL OPERATION KEY=VALUE... FAMILY -o X.svg    the fastest configuration of each tile BM x BN in the search
	draw.py sizes TABLE.csv -o X.svg                                 a table of range_csv.py: speed over a size
	draw.py all                                                      the pictures that the pages of results/ show

The same data give the same file."""
import argparse
import csv
import gzip
import json

FOLDER = "results/nvidia-h200"
PICTURES = [
	("tiles", f"{FOLDER}/exhaustive.journal.jsonl.gz", "gemm M=4096,dtype=bf16", "gemm/mma", f"{FOLDER}/heatmap-mma-4096.svg"),
	*(("tiles", f"{FOLDER}/attention_tiles_{name}.journal.jsonl.gz", "attention seq_q=1024,head_dim=32", f"attention/{name}",
		f"{FOLDER}/attention_tiles_{name}_32_1024.svg") for name in ("tiled_simt", "tiled_wmma", "flash_mma")),
	*(("sizes", f"{FOLDER}/{name}.csv", f"{FOLDER}/{name}.svg") for name in ("sweep_1024_4096_32", "sweep_1700_1900_1")),
]


# ---- contents of the files ----
def lines_of(path):
	with gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
		for line in file:
			yield json.loads(line)


def pairs(text):
	return dict(pair.split("=") for pair in text.split(","))


def flop_of(entry):
	return entry["winner"]["tflops"] * entry["winner"]["time_us"]["median"] * 1e6


def best_tiles(journal, problem, family):
	"""Returns the title, and (BM, BN) -> TFLOP/s of the fastest candidate, or None if all failed, for the first matching problem."""
	operation, wanted = problem.split(" ")
	run = number = title = flop = None
	times = {}
	for line in lines_of(journal):
		run = line["id"] if line["event"] == "run" else line.get("run", run)
		if line["event"] == "problem" and number is None and line["operation"] == operation and \
				all(str(line["problem"].get(key)) == value for key, value in pairs(wanted).items()):
			number, title = (run, line["number"]), f"{family}, {line['text'].split(',dtype=')[0]}, {line['problem'].get('dtype', '')}"
		if line["event"] not in ("evaluation", "entry") or (run, line["problem"]) != number:
			continue
		if line["event"] == "entry":
			flop = flop_of(line["entry"])
		elif line["family"] == family:
			values = pairs(line["configuration"])
			times.setdefault((int(values["BM"]), int(values["BN"])), []).append(line.get("time_us", {}).get("median"))
	if not times or not flop:
		raise SystemExit(f"{journal}: expected a concluded search of {problem} with {family}, found none")
	return title, {tile: max((flop / us * 1e-6 for us in found if us), default=None) for tile, found in times.items()}


def size_lines(table):
	"""Returns the size's name, and (family, configuration) -> sizes, measured and predicted TFLOP/s, waves."""
	with open(table, encoding="utf-8") as file:
		rows = list(csv.DictReader(file))
	key, found = next(iter(rows[0])), {}
	for row in rows:
		found.setdefault((row["family"], row["configuration"]), []).append(
			[int(row[key]), *(float(row[name]) if row[name] else None for name in ("measured_tflops", "predicted_tflops", "waves"))])
	return key, {name: sorted(points) for name, points in found.items()}


# ---- pictures ----
def pyplot():
	import matplotlib  # pylint: disable=import-outside-toplevel
	matplotlib.use("svg")
	matplotlib.rcParams.update({"svg.hashsalt": "tiletune", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9})
	from matplotlib import pyplot as plot  # pylint: disable=import-outside-toplevel
	return plot


def save(figure, path):
	figure.savefig(path, metadata={"Date": None, "Creator": None}, bbox_inches="tight")


def draw_tiles(journal, problem, family, path):
	plot = pyplot()
	title, speeds = best_tiles(journal, problem, family)
	rows, columns = (sorted({tile[i] for tile in speeds}) for i in (0, 1))
	grid = [[speeds.get((row, column)) or float("nan") for column in columns] for row in rows]
	best = max(speed for speed in speeds.values() if speed)
	figure, axes = plot.subplots(figsize=(max(4.5, 1.2 + 0.42 * len(columns)), max(3, 1.2 + 0.3 * len(rows))))
	image = axes.imshow(grid, cmap="Blues", vmin=0.3 * best, vmax=best, aspect="auto")
	for r, row in enumerate(rows):
		for c, column in enumerate(columns):
			if (row, column) in speeds:
				speed = speeds[row, column]
				axes.text(c, r, f"{speed:.0f}" if speed else "x", ha="center", va="center", fontsize=7, color="white" if speed and speed > 0.7 * best else "black")
	axes.set(xticks=range(len(columns)), xticklabels=columns, yticks=range(len(rows)), yticklabels=rows, xlabel="BN", ylabel="BM")
	axes.set_title(f"TFLOP/s in the search, best over the other parameters; blank: not measured, x: failed\n{title}", fontsize=8)
	axes.tick_params(axis="x", rotation=90 if len(columns) > 16 else 0)
	figure.colorbar(image, label="TFLOP/s")
	save(figure, path)
	plot.close(figure)


def draw_sizes(table, path):
	plot = pyplot()
	key, lines = size_lines(table)
	figure, axes = plot.subplots(figsize=(9, 4.5))
	for i, ((family, configuration), points) in enumerate(lines.items()):
		sizes, measured, predicted, waves = zip(*points)
		label = f"{family} {','.join(pair for pair in configuration.split(',') if pair[:3] in ('BM=', 'BN=', 'BK='))}"
		axes.plot(sizes, [v if v else float("nan") for v in measured], marker=".", markersize=3, linewidth=0.9, label=label)
		if i == 0:
			axes.plot(sizes, [v if v else float("nan") for v in predicted], linestyle="--", linewidth=0.9, color="0.5", label=f"predicted: {label}")
			for k in range(1, len(sizes)):
				if waves[k] and waves[k - 1] and waves[k] > waves[k - 1]:
					axes.axvline((sizes[k - 1] + sizes[k]) / 2, linestyle=":", linewidth=0.7, color="tab:red")
	axes.set(xlabel=key, ylabel="TFLOP/s", ylim=(0, None))
	axes.set_title("Measured; dotted: one more wave of the first configuration begins", fontsize=9)
	axes.legend(fontsize=7)
	save(figure, path)
	plot.close(figure)


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("what", choices=("tiles", "sizes", "all"))
	parser.add_argument("arguments", nargs="*")
	parser.add_argument("-o", "--output")
	options = parser.parse_args()
	for what, *rest in PICTURES if options.what == "all" else []:
		(draw_tiles if what == "tiles" else draw_sizes)(*rest)
	if options.what == "tiles":
		journal, operation, problem, family = options.arguments
		draw_tiles(journal, f"{operation} {problem}", family, options.output)
	elif options.what == "sizes":
		draw_sizes(options.arguments[0], options.output)


if __name__ == "__main__":
	main()
