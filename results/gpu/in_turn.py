#!/usr/bin/env python3
"""Compares two builds of tiletune: how long a quick tuning takes, and what it finds.

	in_turn.py FOLDER OLD NEW [PROBLEM...]		PROBLEM: "gemm M=4096,N=4096,K=4096,dtype=bf16"

OLD and NEW are dist folders (`make dist`). Each problem is tuned ROUNDS times by each build in turn, with an empty cache of
kernels each time. Prints the median seconds of each problem and their ratio, and writes FOLDER/in_turn.json.
$ROUNDS: 3; $DEVICE: cuda:0; $LIMIT: the seconds after which no further round begins.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from typing import Any

PROBLEMS = ["gemm M=4096,N=4096,K=4096,dtype=bf16", "gemm M=64,N=4096,K=4096,dtype=bf16", "gemm M=2048,N=2048,K=2048,dtype=fp32",
    "gemm M=1024,N=8192,K=1024,dtype=fp8_e4m3", "gemm M=1000,N=1023,K=1027,dtype=bf16", "gemm M=512,N=512,K=8192,dtype=fp16",
    "gemm M=3072,N=3072,K=768,dtype=tf32", "attention batch=4,heads=16,seq_q=2048,seq_k=2048,head_dim=128,dtype=bf16", "gemm M=8192,N=1024,K=4096,dtype=bf16,b_layout=kn",
    "gemm M=16,N=11008,K=4096,dtype=fp16"]
ROUNDS = int(os.environ.get("ROUNDS", "3"))
DEVICE = os.environ.get("DEVICE", "cuda:0")
LIMIT_S = float(os.environ.get("LIMIT", "1e9"))


def tune(build: str, problem: str, folder: str, name: str) -> dict[str, Any]:
    operation, keys = problem.split()
    path = f"{folder}/{name}.json"
    cache = f"{folder}/cache"
    shutil.rmtree(cache, ignore_errors=True)
    start = time.monotonic()
    done = subprocess.run([f"{build}/tiletune", "tune", operation, "-p", keys, "--device", DEVICE, "--cache-dir", cache, "--fresh",
        "--path", build, "-o", path], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode:
        print(f"{build}: {problem}: {done.stderr or done.stdout}", flush=True)
        return {"seconds": None}
    with open(path, encoding="utf-8") as file:
        winner = json.load(file)["entries"][0]["winner"]
    with open(path.replace(".json", ".journal.jsonl"), encoding="utf-8") as file:
        count = sum('"event":"evaluation"' in line for line in file)
    return {"seconds": round(seconds, 3), "family": winner["family"], "time_us": winner["time_us"]["median"], "evaluations": count}


def main() -> None:
    folder, old, new, *problems = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    runs: dict[str, list[dict[str, Any]]] = {}
    start = time.monotonic()
    for round_number in range(ROUNDS):
        for number, problem in enumerate(problems or PROBLEMS):
            if time.monotonic() - start > LIMIT_S:
                break
            builds = [("old", old), ("new", new)]
            for name, build in builds if round_number % 2 == 0 else reversed(builds):
                run = tune(build, problem, folder, f"{name}-{number}-{round_number}")
                runs.setdefault(problem, []).append({"build": name, **run})
    ratios, better = [], []
    for problem, of_problem in runs.items():
        seconds, times, counts = ({name: [run[key] for run in of_problem if run["build"] == name and run["seconds"]]
            for name in ("old", "new")} for key in ("seconds", "time_us", "evaluations"))
        if not (seconds["old"] and seconds["new"]):
            continue
        ratios.append(statistics.median(seconds["new"]) / statistics.median(seconds["old"]))
        better.append(statistics.median(times["new"]) / statistics.median(times["old"]))
        print(f"{problem:50} {statistics.median(seconds['old']):6.2f} s {statistics.median(seconds['new']):6.2f} s  {ratios[-1]:.3f}"
            f"  evaluations {statistics.median(counts['old']):.0f} {statistics.median(counts['new']):.0f}"
            f"  times {statistics.median(times['old']):.1f} {statistics.median(times['new']):.1f} us  {better[-1]:.3f}")
    if ratios:
        print(f"seconds, new/old: mean {statistics.geometric_mean(ratios):.3f}, median {statistics.median(ratios):.3f}, {min(ratios):.3f} to "
            f"{max(ratios):.3f} of {len(ratios)}; times of the winners: {statistics.geometric_mean(better):.4f}")
    with open(f"{folder}/in_turn.json", "w", encoding="utf-8") as file:
        json.dump({"device": DEVICE, "runs": runs}, file, indent=1)


if __name__ == "__main__":
    main()
