#!/usr/bin/env python3
"""Our times against the hardware's: kernels from a few microseconds to twenty milliseconds, timed by
tiletune's own sampling and, in a second run, by Nsight Compute. From the folder of
`make dist TESTS=1`:

	python3 tests/gpu/durations.py OUTPUT.json TUNED.json...

Winners of one launch, evenly spread over the logarithm of their time, no two with the same launch
configuration. The same program (compare_rows) runs with and without ncu. Under ncu each launch is
apart from its neighbours, so the card never comes near its power limit and runs at its highest clock;
therefore cycles are compared: ours are the time times the clock that nvidia-smi reads meanwhile.
From the environment: COUNT (20), NCU (ncu), DEVICE (cuda:0).
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
FOLDER = "durations-work"
SECONDS = 0.4
SKIPPED, TIMED = 12, 16  # launches under ncu: verification and warm-up; what is timed
ALLOWED_RATIO, ALLOWED_US = 0.02, 0.5
METRICS = {"gpu__time_duration.sum": "ns", "gpc__cycles_elapsed.max": "cycles",
           "launch__shared_mem_per_block_dynamic": "smem"}


def launch_key(entry, grid, block, smem):
    return (entry, tuple(int(n) for n in grid), tuple(int(n) for n in block), int(smem))


def winners(paths):
    """{launch key: (time in us, race)} of each winner of one launch."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)["entries"]
        for entry in entries:
            winner = entry["winner"]
            if len(winner.get("launches", [])) != 1:
                continue
            launch = winner["launches"][0]
            key = launch_key(launch["entry"], launch["grid"], launch["block"], launch["smem_dynamic_bytes"])
            row = {"name": "winner", "family": winner["family"], "configuration": winner["configuration"]}
            race = {"operation": entry["operation"], "problem": entry["problem"], "rows": [row]}
            found.setdefault(key, (winner["time_us"]["median"], race))
    return found


def chosen(found):
    """COUNT of them, nearest to evenly spaced points of log time, each once: [(key, race)], by time."""
    low, high = (math.log(f(time for time, _ in found.values())) for f in (min, max))
    rest, answer = dict(found), []
    for i in range(min(COUNT, len(found))):
        point = low + (high - low) * i / max(1, COUNT - 1)
        key = min(rest, key=lambda item: abs(math.log(rest[item][0]) - point))
        answer.append((key, *rest.pop(key)))
    return [(key, race) for key, time, race in sorted(answer, key=lambda item: item[1])]


def run_rows(races, seconds, before=()):
    path = os.path.join(FOLDER, "races.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"seconds": seconds, "loads": 1, "races": races}, file)
    command = [*before, "./gpu/compare_rows", path, "--device", DEVICE, "--cache-dir", "session-cache"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    try:
        return json.loads(result.stdout)
    except ValueError:
        sys.exit(f"compare_rows ended with {result.returncode}: {result.stderr[:2000]}")


def timed_at_clock(race):
    """Our answer for one kernel, and the clock in MHz while it ran: of the readings with most power."""
    smi = ["nvidia-smi", "--query-gpu=clocks.sm,power.draw.instant", "--format=csv,noheader,nounits", "--loop-ms=20"]
    with subprocess.Popen(smi, stdout=subprocess.PIPE, text=True) as process:
        answer = run_rows([race], SECONDS)
        process.terminate()
        lines = [line.split(",") for line in process.stdout.read().splitlines() if line.count(",") == 1]
    readings = [(float(power), float(clock)) for clock, power in lines]
    most = max(power for power, _ in readings)
    return answer, statistics.median(clock for power, clock in readings if power > 0.9 * most)


def under_ncu(races):
    """{launch key: {"ns": [...], "cycles": [...]}} of the launches that ncu timed."""
    log = os.path.join(FOLDER, "ncu.csv")
    run_rows(races, 0.05, [
        os.environ.get("NCU", "ncu"), "--target-processes", "all", "--clock-control", "none", "--cache-control", "none",
        "--filter-mode", "per-launch-config", "--launch-skip", str(SKIPPED), "--launch-count", str(TIMED),
        "--metrics", ",".join(METRICS), "--page", "raw", "--print-units", "base", "--csv", "--log-file", log])
    kernels = {}
    with open(log, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line.startswith('"')))
    for row in rows[1:]:  # the first one has the units
        value = {short: float(row[name].replace(",", "")) for name, short in METRICS.items()}
        grid, block = (row[name].strip("()").split(",") for name in ("Grid Size", "Block Size"))
        kernel = kernels.setdefault(launch_key(row["Kernel Name"].split("(")[0], grid, block, value["smem"]), {"ns": [], "cycles": []})
        for name in kernel:
            kernel[name].append(value[name])
    return kernels


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.makedirs(FOLDER, exist_ok=True)
    kernels = chosen(winners(sys.argv[2:]))
    profiled = under_ncu([race for _, race in kernels])
    rows, run = [], None
    for key, race in kernels:
        answer, clock_mhz = timed_at_clock(race)
        timed, run = answer["races"][0], answer["run"]
        if "error" in timed or "time_us" not in timed["rows"][0] or key not in profiled:
            print(f"{timed.get('problem')}: {timed.get('error') or timed['rows'][0].get('wrong') or 'ncu saw no such launch'}")
            continue
        ours, theirs = timed["rows"][0]["time_us"], statistics.median(profiled[key]["ns"]) / 1e3
        ratio = ours * clock_mhz / statistics.median(profiled[key]["cycles"])
        within = abs(ratio - 1) <= ALLOWED_RATIO or abs(ratio - 1) * ours <= ALLOWED_US
        rows.append({"operation": timed["operation"], "problem": timed["problem"], "family": timed["rows"][0]["family"],
                     "configuration": timed["rows"][0]["configuration"], "time_us": ours, "clock_mhz": clock_mhz,
                     "ncu_us": theirs, "ncu_cycles": statistics.median(profiled[key]["cycles"]),
                     "ncu_launches": len(profiled[key]["ns"]), "cycles_ratio": round(ratio, 4), "within": within})
        print(f"{ours:10.2f} us at {clock_mhz:.0f} MHz, ncu {theirs:10.2f} us, time {ours / theirs:.3f}, cycles {ratio:.3f}"
              f"{'' if within else '  APART'}  {timed['problem'].split(',b_')[0]}", flush=True)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"format": "tiletune.durations/1", "run": run, "allowed": {"ratio": ALLOWED_RATIO, "us": ALLOWED_US},
                   "kernels": rows}, file, indent="\t")
        file.write("\n")
    print(f"{len(rows)} kernels, {sum(not row['within'] for row in rows)} further apart than {ALLOWED_RATIO:.0%} and {ALLOWED_US} us")


if __name__ == "__main__":
    main()
