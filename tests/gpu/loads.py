#!/usr/bin/env python3
"""How far two loads of one binary are apart. Winners of a tuned file, from a few microseconds to a
few hundred, loaded many times in several processes and timed in turn (compare_rows).

    loads.py comparisons TUNED.json SMALL.json... > COMPARISONS.json  what compare_rows is to run: winners chosen
                                                    from the first, all of the others
    loads.py summary RESULT.json... > loads.json    its answers, one per process, as one file
"""
import json
import statistics
import sys

# M, N, K, dtype, accum: of 5, 5, 9, 20, 52 and 190 us on an H200
CHOSEN = [
    (1024, 1024, 1024, "bf16", "fast"),
    (1024, 1024, 1024, "fp8_e4m3", "promoted"),
    (128, 2112, 7168, "fp8_e4m3", "promoted"),
    (1792, 1792, 1792, "bf16", "fast"),
    (1024, 1024, 1024, "fp32", "fast"),
    (4096, 4096, 4096, "bf16", "fast"),
]
LOADS = 8


def entries_of(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["entries"]


def is_chosen(entry):
    return tuple(entry["problem"][key] for key in ("M", "N", "K", "dtype", "accum")) in CHOSEN


def comparisons(paths):
    chosen = [entry for entry in entries_of(paths[0]) if is_chosen(entry)]
    assert len(chosen) == len(CHOSEN), "the tuned file has all of them"
    for path in paths[1:]:
        chosen += entries_of(path)
    answer = []
    for entry in chosen:
        winner = entry["winner"]
        row = {"name": "winner", "family": winner["family"], "configuration": winner["configuration"]}
        answer.append({"operation": entry["operation"], "problem": entry["problem"], "rows": [row]})
    return {"seconds": 0.2, "loads": LOADS, "comparisons": answer}


def summary(paths):
    answers = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            answers.append(json.load(file))
    kernels = []
    for comparison in answers[0]["comparisons"]:
        name = comparison["problem"]
        loads = [
            other["rows"][0]["loads_us"]
            for answer in answers
            for other in answer["comparisons"]
            if other["problem"] == name and "loads_us" in other["rows"][0]
        ]
        means = [statistics.mean(process) for process in loads]
        within = statistics.mean(statistics.variance(process) for process in loads) ** 0.5
        kernels.append(
            {
                "operation": comparison["operation"],
                "problem": name,
                "family": comparison["rows"][0]["family"],
                "configuration": comparison["rows"][0]["configuration"],
                "blocks_of_the_grid": comparison["rows"][0]["grid_blocks"],
                "time_us": round(statistics.mean(means), 4),
                "deviation_between_loads_us": round(within, 4),
                "deviation_between_processes_us": round(statistics.stdev(means), 4),
                "widest_pair_of_loads_us": round(max(max(p) - min(p) for p in loads), 4),
                "loads_us": [[round(load, 4) for load in process] for process in loads],
            }
        )
    return {"format": "tiletune.loads/1", "runs": [answer["run"] for answer in answers], "loads_per_process": LOADS, "kernels": kernels}


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("comparisons", "summary"):
        sys.exit(__doc__)
    answer = comparisons(sys.argv[2:]) if sys.argv[1] == "comparisons" else summary(sys.argv[2:])
    json.dump(answer, sys.stdout, indent="\t")
    print()


if __name__ == "__main__":
    main()
