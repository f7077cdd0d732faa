#!/usr/bin/env python3
"""Measures what the register usage level of ptxas changes for winners of gemm.

	register_usage.py FOLDER BUILD [PROBLEM...]		PROBLEM: "M=4096,N=4096,K=4096,dtype=bf16"

BUILD is a dist folder (`make dist`). Each problem is tuned first. Then its winner is tuned with every level from 0 to 10 and without the
option, as a parameter that a copy of the templates adds to the winner's family. Prints the best level and its gain, and writes
FOLDER/register_usage.json with the times of all levels. $DEVICE: cuda:0.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
from typing import Any

PROBLEMS = ["M=320,N=22016,K=4096,dtype=bf16", "M=896,N=4096,K=11008,dtype=bf16", "M=6144,N=6144,K=6144,dtype=bf16",
    "M=4096,N=4096,K=4096,dtype=bf16", "M=8192,N=8192,K=8192,dtype=bf16", "M=2048,N=2048,K=2048,dtype=bf16",
    "M=1536,N=8960,K=1536,dtype=bf16", "M=16384,N=1024,K=4096,dtype=bf16", "M=4096,N=12288,K=4096,dtype=fp16", "M=2048,N=2048,K=2048,dtype=fp32"]
PARAMETER = {"values": ["", *range(11)], "as": "option --ptxas-options=--register-usage-level"}
DEVICE = os.environ.get("DEVICE", "cuda:0")


def tune(build: str, problem: str, path: str, *more: str) -> dict[str, Any]:
    subprocess.run([f"{build}/tiletune", "tune", "gemm", "-p", problem, "--device", DEVICE, "--fresh", "-o", path, *more],
        capture_output=True, text=True, check=True)
    with open(path, encoding="utf-8") as file:
        return json.load(file)["entries"][0]["winner"]


def with_levels(build: str, folder: str, family: str) -> str:
    """Makes a copy of the templates whose family has the parameter LEVEL."""
    root = f"{folder}/levels"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(f"{build}/templates", f"{root}/templates")
    path = f"{root}/templates/{family}.json"
    with open(path, encoding="utf-8") as file:
        description = json.load(file)
    description["parameters"]["LEVEL"] = PARAMETER
    if "defaults" in description:
        description["defaults"]["LEVEL"] = "''"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(description, file)
    return root


def times(journal: str) -> dict[str, float]:
    """Returns the median time in us of each level, from the samples of the journal's evaluations."""
    found: dict[str, float] = {}
    with open(journal, encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["event"] == "evaluation" and line["outcome"] == "ok":
                found[line["configuration"].rsplit("LEVEL=", 1)[1]] = line["time_us"]["median"]
    return found


def main() -> None:
    folder, build, *problems = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    rows, gains = [], []
    for number, problem in enumerate(problems or PROBLEMS):
        path = f"{folder}/{number}"
        first = tune(build, problem, f"{path}.json")
        root = with_levels(build, folder, first["family"])
        fixed = ",".join(f"{name}={value}" for name, value in first["configuration"].items())
        best = tune(build, problem, f"{path}-levels.json", "--path", root, "--family", first["family"], "--config", fixed, "--effort", "exhaustive")
        level, by_level = str(best["configuration"]["LEVEL"]), times(f"{path}-levels.journal.jsonl")
        gains.append(by_level[""] / by_level[level])
        rows.append({"problem": problem, "family": first["family"], "level": level, "time_us": by_level, "gain": round(gains[-1], 4)})
        print(f"{problem}: level {level or 'none'}, {gains[-1]:.3f} times as fast as without the option", flush=True)
        with open(f"{folder}/register_usage.json", "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    print(f"{len(gains)} problems: geometric mean {statistics.geometric_mean(gains):.4f}, median {statistics.median(gains):.4f}, "
        f"from {min(gains):.4f} to {max(gains):.4f}")


if __name__ == "__main__":
    main()
