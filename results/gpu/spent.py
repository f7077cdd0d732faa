#!/usr/bin/env python3
"""Shows where evaluations spend their time, from the journals of tunings on a GPU.

	spent.py JOURNAL...

Prints for each journal, and for all of them together, the mean milliseconds of an evaluation that the measuring worker spent in
each phase, those that 60 runs of the kernel take, and the seconds between the first and the last result that no phase explains.
"""
import json
import sys
from typing import Any

PHASES = ("load_ms", "expected_ms", "verify_ms", "digest_ms", "sample_ms", "confirm_ms")


def read(path: str) -> list[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        events = [json.loads(line) for line in file if line.strip()]
    return [event for event in events if event.get("event") == "evaluation" and any(phase in event for phase in PHASES)]


def row(name: str, results: list[dict[str, Any]], span_s: float) -> str:
    count = max(len(results), 1)
    means = [sum(result.get(phase, 0) for result in results) / count for phase in PHASES]
    times = [result["time_us"]["median"] for result in results if "time_us" in result]
    runs_ms = 60e-3 * sum(times) / max(len(times), 1)
    other_ms = span_s * 1e3 / count - sum(means)
    return f"{name[-44:]:44} {len(results):5}" + "".join(f"{mean:9.2f}" for mean in means) + f"{other_ms:9.2f}{runs_ms:9.2f}"


def main() -> None:
    print(f"{'milliseconds an evaluation':44} {'n':>5}" + "".join(f"{phase[:-3]:>9}" for phase in PHASES) + f"{'other':>9}{'60 runs':>9}")
    everything: list[dict[str, Any]] = []
    span_s = 0.0
    for path in sys.argv[1:]:
        results = read(path)
        if not results:
            continue
        span = max(result.get("at_s", 0) for result in results) - min(result.get("at_s", 0) for result in results)
        print(row(path.removesuffix(".journal.jsonl"), results, span))
        everything += results
        span_s += span
    print(row("all", everything, span_s))


if __name__ == "__main__":
    main()
