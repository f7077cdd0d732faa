#!/usr/bin/env python3
"""Compares the attention entries of a tuned file with PyTorch's FlashAttention-2 and cuDNN, on one GPU.

	results/bench/attention_vs_torch.py --tiletune ./tiletune --library gpu/libtiletune_launch.so \
		[--cache-dir DIR] [--work DIR] [--only TEXT] [-o FILE] TUNED.json

Needs torch. The winners are exported as a bundle and launched on torch's tensors. All three kernels run from CUDA graphs with many
runs each, over buffer sets that exceed twice the L2, on normal random numbers. In each round every kernel has one turn, in rotating
order. A ratio is their time over ours in one round (ours is faster above 1), given as median with quartiles and a 95% interval.

PyTorch supports neither pages nor, in FlashAttention-2, a V of another width than K. It therefore reads K and V without pages, and V
padded with zeros. Its causal mask is aligned at the upper left, so causal problems are compared only with as many queries as keys.
Here the rest of a page behind the last key is NaN. A backend that refuses a problem is left out.

Results are compared with softmax(Q K^T) V in fp32 on sampled heads. The output has the bytes (every tensor once) per second, and
those of a copy of 2 GiB. Exit code 1: a wrong result, or a missed promise (geometric mean 0.90 of FlashAttention-2, none under 0.75)."""
import argparse
import datetime
import json
import math
import os
import statistics
import subprocess
import sys

import torch
import torch.nn.functional
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python"))
import tiletune.launch  # noqa: E402

