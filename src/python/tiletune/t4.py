# SPDX-License-Identifier: MIT
"""Converts results of tiletune to the formats of other tuners.

    python3 -m tiletune.t4 tuned.json -o tuned.t4.json
    python3 -m tiletune.t4 tuned.journal.jsonl -o search.t4.json
    python3 -m tiletune.t4 tuned.journal.jsonl --cache --problem M=4096 --family gemm/mma -o cache.json

T4 (github.com/odgaard/TuningSchema, results 1.0.0): a tuned file gives the best of every family, a journal every evaluation with its
samples. --cache writes a cache file of Kernel Tuner for one family and problem of a journal, which its simulation mode replays. Times
are in milliseconds in both."""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
from typing import Any, Iterator, Optional, Sequence

from .errors import Error, reading
from .files import write_file

# outcome: (T4's invalidity, Kernel Tuner's value instead of a time)
OUTCOMES = {
    "ok": ("correct", None), "too_noisy": ("correct", None), "pruned_by_model": ("constraints", "InvalidConfig"),
    "other_bits": ("constraints", "InvalidConfig"),
    **{name: ("compile", "CompilationFailedConfig") for name in ("compile_failed", "compile_crashed", "compile_timeout")},
    **{name: ("correctness", "RuntimeFailedConfig") for name in ("wrong_result", "out_of_bounds", "nondeterministic", "too_fast")},
    "timed_out": ("timeout", "RuntimeFailedConfig"),
}
RUNTIME = ("runtime", "RuntimeFailedConfig")  # launch_failed, crashed, device_lost, ...


def read_lines(path: str) -> Iterator[dict[str, Any]]:
    """Yields the lines of a journal; an incomplete one is skipped."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def read_journal(path: str) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yields run, problem and evaluation, in the order of the file."""
    run: dict[str, Any] = {}
    problems: dict[tuple[Any, Any], dict[str, Any]] = {}
    for line in read_lines(path):
        event = line.get("event")
        if event == "run":
            run = line
        elif event == "problem":
            problems[line.get("run", run.get("id")), line["number"]] = line
        elif event == "evaluation":
            yield run, problems[line.get("run", run.get("id")), line["problem"]], line
        elif event == "evaluations":
            raise Error(f"{path}: expected a journal with a line for each evaluation, found a compact one")


def numbers(configuration: str) -> dict[str, Any]:
    pairs = (item.split("=", 1) for item in configuration.split(",") if item)
    return {name: int(value) if value.lstrip("-").isdigit() else value for name, value in pairs}


def time_ms(line: dict[str, Any]) -> Optional[float]:
    """Returns the median of an evaluation, or if it has no summary the median of its samples. None if not measured."""
    if line.get("timing") == "predicted" or OUTCOMES.get(line["outcome"], RUNTIME)[0] != "correct":
        return None
    samples = line.get("samples_us")
    return milliseconds(line["time_us"]["median"] if "time_us" in line else statistics.median(samples) if samples else None)


def milliseconds(us: Any) -> Optional[float]:
    return None if us is None else us / 1e3


def measurement(name: str, value: Any, unit: str) -> list[dict[str, Any]]:
    return [] if value is None else [{"name": name, "value": value, "unit": unit}]


def result(configuration: dict[str, Any], date: Optional[str], times: dict[str, Any], invalidity: str, is_verified: bool,
        measurements: list[dict[str, Any]]) -> dict[str, Any]:
    return {**({"timestamp": date} if date else {}), "configuration": configuration, "objectives": ["time"], "times": times,
        "invalidity": invalidity, "correctness": int(is_verified), "measurements": measurements}


def of_tuned(tuned: dict[str, Any]) -> Iterator[dict[str, Any]]:
    dates = {run["id"]: run.get("date") for run in tuned["runs"]}
    for entry in tuned["entries"]:
        problem = ",".join(f"{key}={value}" for key, value in entry["problem"].items())
        is_predicted = entry["timing"] == "predicted"
        for row in [entry["winner"], *entry["families"]]:
            time = milliseconds(row["time_us"]["median"])
            yield result(
                {"operation": entry["operation"], "problem": problem, "family": row["family"], **row["configuration"]},
                dates.get(row.get("run", entry.get("run"))), {"runtimes": [] if is_predicted else [time]}, "correct",
                entry["winner"].get("errors", {}).get("verified") is True,
                measurement("predicted_time" if is_predicted else "time", time, "ms")
                + measurement("tflops", row.get("tflops"), "TFLOP/s") + measurement("gb_per_s", row.get("gb_per_s"), "GB/s")
                + measurement("regs_per_thread", row.get("regs_per_thread"), "registers")
                + measurement("smem_bytes", row.get("smem_bytes"), "bytes"))


