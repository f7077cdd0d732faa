#!/usr/bin/env python3
"""What the tile experiment (attention_tiles.sh) says, from its tuned files and journals.

	tests/gpu/attention_tiles.py FOLDER [-o SUMMARY.json]

FOLDER holds attention_tiles_FAMILY.json and .journal.jsonl[.gz]. Per family, head_dim and length:
which tile wins, where kinds of tiles stand, pairs of tiles that differ in one thing, how times rank
with occupancy and with counts of steps, how far two published rules are from the best. Times
are the first looks of one run, which compare with each other. Needs no GPU, no packages.
"""
import argparse
import glob
import gzip
import json
import math
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import rules_of_thumb

FAMILIES = ("tiled_simt", "tiled_wmma", "flash_mma")
# (one thing, the other): above 1 the second is faster
PAIRS = (("45x90", "48x96"), ("32x64", "45x90"), ("64x64", "45x90"), ("120x120", "45x90"), ("128x128", "120x120"))


def read_journal(folder, family):
    for suffix, opener in ((".jsonl.gz", gzip.open), (".jsonl", open)):
        path = os.path.join(folder, f"attention_tiles_{family}.journal{suffix}")
        if os.path.exists(path):
            with opener(path, "rt", encoding="utf-8") as file:
                return [json.loads(line) for line in file]
    raise SystemExit(f"{folder}: expected a journal of {family}, found none")


def kind_of(bm, bn):
    if all(value & (value - 1) == 0 for value in (bm, bn)):
        return "both powers of two"
    if bm % 16 == 0 and bn % 16 == 0:
        return "multiples of 16"
    if bm % 8 == 0 and bn % 8 == 0:
        return "multiples of 8"
    return "other"


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for place in order[at:end + 1]:
            result[place] = (at + end) / 2
        at = end + 1
    return result


def spearman(xs, ys):
    """None where one of them does not vary."""
    a, b = ranks(xs), ranks(ys)
    mean = (len(xs) - 1) / 2
    over = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    under = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return round(over / under, 3) if under else None


def best_of_tiles(evaluations):
    """(BM, BN): the fastest evaluation, over other parameters."""
    tiles = {}
    for e in evaluations:
        values = dict(item.split("=") for item in e["configuration"].split(","))
        key = int(values["BM"]), int(values["BN"])
        if key not in tiles or e["time_us"]["median"] < tiles[key]["time_us"]["median"]:
            tiles[key] = e
    return tiles


def analyse(problem, evaluations, entry):
    ok = [e for e in evaluations if e["outcome"] == "ok"]
    tiles = best_of_tiles(ok)
    times = {key: e["time_us"]["median"] for key, e in tiles.items()}
    best = min(times, key=times.get)
    seq, flop = problem["seq_k"], 4 * problem["heads"] * problem["seq_q"] * problem["seq_k"] * problem["head_dim"]
    name = "{}x{}".format
    kinds = []
    for kind in ("both powers of two", "multiples of 16", "multiples of 8", "other"):
        chosen = {key: t for key, t in times.items() if kind_of(*key) == kind}
        if chosen:
            top = min(chosen, key=chosen.get)
            kinds.append({"kind": kind, "tiles": len(chosen), "best": name(*top),
                "best_over_best": round(times[best] / chosen[top], 4),
                "median_over_best": round(times[best] / statistics.median(chosen.values()), 4)})
    by_name = {name(*key): t for key, t in times.items()}
    keys = sorted(times)
    values = [times[key] for key in keys]
    score = [tiles[key]["score"] for key in keys]
    return {"tiles": len(times), "failed": len(evaluations) - len(ok),
        "stopped_early": sum(len(e["samples_us"]) <= 2 for e in ok),
        "best": {"tile": name(*best), "configuration": tiles[best]["configuration"], "time_us": times[best],
            "tflops": round(flop / times[best] * 1e-6, 2)},
        "winner_of_final": {"tile": "{BM}x{BN}".format(**entry["winner"]["configuration"]),
            "time_us": entry["winner"]["time_us"]["median"], "tflops": round(entry["winner"]["tflops"], 2)},
        "kinds": kinds,
        "pairs": [{"from": a, "to": b, "speed_ratio": round(by_name[a] / by_name[b], 3)} for a, b in PAIRS
            if a in by_name and b in by_name],
        "named": [{"tile": n, "time_us": t, "tflops": round(flop / t * 1e-6, 2), "of_best": round(times[best] / t, 4)}
            for n, t in sorted(by_name.items()) if n in
            ("45x90", "48x96", "32x64", "64x64", "120x120", "128x128", "37x37", "53x53", "97x97", "32x32")],
        "rank_correlation_with_time": {
            "predicted_time": spearman([s["predicted_time_us"] for s in score], values),
            "occupancy": spearman([s["occupancy_ratio"] for s in score], values),
            "key_iterations": spearman([math.ceil(seq / key[1]) for key in keys], values),
            "query_tiles": spearman([math.ceil(problem["seq_q"] / key[0]) for key in keys], values),
            "occupancy_per_iteration": spearman([s["occupancy_ratio"] / math.ceil(seq / key[1])
                for s, key in zip(score, keys)], values),
            "waves_unfilled": spearman([1 - s["wave_efficiency_ratio"] for s in score], values),
            "tile_in_16s": spearman([1 - key[0] * key[1] / (math.ceil(key[0] / 16) * math.ceil(key[1] / 16) * 256)
                for key in keys], values)}}, times


