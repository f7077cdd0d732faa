#!/usr/bin/env python3
"""What gpus.sh measured.

	gpus.py pairs FOLDER	problems of which two runs have other winners, for compare_rows
	gpus.py table FOLDER	times, how busy GPUs and compilers were, winners beside the one GPU's
"""
import json
import os
import sys

SECONDS = 0.3
LIMIT = 0.02
RUNS = ("one", "many", "ahead", "warm", "killed")


def entries(folder, name):
    path = os.path.join(folder, name + ".json")
    if not os.path.exists(path):
        return {}
    return {json.dumps(entry["problem"]): entry for entry in json.load(open(path))["entries"]}


def kernel(entry):
    return entry["winner"]["family"], json.dumps(entry["winner"]["configuration"])


def pairs(folder):
    one, comparisons = entries(folder, "one"), []
    for name in ("many", "killed"):
        for problem, entry in entries(folder, name).items():
            if problem not in one or kernel(one[problem]) == kernel(entry):
                continue
            rows = [{"name": run, "family": row["family"], "configuration": row["configuration"]}
                    for run, row in (("one", one[problem]["winner"]), (name, entry["winner"]))]
            comparisons.append({"operation": entry["operation"], "problem": entry["problem"], "rows": rows})
    json.dump({"seconds": SECONDS, "loads": 2, "comparisons": comparisons}, sys.stdout, indent=1)


def finishes(folder, name):
    path = os.path.join(folder, name + ".journal.jsonl")
    found = [json.loads(line) for line in open(path)] if os.path.exists(path) else []
    return [line for line in found if line["event"] == "finish"]


def summary(folder, name):
    ends = finishes(folder, name)
    if not ends:
        return None
    elapsed = max(end["elapsed_s"] for end in ends)
    return {"elapsed": elapsed, "busy": [end["device_s"] / elapsed for end in ends], "workers": ends[0]["workers"],
            "compiled": max(end["compile_s"] for end in ends) / elapsed / ends[0]["workers"],
            "tuned": entries(folder, name)}


def table(folder):
    runs = {name: summary(folder, name) for name in RUNS}
    one = runs["one"]
    for name, run in runs.items():
        if not run:
            print(f"{name:7} was not finished")
            continue
        cpu = os.path.join(folder, name + ".cpu")
        own = sum(map(int, open(cpu).read().split())) / 100 if os.path.exists(cpu) else float("nan")
        busy = sum(run["busy"]) / len(run["busy"])
        print(f"{name:7} {len(run['tuned'])} problems, {len(run['busy'])} GPUs: {run['elapsed']:.1f} s" +
              (f", {one['elapsed'] / run['elapsed']:.2f} times as fast as one" if one and run is not one else "") +
              f"; GPUs busy {' '.join(f'{b:.0%}' for b in run['busy'])}; {run['workers']} compilers busy "
              f"{run['compiled']:.0%}: {'GPUs' if busy > run['compiled'] else 'compilers'} are the limit; "
              f"the tuner itself {own:.1f} s")
    whole, killed = runs["warm"] or one, runs["killed"]
    if whole and killed:
        kills = os.path.join(folder, "kills")
        count = sum(1 for _ in open(kills)) if os.path.exists(kills) else 0
        print(f"killed: {count} workers, {killed['elapsed'] / whole['elapsed']:.2f} times the time of "
              f"{'warm' if runs['warm'] else 'one'}; the same problems: {killed['tuned'].keys() == whole['tuned'].keys()}")
    path = os.path.join(folder, "compared.json")
    comparisons = json.load(open(path))["comparisons"] if os.path.exists(path) and os.path.getsize(path) else []
    ratios = {}
    for comparison in comparisons:
        rows = comparison.get("rows", [])
        if len(rows) == 2 and "over_first" in rows[1]:
            ratios.setdefault(rows[1]["name"], []).append(rows[1]["over_first"]["value"])
    for name in ("many", "killed"):
        if not one or not runs[name]:
            continue
        same = sum(problem in one["tuned"] and kernel(entry) == kernel(one["tuned"][problem])
                   for problem, entry in runs[name]["tuned"].items())
        values = sorted(ratios.get(name, []))
        print(f"{name}: {same} of {len(runs[name]['tuned'])} winners are one GPU's; of {len(values)} others timed in turn "
              f"{sum(abs(v - 1) <= LIMIT for v in values)} are within 2%: " + " ".join(f"{v:.3f}" for v in values))


{"pairs": pairs, "table": table}[sys.argv[1]](sys.argv[2])
