#!/usr/bin/env python3
"""What gpus.sh measured.

	gpus.py pairs FOLDER	problems of which two runs have other winners, for compare_rows
	gpus.py summary FOLDER	times, how busy GPUs, compilers and the tuner were, winners beside the one GPU's:
				results/*/several_gpus.json (tiletune.several_gpus/1)
	gpus.py table FILE	what that says, in words"""
import json
import os
import sys

SECONDS = 0.3
LIMIT = 0.02
RUNS = ("one", "many", "ahead", "warm", "killed")
COMPARED = RUNS[1:]


def entries(folder, name):
    path = os.path.join(folder, name + ".json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {json.dumps(entry["problem"]): entry for entry in json.load(file)["entries"]}


def kernel(entry):
    return entry["winner"]["family"], json.dumps(entry["winner"]["configuration"])


def pairs(folder):
    one, comparisons = entries(folder, "one"), []
    for name in COMPARED:
        for problem, entry in entries(folder, name).items():
            if problem not in one or kernel(one[problem]) == kernel(entry):
                continue
            rows = [{"name": run, "family": row["family"], "configuration": row["configuration"]}
                    for run, row in (("one", one[problem]["winner"]), (name, entry["winner"]))]
            comparisons.append({"operation": entry["operation"], "problem": entry["problem"], "rows": rows})
    json.dump({"seconds": SECONDS, "loads": 2, "comparisons": comparisons}, sys.stdout, indent=1)


def journal(folder, name):
    path = os.path.join(folder, name + ".journal.jsonl")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [line for line in map(json.loads, file) if line["event"] in ("run", "finish")]


def words(folder, name):
    """Of a small file that gpus.sh leaves; none: it left none."""
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.read().split()


def run_of(folder, name, lines):
    ends = [line for line in lines if line["event"] == "finish"]
    run = {"problems": len(entries(folder, name)), "elapsed_s": max(end["elapsed_s"] for end in ends),
           "gpus_busy_s": [end["device_s"] for end in ends], "compilers": ends[0]["workers"],
           "compilers_busy_s": max(end["compile_s"] for end in ends)}
    cpu = words(folder, name + ".cpu")
    return {**run, **({"tuner_cpu_s": sum(map(int, cpu)) / 100} if cpu else {})}


def over_one(folder):
    """Times of winners that are not the one GPU's, timed in turn on one GPU, over those."""
    path = os.path.join(folder, "compared.json")
    ratios = {}
    if os.path.exists(path) and os.path.getsize(path):
        with open(path, encoding="utf-8") as file:
            for comparison in json.load(file)["comparisons"]:
                rows = comparison.get("rows", [])
                if len(rows) == 2 and "over_first" in rows[1]:
                    ratios.setdefault(rows[1]["name"], []).append(rows[1]["over_first"]["value"])
    return ratios


def beside_one(folder, name, ratios):
    one, other = entries(folder, "one"), entries(folder, name)
    return {"same_problems": one.keys() == other.keys(),
            "same_winner": sum(problem in one and kernel(entry) == kernel(one[problem]) for problem, entry in other.items()),
            "over_one": sorted(ratios.get(name, []))}


def summary(folder):
    journals = {name: journal(folder, name) for name in RUNS}
    runs = {name: run_of(folder, name, lines) for name, lines in journals.items() if any(line["event"] == "finish" for line in lines)}
    if not runs:
        sys.exit("no run was finished")
    first = next(line for line in journals[next(iter(runs))] if line["event"] == "run")
    ratios = over_one(folder)
    document = {"format": "tiletune.several_gpus/1", "command": first["command"], "date": first["date"], "commit": first["tiletune"]["commit"],
                "device": first["device"]["name"], "driver": first["driver"], "nvrtc": first["nvrtc"], "runs": runs,
                "beside_one": {name: beside_one(folder, name, ratios) for name in COMPARED if name in runs and "one" in runs}}
    if "killed" in runs:
        document["workers_killed"] = len(words(folder, "kills")) // 2
    json.dump(document, sys.stdout, indent="\t")
    print()


def busy(run):
    """What each was busy for, of the time that there was."""
    shares = {"GPUs": sum(run["gpus_busy_s"]) / len(run["gpus_busy_s"]), "compilers": run["compilers_busy_s"] / run["compilers"]}
    return {what: seconds / run["elapsed_s"] for what, seconds in shares.items()}


def table(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    runs = document["runs"]
    one = runs.get("one")
    for name in RUNS:
        if name not in runs:
            print(f"{name:7} was not finished")
            continue
        run, shares = runs[name], busy(runs[name])
        each = " ".join(f"{seconds / run['elapsed_s']:.0%}" for seconds in run["gpus_busy_s"])
        print(f"{name:7} {run['problems']} problems, {len(run['gpus_busy_s'])} GPUs: {run['elapsed_s']:.1f} s" +
              (f", {one['elapsed_s'] / run['elapsed_s']:.2f} times as fast as one" if one and run is not one else "") +
              f"; GPUs busy {each}, {run['compilers']} compilers {shares['compilers']:.0%}" +
              (f", the tuner itself, all threads, {run['tuner_cpu_s']:.1f} s of processor time" if "tuner_cpu_s" in run else "") +
              f": {max(shares, key=shares.get)} are busiest")
    whole = "warm" if "warm" in runs else "many" if "many" in runs else "one"
    if "killed" in runs and whole in runs:
        print(f"killed: {document['workers_killed']} workers, {runs['killed']['elapsed_s'] / runs[whole]['elapsed_s']:.2f} times the time of "
              f"{whole}; the same problems: {document['beside_one'].get('killed', {}).get('same_problems')}")
    for name, beside in document["beside_one"].items():
        values = beside["over_one"]
        print(f"{name}: {beside['same_winner']} of {runs[name]['problems']} winners are one GPU's; of {len(values)} others timed in turn "
              f"{sum(abs(value - 1) <= LIMIT for value in values)} are within 2%: " + " ".join(f"{value:.3f}" for value in values))


{"pairs": pairs, "summary": summary, "table": table}[sys.argv[1]](sys.argv[2])
