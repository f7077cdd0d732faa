#!/usr/bin/env python3
"""One kernel as two candidates, and beside a copy that takes 3% longer: is the one pair ever called
different, and the other one found? From the folder of `make dist TESTS=1`:

	pairs.py OUTPUT.json		(tiletune.pairs/1)

Each of COUNT rounds loads three candidates of one configuration again and times them in turn, through
compare_rows: a kernel, the same kernel, and one whose threads spin before they begin. What `check`
says of the second and third beside the first (threshold 3%), and whether `tune` takes them for tied,
is counted. How many cycles are 3% is measured first.

From the environment: COUNT (25 rounds of each kernel), SECONDS (0.2 a round), DEVICE (cuda:0), CACHE
(session-cache), WORK (pairs-work), TUNED (all entries of that file, instead of the four chosen).
"""
import json
import os
import shutil
import statistics
import subprocess
import sys

from check import SPIN

COUNT = int(os.environ.get("COUNT", "25"))
SECONDS = float(os.environ.get("SECONDS", "0.2"))
DEVICE = os.environ.get("DEVICE", "cuda:0")
CACHE = os.environ.get("CACHE", "session-cache")
WORK = os.environ.get("WORK", "pairs-work")
RESULTS = "results/nvidia-h200"
# at the power limit, of a few microseconds, of CUDA cores, of mma.sync
CHOSEN = [("tuned", 8192, "bf16"), ("tuned", 1024, "bf16"), ("tuned", 2048, "fp32"), ("mma", 4096, "bf16")]
PART = 0.03
LOADS_BELOW_US, LOADS = 50, 4  # as src/check/measure.c
CYCLES_PER_US = 1700
# the stand-in driver reads from a kernel's name how long the others of its cubin spin
NAMED = """
#if SPIN_CYCLES > 0
#define SPIN_PASTE(cycles) spin_cycles_##cycles
#define SPIN_NAME(cycles) SPIN_PASTE(cycles)
extern "C" __global__ void SPIN_NAME(SPIN_CYCLES)() {}
#endif
"""
GUESSES = (0.25, 0.5, 1, 1.5, 2.5)  # of that part, if spinning added to the time as it is


def entries():
    if os.environ.get("TUNED"):
        with open(os.environ["TUNED"], encoding="utf-8") as file:
            return json.load(file)["entries"]
    found = []
    for name, size, dtype in CHOSEN:
        with open(f"{RESULTS}/{name}.json", encoding="utf-8") as file:
            found.append(next(e for e in json.load(file)["entries"]
                if [e["problem"][key] for key in ("M", "N", "K", "dtype")] == [size, size, size, dtype]))
    return found


