#!/usr/bin/env python3
"""Compares `tiletune lookup` for problems that are not in a tuned file with a fresh quick tuning.

    lookup.py problems TUNED.json > PROBLEMS           thirty problems, one per line, always the same
    lookup.py suite PROBLEMS > SUITE.json              a suite for tuning them
    lookup.py comparisons LOOKUPS.json FRESH.json > COMPARISONS.json       looked-up and fresh rows, for compare_rows
    lookup.py summary LOOKUPS.json FRESH.json RESULT.json > lookup_rates.json   the results
    lookup.py show LOOKUP_RATES.json                   the worst and the mean; exit 1 below 95%

LOOKUPS.json is the answer of `tiletune lookup --json`. lookup.sh runs all steps. FRESH.json may lack problems that the tuning did not
reach; the result has their number. For tests: COUNT (30), and SMALL=1 for problems that run quickly anywhere."""
import json
import math
import os
import random
import statistics
import sys

SEED = int(os.environ.get("SEED", "20261125"))
KINDS = ["bf16"] * 20 + ["fp8_e4m3"] * 6 + ["fp32"] * 4
# the ranges of the committed file, limited to problems of at most a millisecond
if os.environ.get("SMALL"):
    M_RANGE, NK_RANGE, FLOP_MAX = (16, 128), (32, 128), {"bf16": 1e9, "fp16": 1e9, "fp8_e4m3": 1e9, "fp32": 1e9}
else:
    M_RANGE, NK_RANGE, FLOP_MAX = (64, 8192), (512, 16384), {"bf16": 6e11, "fp16": 6e11, "fp8_e4m3": 6e11, "fp32": 4e10}


def log_uniform(generator, low, high):
    return math.exp(generator.uniform(math.log(low), math.log(high)))


def draw(generator, dtype):
    """Draws a problem. Half of the values of M are arbitrary, the others whole tiles. TMA needs N and K in units of 16 bytes."""
    whole = generator.random() < 0.5
    m = log_uniform(generator, *M_RANGE)
    m = max(round(m / 64), 1) * 64 if whole else round(m)
    step = 64 if generator.random() < 0.5 and NK_RANGE[0] >= 64 else 16
    n, k = (round(log_uniform(generator, *NK_RANGE) / step) * step for _ in range(2))
    return {"M": m, "N": n, "K": k, "dtype": dtype}


