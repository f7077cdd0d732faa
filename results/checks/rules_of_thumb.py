#!/usr/bin/python3
"""results/tools/rules_of_thumb.py over journals: its results for attention's tiles agree with those in results, which an earlier version
of the program computed; the rule of idle slots is checked by arithmetic.

	results/checks/rules_of_thumb.py OUT		OUT: not used; needs no binary"""
import json
import sys

sys.path.insert(0, "results/tools")
import rules_of_thumb

failures = 0


def expect(what, found, wanted):
	global failures
	if found != wanted:
		failures += 1
		print(f"{what}: expected {wanted}, found {found}")


def tile(row):
	return f"{row['configuration']['BM']}x{row['configuration']['BN']}"


def attention(family):
	rows = rules_of_thumb.rows_of(rules_of_thumb.load(f"results/nvidia-h200/attention_tiles_{family}.journal.jsonl.gz"))
	with open("results/nvidia-h200/attention_tiles_summary.json", encoding="utf-8") as file:
		recorded = [rule for r in json.load(file)["results"] if r["family"] == f"attention/{family}" for rule in r["rules"]]
	expect(f"rules of attention/{family}", [(row["rule"], tile(row)) for row in rows], [(rule["rule"], rule["tile"]) for rule in recorded])
	expect("how many", len(rows), 12)
	for row, rule in zip(rows, recorded):
		expect(f"{row['problem']}: {row['rule']}: {row['slower_than_best']} is near {rule['slower_than_best']}",
			abs(row["slower_than_best"] - rule["slower_than_best"]) < 3e-4, True)


def gemm():
	"""1792 cubed on 132 SMs: 49, 100, 196, 784 and 3136 tiles use 0.37, 0.66 (including padding), 0.74, 0.99 and 0.99."""
	rest = "BK=32,STAGES=4,MIN_BLOCKS=1,GROUP_M=1,SPLIT_K=1"
	times = {256: 90, 192: 80, 128: 60, 64: 70, 32: 100}
	problem = {"M": 1792, "N": 1792, "K": 1792, "dtype": "bf16"}  # all other keys have their defaults
	events = [{"event": "run", "device": {"sheet": "h200-sxm"}},
		{"event": "problem", "number": 0, "operation": "gemm", "text": "M=1792,...", "problem": problem}]
	for t, time_us in times.items():
		events.append({"event": "evaluation", "problem": 0, "family": "gemm/mma", "configuration": f"BM={t},WM=32,BN={t},WN=32,{rest}",
			"outcome": "ok", "time_us": {"median": time_us}})
	rows = rules_of_thumb.rows_of(events)
	expect("gemm", [(row["rule"], tile(row), round(row["slower_than_best"], 6)) for row in rows],
		[("fewest_idle_slots", "64x64", round(70 / 60 - 1, 6)), ("largest_fit", "256x256", 0.5)])
	# failed configurations, and the slower of two with one tile, must not be selected
	events.append({**events[2], "configuration": f"BM=256,WM=64,BN=256,WN=64,{rest}", "time_us": {"median": 66}})
	events[4] = {**events[4], "outcome": "wrong_result", "time_us": {"median": 1}}
	rows = rules_of_thumb.rows_of(events)
	expect("gemm, the faster", [(row["rule"], tile(row), row["time_us"]) for row in rows],
		[("fewest_idle_slots", "64x64", 70), ("largest_fit", "256x256", 66)])


attention("tiled_simt")
attention("tiled_wmma")
gemm()
sys.exit(failures > 0)
