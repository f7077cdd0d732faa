#!/usr/bin/env python3
"""Hardware counters (Nsight Compute) of attention kernels, each launched once.

	tiletune export TUNED.json attention -p PROBLEM --format bundle -o FILE.bundle
	ncu OPTIONS --csv --page raw --log-file NCU.csv python3 attention_counters.py launch LIBRARY.so FILE.bundle=PROBLEM...
	attention_counters.py table NCU.csv PROBLEM... > counters.csv

OPTIONS: --clock-control none, --kernel-name regex:'^(flash_wgmma|attention_decode)$', --section WarpStateStats and the
metrics below. `launch` needs torch; inputs are normal random numbers, the card is warmed up by products first. A
row per metric, a column per launch, in the order of the problems.
"""
import csv
import os
import sys

METRICS = ["gpu__time_duration.sum", "sm__cycles_elapsed.max", "sm__cycles_active.avg", "smsp__inst_executed.sum",
    "sm__inst_issued.avg.pct_of_peak_sustained_active", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "dram__bytes_read.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed", "lts__t_sector_hit_rate.pct",
    "l1tex__data_bank_conflicts_pipe_lsu.sum"]


def tensor(torch, name, size, dtype):
    if name.endswith("_scale"):
        return torch.full((1,), 0.5, device="cuda")
    if name == "O":
        return torch.empty(size, device="cuda", dtype=torch.uint8)
    element = {"fp8_e4m3": torch.float8_e4m3fn, "bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
    return torch.randn(size // element.itemsize, device="cuda").to(element)


def launch(library_path, jobs):
    import torch  # pylint: disable=import-outside-toplevel
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python"))
    import tiletune.launch  # pylint: disable=import-outside-toplevel
    square = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    library = tiletune.launch.Library(os.path.abspath(library_path))
    for job in jobs:
        path, problem = job.split("=", 1)
        entry = library.open(path).find("attention", problem)
        dtype = problem.split("dtype=")[1].split(",")[0]
        buffers = {name: tensor(torch, name, size, dtype) for name, size in entry.tensors.items() if size}
        run = entry.load().bind({name: buffer.data_ptr() for name, buffer in buffers.items()})
        for _ in range(20):
            square @ square  # pylint: disable=pointless-statement
        torch.cuda.synchronize()
        run.launch(torch.cuda.current_stream().cuda_stream)
        torch.cuda.synchronize()
        print(problem, entry.configuration, flush=True)


def table(path, problems):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("==")))
    units, launches = rows[0], rows[1:]
    if len(launches) != len(problems):
        sys.exit(f"{path}: expected {len(problems)} launches, found {len(launches)}")
    names = METRICS + sorted(name for name in units if "average_warps_issue_stalled" in name and
        name.endswith("per_issue_active.ratio") and "not_issued" not in name)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["metric", "unit", *problems])
    for name in names:
        values = [row.get(name, "").replace(",", "") for row in launches]
        if any(value not in ("", "0") for value in values):
            writer.writerow([name, units.get(name, ""), *values])


if __name__ == "__main__":
    if sys.argv[1] == "launch":
        launch(sys.argv[2], sys.argv[3:])
    else:
        table(sys.argv[2], sys.argv[3:])
