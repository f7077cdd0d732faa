#!/usr/bin/env python3
"""Does `tiletune check` find what is slower on a real GPU, and nothing else?

    check.py OUTPUT.json        in the folder of `make dist TESTS=1`; sh tests/gpu/check.sh starts it

Four kernels are the baseline. Copies of the templates make them slower by known parts: every thread
spins for some cycles before it begins. How many cycles are 5% or 3% is found by timing old and new
binary in turn. Then each experiment is a row of checks, each a process of its own, and what they say
is counted. From the environment: DEVICE (cuda:0), COUNT (50; of 3% COUNT_THREE, 25; with
kept binaries COUNT_KEPT, 20), BUDGET (0.5s),
LIMIT (seconds for all, 330), STEPS (4, of the search for the cycles).
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

DEVICE = os.environ.get("DEVICE", "cuda:0")
COUNT = int(os.environ.get("COUNT", "50"))
COUNT_THREE = min(COUNT, int(os.environ.get("COUNT_THREE", "25")))
COUNT_KEPT = min(COUNT, int(os.environ.get("COUNT_KEPT", "20")))
BUDGET = os.environ.get("BUDGET", "0.5s")
LIMIT = float(os.environ.get("LIMIT", "330"))
STEPS = int(os.environ.get("STEPS", "4"))
STARTED = time.monotonic()
WORK = "check-work"
TUNED = "results/nvidia-h200/tuned.json"
# Of the committed file, by M, N, K, dtype; attention is tuned here.
CHOSEN = [(8192, 8192, 8192, "bf16"), (1024, 1024, 1024, "bf16"), (2048, 2048, 2048, "fp32")]
ATTENTION = "batch=2,heads=16,seq_q=2048,seq_k=2048,head_dim=128,dtype=bf16"
SPIN = """
	{
		long long spin_begin = clock64();
		while (clock64() - spin_begin < SPIN_CYCLES) {
		}
	}
"""


def run(arguments, check=True, limit=90):
    command = ["./tiletune"] + arguments + ["--device", DEVICE, "--cache-dir", "session-cache"]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    if check and done.returncode not in (0, 3, 4):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done, time.monotonic() - begin


def checked(baseline, templates, *more):
    """One check: (exit code, seconds, answer)."""
    done, seconds = run(["check", baseline, "--json", "--path", templates, "--path", "."] + list(more))
    return done.returncode, seconds, json.loads(done.stdout)


def make_baseline():
    with open(TUNED, encoding="utf-8") as file:
        tuned = json.load(file)
    keys = ("M", "N", "K", "dtype")
    tuned["entries"] = [e for e in tuned["entries"] if tuple(e["problem"][k] for k in keys) in CHOSEN]
    assert len(tuned["entries"]) == len(CHOSEN), "the tuned file has all of them"
    base = f"{WORK}/base.json"
    with open(base, "w", encoding="utf-8") as file:
        json.dump(tuned, file)
    tune = ["tune", "attention", "-p", ATTENTION, "--family", "flash_mma", "--evaluations", "12"]
    run(tune + ["--no-journal", "--path", ".", "-o", base])
    # whatever the times of the committed file: those of this GPU and this hour are the baseline
    update = ["check", base, "--path", ".", "--budget", "2s", "--threshold", "1000%", "--update", "--keep-cubins"]
    done, _ = run(update)
    if "kept the cubins of 4" not in done.stdout:
        sys.exit("no baseline:\n" + done.stdout + done.stderr)
    shutil.copy(base, f"{WORK}/plain.json")  # beside no binaries
    with open(base, encoding="utf-8") as file:
        return json.load(file)


def name_of(entry):
    problem = entry["problem"]
    if entry["operation"] == "gemm":
        return f"gemm {problem['M']}x{problem['N']}x{problem['K']} {problem['dtype']}"
    return f"attention {problem['seq_q']}x{problem['head_dim']} {problem['dtype']}"


class Kernel:
    """An entry of the baseline, and where its kernel's body begins."""

    def __init__(self, entry):
        winner = entry["winner"]
        self.name = name_of(entry)
        self.entry = entry
        self.source = f"templates/{winner['family']}.cu"
        self.time_us = entry["check"]["time_us"]
        configuration = winner["configuration"]
        # two entries may share a source: their tiles tell them apart
        self.condition = " && ".join(f"{key} == {configuration[key]}" for key in ("BM", "BN"))
        self.cycles = {}
        self.ratio = {}

    def answer(self):
        winner = self.entry["winner"]
        return {
            "name": self.name,
            "operation": self.entry["operation"],
            "problem": self.entry["problem"],
            "family": winner["family"],
            "configuration": winner["configuration"],
            "time_us": self.time_us,
            "slowed": [
                {"part": part, "cycles": round(self.cycles[part]), "ratio": self.ratio[part]}
                for part in sorted(self.cycles)
            ],
        }


