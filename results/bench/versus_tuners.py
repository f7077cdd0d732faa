#!/usr/bin/env python3
"""Compares tiletune with Kernel Tuner: the best time after 5, 10 and 20 s of tuning, on the kernels of results/bench/tuners.

	results/bench/versus_tuners.py FOLDER [convolution] [row_sums] [sgemm]

Each tuner runs with its own defaults and its own timing: tiletune with `--effort thorough`, so that only the budget ends a
run; Kernel Tuner with a genetic algorithm and with random sampling. Runs alternate, with different seeds. Writes
FOLDER/versus_tuners.json. Needs cupy and kernel_tuner. $TILETUNE: the tuner; $TILETUNE_PATH; $RUNS: 5; $SECONDS: 20.
"""
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

HERE = os.path.dirname(os.path.abspath(__file__))
TILETUNE = os.environ.get("TILETUNE", "tiletune")
RUNS = int(os.environ.get("RUNS", "5"))
SECONDS = int(os.environ.get("SECONDS", "20"))
AFTER = [second for second in (5, 10, 20) if second <= SECONDS]
STRATEGIES = ("genetic_algorithm", "random_sample")
Trace = list[tuple[float, float, dict[str, Any]]]  # (seconds, microseconds, configuration) of each measurement


def read(name: str) -> dict[str, Any]:
    with open(f"{HERE}/tuners/{name}.json", encoding="utf-8") as file:
        document: dict[str, Any] = json.load(file)
    return document


def tiletune(name: str, folder: str, seed: int) -> Trace:
    path = f"{folder}/{name}-tiletune-{seed}.json"
    start = time.time()
    subprocess.run([TILETUNE, "tune", f"{HERE}/tuners/{name}.json", "--device", "cuda:0", "--effort", "thorough", "--budget", f"{SECONDS}s",
        "--seed", str(seed), "--fresh", "--cache-dir", f"{folder}/cache-{name}-{seed}", "-o", path], check=True, capture_output=True)
    print(f"{name} tiletune {seed}: {time.time() - start:.1f} s", flush=True)
    with open(path.replace(".json", ".journal.jsonl"), encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    # the budget counts from the start of the search; the seconds before it count here, too
    ready_s = time.time() - start - next(event["elapsed_s"] for event in events if event["event"] == "finish")
    return [(ready_s + event["at_s"], event["time_us"]["median"], parse(event["configuration"])) for event in events
        if event["event"] == "evaluation" and event["outcome"] == "ok"]


def parse(configuration: str) -> dict[str, Any]:
    return {key: int(value) for key, value in (pair.split("=") for pair in configuration.split(","))}


def kernel_tuner(strategy: str) -> Callable[[str, str, int], Trace]:
    def tune(name: str, folder: str, seed: int) -> Trace:
        os.environ["CUPY_CACHE_DIR"] = f"{folder}/cupy-{name}-{strategy}-{seed}"  # each run has its own cache, so that no run finds another run's kernels
        import numpy as np
        from kernel_tuner import tune_kernel
        from kernel_tuner.observers import BenchmarkObserver

        document = read(name)
        shapes = {tensor: [int(eval(str(extent))) for extent in value["shape"]] for tensor, value in document["tensors"].items()}
        generator = np.random.default_rng(seed)
        arrays = {tensor: generator.uniform(-1, 1, shape).astype(np.float32) for tensor, shape in shapes.items()}
        launch = document["launches"][0]
        parameters = dict(document["parameters"])
        conditions = [constraint["expr"] for constraint in document["constraints"]]
        if "block_size_x" not in parameters:  # Kernel Tuner wants the threads of a block as a parameter
            parameters["block_size_x"] = [64 * 2**power for power in range(5)]
            conditions.append(f"block_size_x == {launch['block'][0]}")
        trace: Trace = []
        start = time.time()

        class Clock(BenchmarkObserver):
            """Stores when Kernel Tuner measured each configuration."""

            def get_results(self) -> dict[str, Any]:
                return {"at_s": time.time() - start}

        results, _ = tune_kernel(launch["entry"], f"{HERE}/tuners/{document['source']}",
            tuple(shapes[launch["args"][0]][::-1]), [arrays[argument] for argument in launch["args"]], parameters,
            lang="CUPY", quiet=True, seed=seed, compiler_options=["--std=c++17"],
            restrictions=lambda values: all(eval(condition, {}, dict(values)) for condition in conditions),
            cmem_args={symbol: arrays[tensor] for symbol, tensor in document.get("symbols", {}).items()} or None,
            block_size_names=["block_size_x", "block_size_y", "block_size_z"], observers=[Clock()],
            strategy=strategy, strategy_options={"time_limit": SECONDS, "max_fevals": 1000000},
            **geometry(name))
        for result in results:
            if isinstance(result.get("time"), float):
                configuration = {key: int(result[key]) for key in document["parameters"]}
                trace.append((float(result["at_s"]), 1e3 * result["time"], configuration))
        print(f"{name} {strategy} {seed}: {time.time() - start:.1f} s, {len(trace)} of {len(results)} ran", flush=True)
        return trace
    return tune


def geometry(name: str) -> dict[str, Any]:
    """Returns the grid of Kernel Tuner's launches."""
    if name == "convolution":
        return {"grid_div_x": ["block_size_x", "tile_size_x"], "grid_div_y": ["block_size_y", "tile_size_y"]}
    if name == "row_sums":
        return {"grid_div_x": ["rows_per_block"]}
    return {"grid_div_x": ["BN"], "grid_div_y": ["BM"]}


def best_after(trace: Trace, seconds: float) -> float | None:
    times = [time_us for at_s, time_us, _ in trace if at_s <= seconds]
    return min(times) if times else None


def main(folder: str, names: list[str]) -> None:
    os.makedirs(folder, exist_ok=True)
    tuners: dict[str, Callable[[str, str, int], Trace]] = {"tiletune": tiletune}
    tuners.update({f"Kernel Tuner, {strategy}": kernel_tuner(strategy) for strategy in STRATEGIES})
    document: dict[str, Any] = {"format": "tiletune.versus_tuners/1", "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": " ".join(sys.argv), "seconds": SECONDS, "kernels": {}}
    for name in names or ["convolution", "row_sums", "sgemm"]:
        rows: dict[str, list[dict[str, Any]]] = {}
        for seed in range(1, RUNS + 1):
            for tuner, tune in tuners.items():
                trace = tune(name, folder, seed)
                best = min(trace, key=lambda point: point[1]) if trace else None
                rows.setdefault(tuner, []).append({"seed": seed, "evaluations": len(trace),
                    "best_us": {str(after): best_after(trace, after) for after in AFTER}, "configuration": best and best[2]})
            document["kernels"][name] = rows
            with open(f"{folder}/versus_tuners.json", "w", encoding="utf-8") as file:
                json.dump(document, file, indent="\t")
                file.write("\n")
        for tuner, runs in rows.items():
            print(f"{name:12} {tuner:32}" + "".join(f"  {after} s: {medians(runs, after)}" for after in AFTER) +
                f"  evaluations {statistics.median(run['evaluations'] for run in runs):.0f}", flush=True)


def medians(runs: list[dict[str, Any]], after: int) -> str:
    times = [run["best_us"][str(after)] for run in runs if run["best_us"][str(after)]]
    return f"{statistics.median(times):.1f} us ({min(times):.1f} to {max(times):.1f})" if times else "none"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
