#!/usr/bin/env python3
"""Plain bf16 products that nobody tuned for (tests/gpu/plain.sh).

    plain.py suite KIND > SUITE.json           aligned: 60, odd: 20, few: 10, drawn with SEED
    plain.py cases N VERSUS.json...            the N worst, as cases of profile.sh
    plain.py summary VERSUS.json...            beside what each kind must reach; exit 1 where one is missed

aligned: M 1 to 16384, N and K 512 to 16384, multiples of 8, all evenly in the logarithm, at most 1.2 TFLOP (2 ms). odd: M, N, K
evenly in 500 to 8000, K odd. few: the same with M below 256. From the environment: SEED (20261123), PART (1/1), which
share of the drawn ones; for tests COUNT, how many, and SMALL=1, sizes that take no time anywhere.
"""
import json
import math
import os
import random
import sys

SEED = int(os.environ.get("SEED", "20261123"))
COUNTS = {"aligned": 60, "odd": 20, "few": 10}
# geometric mean, lowest
WANTED = {"aligned": (1.01, 0.95), "odd": (4.0, 2.5), "few": (None, 1.0)}
FLOP_MAX = 1.2e12


def log_uniform(source, low, high):
    return math.exp(source.uniform(math.log(low), math.log(high)))


def draw(source, kind):
    scale = 32 if os.environ.get("SMALL") else 1
    while True:
        if kind == "aligned":
            m = round(log_uniform(source, 1, 16384 / scale))
            n, k = (8 * round(log_uniform(source, 512 / scale, 16384 / scale) / 8) for _ in range(2))
        else:
            m = source.randint(1, 255) if kind == "few" else source.randint(500 // scale, 8000 // scale)
            n, k = source.randint(500 // scale, 8000 // scale), 2 * source.randint(250 // scale, 3999 // scale) + 1
        if 2 * m * n * k <= FLOP_MAX:
            return f"M={m},N={n},K={k},dtype=bf16"


def suite(kind):
    source = random.Random(f"{SEED} {kind}")
    problems = [draw(source, kind) for _ in range(int(os.environ.get("COUNT", COUNTS[kind])))]
    index, parts = (int(number) for number in os.environ.get("PART", "1/1").split("/"))
    return {"format": "tiletune.suite/1", "name": kind, "summary": f"plain products drawn with seed {SEED}, part {index} of {parts}",
            "operation": "gemm", "effort": "quick", "problems": problems[index - 1::parts]}


def entries(paths):
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            found.update((entry["problem"], entry) for entry in json.load(file)["entries"] if "ratio" in entry)
    return list(found.values())


def kind_of(entry):
    sizes = dict(item.split("=") for item in entry["problem"].split(","))
    return "aligned" if int(sizes["K"]) % 8 == 0 else "few" if int(sizes["M"]) < 256 else "odd"


def cases(count, paths):
    worst = sorted(entries(paths), key=lambda entry: entry["ratio"]["median"])[:count]
    for number, entry in enumerate(worst):
        print(f"worst-{number + 1}|{paths[0]}|{entry['problem']}|")


def summary(paths):
    """A table of all shapes, the worst first, and a line for each kind."""
    missed = False
    for entry in sorted(entries(paths), key=lambda entry: entry["ratio"]["median"]):
        sizes = ",".join(entry["problem"].split(",")[:3])
        print(f"{entry['ratio']['median']:7.3f} {kind_of(entry):8} {sizes:28} {entry['ours_tflops']:7.1f} {entry['cublaslt_best_tflops']:7.1f}"
              f"  {entry['family']} {{{entry['configuration']}}}{'' if entry['agrees'] else '  DIFFERS'}")
        missed |= not entry["agrees"]
    for kind, (wanted_mean, wanted_lowest) in WANTED.items():
        ratios = [entry["ratio"]["median"] for entry in entries(paths) if kind_of(entry) == kind]
        if not ratios:
            continue
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        bad = (wanted_mean is not None and mean < wanted_mean) or min(ratios) < wanted_lowest
        print(f"{kind}: {len(ratios)} of {COUNTS[kind]} shapes, geometric mean {mean:.3f}, lowest {min(ratios):.3f} (wanted: "
              f"{wanted_mean or 'any'}, {wanted_lowest}) {'MISSED' if bad else 'ok'}")
        missed |= bad
    return missed


def main():
    what, *arguments = sys.argv[1:]
    if what == "suite":
        print(json.dumps(suite(arguments[0]), indent=1))
    elif what == "cases":
        cases(int(arguments[0]), arguments[1:])
    else:
        sys.exit(summary(arguments))


if __name__ == "__main__":
    main()