def make_templates(folder, kernels, cycles):
    """A copy of the templates whose families have one more parameter: for how long threads spin."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for part in ("templates", "configs"):
        shutil.copytree(part, f"{folder}/{part}")
    families = {entry["winner"]["family"]: entry["winner"]["launches"][0]["entry"] for entry in kernels}
    for family, symbol in families.items():
        path = f"{folder}/templates/{family}"
        with open(path + ".json", encoding="utf-8") as file:
            description = json.load(file)
        description["parameters"]["SPIN_CYCLES"] = {"values": [0, *cycles], "help": "cycles before a thread begins"}
        description.get("defaults", {})["SPIN_CYCLES"] = 0
        description.pop("examples", None)
        with open(path + ".json", "w", encoding="utf-8") as file:
            json.dump(description, file)
        source = os.path.join(os.path.dirname(path), description["source"])
        with open(source, encoding="utf-8") as file:
            text = file.read()
        begin = text.index("\n{\n", text.index(symbol + "(", text.index('extern "C" __global__'))) + 3
        with open(source, "w", encoding="utf-8") as file:
            file.write(text[:begin] + "#if SPIN_CYCLES > 0" + SPIN + "#endif\n" + text[begin:] + NAMED)


def comparison(entry, spins, loads):
    winner = entry["winner"]
    return {"operation": entry["operation"], "problem": entry["problem"], "loads": loads, "rows": [
        {"name": f"spin {spin}", "family": winner["family"],
            "configuration": {**winner["configuration"], "SPIN_CYCLES": spin}} for spin in spins]}


def timed(comparisons, seconds, folder):
    path = f"{WORK}/comparisons.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"seconds": seconds, "loads": 1, "threshold": PART, "comparisons": comparisons}, file)
    done = subprocess.run(["./gpu/compare_rows", path, "--device", DEVICE, "--cache-dir", CACHE, "--path", folder],
        capture_output=True, text=True, check=False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"compare_rows ended with {done.returncode}: {done.stderr[:2000]}")
    for one in answer["comparisons"]:
        wrong = [one["error"]] if "error" in one else [row["wrong"] for row in one["rows"] if "wrong" in row]
        if wrong:
            sys.exit(f"{one['problem']}: {wrong[0]}")
    return answer


def ratios(answer):
    return [[row["over_first"]["value"] for row in one["rows"]] for one in answer["comparisons"]]


def cycles_wanted(guesses, found):
    """Where the slowdown is PART, between the guesses that it lies between."""
    points = sorted(zip([1.0, *found], [0, *guesses]))
    low, high = points[-2:]
    for left, right in zip(points, points[1:]):
        if left[0] - 1 <= PART <= right[0] - 1:
            low, high = left, right
            break
    return round(low[1] + (1 + PART - low[0]) / max(high[0] - low[0], 1e-6) * (high[1] - low[1]))


def calibrate(kernels):
    """Of each kernel the cycles that make it PART slower."""
    guesses = [[round(entry["winner"]["time_us"]["median"] * CYCLES_PER_US * PART * guess) for guess in GUESSES]
        for entry in kernels]
    make_templates(f"{WORK}/guessed", kernels, sorted({cycles for some in guesses for cycles in some}))
    found = ratios(timed([comparison(entry, [0, *some], 1) for entry, some in zip(kernels, guesses)], 0.6, f"{WORK}/guessed"))
    return [cycles_wanted(some, one[1:]) for some, one in zip(guesses, found)]


def summary(entry, cycles, loads, comparisons):
    same, slowed = ([one["rows"][row] for one in comparisons] for row in (1, 2))
    answer = {"problem": comparisons[0]["problem"], "family": entry["winner"]["family"],
        "configuration": comparisons[0]["rows"][0]["configuration"], "cycles": cycles, "loads": loads,
        "time_us": round(statistics.median(one["rows"][0]["time_us"] for one in comparisons), 4)}
    for name, rows in (("unchanged", same), ("slowed", slowed)):
        values = [row["over_first"]["value"] for row in rows]
        verdicts = [row["verdict"] for row in rows]
        answer[name] = {"pairs": len(rows), "verdicts": {one: verdicts.count(one) for one in sorted(set(verdicts))},
            "tied": sum(row["tied"] for row in rows), "ratio_median": round(statistics.median(values), 5),
            "ratios": [round(value, 5) for value in values]}
    return answer


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(WORK, exist_ok=True)
    kernels = entries()
    wanted = calibrate(kernels)
    make_templates(f"{WORK}/slowed", kernels, sorted(set(wanted)))
    loads = [LOADS if entry["winner"]["time_us"]["median"] < LOADS_BELOW_US else 1 for entry in kernels]
    answer = timed([comparison(entry, [0, 0, cycles], count) for _ in range(COUNT)
        for entry, cycles, count in zip(kernels, wanted, loads)], SECONDS, f"{WORK}/slowed")
    rows = [summary(entry, cycles, count, answer["comparisons"][i::len(kernels)])
        for i, (entry, cycles, count) in enumerate(zip(kernels, wanted, loads))]
    for row in rows:
        for name in ("unchanged", "slowed"):
            part = row[name]
            print(f"{row['time_us']:10.2f} us  {name:9} {part['ratio_median']:.4f} ({min(part['ratios']):.4f} to "
                f"{max(part['ratios']):.4f}) {part['verdicts']}, tied {part['tied']} of {part['pairs']}  "
                f"{row['problem'].split(',b_')[0]}")
    total = {name: {"pairs": sum(row[name]["pairs"] for row in rows),
        "different": sum(row[name]["verdicts"].get(verdict, 0) for row in rows for verdict in ("slower", "faster")),
        "not_tied": sum(row[name]["pairs"] - row[name]["tied"] for row in rows)} for name in ("unchanged", "slowed")}
    print(f"unchanged: {total['unchanged']['different']} of {total['unchanged']['pairs']} pairs called different by check, "
        f"{total['unchanged']['not_tied']} not tied for tune; slowed by {PART:.0%}: {total['slowed']['different']} of "
        f"{total['slowed']['pairs']} found by check, {total['slowed']['not_tied']} by tune")
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"format": "tiletune.pairs/1", "device": answer["device"], "run": answer["run"], "seconds": SECONDS,
            "threshold": PART, "kernels": rows, **total}, file, indent="\t")
        file.write("\n")


if __name__ == "__main__":
    main()
