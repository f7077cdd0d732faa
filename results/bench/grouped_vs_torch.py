#!/usr/bin/env python3
"""Compares the gemm_grouped entries of a tuned file with PyTorch's grouped products on one GPU: torch._grouped_mm, and, for fp8 with a
scale for each row, torch._scaled_grouped_mm with its fast accumulation.

	results/bench/grouped_vs_torch.py --tiletune ./tiletune --library gpu/libtiletune_launch.so [-o FILE] TUNED.json

Timing is that of attention_vs_torch.py: CUDA graphs in turn, over buffers beyond twice the L2. Group sizes follow the problem, in a
different order in each buffer set, and a time is the mean over these. A ratio is PyTorch's time over ours. Exit code 1: a wrong
result."""
import argparse
import datetime
import json
import math
import os
import statistics
import subprocess
import sys

import torch

from attention_vs_torch import SAMPLE_US, TimedRun, ask_nvidia, interleave, problem_text, spread, tiletune

DRAWS = 4  # minimum number of draws of skewed sizes


def offsets_of(p):
    weights = (torch.randperm(p["groups"]).double() + 1) ** -float(p["skew"])
    ends = (weights.cumsum(0) / weights.sum() * p["tokens"]).to(torch.int32)
    ends[-1] = p["tokens"]
    return torch.cat([torch.zeros(1, dtype=torch.int32), ends]).cuda()


def make_set(p):
    def drawn(*shape):
        values = torch.randn(*shape, device="cuda", dtype=torch.float16 if p["dtype"] == "fp16" else torch.bfloat16)
        return values.to(torch.float8_e4m3fn) if fp8 else values

    fp8 = p["dtype"] == "fp8_e4m3"
    some = {"A": drawn(p["tokens"], p["K"]), "B": drawn(p["groups"], p["N"], p["K"]), "offsets": offsets_of(p)}
    if fp8:
        some.update(scale_a=torch.rand(p["tokens"], device="cuda") + 0.5, scale_b=torch.rand(p["groups"], p["N"], device="cuda") + 0.5)
    some["C"] = torch.full((p["tokens"], p["N"]), float("nan"), device="cuda", dtype=torch.bfloat16 if fp8 else some["A"].dtype)
    return some


def make_sets(p):
    element = (p["tokens"] + p["groups"] * p["N"]) * p["K"] * (1 if p["dtype"] == "fp8_e4m3" else 2) + 2 * p["tokens"] * p["N"]
    least = DRAWS if p["skew"] else 1
    return [make_set(p) for _ in range(max(least, math.ceil(2 * torch.cuda.get_device_properties(0).L2_cache_size / element)))]


def is_comparable(p):
    return p["layout"] == "contiguous" and p["accum"] == "fast" and p["scale"] == ("row" if p["dtype"] == "fp8_e4m3" else "none")


