#!/usr/bin/env python3
"""Compares the winners of burst and sustained timing.

	load.py FOLDER PROBLEM...		PROBLEM: M=6144,N=6144,K=6144,dtype=bf16

Tunes each problem once with --load burst and RUNS times with --load sustained, with one kernel cache. Sustained runs time the fastest
candidates of the search in turn, the burst winner among them, so their journals tell the gain of choosing under load. Prints a table
and writes FOLDER/load.json (tiletune.load/1). $TILETUNE: the tuner; $RUNS: 2; $BUDGET: 12s; $DEVICE: cuda:0."""
import json
import os
import subprocess
import sys
import time
from typing import Any, Optional

TILETUNE = os.environ.get("TILETUNE", "tiletune")
RUNS = int(os.environ.get("RUNS", "2"))
BUDGET = os.environ.get("BUDGET", "12s")
DEVICE = os.environ.get("DEVICE", "cuda:0")


def tune(operation: str, problem: str, load: str, path: str) -> tuple[dict[str, Any], float]:
    """Returns the entry of a fresh tuning, and its duration in seconds."""
    start = time.monotonic()
    done = subprocess.run([TILETUNE, "tune", operation, "-p", problem, "--load", load, "--device", DEVICE, "--budget", BUDGET,
        "--fresh", "-o", path, *os.environ.get("OPTIONS", "").split()], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{problem}, --load {load}: {done.stderr or done.stdout}")
    with open(path, encoding="utf-8") as file:
        return json.load(file), time.monotonic() - start


def name(row: dict[str, Any]) -> tuple[str, str]:
    configuration = row["configuration"]
    text = configuration if isinstance(configuration, str) else ",".join(f"{key}={value}" for key, value in configuration.items())
    return row["family"], text


def sustained_time(journal: str, row: tuple[str, str]) -> Optional[float]:
    """Returns the last time of a configuration in the final measurement, or None if it was not in it."""
    found = None
    with open(journal, encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["event"] == "final" and name(line) == row and "time_us" in line:
                found = line["time_us"]["median"]
    return found


def compare(operation: str, problem: str, folder: str) -> dict[str, Any]:
    folder = f"{folder}/{problem.replace(',', '-').replace('=', '')}"  # a tuned file retains the entries of earlier problems
    os.makedirs(folder, exist_ok=True)
    burst_file, burst_s = tune(operation, problem, "burst", f"{folder}/burst.json")
    burst = burst_file["entries"][0]["winner"]
    row: dict[str, Any] = {"problem": problem, "burst": {"configuration": name(burst), "time_us": burst["time_us"]["median"],
        "seconds": round(burst_s, 2), **{key: burst.get(key) for key in ("power_w", "clock_hz", "power_cap_ratio")}},
        "sustained": []}
    for run in range(RUNS):
        path = f"{folder}/sustained-{run}.json"
        file, seconds = tune(operation, problem, "sustained", path)
        winner = file["entries"][0]["winner"]
        other = sustained_time(path.replace(".json", ".journal.jsonl"), name(burst))
        row["sustained"].append({"configuration": name(winner), "time_us": winner["time_us"]["median"],
            "seconds": round(seconds, 2), "burst_winner_us": other,
            **{key: winner.get(key) for key in ("power_w", "clock_hz", "power_cap_ratio")}})
    row["run"] = burst_file["runs"][0]
    row["device"] = burst_file["device"]
    return row


def show(row: dict[str, Any]) -> None:
    burst = row["burst"]
    cap = burst["power_cap_ratio"]
    print(f"{row['problem']}: burst {burst['time_us']:.1f} us in {burst['seconds']:.1f} s, busy at "
        f"{(burst['clock_hz'] or 0) * 1e-9:.2f} GHz and {burst['power_w'] or 0:.0f} W"
        f"{', at the power limit' if cap and cap > 0.5 else ''} {burst['configuration'][1][:70]}")
    for run in row["sustained"]:
        gain = f"{run['burst_winner_us'] / run['time_us']:.3f}" if run["burst_winner_us"] else "not timed"
        same = "the same" if run["configuration"] == burst["configuration"] else run["configuration"][1][:70]
        print(f"    sustained {run['time_us']:.1f} us in {run['seconds']:.1f} s; burst winner's time over it: {gain}; {same}")
    sys.stdout.flush()


def main(folder: str, problems: list[str]) -> None:
    os.makedirs(folder, exist_ok=True)
    rows = []
    for problem in problems:
        rows.append(compare("gemm", problem, folder))
        show(rows[-1])
        run, device = rows[0]["run"], rows[0]["device"]
        document = {"format": "tiletune.load/1", "device": device, "run": run, "budget": BUDGET,
            "problems": [{key: value for key, value in row.items() if key not in ("run", "device")} for row in rows]}
        with open(f"{folder}/load.json", "w", encoding="utf-8") as file:
            json.dump(document, file, indent="\t")
            file.write("\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