def make_templates(folder, kernels, cycles):
    """A copy of the templates whose kernels spin for cycles[name], or have another binary only."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for part in ("templates", "configs"):
        shutil.copytree(part, f"{folder}/{part}")
    for source in {kernel.source for kernel in kernels}:
        path = f"{folder}/{source}"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if cycles is None:
            text += '\nextern "C" __global__ void nobody_calls_this() {}\n'
        else:
            conditions = "".join(
                f"#if {kernel.condition}\n#define SPIN_CYCLES {round(cycles[kernel.name])}\n#endif\n"
                for kernel in kernels
                if kernel.source == source
            )
            entry = {k.entry["winner"]["launches"][0]["entry"] for k in kernels if k.source == source}.pop()
            begin = re.search(r'extern "C" __global__[^;{]*\b' + entry + r"\([^{]*\)\n\{\n", text)
            text = text[: begin.end()] + "#ifdef SPIN_CYCLES" + SPIN + "#endif\n" + text[begin.end() :]
            text = text[: begin.start()] + conditions + text[begin.start() :]
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def measure_ratios(folder, budget):
    """Old and new binary in turn, for longer than a check takes: {name: slowdown}."""
    _, _, answer = checked(f"{WORK}/base.json", folder, "--budget", budget, "--threshold", "0.5%")
    return {name_of(e): e["slowdown"] for e in answer["entries"]}


def calibrate(kernels, part):
    """The cycles that make each kernel slower by this part."""
    folder = f"{WORK}/slow-{part}"
    cycles = {k.name: k.cycles.get(0.05, k.time_us * 1700 * 0.05) * part / 0.05 for k in kernels}
    for step in range(STEPS):
        make_templates(folder, kernels, cycles)
        ratios = measure_ratios(folder, "1s" if step == 0 else "2s")
        off = max(abs(ratios[k.name]["ratio"] - 1 - part) for k in kernels)
        if off < 0.0015 or step + 1 == STEPS:
            break
        for kernel in kernels:
            measured = max(ratios[kernel.name]["ratio"] - 1, part / 5)
            cycles[kernel.name] *= part / measured
    for kernel in kernels:
        kernel.cycles[part] = cycles[kernel.name]
        kernel.ratio[part] = ratios[kernel.name]
        print(f"{kernel.name:28} {kernel.time_us:9.2f} us  slowed: {ratios[kernel.name]['ratio']:.4f}", flush=True)
    return folder


def experiment(title, baseline, templates, count):
    checks = []
    while len(checks) < count and time.monotonic() - STARTED < LIMIT:
        checks.append(checked(f"{WORK}/{baseline}", templates, "--budget", BUDGET))
    if not checks:
        return {"title": title, "checks": 0}
    codes = [code for code, _, _ in checks]
    seconds = [second for _, second, _ in checks]
    entries = []
    for i, first in enumerate(checks[0][2]["entries"]):
        rows = [answer["entries"][i] for _, _, answer in checks]
        slowdowns = [row["slowdown"] for row in rows if "slowdown" in row]
        ratios = [slowdown["ratio"] for slowdown in slowdowns]
        verdicts = [row["verdict"] for row in rows]
        entries.append(
            {
                "name": name_of(first),
                "verdicts": {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
                "ratio_median": round(statistics.median(ratios), 5),
                "ratio_least": round(min(ratios), 5),
                "ratio_most": round(max(ratios), 5),
                "ratio_deviation": round(statistics.pstdev(ratios), 5),
                "half_interval_median": round(
                    statistics.median((s["high"] - s["low"]) / 2 for s in slowdowns), 5
                ),
                "blocks_median": statistics.median(s["blocks"] for s in slowdowns),
                "against": slowdowns[0]["against"],
                "floor_ratio": slowdowns[0]["floor_ratio"],
                "ratios": [round(ratio, 5) for ratio in ratios],
                "reasons_not_usual": [
                    row["reason"] for row in rows if verdicts.count(row["verdict"]) * 2 < len(rows)
                ],
            }
        )
    all_slower = sum(all(e["verdict"] == "slower" for e in a["entries"]) for _, _, a in checks)
    none_slower = sum(all(e["verdict"] != "slower" for e in a["entries"]) for _, _, a in checks)
    answer = {
        "title": title,
        "checks": len(checks),
        "checks_with_all_slower": all_slower,
        "checks_with_none_slower": none_slower,
        "exit_codes": {str(code): codes.count(code) for code in sorted(set(codes))},
        "seconds_median": round(statistics.median(seconds), 3),
        "seconds_most": round(max(seconds), 3),
        "entries": entries,
    }
    print(
        f"{title}: {len(checks)} checks, exit codes {answer['exit_codes']}, all slower {all_slower}, "
        f"none slower {none_slower}, {answer['seconds_median']} s each, at most {answer['seconds_most']} s",
        flush=True,
    )
    for entry in entries:
        print(
            f"    {entry['name']:28} {entry['verdicts']}  {entry['ratio_median']:.4f} "
            f"({entry['ratio_least']:.4f}..{entry['ratio_most']:.4f})  +-{entry['half_interval_median']:.4f}",
            flush=True,
        )
    return answer


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    baseline = make_baseline()
    kernels = [Kernel(entry) for entry in baseline["entries"]]
    run_id = baseline["entries"][0]["run"]
    touched = f"{WORK}/touched"
    make_templates(touched, kernels, None)
    experiments = []

    def save():
        result = {
            "what": "checks of four kernels: unchanged, slowed by 5%, slowed by 3%",
            "command": "sh tests/gpu/check.sh " + os.path.basename(sys.argv[1]),
            "run": next(run for run in baseline["runs"] if run["id"] == run_id),
            "device": baseline["device"],
            "threshold": "5%",
            "confidence": "99%",
            "budget": BUDGET,
            "kernels": [kernel.answer() for kernel in kernels],
            "experiments": experiments,
        }
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            json.dump(result, file, indent="\t")
            file.write("\n")

    def one(kind, title, beside_kept, templates, count):
        if time.monotonic() - STARTED < LIMIT:
            file = "base.json" if beside_kept else "plain.json"
            experiments.append({"kind": kind} | experiment(title, file, templates, count))
            save()

    slow5 = calibrate(kernels, 0.05)
    one("unchanged", "unchanged, against stored times", False, ".", COUNT)
    one("5%", "slowed by 5%, against stored times", False, slow5, COUNT)
    if time.monotonic() - STARTED < LIMIT:
        slow3 = calibrate(kernels, 0.03)
        one("3%", "slowed by 3%, against stored times", False, slow3, COUNT_THREE)
    one("unchanged", "another binary of the same speed, beside the kept ones", True, touched, COUNT_KEPT)
    one("5%", "slowed by 5%, beside the kept binaries", True, slow5, COUNT_KEPT)
    if 0.03 in kernels[0].cycles:
        one("3%", "slowed by 3%, beside the kept binaries", True, slow3, COUNT_KEPT)
    false_alarms = sum(e["checks"] - e["checks_with_none_slower"] for e in experiments if e["kind"] == "unchanged")
    missed = sum(e["checks"] - e["checks_with_all_slower"] for e in experiments if e["kind"] == "5%")
    print(f"{false_alarms} false regressions, {missed} missed of 5%, {time.monotonic() - STARTED:.0f} s")
    sys.exit(1 if false_alarms or missed else 0)


if __name__ == "__main__":
    main()
