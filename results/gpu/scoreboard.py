#!/usr/bin/env python3
"""CUDA-L2's thousand matrix products (fp16, fp32 sums, H100) as a suite, and our results next to their published ratios.

    scoreboard.py suite THEIRS.csv [COUNT] > SUITE.json     COUNT (24; 1000: all) of each size class, drawn with SEED
    scoreboard.py theirs OFFLINE.csv SERVER.csv > THEIRS.csv     all products: time of cuBLASLt's best over theirs
    scoreboard.py table VERSUS.json... THEIRS.csv [-o PICTURE.svg]     by class; exit 1 if a goal is missed

OFFLINE.csv, SERVER.csv: eval_results/cuda_l2_h100_F32F16F16F32_speedup_{offline,server}.csv of deepreinforce-ai/CUDA-L2. Their ratio
is the lower of two, over the best of 100 algorithms for either layout of B, in host time. Ours is only for B as [N, K], in GPU time.
Comparisons with --picks 100 and --gaps S have both timings. A comparison of both kernels on one GPU would need a build of theirs."""
import argparse
import csv
import gzip
import json
import math
import random
import statistics
import sys

SEED = 20261125
COUNT = 24
CLASSES = [("below 1 GFLOP", 1e9, 1.12), ("1 to 10", 1e10, 1.10), ("10 to 100", 1e11, 1.02), ("100 to 1000", 1e12, 1.00), ("above 1 TFLOP", math.inf, 1.00)]
COLUMN = "cuBLASLt-auto-tuning-max"
Sizes = tuple[int, int, int]


def flop(sizes: Sizes) -> float:
	return 2.0 * math.prod(sizes)


def class_of(sizes: Sizes) -> int:
	return next(i for i, (_, most, _) in enumerate(CLASSES) if flop(sizes) < most)


def published(path: str) -> dict[Sizes, float]:
	with open(path, encoding="utf-8", newline="") as file:
		return {tuple(map(int, row["mnk"].split("_"))): float(row[COLUMN]) for row in csv.DictReader(file)}  # type: ignore[misc]


def draw(every: list[Sizes], count: int) -> list[Sizes]:
	"""Draws independently of the order of the file. Classes alternate, so that every prefix is a sample, too."""
	source = random.Random(SEED)
	classes: list[list[Sizes]] = [[] for _ in CLASSES]
	for sizes in sorted(every):
		classes[class_of(sizes)].append(sizes)
	drawn = [source.sample(each, min(count, len(each))) for each in classes]
	return [each[i] for i in range(count) for each in drawn if i < len(each)]


def read_theirs(path: str) -> dict[Sizes, tuple[float, float]]:
	with open(path, encoding="utf-8", newline="") as file:
		return {(int(row["M"]), int(row["N"]), int(row["K"])): (float(row["offline"]), float(row["server"])) for row in csv.DictReader(file)}


def suite(path: str, count: int) -> dict[str, object]:
	drawn = draw(list(read_theirs(path)), count)
	return {"format": "tiletune.suite/1", "name": "scoreboard", "operation": "gemm", "effort": "quick",
		"summary": f"{len(drawn)} fp16 products of CUDA-L2's thousand, at most {count} of each size class, drawn with seed {SEED} (results/gpu/scoreboard.py)",
		"problems": [f"M={m},N={n},K={k},dtype=fp16" for m, n, k in drawn]}


def theirs(offline: str, server: str) -> None:
	rows, gaps = published(offline), published(server)
	writer = csv.writer(sys.stdout, lineterminator="\n")
	writer.writerow(["M", "N", "K", "offline", "server"])
	for sizes in sorted(rows, key=lambda sizes: (flop(sizes), sizes)):
		writer.writerow([*sizes, rows[sizes], gaps[sizes]])


def mean(ratios: list[float]) -> float:
	return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def line(name: str, ours: list[dict[str, float]], their: list[tuple[float, float]], goal: float | None) -> tuple[str, bool]:
	ratios = [each["ratio"] for each in ours]
	met = goal is None or mean(ratios) >= max(goal, mean([offline for offline, _ in their]))
	return (f"{name:14} {len(ours):3}  {mean(ratios):6.3f} {statistics.median(ratios):6.3f} {min(ratios):6.3f} {sum(r < 0.95 for r in ratios):4}"
		f"  {mean([each['first'] for each in ours]):6.3f}  {mean([each['gaps'] for each in ours if each['gaps'] > 0]):6.3f} {min(each['gaps'] for each in ours):6.3f}"
		f"  {mean([a for a, _ in their]):6.3f} {min(a for a, _ in their):6.3f}  {mean([b for _, b in their]):6.3f}"
		+ (f"  {goal:.2f} {'reached' if met else 'missed'}" if goal else "")), met


