#!/usr/bin/env python3
"""The attention entries of a tuned file against PyTorch's FlashAttention-2 and cuDNN, on one GPU.

	tests/bench/attention_vs_torch.py --tiletune ./tiletune --library gpu/libtiletune_launch.so \
		[--cache-dir DIR] [--work DIR] [--only TEXT] [-o FILE] TUNED.json

Needs torch. The winners are exported as a bundle and launched on torch's tensors. All three run from
CUDA graphs of many runs each, over buffer sets that exceed twice the L2, on normal random numbers;
each round gives every one its turn, first in another place each time. A ratio is that of a round
(their time over ours: above 1 we are faster), given as median with quartiles and a 95% interval.
Results are compared with softmax(Q K^T) V in fp32 on sampled heads. Bytes (every tensor once) per
second stand beside those that a copy of 2 GiB reads and writes. Exit code 1: a wrong result, or
a promise missed (0.90 of FlashAttention-2 as geometric mean, none under 0.75).
"""
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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../consumers/python"))
import tiletune_launch  # noqa: E402

SAMPLE_US = 1500  # of work in one sample, at least
ROUNDS_LEAST, ROUNDS_MOST = 15, 40
ERROR_LIMIT = {torch.bfloat16: 1e-2, torch.float16: 2e-3}  # relative norm
BACKENDS = {"fa2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
MEAN_LEAST, LOWEST_LEAST = 0.90, 0.75


def problem_text(problem):
    return ",".join(f"{key}={value}" for key, value in problem.items())


def flop_of(p):
    """As in operation.json: visible pairs of query and key, counted exactly."""
    q, k = p["seq_q"], p["seq_k"]
    pairs = q * k
    if p["causal"]:
        pairs = q * (k - q) + q * (q + 1) // 2 if k >= q else k * (k + 1) // 2
    return 4 * p["batch"] * p["heads"] * p["head_dim"] * pairs


def bytes_of(p):
    return 4 * p["head_dim"] * p["batch"] * (p["heads"] * p["seq_q"] + p["kv_heads"] * p["seq_k"])


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


def make_sets(p, dtype):
    """Q, K, V, O, as many times as exceed twice the L2."""
    q_shape = (p["batch"], p["heads"], p["seq_q"], p["head_dim"])
    k_shape = (p["batch"], p["kv_heads"], p["seq_k"], p["head_dim"])
    size = 2 * 2 * (math.prod(q_shape) + math.prod(k_shape))
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    count = 1
    while count * size < 2 * l2:
        count *= 2
    sets = []
    for _ in range(count):
        q, k, v = (torch.randn(shape, device="cuda", dtype=dtype) for shape in (q_shape, k_shape, k_shape))
        sets.append({"Q": q, "K": k, "V": v, "O": torch.full_like(q, float("nan"))})
    return sets


def timed_runs(p, sets, kernel):
    """name: run(set) -> the output."""
    bound = [kernel.bind({name: tensor.data_ptr() for name, tensor in s.items()}) for s in sets]

    def ours(index):
        bound[index].launch(torch.cuda.current_stream().cuda_stream)
        return sets[index]["O"]

    def theirs(backend):
        def run(index):
            s = sets[index]
            with sdpa_kernel(backend):
                return torch.nn.functional.scaled_dot_product_attention(s["Q"], s["K"], s["V"],
                    is_causal=bool(p["causal"]), enable_gqa=p["heads"] != p["kv_heads"])
        return run

    return {"ours": ours, **{name: theirs(backend) for name, backend in BACKENDS.items()}}


class TimedRun:
    """A graph of many runs, each set in turn; outputs stay alive, so that all write to as many places."""

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
        torch.cuda._sleep(100000)  # what follows is queued before it starts
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
        if started is None:  # a round to warm up
            started = datetime.datetime.now()
            continue
        rounds += 1
        if rounds >= ROUNDS_LEAST and (datetime.datetime.now() - started).total_seconds() > seconds:
            break
    return rounds


def spread(ratios):
    """Median, quartiles and the 95% interval of the median by order statistics."""
    values, count = sorted(ratios), len(ratios)
    half = 0.98 * math.sqrt(count)
    low, high = max(0, math.floor(count / 2 - half)), min(count - 1, math.ceil(count / 2 + half))
    quartiles = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": statistics.median(values), "q25": quartiles[0], "q75": quartiles[2],
        "ci95_low": values[low], "ci95_high": values[high]}


