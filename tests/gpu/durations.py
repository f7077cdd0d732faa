#!/usr/bin/env python3
"""Our times against the hardware's: kernels from a few microseconds to twenty milliseconds, timed by
tiletune's own sampling and, in a second run, by Nsight Compute. From the folder of
`make dist TESTS=1`:

	durations.py OUTPUT.json TUNED.json...		(tiletune.durations/1)

Winners of one launch, evenly spread over the logarithm of their time, no two with the same launch
configuration. The same program (compare_rows) runs with and without ncu. Under ncu each launch is
apart from its neighbours: the card stays away from its power limit, at its highest clock, and a launch
is counted from its arrival at an idle GPU; ours follow one another. So what is compared is the time as
it is, and ours at ncu's clock: times the clock that nvidia-smi reads meanwhile over ncu's cycles per
time. From the environment: COUNT (20), NCU (ncu), DEVICE (cuda:0), CACHE (session-cache), TEMPLATES
(.: where they lie), SECONDS (0.5 a kernel).
"""
import csv
import datetime
import json
import math
import os
import statistics
import subprocess
import sys

COUNT = int(os.environ.get("COUNT", "20"))
SECONDS = float(os.environ.get("SECONDS", "0.5"))
WORK = "durations-work"
SKIPPED, TIMED = 12, 16  # launches under ncu: verification and warm-up; what is timed
SETTLED = 0.4  # of our time on a kernel is over when its clock is read
ALLOWED_RATIO, ALLOWED_US = 0.02, 0.5
DURATION, CYCLES, SMEM = "gpu__time_duration.sum", "gpc__cycles_elapsed.max", "launch__shared_mem_per_block_dynamic"


