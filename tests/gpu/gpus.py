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


def lines(folder, name, event):
    path = os.path.join(folder, name + ".journal.jsonl")
    found = [json.loads(line) for line in open(path)] if os.path.exists(path) else []
    return [line for line in found if line["event"] == event]


def table(folder):
    one = max([line["elapsed_s"] for line in lines(folder, "one", "finish")], default=0)
    for name in ("one", "many", "warm", "killed"):
        ends = lines(folder, name, "finish")
        if not ends:
            continue
        elapsed = max(end["elapsed_s"] for end in ends)
        busy = " ".join(f"{end['device_s'] / elapsed:.0%}" for end in ends)
        compiled = max(end["compile_s"] for end in ends) / elapsed / ends[0]["workers"]
        tuned = entries(folder, name)
        cpu = os.path.join(folder, name + ".cpu")
        own = sum(map(int, open(cpu).read().split())) / 100 if os.path.exists(cpu) else float("nan")
        print(f"{name:7} {len(tuned)} problems, {len(ends)} GPUs: {elapsed:.1f} s" +
              (f", {one / elapsed:.2f} times as fast as one" if one and name != "one" else "") +
              f"; GPUs busy {busy}; {ends[0]['workers']} compilers busy {compiled:.0%}; the tuner itself {own:.1f} s")
    path = os.path.join(folder, "compared.json")
    if not os.path.exists(path) or not os.path.getsize(path):
        return
    ratios = {}
    for comparison in json.load(open(path))["comparisons"]:
        rows = comparison.get("rows", [])
        if len(rows) == 2 and "over_first" in rows[1]:
            ratios.setdefault(rows[1]["name"], []).append(rows[1]["over_first"]["value"])
    for name, values in ratios.items():
        same = sum(kernel(entry) == kernel(entries(folder, "one")[problem])
                   for problem, entry in entries(folder, name).items() if problem in entries(folder, "one"))
        print(f"{name}: {same} winners are one GPU's; of {len(values)} others timed in turn "
              f"{sum(abs(v - 1) <= LIMIT for v in values)} are within 2%: " + " ".join(f"{v:.3f}" for v in sorted(values)))
    print(f"killed: {sum(1 for _ in open(os.path.join(folder, 'kills')))} workers" if
          os.path.exists(os.path.join(folder, "kills")) else "")


{"pairs": pairs, "table": table}[sys.argv[1]](sys.argv[2])
