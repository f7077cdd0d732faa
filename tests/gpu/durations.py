#!/usr/bin/env python3
"""Our clock against the hardware's: kernels from a few microseconds to twenty milliseconds, timed by
tiletune's own sampling and, apart, by Nsight Compute's gpu__time_duration. From the folder of
`make dist TESTS=1`:

	python3 tests/gpu/durations.py OUTPUT.json TUNED.json...

Winners of one launch, evenly spread over the logarithm of their time. The same program
(compare_rows) runs each with and without ncu; under ncu each launch is apart from its neighbours and
the caches are not flushed between them. From the environment: COUNT (20), NCU (ncu), DEVICE (cuda:0),
LAUNCHES (60) that ncu times of each kernel.
"""
import csv
import json
import math
import os
import statistics
import subprocess
import sys

COUNT = int(os.environ.get("COUNT", "20"))
DEVICE = os.environ.get("DEVICE", "cuda:0")
LAUNCHES = int(os.environ.get("LAUNCHES", "60"))
FOLDER = "durations-work"
ALLOWED_RATIO, ALLOWED_US = 0.02, 0.5


def winners(paths):
    """(time in us, entry point, race) of each winner of one launch, by time."""
    found = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)["entries"]
        for entry in entries:
            winner = entry["winner"]
            if len(winner.get("launches", [])) != 1:
                continue
            row = {"name": "winner", "family": winner["family"], "configuration": winner["configuration"]}
            race = {"operation": entry["operation"], "problem": entry["problem"], "rows": [row]}
            found.append((winner["time_us"]["median"], winner["launches"][0]["entry"], race))
    return sorted(found, key=lambda item: item[0])


def chosen(found):
    """COUNT of them, nearest to evenly spaced points of log time, each once."""
    low, high = math.log(found[0][0]), math.log(found[-1][0])
    rest, answer = list(found), []
    for i in range(min(COUNT, len(found))):
        point = low + (high - low) * i / max(1, COUNT - 1)
        nearest = min(rest, key=lambda item: abs(math.log(item[0]) - point))
        rest.remove(nearest)
        answer.append(nearest)
    return answer


def run_rows(races, seconds, before=()):
    path = os.path.join(FOLDER, "races.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"seconds": seconds, "loads": 1, "races": races}, file)
    command = [*before, "./gpu/compare_rows", path, "--device", DEVICE, "--cache-dir", "session-cache"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def under_ncu(entry, race):
    """Durations in us of the launches of one kernel. The first ones are verification and warm-up."""
    log = os.path.join(FOLDER, "ncu.csv")
    ncu = [os.environ.get("NCU", "ncu"), "--target-processes", "all", "--clock-control", "none", "--cache-control", "none",
           "--kernel-name", entry, "--launch-skip", "20", "--launch-count", str(LAUNCHES), "--kill", "yes",
           "--metrics", "gpu__time_duration.sum", "--print-units", "base", "--csv", "--log-file", log]
    run_rows([race], 0.2, ncu)
    with open(log, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if line.startswith('"'))
        return [float(row["Metric Value"].replace(",", "")) / 1e3 for row in rows
                if row.get("Metric Name") == "gpu__time_duration.sum"]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.makedirs(FOLDER, exist_ok=True)
    kernels = chosen(winners(sys.argv[2:]))
    result = run_rows([race for _, _, race in kernels], 0.5)
    try:
        answer = json.loads(result.stdout)
    except ValueError:
        sys.exit(f"compare_rows ended with {result.returncode}: {result.stderr[:2000]}")
    rows, apart = [], 0
    for (_, entry, race), timed in zip(kernels, answer["races"]):
        if "error" in timed or "time_us" not in timed["rows"][0]:
            print(f"{timed.get('problem')}: {timed.get('error') or timed['rows'][0].get('wrong')}")
            continue
        ours, durations = timed["rows"][0]["time_us"], under_ncu(entry, race)
        if not durations:
            print(f"{timed['problem']}: ncu timed no launch of {entry}")
            continue
        theirs = statistics.median(durations)
        within = abs(ours - theirs) <= max(ALLOWED_RATIO * theirs, ALLOWED_US)
        apart += not within
        rows.append({"operation": timed["operation"], "problem": timed["problem"], "family": timed["rows"][0]["family"],
                     "configuration": timed["rows"][0]["configuration"], "time_us": ours, "ncu_us": theirs,
                     "ncu_low_us": min(durations), "ncu_high_us": max(durations), "ncu_launches": len(durations),
                     "within": within})
        print(f"{ours:10.2f} us, ncu {theirs:10.2f} ({min(durations):.2f} to {max(durations):.2f}), ratio {ours / theirs:.3f}"
              f"{'' if within else '  APART'}  {timed['problem'].split(',b_')[0]}", flush=True)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"format": "tiletune.durations/1", "run": answer["run"], "allowed": {"ratio": ALLOWED_RATIO, "us": ALLOWED_US},
                   "kernels": rows}, file, indent="\t")
        file.write("\n")
    print(f"{len(rows)} kernels, {apart} further apart than {ALLOWED_RATIO:.0%} and {ALLOWED_US} us")


if __name__ == "__main__":
    main()