def winners(paths):
    """{launch: (time in us, comparison)} of each winner of one launch."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)["entries"]
        for entry in entries:
            winner = entry["winner"]
            if len(winner.get("launches", [])) != 1:
                continue
            launch = winner["launches"][0]
            key = (launch["entry"], tuple(launch["grid"]), tuple(launch["block"]), launch["smem_dynamic_bytes"])
            row = {"name": "winner", "family": winner["family"], "configuration": winner["configuration"]}
            one = {"operation": entry["operation"], "problem": entry["problem"], "rows": [row]}
            found.setdefault(key, (winner["time_us"]["median"], one))
    return found


def chosen(found):
    """COUNT of them, nearest to evenly spaced points of log time: [(launch, comparison)], by time."""
    low, high = (math.log(which(time for time, _ in found.values())) for which in (min, max))
    rest, answer = dict(found), []
    for i in range(min(COUNT, len(found))):
        point = low + (high - low) * i / max(1, COUNT - 1)
        key = min(rest, key=lambda item: abs(math.log(rest[item][0]) - point))
        answer.append((key, *rest.pop(key)))
    return [(key, one) for key, time, one in sorted(answer, key=lambda item: item[1])]


def run_rows(comparisons, seconds, before=()):
    path = f"{WORK}/comparisons.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"seconds": seconds, "loads": 1, "comparisons": comparisons}, file)
    result = subprocess.run([*before, "./gpu/compare_rows", path, "--device", os.environ.get("DEVICE", "cuda:0"),
        "--cache-dir", os.environ.get("CACHE", "session-cache"), "--path", os.environ.get("TEMPLATES", ".")],
        capture_output=True, text=True, check=False)
    # under ncu, ncu's own lines come first
    try:
        return json.loads(result.stdout[result.stdout.index("{"):])
    except ValueError:
        sys.exit(f"compare_rows ended with {result.returncode}: {result.stdout[-1000:]}{result.stderr[-2000:]}")


def timed_with_clocks(comparisons):
    """Our answers, and the clock in MHz while each was timed."""
    with subprocess.Popen(["nvidia-smi", "--query-gpu=timestamp,clocks.sm,power.draw.instant",
            "--format=csv,noheader,nounits", "--loop-ms=20"], stdout=subprocess.PIPE, text=True) as process:
        answer = run_rows(comparisons, SECONDS)
        process.terminate()
        lines = [line.split(",") for line in process.stdout.read().splitlines() if line.count(",") == 2]
    readings = [(datetime.datetime.strptime(at.strip(), "%Y/%m/%d %H:%M:%S.%f").timestamp(), float(clock), float(power))
        for at, clock, power in lines]
    for one in answer["comparisons"]:
        begin = one["from_s"] + SETTLED * (one["to_s"] - one["from_s"])
        there = [(clock, power) for at, clock, power in readings if begin <= at <= one["to_s"]]
        one["clock_mhz"], one["power_w"] = (statistics.fmean(values) for values in zip(*there)) if there else (0, 0)
    return answer


def under_ncu(comparisons, names):
    """{launch: [(microseconds, cycles)]} of the launches that ncu timed."""
    log = f"{WORK}/ncu.csv"
    run_rows(comparisons, 0.02, [os.environ.get("NCU", "ncu"), "--target-processes", "all", "--clock-control", "none",
        "--cache-control", "none", "--kernel-name", f"regex:^({'|'.join(sorted(names))})$",
        "--filter-mode", "per-launch-config", "--launch-skip", str(SKIPPED), "--launch-count", str(TIMED),
        "--metrics", f"{DURATION},{CYCLES},{SMEM}", "--page", "raw", "--print-units", "base", "--csv", "--log-file", log])
    kernels = {}
    with open(log, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line.startswith('"')))
    for row in rows[1:]:  # the first one has the units
        grid, block = (tuple(int(n) for n in row[name].strip("()").split(",")) for name in ("Grid Size", "Block Size"))
        duration, cycles, smem = (float(row[name].replace(",", "")) for name in (DURATION, CYCLES, SMEM))
        kernels.setdefault((row["Kernel Name"].split("(")[0], grid, block, int(smem)), []).append((duration / 1e3, cycles))
    return kernels


def compared(one, launches):
    ours_us, clock_mhz = one["rows"][0]["time_us"], one["clock_mhz"]
    ncu_us = statistics.median(us for us, _ in launches)
    ncu_mhz = statistics.median(cycles / us for us, cycles in launches)
    at_clock_us = ours_us * clock_mhz / ncu_mhz

    def within(us):
        return abs(us - ncu_us) <= max(ALLOWED_RATIO * ncu_us, ALLOWED_US)

    return {"operation": one["operation"], "problem": one["problem"], "family": one["rows"][0]["family"],
        "configuration": one["rows"][0]["configuration"], "time_us": ours_us, "clock_mhz": round(clock_mhz, 1),
        "power_w": round(one["power_w"], 1), "ncu_us": ncu_us, "ncu_low_us": min(us for us, _ in launches),
        "ncu_high_us": max(us for us, _ in launches), "ncu_mhz": round(ncu_mhz, 1), "ncu_launches": len(launches),
        "at_ncu_clock_us": round(at_clock_us, 3), "within": within(ours_us), "within_at_ncu_clock": within(at_clock_us)}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.makedirs(WORK, exist_ok=True)
    kernels = chosen(winners(sys.argv[2:]))
    profiled = under_ncu([one for _, one in kernels], {key[0] for key, _ in kernels})
    answer = timed_with_clocks([one for _, one in kernels])
    rows = []
    for (key, _), one in zip(kernels, answer["comparisons"]):
        wrong = one.get("error") or one["rows"][0].get("wrong")
        if wrong or key not in profiled:
            print(f"{one['problem']}: {wrong or 'ncu saw no such launch'}")
            continue
        row = compared(one, profiled[key])
        rows.append(row)
        print(f"{row['time_us']:10.2f} us at {row['clock_mhz']:4.0f} MHz {row['power_w']:3.0f} W, ncu {row['ncu_us']:10.2f} "
            f"({row['ncu_low_us']:.2f} to {row['ncu_high_us']:.2f}) at {row['ncu_mhz']:4.0f} MHz, over ncu "
            f"{row['time_us'] / row['ncu_us']:.3f}{' ' if row['within'] else '!'}, at its clock "
            f"{row['at_ncu_clock_us'] / row['ncu_us']:.3f}{' ' if row['within_at_ncu_clock'] else '!'}  "
            f"{row['family']} {row['problem'].split(',b_')[0]}", flush=True)
    either = sum(row["within"] or row["within_at_ncu_clock"] for row in rows)
    print(f"{len(rows)} kernels: within {ALLOWED_RATIO:.0%} or {ALLOWED_US} us {sum(row['within'] for row in rows)}, at ncu's "
        f"clock {sum(row['within_at_ncu_clock'] for row in rows)}, one or the other {either}")
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"format": "tiletune.durations/1", "device": answer["device"], "run": answer["run"],
            "allowed": {"ratio": ALLOWED_RATIO, "us": ALLOWED_US}, "kernels": rows}, file, indent="\t")
        file.write("\n")


if __name__ == "__main__":
    main()