def compare(entry, bundle, options):
    p = entry["problem"]
    ours = bundle.find("gemm_grouped", problem_text(p))
    sets = make_sets(p)
    kernel = ours.load()
    bound = [kernel.bind({name: s[name].data_ptr() for name in ours.tensors if name in s}) for s in sets]

    def run_ours(index):
        bound[index].launch(torch.cuda.current_stream().cuda_stream)
        return sets[index]["C"]

    def run_torch(index):
        s = sets[index]
        if "scale_a" in s:
            return torch._scaled_grouped_mm(s["A"], s["B"].transpose(1, 2), s["scale_a"], s["scale_b"], offs=s["offsets"][1:],
                out_dtype=torch.bfloat16, use_fast_accum=True)
        return torch._grouped_mm(s["A"], s["B"].transpose(1, 2), offs=s["offsets"][1:])

    fields = {"ours": TimedRun(run_ours, len(sets)), "torch": TimedRun(run_torch, len(sets))}
    runs = min(256, max(len(sets), math.ceil(SAMPLE_US / min(field.estimate_us for field in fields.values()))))
    for field in fields.values():
        field.capture(runs)
    rounds = interleave(list(fields.values()), options.seconds)
    mine, other = (fields[name].outputs[0].float() for name in fields)
    difference = ((mine - other).norm() / other.norm()).item()
    ratio = spread([b / a for a, b in zip(fields["ours"].samples_us, fields["torch"].samples_us)])
    times = {name + "_us": statistics.median(field.samples_us) for name, field in fields.items()}
    tflops = 2 * p["tokens"] * p["N"] * p["K"] / times["ours_us"] * 1e-6
    print(f"{problem_text(p):70} {times['ours_us']:8.1f} {times['torch_us']:8.1f} us {ratio['median']:.3f} {tflops:.0f} TFLOP/s "
        f"{difference:.1e} {ours.configuration}", flush=True)
    return {"problem": problem_text(p), "family": ours.family, "configuration": ours.configuration, "not_comparable": None,
        "sources_changed": ours.kernel_hash != entry["winner"]["kernel_hash"], "rounds": rounds,
        "runs_per_sample": runs, "buffer_sets": len(sets), "ratio": ratio, **times, "ours_tflops": tflops,
        "difference_to_torch": difference, "agrees": difference < 1e-2}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiletune", default="./tiletune")
    parser.add_argument("--library", default="gpu/libtiletune_launch.so")
    parser.add_argument("--path", default=".")
    parser.add_argument("--cache-dir", default="versus-grouped")
    parser.add_argument("--seconds", type=float, default=0.8, help="of rounds a problem, at least 15 rounds")
    parser.add_argument("-o", "--output")
    parser.add_argument("tuned")
    options = parser.parse_args()
    torch.manual_seed(1)
    os.makedirs(options.cache_dir, exist_ok=True)
    file = os.path.join(options.cache_dir, "grouped.bundle")
    subprocess.run([options.tiletune, "export", options.tuned, "gemm_grouped", "--format", "bundle", "-o", file, "--path",
        options.path, "--cache-dir", options.cache_dir], check=True, stdout=subprocess.DEVNULL)
    started = datetime.datetime.now(datetime.timezone.utc)
    bundle = tiletune.launch.Library(os.path.abspath(options.library)).open(file)
    with open(options.tuned, encoding="utf-8") as text:
        tuned = json.load(text)
    entries = [e for e in tuned["entries"] if e["operation"] == "gemm_grouped" and is_comparable(e["problem"])]
    rows = []
    for entry in entries:
        rows.append(compare(entry, bundle, options))
        torch.cuda.empty_cache()
    groups = []
    for dtype in ("bf16", "fp16", "fp8_e4m3"):
        ratios = [row["ratio"]["median"] for row in rows if f"dtype={dtype}," in row["problem"]]
        if ratios:
            groups.append({"group": dtype, "entries": len(ratios), "geometric_mean": statistics.geometric_mean(ratios), "lowest": min(ratios), "median": statistics.median(ratios)})
            print(f"{dtype} over PyTorch: {len(ratios)}, geometric mean {groups[-1]['geometric_mean']:.3f}, median {groups[-1]['median']:.3f}, lowest {min(ratios):.3f}")
    version = subprocess.run([options.tiletune, "--version"], capture_output=True, text=True, check=True).stdout.split()
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump({"format": "tiletune.versus/1", "date": started.strftime("%Y-%m-%dT%H:%M:%SZ"), "command": " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]),
                "tiletune": {"version": version[1], "commit": version[2].strip("()")}, "device": tuned["device"], **ask_nvidia(),
                "nvrtc": bundle.header("compiler"), "torch": torch.__version__, "cudnn": str(torch.backends.cudnn.version()),
                "seconds": (datetime.datetime.now(datetime.timezone.utc) - started).total_seconds(), "groups": groups, "entries": rows}, file, indent="\t")
            file.write("\n")
    return 0 if all(row["agrees"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