def of_journal(path: str) -> Iterator[dict[str, Any]]:
    for run, problem, line in read_journal(path):
        is_measured = line.get("timing") != "predicted"
        verification = line.get("verification")
        yield result(
            {"operation": problem["operation"], "problem": problem["text"], "family": line["family"],
                **numbers(line["configuration"])},
            run.get("date"),
            {"compilation_time": 1e3 * line.get("compile_seconds", 0),
                "runtimes": [milliseconds(us) for us in line.get("samples_us", ())] if is_measured else []},
            OUTCOMES.get(line["outcome"], RUNTIME)[0], bool(verification) and not verification["violations"],
            measurement("predicted_time", milliseconds(line.get("score", {}).get("predicted_time_us")), "ms")
            + measurement("time", time_ms(line), "ms"))


def is_part(wanted: Optional[str], text: str) -> bool:
    """Returns whether the problem has all of these keys, "M=4096,K=64"."""
    return not wanted or set(wanted.split(",")) <= set(text.split(","))


def cache_of(path: str, problem_text: Optional[str], family: Optional[str]) -> dict[str, Any]:
    """Writes one family and problem in the form of Kernel Tuner's cache files."""
    chosen = [(run, problem, line) for run, problem, line in read_journal(path)
        if line.get("timing") != "predicted" and is_part(problem_text, problem["text"]) and family in (None, line["family"])]
    names = sorted({(problem["operation"], problem["text"], line["family"]) for _, problem, line in chosen})
    if len(names) != 1:
        raise Error(f"{path}: expected measurements of one problem and family (--problem, --family), found {len(names)}"
            + "".join(f"\n  {text} {name}" for _, text, name in names[:8]))
    run, problem, first = chosen[0]
    listed = {item["name"]: item["values"] for item in next(
        item for item in problem["families"] if item["name"] == first["family"])["parameters"]}
    # a recording may list only some of the values; values that occur are added
    parameters = {name: list(dict.fromkeys([numbers(f"x={value}")["x"] for value in listed.get(name, ())]
        + [numbers(line["configuration"])[name] for _, _, line in chosen])) for name in numbers(first["configuration"])}
    cache = {}
    for run, _, line in chosen:
        values = numbers(line["configuration"])
        cache[",".join(str(values[name]) for name in parameters)] = {
            **values, "time": OUTCOMES.get(line["outcome"], RUNTIME)[1] or time_ms(line), "times": [us / 1e3 for us in line.get("samples_us", ())],
            "compile_time": 1e3 * line.get("compile_seconds", 0), "verification_time": 0, "benchmark_time": 0,
            "strategy_time": 0, "framework_time": 0, "timestamp": run.get("date", "")}
    return {"device_name": run["device"]["name"], "kernel_name": first["family"],
        "problem_size": problem["text"], "tune_params_keys": list(parameters), "tune_params": parameters, "objective": "time",
        "cache": cache}


def convert(path: str, options: argparse.Namespace) -> dict[str, Any]:
    with reading(path, "a tuned file or a journal"):
        if options.cache:
            return cache_of(path, options.problem, options.family)
        if path.endswith((".jsonl", ".jsonl.gz")):
            results = list(of_journal(path))
        else:
            with open(path, encoding="utf-8") as file:
                tuned = json.load(file)
            if not isinstance(tuned, dict) or tuned.get("format") != "tiletune.tuned/1":
                raise Error(f"{path}: neither a tuned file nor a journal (.jsonl)")
            results = list(of_tuned(tuned))
    return {"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}, "results": results}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tiletune.t4", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", help="a tuned file, or a journal (.jsonl, .jsonl.gz)")
    parser.add_argument("--cache", action="store_true", help="a cache file of Kernel Tuner instead of T4")
    parser.add_argument("--problem", help="of --cache: keys that name the problem, M=4096,K=64")
    parser.add_argument("--family", help="of --cache: gemm/mma")
    parser.add_argument("-o", "--output", default="-", help="the file to write; default standard output")
    options = parser.parse_args(arguments)
    try:
        text = json.dumps(convert(options.file, options), indent=1, ensure_ascii=False) + "\n"
        if options.output == "-":
            sys.stdout.write(text)
        else:
            write_file(options.output, text)
            print(f"wrote {options.output}")
    except (Error, OSError) as error:
        print(f"tiletune.t4: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
