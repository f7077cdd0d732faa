#!/usr/bin/env python3
"""Condenses a raw page of Nsight Compute (ncu --csv --page raw) to one column per kernel.

	profile.py TITLE FILE.csv [PATTERN...]

Rows: time, clock, and every metric whose name contains one of the patterns; values are medians over
a kernel's launches. Metrics that are zero everywhere are left out.
"""
import csv
import statistics
import sys

PATTERNS = ["gpu__time_duration", "cycles_elapsed.avg.per_second", "pipe_tensor", "inst_executed_pipe_fma",
            "throughput.avg.pct", "lts__t_sector_hit_rate", "dram__bytes_read.sum", "dram__bytes_write.sum",
            "issue_active.avg.pct", "issued_warp", "smsp__issue_active", "issue_stalled",
            "smsp__average_warp", "warps_active.avg.pct", "registers_per_thread", "bank_conflicts",
            "shared_mem_per_block_dynamic", "grid_size", "block_size"]


def numbers(rows, units):
    """{kernel: {metric: [values]}}, thousands separators taken out."""
    kernels = {}
    for row in rows:
        values = kernels.setdefault(row["Kernel Name"].split("(")[0], {})
        for name, text in row.items():
            try:
                values.setdefault(name, []).append(float((text or "").replace(",", "")))
            except ValueError:
                continue
    return kernels, units


def main():
    title, path, patterns = sys.argv[1], sys.argv[2], sys.argv[3:] or PATTERNS
    with open(path, newline="", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("==")]
    rows = list(csv.DictReader(lines))
    units = rows[0] if rows else {}
    kernels, units = numbers(rows[1:], units)
    print(f"\n== {title}")
    if not kernels:
        print("no kernel was profiled: " + " ".join(lines)[:300])
        return
    names = sorted(kernels, key=lambda name: min(kernels[name].get("gpu__time_duration.sum", [0])))
    for index, name in enumerate(names):
        print(f"kernel {index + 1}: {name[:150]} ({len(next(iter(kernels[name].values())))} launches)")
    metrics = [m for m in rows[0] if any(pattern in m for pattern in patterns)]
    width = max((len(m) for m in metrics), default=10)
    for metric in metrics:
        medians = [statistics.median(kernels[n][metric]) if kernels[n].get(metric) else None for n in names]
        if any(medians):
            cells = "".join("%14s" % ("-" if m is None else f"{m:.4g}") for m in medians)
            print(f"{metric:{width}s}{cells}  {units.get(metric, '')}")


if __name__ == "__main__":
    main()
