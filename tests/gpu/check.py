#!/usr/bin/env python3
"""Does `tiletune check` find what is slower on a real GPU, and nothing else?

    check.py OUTPUT.json        in the folder of `make dist TESTS=1`; sh tests/gpu/check.sh starts it

Four kernels are the baseline. Copies of the templates make them slower by known parts: every thread
spins for some cycles before it begins. How many cycles are 5% or 3% is found by timing old and new
binary in turn. Then each experiment is a row of checks, each a process of its own, and what they say
is counted. OUTPUT.json (tiletune.check_rates/1) is replaced after every check, so that whatever ends
this loses nothing that was finished; an experiment that was cut short has fewer checks than wanted.

From the environment: DEVICE (cuda:0), COUNT (50; of 3% COUNT_THREE, 25; with kept binaries
COUNT_KEPT, 20), BUDGET (0.5s), LIMIT (seconds for all, 330), STEPS (4, of the search for the cycles),
CACHE (session-cache), WORK (check-work), TUNED (all entries of that file, instead of the chosen ones),
ATTENTION (the problem that is tuned here; empty: none).

Exit 1: a false regression, a slowdown of 5% that was missed, a check that failed, or fewer checks of
the first two experiments than wanted.
"""
import datetime
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
CACHE = os.environ.get("CACHE", "session-cache")
WORK = os.environ.get("WORK", "check-work")
TUNED = os.environ.get("TUNED")
COMMITTED = "results/nvidia-h200/tuned.json"
# Of the committed file, by M, N, K, dtype; attention is tuned here.
CHOSEN = [(8192, 8192, 8192, "bf16"), (1024, 1024, 1024, "bf16"), (2048, 2048, 2048, "fp32")]
ATTENTION = os.environ.get("ATTENTION", "batch=2,heads=16,seq_q=2048,seq_k=2048,head_dim=128,dtype=bf16")
STARTED = time.monotonic()
ERRORS_MAX = 3
SPIN = """
	{
		long long spin_begin = clock64();
		while (clock64() - spin_begin < SPIN_CYCLES) {
		}
	}
"""


def run(arguments, limit=90):
    command = ["./tiletune"] + arguments + ["--device", DEVICE, "--cache-dir", CACHE, "--wait", "30s"]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    return done, time.monotonic() - begin


def must(arguments, limit=90):
    done, _ = run(arguments, limit)
    if done.returncode not in (0, 3, 4):
        sys.exit(f"{' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def checked(baseline, templates, *more):
    """One check: (exit code, seconds, answer)."""
    done, seconds = run(["check", baseline, "--json", "--path", templates, "--path", "."] + list(more))
    try:
        return done.returncode, seconds, json.loads(done.stdout)
    except json.JSONDecodeError:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[-300:]}") from None


def make_baseline():
    with open(TUNED or COMMITTED, encoding="utf-8") as file:
        tuned = json.load(file)
    if not TUNED:
        keys = ("M", "N", "K", "dtype")
        tuned["entries"] = [e for e in tuned["entries"] if tuple(e["problem"][k] for k in keys) in CHOSEN]
        assert len(tuned["entries"]) == len(CHOSEN), "the tuned file has all of them"
    base = f"{WORK}/base.json"
    with open(base, "w", encoding="utf-8") as file:
        json.dump(tuned, file)
    if ATTENTION:
        tune = ["tune", "attention", "-p", ATTENTION, "--family", "flash_mma", "--evaluations", "12"]
        must(tune + ["--no-journal", "--path", ".", "-o", base])
    # whatever the times of the committed file: those of this GPU and this hour are the baseline
    update = ["check", base, "--path", ".", "--threshold", "1000%", "--update", "--keep-cubins", "--budget"]
    for budget in ("2s", "4s", "8s"):  # noise may leave one unclear, and then nothing is stored
        done = must(update + [budget])
        if f"kept the cubins of {len(tuned['entries']) + bool(ATTENTION)}" in done.stdout + done.stderr:
            break
    else:
        sys.exit("no baseline:\n" + done.stdout + done.stderr)
    shutil.copy(base, f"{WORK}/plain.json")  # beside no binaries
    with open(base, encoding="utf-8") as file:
        return json.load(file)


def name_of(entry):
    problem = entry["problem"]
    if entry["operation"] == "gemm":
        return f"gemm {problem['M']}x{problem['N']}x{problem['K']} {problem['dtype']}"
    return f"{entry['operation']} {problem['seq_q']}x{problem['head_dim']} {problem['dtype']}"


