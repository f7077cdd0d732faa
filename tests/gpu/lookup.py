#!/usr/bin/env python3
"""What `tiletune lookup` finds for problems that are not in a tuned file, against a fresh quick tuning.

    lookup.py problems TUNED.json > PROBLEMS           thirty, one a line, always the same ones
    lookup.py suite PROBLEMS > SUITE.json              to tune them
    lookup.py races LOOKUPS.json FRESH.json > RACES.json       looked up and fresh, for race_rows
    lookup.py summary LOOKUPS.json RESULT.json > lookup.json   what came of it

LOOKUPS.json is the answer of `tiletune lookup --json`. lookup.sh does all of it.
"""
import json
import math
import random
import statistics
import sys

SEED = 20261121
KINDS = ["bf16"] * 20 + ["fp8_e4m3"] * 6 + ["fp32"] * 4
# As far as the committed file reaches, and problems that take a millisecond or less.
M_RANGE, NK_RANGE, FLOP_MAX = (64, 8192), (512, 16384), {"bf16": 6e11, "fp8_e4m3": 6e11, "fp32": 4e10}


def log_uniform(generator, low, high):
    return math.exp(generator.uniform(math.log(low), math.log(high)))


def draw(generator, dtype):
    """Half of the rows are any number, the others whole tiles; TMA wants 16 bytes of N and K."""
    whole = generator.random() < 0.5
    m = log_uniform(generator, *M_RANGE)
    m = round(m / 64) * 64 if whole else round(m)
    step = 64 if generator.random() < 0.5 else 16
    n, k = (round(log_uniform(generator, *NK_RANGE) / step) * step for _ in range(2))
    return {"M": m, "N": n, "K": k, "dtype": dtype}


def problems(path):
    with open(path, encoding="utf-8") as file:
        known = [entry["problem"] for entry in json.load(file)["entries"]]
    generator = random.Random(SEED)
    chosen = []
    for dtype in KINDS:
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
        "summary": f"thirty GEMMs drawn with seed {SEED}",
        "operation": "gemm",
        "effort": "quick",
        "problems": lines,
    }


def row(name, result):
    return {"name": name, "family": result["family"], "configuration": result["configuration"]}


def races(lookups, fresh):
    entries = load(fresh)["entries"]
    answer = []
    for looked_up in load(lookups)["answers"]:
        if looked_up["grade"] == "refused":
            continue
        entry = next(e for e in entries if e["problem"] == looked_up["problem"])
        rows = [row("fresh", entry["winner"]), row("looked up", looked_up["result"])]
        answer.append({"operation": "gemm", "problem": looked_up["problem"], "rows": rows})
    return {"seconds": 0.25, "loads": 2, "races": answer}


def summary(lookups, result):
    answers = load(lookups)
    raced = load(result)
    rows = []
    for looked_up in answers["answers"]:
        text = ",".join(f"{key}={value}" for key, value in looked_up["problem"].items())
        race = next((r for r in raced["races"] if r["problem"] == text), None)
        item = {
            "problem": text,
            "grade": looked_up["grade"],
            "why": looked_up["why"],
            "predicted_us": looked_up.get("predicted_us"),
            "default_us": looked_up.get("default_us"),
            "expected_loss_ratio": looked_up.get("expected_loss_ratio"),
        }
        if race:
            fresh, found = race["rows"]
            item["fresh"], item["looked_up"] = fresh, found
            over = found["over_first"]
            item["reached_ratio"] = round(1 / over["value"], 5)
            item["reached_low"], item["reached_high"] = (round(1 / over[key], 5) for key in ("high", "low"))
        rows.append(item)
    reached = [item["reached_ratio"] for item in rows if "reached_ratio" in item]
    worst = min((item for item in rows if "reached_ratio" in item), key=lambda item: item["reached_ratio"])
    return {
        "what": "time of a fresh quick tuning's winner over the time of the looked-up one, interleaved",
        "command": "sh tests/gpu/lookup.sh",
        "seed": SEED,
        "run": raced["run"],
        "file": answers["file"],
        "problems": len(rows),
        "answered": len(reached),
        "reached_mean": round(statistics.mean(reached), 5),
        "reached_median": round(statistics.median(reached), 5),
        "reached_worst": worst["reached_ratio"],
        "worst_problem": worst["problem"],
        "never_predicted_worse_than_default": all(
            item["default_us"] is None or item["predicted_us"] <= item["default_us"]
            for item in rows
            if "reached_ratio" in item
        ),
        "rows": rows,
    }


COMMANDS = {"problems": problems, "suite": suite, "races": races, "summary": summary}


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    answer = COMMANDS[sys.argv[1]](*sys.argv[2:])
    print(answer if isinstance(answer, str) else json.dumps(answer, indent="\t"))


if __name__ == "__main__":
    main()
