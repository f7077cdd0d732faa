#!/usr/bin/env python3
"""Condenses a raw page of Nsight Compute (ncu --csv --page raw) to one column per kernel.

	profile.py TITLE FILE.csv [PATTERN...]

Rows: every metric whose name contains one of the patterns; values are medians over a kernel's
launches. Metrics that are zero everywhere are left out.
"""
import csv
import statistics
import sys

PATTERNS = ["gpu__time_duration.sum", "gpc__cycles_elapsed.avg.per_second", "launch__grid_size",
            "launch__block_size", "launch__registers_per_thread", "launch__shared_mem_per_block_dynamic",
            "sm__pipe_tensor_cycles_active.avg", "sm__inst_executed_pipe_fma.avg", "sm__issue_active.avg",
            "l1tex__throughput.avg", "lts__throughput.avg", "lts__t_sector_hit_rate.pct",
            "gpu__dram_throughput.avg", "dram__bytes_read.sum", "dram__bytes_write.sum",
            "sm__warps_active.avg", "average_warps_issue_stalled", "bank_conflicts"]
LEFT_OUT = ["not_issued", ".per_second.pct", "_allocated", "per_cycle"]


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
    metrics = [m for m in rows[0] if any(pattern in m for pattern in patterns)
               and not any(part in m for part in LEFT_OUT)]
    width = max((len(m) for m in metrics), default=10)
    for metric in metrics:
        medians = [statistics.median(kernels[n][metric]) if kernels[n].get(metric) else None for n in names]
        if any(medians):
            cells = "".join("%14s" % ("-" if m is None else f"{m:.4g}") for m in medians)
            print(f"{metric:{width}s}{cells}  {units.get(metric, '')}")


if __name__ == "__main__":
    main()