def load(path: str) -> dict[str, object]:
	with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:  # type: ignore[operator]
		return json.load(file)


def table(paths: list[str], their_path: str, picture: str | None) -> int:
	parts = [load(path) for path in paths]  # parts of one suite, which several GPUs of a model shared
	versus, their = parts[0], read_theirs(their_path)
	ours: dict[Sizes, dict[str, float]] = {}
	for entry in [entry for part in parts for entry in part["entries"]]:  # type: ignore[attr-defined]
		if not entry.get("ratio") or not entry["agrees"]:
			print(f"left out: {entry['problem']}: {entry.get('not_comparable') or 'results differ'}")
			continue
		values = dict(item.split("=") for item in entry["problem"].split(","))
		ours[int(values["M"]), int(values["N"]), int(values["K"])] = {"ratio": entry["ratio"]["median"],
			"first": entry["ratio"]["median"] * entry["cublaslt_first_us"] / entry["cublaslt_best_us"], "gaps": entry.get("gaps", {}).get("ratio", 0)}
	print(f"{versus['device']['name']}, cuBLASLt {versus['cublaslt']}, commit {versus['tiletune']['commit']}, {versus['date']}")
	print(f"{'':14}   n  ours: mean median lowest <.95  of 8    gaps: mean lowest  theirs: mean lowest server  goal")
	missed = False
	for i, (name, _, goal) in enumerate(CLASSES):
		of = [sizes for sizes in ours if class_of(sizes) == i]
		if of:
			text, met = line(name, [ours[s] for s in of], [their[s] for s in of], goal)
			print(text)
			missed |= not met
	if not ours:
		return 1
	print(line("all", list(ours.values()), [their[s] for s in ours], None)[0])
	below = sum(each["ratio"] < 0.95 for each in ours.values())
	print(f"below 0.95: {below} of {len(ours)} (goal: at most 1%)")
	for sizes in sorted(ours, key=lambda s: ours[s]["ratio"])[:8]:
		print(f"  {'x'.join(map(str, sizes)):18} {ours[sizes]['ratio']:.3f}, with gaps {ours[sizes]['gaps']:.3f}, theirs {their[sizes][0]:.3f}")
	if picture:
		draw_picture(ours, their, versus, picture)
	return int(missed or below > len(ours) / 100)


def draw_picture(ours: dict[Sizes, dict[str, float]], their: dict[Sizes, tuple[float, float]], versus: dict[str, object], path: str) -> None:
	import matplotlib

	matplotlib.use("svg")
	matplotlib.rcParams.update({"svg.hashsalt": "scoreboard", "font.size": 9})
	from matplotlib import pyplot

	figure, axes = pyplot.subplots(figsize=(8, 4.2), layout="constrained")
	x, many = [flop(sizes) for sizes in ours], len(ours) > 200  # with many points, smaller pixels, because vectors would take 200 kB
	axes.axhline(1, color="0.6", linewidth=0.8)
	axes.scatter(x, [their[sizes][0] for sizes in ours], s=4 if many else 12, marker="x", linewidths=0.6, color="tab:orange", rasterized=many, label="CUDA-L2 (published, H100)")
	axes.scatter(x, [each["ratio"] for each in ours.values()], s=4 if many else 12, color="tab:blue", rasterized=many, label=f"tiletune ({versus['device']['name']})")  # type: ignore[index]
	axes.set(xscale="log", yscale="log", xlabel="FLOP of one product", ylabel="time of cuBLASLt's best of 100 / time", title="fp16 products with fp32 sums: above 1 is faster than cuBLASLt")
	ticks = [0.2, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2]
	axes.set_yticks(ticks, [str(tick) for tick in ticks])
	axes.minorticks_off()
	axes.legend()
	figure.savefig(path, dpi=160, metadata={"Date": None})


def main() -> int:
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("command", choices=["suite", "theirs", "table"])
	parser.add_argument("files", nargs="+")
	parser.add_argument("-o", dest="picture")
	options = parser.parse_args()
	if options.command == "suite":
		json.dump(suite(options.files[0], int(options.files[1]) if len(options.files) > 1 else COUNT), sys.stdout, indent="\t")
		print()
	elif options.command == "theirs":
		theirs(*options.files)
	elif len(options.files) < 2:
		parser.error("table takes one comparison or more, and what is published")
	else:
		return table(options.files[:-1], options.files[-1], options.picture)
	return 0


if __name__ == "__main__":
	sys.exit(main())