def errors(p, s, outputs):
    """Relative norm of what differs from fp32, of the first and of the last head."""
    result = {}
    group = p["heads"] // p["kv_heads"]
    for name, output in outputs.items():
        difference = norm = 0.0
        for b, h in {(0, 0), (p["batch"] - 1, p["heads"] - 1)}:
            q, k, v = s["Q"][b, h].float(), s["K"][b, h // group].float(), s["V"][b, h // group].float()
            scores = q @ k.T / math.sqrt(p["head_dim"])
            if p["causal"]:
                seen = torch.ones_like(scores, dtype=torch.bool).tril(p["seq_k"] - p["seq_q"])
                scores.masked_fill_(~seen, float("-inf"))
            expected = torch.softmax(scores, dim=-1) @ v
            difference += (output[b, h].float() - expected).square().sum().item()
            norm += expected.square().sum().item()
        result[name] = math.sqrt(difference / norm)
    return result


def compare(entry, bundle, copy, options):
    p = entry["problem"]
    text = problem_text(p)
    ours = bundle.find("attention", text)
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[p["dtype"]]
    sets = make_sets(p, dtype)
    kernel = ours.load()
    fields = {name: TimedRun(run, len(sets)) for name, run in timed_runs(p, sets, kernel).items()}
    fastest = min(field.estimate_us for field in fields.values())
    runs = min(256, max(len(sets), math.ceil(SAMPLE_US / fastest)))
    for field in fields.values():
        field.capture(runs)
    rounds = interleave(list(fields.values()), options.seconds)
    error = errors(p, sets[0], {name: field.outputs[0] for name, field in fields.items()})
    whole = (sets[0]["O"].float() - fields["fa2"].outputs[0].float()).norm() / sets[0]["O"].float().norm()
    agrees = error["ours"] <= ERROR_LIMIT[dtype] and whole.item() <= ERROR_LIMIT[dtype]
    samples = fields["ours"].samples_us
    ratios = {name: spread([b / a for a, b in zip(samples, fields[name].samples_us)]) for name in BACKENDS}
    best = spread([min(others) / a for a, *others in zip(samples, *(fields[name].samples_us for name in BACKENDS))])
    flop = flop_of(p)
    gb_per_s = bytes_of(p) / statistics.median(samples) * 1e-3
    row = {"problem": text, "family": ours.family,
        "configuration": ours.configuration, "not_comparable": None,
        "sources_changed": ours.kernel_hash != entry["winner"]["kernel_hash"],
        "rounds": rounds, "runs_per_sample": runs, "buffer_sets": len(sets),
        "ratio": ratios["fa2"], "ratio_cudnn": ratios["cudnn"], "ratio_best": best,
        "gb_per_s": gb_per_s, "share_of_copy": gb_per_s / copy}
    for name, field in fields.items():
        row[name + "_us"] = statistics.median(field.samples_us)
        row[name + "_tflops"] = flop / row[name + "_us"] * 1e-6
        row[name + "_error"] = error[name]
    row.update(difference_to_fa2=whole.item(), agrees=agrees)
    print(f"{text.replace(',kv_heads=' + str(p['heads']), ''):78} {row['ours_tflops']:6.1f} {row['fa2_tflops']:6.1f} "
        f"{row['cudnn_tflops']:6.1f}  {ratios['fa2']['median']:.3f} [{ratios['fa2']['q25']:.3f} "
        f"{ratios['fa2']['q75']:.3f}]  {ratios['cudnn']['median']:.3f}  {error['ours']:.1e} {error['fa2']:.1e} {gb_per_s:5.0f} GB/s"
        f"{'' if agrees else '  WRONG'}", flush=True)
    return row


def groups(rows):
    result = []
    for title, key in (("over FlashAttention-2", "ratio"), ("over cuDNN", "ratio_cudnn"), ("over the faster", "ratio_best")):
        for label, chosen in (("all", rows), ("causal", [r for r in rows if "causal=1" in r["problem"]]),
                ("not causal", [r for r in rows if "causal=0" in r["problem"]])):
            values = [row[key]["median"] for row in chosen]
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
    bundle = tiletune_launch.Library(os.path.abspath(options.library)).open(file)
    version = subprocess.run([options.tiletune, "--version"], capture_output=True, text=True, check=True).stdout.split()
    started = datetime.datetime.now(datetime.timezone.utc)
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}; TFLOP/s of "
        "ours, FlashAttention-2, cuDNN; ratio over FA2 [quartiles], over cuDNN; relative errors of ours, FA2")
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
        **ask_nvidia(), "nvrtc": bundle.compiler(), "torch": torch.__version__, "cuda_of_torch": torch.version.cuda,
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
