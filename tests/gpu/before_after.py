#!/usr/bin/python3
"""Winners of a tuned file as the templates of an older commit make them, timed in turn with those of
today: `check --keep-cubins` keeps the older binaries, `check` times both, several times over with fresh
loads. One row for each entry: the median of the ratios, and their spread, the least and the largest. Entries whose
binary is the same are not timed.

	before_after.py BEFORE TUNED.json OUTPUT.json [ARGUMENT of check...]

BEFORE: a folder with templates/ (tests/gpu/before.sh makes it). From the environment: TOOL (./tiletune), ROUNDS (4),
ENTRY_SECONDS (0.4, an entry and round), WORK (before-after), PATHS (., today's templates), LIMIT (240 seconds in all).
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

BEFORE, TUNED, OUTPUT, REST = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
TOOL, WORK = os.environ.get("TOOL", "./tiletune"), os.environ.get("WORK", "before-after")
ROUNDS, SECONDS, LIMIT = int(os.environ.get("ROUNDS", "4")), float(os.environ.get("ENTRY_SECONDS", "0.4")), float(os.environ.get("LIMIT", "240"))
ends = time.monotonic() + LIMIT


def check(baseline, path, threshold, *arguments):
	"""The answer of `check`, or None where there is none."""
	left = ends - time.monotonic()
	if left < 5:
		return None
	with open(baseline, encoding="utf-8") as file:
		budget = SECONDS * len(json.load(file)["entries"])
	command = [TOOL, "check", baseline, "--path", path, "--threshold", threshold, "--budget", f"{budget:.1f}s", "--allow", "all", "--json", *arguments, *REST]
	try:
		done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=left)
	except subprocess.TimeoutExpired:
		return None
	if done.returncode in (2, 5) or not done.stdout.strip():
		sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
	return json.loads(done.stdout)


def key(entry):
	return entry["operation"], ",".join(f"{k}={v}" for k, v in entry["problem"].items())


def document(baseline, rows):
	"""tiletune.compared_rows/1; over_first: the median of the rounds' ratios, the least and the largest."""
	with open(baseline, encoding="utf-8") as file:
		tuned = json.load(file)
	winners = {key(entry): entry["winner"] for entry in tuned["entries"]}
	comparisons = []
	for (operation, problem), row in rows.items():
		winner = winners[operation, problem]
		common = {"family": winner["family"], "configuration": ",".join(f"{k}={v}" for k, v in winner["configuration"].items())}
		ratio = {"value": statistics.median(row["ratio"]), "low": min(row["ratio"]), "high": max(row["ratio"])}
		comparisons.append({"operation": operation, "problem": problem, "rows": [
			{"name": "before", **common, "time_us": statistics.median(row["before_us"]), "over_first": {"value": 1, "low": 1, "high": 1}},
			{"name": "now", **common, "time_us": statistics.median(row["now_us"]), "loads_us": row["now_us"], "over_first": ratio}]})
	return {"format": "tiletune.compared_rows/1", "device": tuned["device"], "run": tuned["runs"][-1], "comparisons": comparisons}


def main():
	shutil.rmtree(WORK, ignore_errors=True)
	os.makedirs(WORK)
	baseline = os.path.join(WORK, "before.json")
	shutil.copy(TUNED, baseline)
	# any time will do here: what is kept is the binary
	if not check(baseline, BEFORE, "1000%", "--update", "--keep-cubins"):
		sys.exit("no time for the older kernels")
	rows, same, wrong = {}, set(), []
	for _ in range(ROUNDS):
		for entry in (check(baseline, os.environ.get("PATHS", "."), "0.3%") or {"entries": []})["entries"]:
			slowdown = entry.get("slowdown", {})
			if entry.get("same_binary"):
				same.add(key(entry))
			elif slowdown.get("against") == "kept":
				row = rows.setdefault(key(entry), {"ratio": [], "now_us": [], "before_us": []})
				row["ratio"].append(slowdown["ratio"])
				row["now_us"].append(entry["time_us"])
				row["before_us"].append(entry["time_us"] / slowdown["ratio"])
			else:
				wrong.append(f"{key(entry)[1]}: {entry['verdict']}: {entry.get('reason', '')}")
	print(f"{'before us':>10} {'now us':>10}  now/before (least..largest)")
	for (operation, problem), row in rows.items():
		middle = {name: statistics.median(values) for name, values in row.items()}
		print(f"{middle['before_us']:10.2f} {middle['now_us']:10.2f}  {middle['ratio']:.4f} ({min(row['ratio']):.4f}..{max(row['ratio']):.4f})  {problem[:100]}")
	with open(OUTPUT, "w", encoding="utf-8") as file:
		json.dump(document(baseline, rows), file, indent="\t")
	print("\n".join([*wrong, f"{len(same)} entries have the same binary"]))
	if not rows and not same:
		sys.exit("nothing was timed")
	for operation in sorted({operation for operation, _ in rows}):
		ratios = [statistics.median(row["ratio"]) for (its, _), row in rows.items() if its == operation]
		print(f"{os.path.basename(TUNED)}: {operation}: {len(ratios)} entries, now/before: geometric mean {statistics.geometric_mean(ratios):.4f},"
			f" {min(ratios):.4f} to {max(ratios):.4f}")
	sys.exit(1 if wrong else 0)


main()
