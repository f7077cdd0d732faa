#!/usr/bin/python3
"""Makes the table of a range of sizes: results/*/sweep_*.csv.

    range_csv.py KEY TUNED.json... > TABLE.csv     KEY: the size that varies, M

TUNED.json is the output of `tiletune advise OPERATION -p RANGE -o TUNED.json`, one file for each configuration."""
import csv
import json
import sys

COLUMNS = ["family", "configuration", "tiles", "waves", "waves_exact", "predicted_us", "predicted_tflops",
	"measured_us", "ci95_low_us", "ci95_high_us", "measured_tflops", "outcome"]


def line(key, entry):
	row, score, time = entry["winner"], entry["winner"]["score"], entry["winner"]["time_us"]
	measured = entry["timing"] == "measured"
	configuration = ",".join(f"{name}={value}" for name, value in row["configuration"].items())
	return [entry["problem"][key], row["family"], configuration, score["tiles"], score["waves"], score["waves_exact"],
		score["predicted_time_us"], score.get("predicted_tflops", ""),
		*([time["median"], time["ci95_low"], time["ci95_high"], row.get("tflops", "")] if measured else [""] * 4), "ok"]


def main(key, *paths):
	writer = csv.writer(sys.stdout, lineterminator="\n")
	writer.writerow([key, *COLUMNS])
	for path in paths:
		with open(path, encoding="utf-8") as file:
			entries = json.load(file)["entries"]
		writer.writerows(line(key, entry) for entry in sorted(entries, key=lambda entry: entry["problem"][key]))


if __name__ == "__main__":
	main(*sys.argv[1:])