def problems(path):
    with open(path, encoding="utf-8") as file:
        known = [entry["problem"] for entry in json.load(file)["entries"]]
    generator = random.Random(SEED)
    chosen = []
    for dtype in KINDS[: int(os.environ.get("COUNT", "30"))]:
        while True:
            problem = draw(generator, dtype)
            if 2 * problem["M"] * problem["N"] * problem["K"] > FLOP_MAX[dtype]:
                continue
            if any(all(other[key] == value for key, value in problem.items()) for other in known):
                continue
            chosen.append(problem)
            break
    return "\n".join(",".join(f"{key}={value}" for key, value in problem.items()) for problem in chosen)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def suite(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split()
    return {
        "format": "tiletune.suite/1",
        "name": "lookup",
        "summary": f"GEMMs drawn with seed {SEED}",
        "operation": "gemm",
        "effort": "quick",
        "problems": lines,
    }


def row(name, result):
    return {"name": name, "family": result["family"], "configuration": result["configuration"]}


def comparisons(lookups, fresh):
    entries = load(fresh)["entries"]
    answer = []
    for looked_up in load(lookups)["entries"]:
        entry = next((e for e in entries if e["problem"] == looked_up["problem"]), None)
        if not entry:
            continue
        rows = [row("fresh", entry["winner"]), row("looked up", looked_up["winner"])]
        answer.append({"operation": "gemm", "problem": looked_up["problem"], "rows": rows})
    return {"seconds": 0.25, "loads": 2, "comparisons": answer}


def compared_row(comparison):
    """Summarizes a comparison, whose first row is the fresh winner."""
    if not comparison or "rows" not in comparison:
        return {"not_compared": comparison["error"] if comparison else "no fresh tuning, or no time to compare them"}
    fresh, found = comparison["rows"]
    item = {"fresh": fresh, "looked_up": found}
    if "wrong" in found:
        return item | {"reached_ratio": 0}
    if "wrong" in fresh:
        return item | {"not_compared": "the fresh winner: " + fresh["wrong"]}
    over = found["over_first"]
    item["reached_ratio"] = round(1 / over["value"], 5)
    item["reached_low"], item["reached_high"] = (round(1 / over[key], 5) for key in ("high", "low"))
    return item


def summary(lookups, fresh, result):
    answers, tuned, timed = load(lookups), load(fresh), load(result)
    found = {json.dumps(entry["problem"]): entry["winner"]["why"] for entry in answers["entries"]}
    rows = []
    for problem in [entry["problem"] for entry in tuned["entries"]]:
        text = ",".join(f"{key}={value}" for key, value in problem.items())
        why = found.get(json.dumps(problem))
        if why is None:  # lookup refused the problem
            rows.append({"problem": text, "grade": "refused", "not_compared": "nothing was found"})
            continue
        item = {"problem": text, "grade": why["grade"], "why": why["text"]}
        for key in ("predicted_us", "default_us", "expected_loss_ratio"):
            item[key] = why.get(key)
        item |= compared_row(next((r for r in timed["comparisons"] if r["problem"] == text), None))
        rows.append(item)
    compared = [item for item in rows if "reached_ratio" in item]
    reached = [item["reached_ratio"] for item in compared]
    worst = min(compared, key=lambda item: item["reached_ratio"]) if compared else {}
    return {
        "format": "tiletune.lookup_rates/1",
        "what": "time of a fresh quick tuning's winner over the time of the looked-up one, interleaved",
        "command": "sh results/gpu/lookup.sh",
        "date": timed["run"]["date"],
        "seed": SEED,
        "run": timed["run"],
        "device": tuned["device"],
        "file": os.environ.get("TUNED", "results/nvidia-h200/tuned.json"),
        "problems": len(rows),
        "tuned": len(tuned["entries"]),
        "answered": sum(item["grade"] != "refused" for item in rows),
        "compared": len(compared),
        "reached_mean": round(statistics.mean(reached), 5) if reached else None,
        "reached_median": round(statistics.median(reached), 5) if reached else None,
        "reached_worst": worst.get("reached_ratio"),
        "worst_problem": worst.get("problem"),
        "never_predicted_worse_than_default": all(
            item["default_us"] is None or item["predicted_us"] <= item["default_us"] for item in compared
        ),
        "rows": rows,
    }


def show(path):
    answer = load(path)
    for item in sorted(answer["rows"], key=lambda item: item.get("reached_ratio", -1))[:8]:
        said = f"{item['reached_ratio']:.3f}" if "reached_ratio" in item else item["not_compared"]
        print(f"{said}  {item['problem'].split(',b_')[0]}  {item['grade']}")
    mean, worst = answer["reached_mean"] or 0, answer["reached_worst"] or 0
    print(
        f"{answer['answered']} of {answer['problems']} answered, {answer['compared']} compared; "
        f"mean {mean:.4f}, worst {worst:.4f}"
    )
    all_there = answer["compared"] == answer["answered"] > 0
    sys.exit(0 if all_there and mean >= 0.95 and answer["never_predicted_worse_than_default"] else 1)


COMMANDS = {"problems": problems, "suite": suite, "comparisons": comparisons, "summary": summary, "show": show}


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    answer = COMMANDS[sys.argv[1]](*sys.argv[2:])
    print(answer if isinstance(answer, str) else json.dumps(answer, indent="\t"))


if __name__ == "__main__":
    main()