class Kernel:
    """An entry of the baseline, and where its kernel's body begins."""

    def __init__(self, entry):
        winner = entry["winner"]
        self.name = name_of(entry)
        self.entry = entry
        self.source = f"templates/{winner['family']}.cu"
        self.symbol = winner["launches"][0]["entry"]
        self.time_us = entry["check"]["time_us"]
        # entries may share a source: what they are compiled with tells them apart
        self.condition = " && ".join(f"{key} == {value}" for key, value in winner["defines"].items())
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


def spinning(text, symbol, kernels, cycles):
    """The source with kernels that spin. Each cubin also has an empty kernel whose name says how long."""
    conditions = ""
    for kernel in kernels:
        count = round(cycles[kernel.name])
        conditions += (
            f"#if {kernel.condition}\n#define SPIN_CYCLES {count}\n"
            f'extern "C" __global__ void spin_cycles_{count}()\n{{\n}}\n#endif\n'
        )
    begin = re.search(r'extern "C" __global__[^;{]*\b' + symbol + r"\([^{]*\)\n\{\n", text)
    assert begin, f"no kernel {symbol} whose body can be found"
    text = text[: begin.end()] + "#ifdef SPIN_CYCLES" + SPIN + "#endif\n" + text[begin.end() :]
    return text[: begin.start()] + conditions + text[begin.start() :]