def geometric(ratios):
    return round(math.exp(statistics.fmean(math.log(r) for r in ratios)), 3) if ratios else None


def one_more(times):
    """Speed of a size over the nearest multiple of 16 at the same other size, geometric mean."""
    rows = []
    for axis, size, near in ((1, 97, 96), (1, 90, 96), (0, 45, 48), (0, 53, 48), (0, 37, 32), (0, 24, 32)):
        ratios = []
        for key, t in times.items():
            other = (near, key[1]) if axis == 0 else (key[0], near)
            if key[axis] == size and other in times:
                ratios.append(times[other] / t)
        if ratios:
            rows.append({"parameter": "BM" if axis == 0 else "BN", "size": size, "near": near, "pairs": len(ratios),
                "speed_ratio": geometric(ratios)})
    return rows


def provenance(events):
    run = next(e for e in events if e["event"] == "run")
    return {key: run[key] for key in ("date", "command", "tiletune", "driver", "nvrtc", "uuid", "device")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    results, runs = [], []
    for family in FAMILIES:
        path = os.path.join(options.folder, f"attention_tiles_{family}.json")
        if not glob.glob(path):
            continue
        with open(path, encoding="utf-8") as file:
            tuned = json.load(file)
        events = read_journal(options.folder, family)
        rules = rules_of_thumb.rows_of(events)
        runs.append({"family": "attention/" + family, **provenance(events)})
        for event in (e for e in events if e["event"] == "problem"):
            problem = event["problem"]
            entry = next(e for e in tuned["entries"] if e["problem"] == problem)
            evaluations = [e for e in events if e["event"] == "evaluation" and e["problem"] == event["number"]]
            row, times = analyse(problem, evaluations, entry)
            results.append({"family": "attention/" + family, "head_dim": problem["head_dim"], "seq": problem["seq_k"],
                **row, "rules": [{"rule": rule["rule"], "tile": "{BM}x{BN}".format(**rule["configuration"]),
                    "time_us": rule["time_us"], "slower_than_best": rule["slower_than_best"]}
                    for rule in rules if rule["problem"] == event["text"]],
                "one_size_changed": one_more(times)})
    for r in results:
        best = r["best"]
        others = "  ".join(f"{k['kind']} {k['best']} {k['best_over_best']:.2f}" for k in r["kinds"])
        print(f"{r['family'][10:]:11} d={r['head_dim']:<3} seq={r['seq']:<4} {r['tiles']:3} tiles, best {best['tile']:>7} "
            f"{best['tflops']:6.2f} TFLOP/s  {others}")
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump({"format": "tiletune.tiles/1", "runs": runs, "results": results}, file, indent="\t")
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