SAMPLE_US = 1500  # minimum of work in one sample
ROUNDS_LEAST, ROUNDS_MOST = 15, 40
ERROR_LIMIT = {torch.bfloat16: 1e-2, torch.float16: 2e-3}  # maximum relative norm of the difference
BACKENDS = {"fa2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
MEAN_LEAST, LOWEST_LEAST = 0.90, 0.75


def problem_text(problem):
    return ",".join(f"{key}={value}" for key, value in problem.items())


def flop_of(p):
    """Counts FLOP as operation.json does: the exact number of visible pairs of query and key."""
    q, k = p["seq_q"], p["seq_k"]
    pairs = q * k
    if p["causal"]:
        pairs = q * (k - q) + q * (q + 1) // 2 if k >= q else k * (k + 1) // 2
    return 2 * p["batch"] * p["heads"] * (p["head_dim"] + p["head_dim_v"]) * pairs


def bytes_of(p):
    return 2 * (p["head_dim"] + p["head_dim_v"]) * p["batch"] * (p["heads"] * p["seq_q"] + p["kv_heads"] * p["seq_k"])


def copy_gb_per_s():
    source = torch.randint(0, 255, (1 << 31,), device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    samples = []
    for _ in range(12):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        target.copy_(source)
        end.record()
        end.synchronize()
        samples.append(2 * source.numel() / begin.elapsed_time(end) * 1e-6)
    return statistics.median(samples[2:])


def paged(p, plain, table):
    """Converts [batch, kv_heads, seq_k, dim] to [pages, page, kv_heads, dim]: page i of a sequence is table[sequence, i]."""
    count, page = table.shape[1], p["page"]
    padded = torch.full((p["batch"], count * page, *plain.shape[1::2]), float("nan"), device="cuda", dtype=plain.dtype)
    padded[:, :p["seq_k"]] = plain.transpose(1, 2)
    pages = torch.empty((p["batch"] * count, page, *padded.shape[2:]), device="cuda", dtype=plain.dtype)
    pages[table.flatten().long()] = padded.view(-1, *pages.shape[1:])
    return pages


def make_sets(p, dtype):
    """Holds copies of Q, K, V and O that together exceed twice the L2; k and v are K and V without pages."""
    q_shape = (p["batch"], p["heads"], p["seq_q"], p["head_dim"])
    k_shape = (p["batch"], p["kv_heads"], p["seq_k"])
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    count = 1
    while count * bytes_of(p) < 2 * l2:
        count *= 2
    sets = []
    for _ in range(count):
        q, k, v = (torch.randn(shape, device="cuda", dtype=dtype)
            for shape in (q_shape, (*k_shape, p["head_dim"]), (*k_shape, p["head_dim_v"])))
        s = {"Q": q, "K": k, "V": v, "k": k, "v": v,
            "O": torch.full((*q_shape[:3], p["head_dim_v"]), float("nan"), device="cuda", dtype=dtype)}
        if p["page"]:
            pages = p["batch"] * -(-p["seq_k"] // p["page"])
            table = torch.randperm(pages, device="cuda", dtype=torch.int32).view(p["batch"], -1)
            s.update(K=paged(p, k, table), V=paged(p, v, table), block_table=table)
        s["v_wide"] = torch.nn.functional.pad(v, (0, max(0, p["head_dim"] - p["head_dim_v"])))
        sets.append(s)
    return sets


def timed_runs(p, sets, kernel, names):
    """Returns {name: run(set) -> the output}."""
    bound = [kernel.bind({name: s[name].data_ptr() for name in names}) for s in sets]

    def ours(index):
        bound[index].launch(torch.cuda.current_stream().cuda_stream)
        return sets[index]["O"]

    def theirs(backend):
        value = "v_wide" if backend == SDPBackend.FLASH_ATTENTION else "v"

        def run(index):
            s = sets[index]
            with sdpa_kernel(backend):
                return torch.nn.functional.scaled_dot_product_attention(s["Q"], s["k"], s[value],
                    is_causal=bool(p["causal"]), enable_gqa=p["heads"] != p["kv_heads"])
        return run

    runs = {"ours": ours}
    for name, backend in BACKENDS.items() if not p["causal"] or p["seq_q"] == p["seq_k"] else ():
        try:
            theirs(backend)(0)
            runs[name] = theirs(backend)
        except RuntimeError as error:
            print(f"{name} refuses {problem_text(p)}: {str(error).splitlines()[0]}", flush=True)
    return runs


class TimedRun:
    """Captures a graph of many runs that use each set in turn. Outputs are retained, so that all kernels write to equally many
    addresses."""

    def __init__(self, run, set_count):
        self.outputs, self.samples_us = [None] * set_count, []
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(side):
            for _ in range(3):
                run(0)
            begin.record()
            for index in range(4):
                run(index % set_count)
            end.record()
        torch.cuda.synchronize()
        self.estimate_us = begin.elapsed_time(end) * 1e3 / 4
        self.run, self.runs, self.set_count, self.graph = run, 0, set_count, None

    def capture(self, runs):
        self.runs, self.graph = runs, torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for index in range(runs):
                self.outputs[index % self.set_count] = self.run(index % self.set_count)
        for _ in range(2):
            self.graph.replay()
        torch.cuda.synchronize()

    def sample(self, keep):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(100000)  # keeps the GPU busy until the following work is queued
        begin.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        if keep:
            self.samples_us.append(begin.elapsed_time(end) * 1e3 / self.runs)


def interleave(fields, seconds):
    started, rounds = None, 0
    while rounds < ROUNDS_MOST:
        for offset in range(len(fields)):
            fields[(rounds + offset) % len(fields)].sample(started is not None)
        if started is None:  # a round of warm-up
            started = datetime.datetime.now()
            continue
        rounds += 1
        if rounds >= ROUNDS_LEAST and (datetime.datetime.now() - started).total_seconds() > seconds:
            break
    return rounds


def spread(ratios):
    """Returns the median, the quartiles and the 95% interval of the median by order statistics."""
    values, count = sorted(ratios), len(ratios)
    half = 0.98 * math.sqrt(count)
    low, high = max(0, math.floor(count / 2 - half)), min(count - 1, math.ceil(count / 2 + half))
    quartiles = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": statistics.median(values), "q25": quartiles[0], "q75": quartiles[2],
        "ci95_low": values[low], "ci95_high": values[high]}


def errors(p, s, outputs):
    """Returns the relative norm of the difference from fp32, for the first and the last head."""
    result = {}
    group = p["heads"] // p["kv_heads"]
    for name, output in outputs.items():
        difference = norm = 0.0
        for b, h in {(0, 0), (p["batch"] - 1, p["heads"] - 1)}:
            q, k, v = s["Q"][b, h].float(), s["k"][b, h // group].float(), s["v"][b, h // group].float()
            scores = q @ k.T / math.sqrt(p["head_dim"])
            if p["causal"]:
                seen = torch.ones_like(scores, dtype=torch.bool).tril(p["seq_k"] - p["seq_q"])
                scores.masked_fill_(~seen, float("-inf"))
            expected = torch.softmax(scores, dim=-1) @ v
            difference += (output[b, h, :, :v.shape[1]].float() - expected).square().sum().item()
            norm += expected.square().sum().item()
        result[name] = math.sqrt(difference / norm)
    return result


def compare(entry, bundle, copy, options):
    p = dict(entry["problem"])
    p.setdefault("page", 0)
    p.setdefault("head_dim_v", p["head_dim"])
    text = problem_text(p)
    ours = bundle.find("attention", text)
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[p["dtype"]]
    sets = make_sets(p, dtype)
    kernel, names = ours.load(), [name for name, size in ours.tensors.items() if size]
    fields = {name: TimedRun(run, len(sets)) for name, run in timed_runs(p, sets, kernel, names).items()}
    fastest = min(field.estimate_us for field in fields.values())
    runs = min(256, max(len(sets), math.ceil(SAMPLE_US / fastest)))
    for field in fields.values():
        field.capture(runs)
    rounds = interleave(list(fields.values()), options.seconds)
    error = errors(p, sets[0], {name: field.outputs[0] for name, field in fields.items()})
    others = [name for name in BACKENDS if name in fields]
    whole = {name: ((sets[0]["O"].float() - fields[name].outputs[0][..., :p["head_dim_v"]].float()).norm() /
        sets[0]["O"].float().norm()).item() for name in others}
    agrees = all(value <= ERROR_LIMIT[dtype] for value in (error["ours"], *whole.values()))
    samples = fields["ours"].samples_us
    ratios = {name: spread([b / a for a, b in zip(samples, fields[name].samples_us)]) for name in others}
    best = spread([min(others) / a for a, *others in zip(samples, *(fields[name].samples_us for name in others))]) if others else None
    flop = flop_of(p)
    gb_per_s = bytes_of(p) / statistics.median(samples) * 1e-3
    row = {"problem": text, "family": ours.family,
        "configuration": ours.configuration, "not_comparable": None if others else "no backend takes it",
        "sources_changed": ours.kernel_hash != entry["winner"]["kernel_hash"],
        "rounds": rounds, "runs_per_sample": runs, "buffer_sets": len(sets),
        "ratio": ratios.get("fa2"), "ratio_cudnn": ratios.get("cudnn"), "ratio_best": best,
        "gb_per_s": gb_per_s, "share_of_copy": gb_per_s / copy}
    for name, field in fields.items():
        row[name + "_us"] = statistics.median(field.samples_us)
        row[name + "_tflops"] = flop / row[name + "_us"] * 1e-6
        row[name + "_error"] = error[name]
    row.update(difference_to_fa2=whole.get("fa2"), agrees=agrees)

    def number(value, form):
        return f"{value:{form}}" if value is not None else "-".rjust(int(form.split(".")[0]))
    print(f"{text.replace(',kv_heads=' + str(p['heads']), ''):78} {row['ours_us']:8.2f} us " +
        " ".join(number(row.get(name + "_tflops"), "6.1f") for name in ("ours", "fa2", "cudnn")) + "  " +
        " ".join(number(ratios[name]["median"] if name in ratios else None, "5.3f") for name in BACKENDS) +
        f"  {error['ours']:.1e} {gb_per_s:5.0f} GB/s{'' if agrees else '  WRONG'}", flush=True)
    return row


def groups(rows):
    result = []
    for title, key in (("over FlashAttention-2", "ratio"), ("over cuDNN", "ratio_cudnn"), ("over the faster", "ratio_best")):
        for label, chosen in (("all", rows), ("causal", [r for r in rows if "causal=1" in r["problem"]]),
                ("not causal", [r for r in rows if "causal=0" in r["problem"]])):
            values = [row[key]["median"] for row in chosen if row[key]]
            if values:
                result.append({"group": f"{title}, {label}", "entries": len(values),
                    "geometric_mean": math.exp(statistics.fmean(math.log(v) for v in values)),
                    "lowest": min(values), "median": statistics.median(values)})
    return result


def ask_nvidia():
    fields = subprocess.run(["nvidia-smi", "--query-gpu=uuid,driver_version,power.limit", "--format=csv,noheader,nounits",
        "-i", "0"], capture_output=True, text=True, check=True).stdout.strip().split(", ")
    return {"uuid": fields[0], "driver": fields[1], "power_limit_w": float(fields[2])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiletune", default="./tiletune")
    parser.add_argument("--library", default="gpu/libtiletune_launch.so")
    parser.add_argument("--path", default=".")
    parser.add_argument("--cache-dir")
    parser.add_argument("--work", default="versus-attention")
    parser.add_argument("--only")
    parser.add_argument("--seconds", type=float, default=0.8, help="of rounds a problem, at least 15 rounds")
    parser.add_argument("-o", "--output")
    parser.add_argument("tuned")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    os.makedirs(options.work, exist_ok=True)
    with open(options.tuned, encoding="utf-8") as file:
        tuned = json.load(file)
    file = os.path.join(options.work, "attention.bundle")
    command = [options.tiletune, "export", options.tuned, "attention", "--format", "bundle", "-o", file, "--path", options.path]
    if options.cache_dir:
        command += ["--cache-dir", options.cache_dir]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    bundle = tiletune.launch.Library(os.path.abspath(options.library)).open(file)
    version = subprocess.run([options.tiletune, "--version"], capture_output=True, text=True, check=True).stdout.split()
    started = datetime.datetime.now(datetime.timezone.utc)
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}; TFLOP/s of "
        "ours, FlashAttention-2, cuDNN; ratio over FA2, over cuDNN; relative error of ours")
    copy = copy_gb_per_s()
    torch.cuda.empty_cache()
    print(f"a copy of 2 GiB: {copy:.0f} GB/s read and written")
    rows = []
    for entry in tuned["entries"]:
        if entry["operation"] != "attention" or (options.only and options.only not in problem_text(entry["problem"])):
            continue
        rows.append(compare(entry, bundle, copy, options))
        torch.cuda.empty_cache()
    result = {"format": "tiletune.versus/1", "date": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]),
        "tiletune": {"version": version[1], "commit": version[2].strip("()")}, "device": tuned["device"],
        **ask_nvidia(), "nvrtc": bundle.header("compiler"), "torch": torch.__version__, "cuda_of_torch": torch.version.cuda,
        "cudnn": str(torch.backends.cudnn.version()),
        "seconds": (datetime.datetime.now(datetime.timezone.utc) - started).total_seconds(),
        "copy_gb_per_s": copy, "groups": groups(rows), "entries": rows}
    for group in result["groups"]:
        print(f"{group['group']}: {group['entries']} problems, geometric mean {group['geometric_mean']:.3f}, "
            f"lowest {group['lowest']:.3f}")
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump(result, file, indent="\t")
            file.write("\n")
    first = result["groups"][0]
    kept = all(row["agrees"] for row in rows) and first["geometric_mean"] >= MEAN_LEAST and first["lowest"] >= LOWEST_LEAST
    print(f"attention over FlashAttention-2: {first['geometric_mean']:.3f} (promised: >= {MEAN_LEAST:.2f}), lowest "
        f"{first['lowest']:.3f} (promised: >= {LOWEST_LEAST:.2f}) {'ok' if kept else 'MISSED'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