def make_templates(folder, kernels, cycles):
    """A copy of the templates whose kernels spin for cycles[name], or have another binary only."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for part in ("templates", "configs"):
        shutil.copytree(part, f"{folder}/{part}")
    for source, symbol in {(kernel.source, kernel.symbol) for kernel in kernels}:
        path = f"{folder}/{source}"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if cycles is None:
            text += '\nextern "C" __global__ void nobody_calls_this() {}\n'
        else:
            text = spinning(text, symbol, [k for k in kernels if (k.source, k.symbol) == (source, symbol)], cycles)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def measure_ratios(folder, budget):
    """Old and new binary in turn, for longer than a check takes: {name: slowdown}."""
    _, _, answer = checked(f"{WORK}/base.json", folder, "--budget", budget, "--threshold", "0.5%")
    wrong = [f"{name_of(e)}: {e['reason']}" for e in answer["entries"] if "slowdown" not in e]
    if wrong:
        sys.exit("slowed kernels do not run: " + "; ".join(wrong))
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


def entry_summary(rows):
    """What the checks of an experiment said of one kernel."""
    verdicts = [row["verdict"] for row in rows]
    answer = {
        "name": name_of(rows[0]),
        "verdicts": {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
        "reasons_not_usual": [row["reason"] for row in rows if verdicts.count(row["verdict"]) * 2 < len(rows)],
    }
    slowdowns = [row["slowdown"] for row in rows if "slowdown" in row]
    if slowdowns:
        ratios = [slowdown["ratio"] for slowdown in slowdowns]
        answer |= {
            "ratio_median": round(statistics.median(ratios), 5),
            "ratio_least": round(min(ratios), 5),
            "ratio_most": round(max(ratios), 5),
            "ratio_deviation": round(statistics.pstdev(ratios), 5),
            "half_interval_median": round(statistics.median((s["high"] - s["low"]) / 2 for s in slowdowns), 5),
            "blocks_median": statistics.median(s["blocks"] for s in slowdowns),
            "against": slowdowns[0]["against"],
            "floor_ratio": slowdowns[0]["floor_ratio"],
            "ratios": [round(ratio, 5) for ratio in ratios],
        }
    return answer


def experiment_summary(checks, errors):
    codes = [code for code, _, _ in checks]
    seconds = [second for _, second, _ in checks] or [0]
    answers = [[entry["verdict"] for entry in answer["entries"]] for _, _, answer in checks]
    return {
        "checks": len(checks),
        "checks_with_all_slower": sum(all(v == "slower" for v in verdicts) for verdicts in answers),
        "checks_with_none_slower": sum(all(v != "slower" for v in verdicts) for verdicts in answers),
        "exit_codes": {str(code): codes.count(code) for code in sorted(set(codes))},
        "errors": errors,
        "seconds_median": round(statistics.median(seconds), 3),
        "seconds_most": round(max(seconds), 3),
        "entries": [entry_summary(rows) for rows in zip(*(answer["entries"] for _, _, answer in checks))],
    }


def show(experiment):
    print(
        f"{experiment['title']}: {experiment['checks']} checks, exit codes {experiment['exit_codes']}, all slower "
        f"{experiment['checks_with_all_slower']}, none slower {experiment['checks_with_none_slower']}, "
        f"{experiment['seconds_median']} s each, at most {experiment['seconds_most']} s",
        flush=True,
    )
    for error in experiment["errors"]:
        print("    failed:", error)
    for entry in experiment["entries"]:
        ratios = ""
        if "ratio_median" in entry:
            ratios = (
                f"{entry['ratio_median']:.4f} ({entry['ratio_least']:.4f}..{entry['ratio_most']:.4f})  "
                f"+-{entry['half_interval_median']:.4f}"
            )
        print(f"    {entry['name']:28} {entry['verdicts']}  {ratios}", flush=True)


class Result:
    """The file that is written, replaced as a whole each time."""

    def __init__(self, path, baseline, kernels):
        self.path, self.baseline, self.kernels = path, baseline, kernels
        self.experiments = []
        run_id = baseline["entries"][0]["run"]
        self.run = next(run for run in baseline["runs"] if run["id"] == run_id)

    def save(self):
        result = {
            "format": "tiletune.check_rates/1",
            "what": "checks of the same kernels in a row: unchanged, slowed by 5%, slowed by 3%",
            "command": "sh tests/gpu/check.sh " + os.path.basename(self.path),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "run": self.run,
            "device": self.baseline["device"],
            "confidence": "99%",
            "budget": BUDGET,
            "kernels": [kernel.answer() for kernel in self.kernels],
            "experiments": self.experiments,
        }
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(result, file, indent="\t")
            file.write("\n")
        os.replace(self.path + ".new", self.path)

    def experiment(self, kind, title, baseline, templates, wanted, threshold="5%"):
        checks, errors = [], []
        self.experiments.append(None)
        while len(checks) < wanted and len(errors) < ERRORS_MAX and time.monotonic() - STARTED < LIMIT:
            try:
                checks.append(
                    checked(f"{WORK}/{baseline}", templates, "--budget", BUDGET, "--threshold", threshold)
                )
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                errors.append(str(error)[:400])
            self.experiments[-1] = {"kind": kind, "title": title, "threshold": threshold, "wanted": wanted}
            self.experiments[-1] |= experiment_summary(checks, errors)
            self.save()
        if self.experiments[-1]:
            show(self.experiments[-1])
        else:
            self.experiments.pop()
            print(f"{title}: no time left", flush=True)


def conclude(experiments):
    """Prints what was found; the exit code."""
    unchanged = [e for e in experiments if e["kind"] == "unchanged" and e["threshold"] == "5%"]
    slowed = [e for e in experiments if e["kind"] == "5%"]
    false_alarms = sum(e["checks"] - e["checks_with_none_slower"] for e in unchanged)
    missed = sum(e["checks"] - e["checks_with_all_slower"] for e in slowed)
    failed = sum(len(e["errors"]) + e["exit_codes"].get("1", 0) for e in experiments)
    short = [e["title"] for e in experiments if e["checks"] < e["wanted"]]
    print(
        f"{false_alarms} false regressions of {sum(e['checks'] for e in unchanged)}, {missed} missed of "
        f"{sum(e['checks'] for e in slowed)} at 5%, {failed} failed, {time.monotonic() - STARTED:.0f} s"
        + "".join(f"; cut short: {title}" for title in short)
    )
    main_ones = [e for e in (unchanged[:1] + slowed[:1]) if e["checks"] == e["wanted"]]
    return 1 if false_alarms or missed or failed or len(main_ones) < 2 else 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    baseline = make_baseline()
    kernels = [Kernel(entry) for entry in baseline["entries"]]
    result = Result(sys.argv[1], baseline, kernels)
    touched = f"{WORK}/touched"
    make_templates(touched, kernels, None)

    result.experiment("unchanged", "unchanged, against stored times", "plain.json", ".", COUNT)
    slow5 = calibrate(kernels, 0.05)
    result.experiment("5%", "slowed by 5%, against stored times", "plain.json", slow5, COUNT)
    if time.monotonic() - STARTED < LIMIT:
        slow3 = calibrate(kernels, 0.03)
        result.experiment("3%", "slowed by 3%, against stored times", "plain.json", slow3, COUNT_THREE)
    result.experiment(
        "unchanged", "another binary of the same speed, beside the kept ones", "base.json", touched, COUNT_KEPT
    )
    result.experiment("5%", "slowed by 5%, beside the kept binaries", "base.json", slow5, COUNT_KEPT)
    if 0.03 in kernels[0].cycles:
        result.experiment("3%", "slowed by 3%, beside the kept binaries", "base.json", slow3, COUNT_KEPT)
        # a threshold that finds them, and what it makes of kernels that did not change
        result.experiment(
            "3%", "slowed by 3%, threshold 3%, against stored times", "plain.json", slow3, COUNT_THREE, "3%"
        )
        result.experiment(
            "unchanged", "unchanged, threshold 3%, against stored times", "plain.json", ".", COUNT_KEPT, "3%"
        )
    result.save()
    sys.exit(conclude(result.experiments))


if __name__ == "__main__":
    main()
