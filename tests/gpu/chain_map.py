#!/usr/bin/env python3
"""What follows from a measured map of gemm_chain: the rule beside it, a table, a figure.

	chain_map.py MAP.json --tool build/tiletune --csv chain_map.csv --svg chain_map.svg --json chain_rule.json

The rule's two times are what `tiletune explain gemm_chain -p ...` answers for the device's sheet.
A point counts where the faster two products and the faster fused kernel differ by more than 5%.
Points of even index are those that the rule's constants were fitted to, odd ones test it.
"""
import argparse
import json
import math
import subprocess

import chain_points
import chain_svg

far = 1.05
fused_times = "fused_us", "fused_resident_us", "fused_wgmma_us"


def explain(options, sheet, problem):
	text = ",".join("%s=%s" % pair for pair in problem.items())
	command = [options.tool, "explain", "gemm_chain", "-p", text, "--family", "fused", "--device",
	           "model:" + sheet, "--path", options.path, "--json"]
	answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
	return {fact["name"]: fact["value"] for fact in answer["entries"][0]["winner"]["why"]["facts"]}


def names_of():
	return {point: name for name, group in chain_points.named for point in group}


def row_of(entry, index, facts, name):
	problem = entry["problem"]
	times = [entry[key] for key in fused_times if entry.get(key) is not None]
	row = {key: problem[key] for key in "mknp"}
	row.update(name=name, part=("named" if name else ("fit", "test")[index % 2]),
	           ceiling=facts["traffic ceiling"],
	           **{key: entry.get(key) for key in fused_times}, separate_us=entry["separate_us"],
	           cublaslt_us=entry["cublaslt_us"], gain=entry["gain"],
	           gain_over_cublaslt=entry["gain_over_cublaslt"],
	           rule_two_products_us=facts["rule: two products"],
	           rule_one_kernel_us=facts["rule: one kernel"], rule_gain=facts["rule: gain of fusing"])
	row["best_fused_us"] = min(times)
	row["best_two_us"] = min(entry["separate_us"], entry["cublaslt_us"])
	row["says_fuse"] = row["rule_gain"] > 1
	row["far"] = max(row["gain"], 1 / row["gain"]) > far
	row["right"] = row["says_fuse"] == (row["gain"] > 1)
	return row


def geometric_mean(values):
	return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def share(rows):
	counted = [row for row in rows if row["far"]]
	right = sum(row["right"] for row in counted)
	return {"points": len(rows), "differ_by_more_than_5_percent": len(counted), "right": right,
	        "right_ratio": right / len(counted) if counted else None}


def summary_of(rows):
	fuse = [row for row in rows if row["says_fuse"]]
	wins = [row for row in rows if row["gain"] > 1]
	best = max(rows, key=lambda row: row["gain_over_cublaslt"])
	follow = [row["best_two_us"] / (row["best_fused_us"] if row["says_fuse"] else row["best_two_us"])
	          for row in rows]
	ideal = [max(1, row["best_two_us"] / row["best_fused_us"]) for row in rows]
	return {
		"all": share(rows),
		"fit": share([row for row in rows if row["part"] == "fit"]),
		"test": share([row for row in rows if row["part"] == "test"]),
		"named": share([row for row in rows if row["part"] == "named"]),
		"fused_wins": len(wins),
		"gain_where_fused_wins_geometric_mean": geometric_mean([row["gain"] for row in wins]),
		"rule_says_fuse": len(fuse),
		"gain_over_cublaslt_where_rule_says_fuse_geometric_mean": geometric_mean(
			[row["gain_over_cublaslt"] for row in fuse]),
		"gain_where_rule_says_fuse_geometric_mean": geometric_mean([row["gain"] for row in fuse]),
		"best_gain_over_cublaslt": best["gain_over_cublaslt"],
		"best_at": {key: best[key] for key in "mknp"},
		"speed_of_following_the_rule_over_never_fusing": geometric_mean(follow),
		"speed_of_the_better_of_both_over_never_fusing": geometric_mean(ideal),
		"time_error_two_products": geometric_mean(
			[math.exp(abs(math.log(row["rule_two_products_us"] / row["best_two_us"]))) for row in rows]) - 1,
		"time_error_one_kernel": geometric_mean(
			[math.exp(abs(math.log(row["rule_one_kernel_us"] / row["best_fused_us"]))) for row in rows]) - 1,
		"wrong": [{key: row[key] for key in ("m", "k", "n", "p", "gain", "rule_gain")}
		          for row in rows if row["far"] and not row["right"]],
	}


def write_csv(path, rows):
	with open(path, "w") as out:
		print(",".join(rows[0]), file=out)
		for row in rows:
			print(",".join("" if value is None else "%.4g" % value if isinstance(value, float) else
			               str(value).replace(",", ";") for value in row.values()), file=out)


def main():
	arguments = argparse.ArgumentParser()
	arguments.add_argument("map")
	arguments.add_argument("--tool", default="build/tiletune")
	arguments.add_argument("--path", default=".")
	for name in "csv", "svg", "json":
		arguments.add_argument("--" + name)
	options = arguments.parse_args()
	measured = json.load(open(options.map))
	sheet, names, rows = measured["device"]["sheet"], names_of(), []
	drawn = 0
	for entry in measured["entries"]:
		if "no_result" in entry or not entry["agrees"]:
			print("left out:", entry.get("text"), entry.get("no_result", "results differ"))
			continue
		name = names.get(tuple(entry["problem"][key] for key in "mknp"), "")
		rows.append(row_of(entry, drawn, explain(options, sheet, entry["problem"]), name))
		drawn += not name
	summary = {"format": "tiletune.chain_rule/1", "map": {key: measured[key] for key in ("date", "command", "tiletune", "driver", "nvrtc",
	                                                  "cublaslt")}, "device": measured["device"]}
	summary.update(summary_of(rows))
	print(json.dumps({key: value for key, value in summary.items() if key not in ("format", "map", "device")}, indent=1))
	if options.csv:
		write_csv(options.csv, rows)
	if options.json:
		with open(options.json, "w") as out:
			out.write(json.dumps(summary, indent="\t") + "\n")
	if options.svg:
		with open(options.svg, "w") as out:
			out.write(chain_svg.draw(rows, summary))


if __name__ == "__main__":
	main()
