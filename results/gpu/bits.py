#!/usr/bin/env python3
"""Digests of outputs on a real GPU, and the cost of results that are bitwise equal for all M. From the folder of `make dist TESTS=1`:

	bits.py OUTPUT.json [trials] [price] [cublas] [attention] [cost] [devices]	(tiletune.bits/1; default: all but devices)

trials: products with M = 1 and one of TRIALS values of K, by mma.sync kernels that differ in BLOCK_K and SPLIT_K. Their digests must
differ where a sum is divided in other places, and agree elsewhere. Also the digests of other instructions (wgmma, with either side as
A). The first problems are tuned twice and must give the same digests. price: bf16, N = K = 4096, M = 1 to 4096 (13 values), tuned
with --bits invariant=M: times compared with those of an unrestricted tuning. cublas: whether the first row of cublasGemmEx's default
is the same for these M, on one probe input. attention: decoding, batch 1 to 64, with --bits invariant=batch. cost: quick tunings in
turn by $BEFORE, a tiletune without digests, and by this one: busy time of the GPU per evaluation. devices: the same problems on two
GPUs of one model ($DEVICES): digests that both runs have for one configuration.

Parts already in OUTPUT.json are skipped unless they are named. Exit code 1 means a wrong digest.

From the environment: TRIALS (100), BUDGET (2s, a problem of price and attention), TRIAL_BUDGET (1s), SIZE (4096, N and K of price),
DEVICE (cuda:0), CACHE (session-cache), WORK (bits-work), TILETUNE (./tiletune), ROOT (., with templates and configs)."""
import collections
import ctypes
import glob
import hashlib
import itertools
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import time

ENV = os.environ.get
TRIALS, DEVICE, WORK = int(ENV("TRIALS", "100")), ENV("DEVICE", "cuda:0"), ENV("WORK", "bits-work")
TUNE = [ENV("TILETUNE", "./tiletune"), "tune"]
SHARED = ["--path", ENV("ROOT", "."), "--cache-dir", ENV("CACHE", "session-cache"), "--fresh"]
SIZE = int(ENV("SIZE", "4096"))
ROWS = [2**i for i in range(13)]
MMA = "BM == 16 and WM == 16 and BN == 64 and WN == 32 and BK in [32, 64, 128] and STAGES == 3 and MIN_BLOCKS == 1 and GROUP_M == 1 " \
    "and SPLIT_K in [1, 2, 3, 4]"
# one configuration each: with other instructions, and with the same instructions and another tile
OTHERS = {
    "mma": [("mma, BN=128", "BM == 16 and WM == 16 and BN == 128 and WN == 32 and BK == 64 and STAGES == 3 and MIN_BLOCKS == 1 and GROUP_M == 1 "
        "and SPLIT_K == 1")],
    "wgmma_skinny": [(f"wgmma_skinny, SWAP={swap}", f"SWAP == {swap} and BM == {8 if swap else 64} and BN == 64 and BK == 64 and GROUPS == 1 and "
        "CLUSTER_N == 1 and CLUSTER_K == 1 and BLOCKS_PER_SM == 1 and STAGES == 4") for swap in (0, 1)],
}


def tune(name, operation, arguments, device=DEVICE):
    """Runs a tuning; returns its output and duration."""
    output = os.path.join(WORK, name + ".json")
    begun = time.monotonic()
    done = subprocess.run([*TUNE, operation, *arguments, *SHARED, "--device", device, "-o", output], check=False, capture_output=True, encoding="utf-8")
    with open(os.path.join(WORK, name + ".log"), "w", encoding="utf-8") as file:
        file.write(done.stdout + done.stderr)
    if done.returncode:
        print(f"{name}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout, time.monotonic() - begun


def evaluations(name):
    """Returns (problem, family, values of the configuration, whole digest) of all candidates that the run verified."""
    texts, found = {}, []
    path = os.path.join(WORK, name + ".journal.jsonl")
    if not os.path.exists(path):
        return found
    with open(path, encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["event"] == "problem":
                texts[line["number"]] = line["problem"]
            elif line["event"] == "evaluation" and "bits" in line:
                values = {key: int(value) for key, value in (item.split("=") for item in line["configuration"].split(","))}
                found.append((texts[line["problem"]], line["family"], values, line["bits"]["digests"][-1]))
    return found


def cuts(k, values):
    """Returns the places at which a kernel of gemm/mma divides its sums (templates/gemm/raster.cuh, share_of_k)."""
    steps = math.ceil(k / values["BK"])
    run = math.ceil(steps / values["SPLIT_K"])
    return tuple(first * values["BK"] for first in range(run, steps, run))


def trials():
    sizes = [2048 + 256 * i for i in range(TRIALS)]
    problem = lambda values: f"M=1,N=1024,K={','.join(map(str, values))},dtype=bf16"  # noqa: E731
    budget = ["--effort", "exhaustive", "--budget", ENV("TRIAL_BUDGET", "1s")]
    tune("split", "gemm", ["-p", problem(sizes), "--family", "mma", "--where", MMA, *budget])
    counts = collections.defaultdict(lambda: [0, 0])  # kind of pair: [number of pairs that agree or differ as expected, number of pairs]
    by_size = collections.defaultdict(list)
    plain = {}
    for size, _, values, digest in evaluations("split"):
        by_size[size["K"]].append((values, digest))
        if values["SPLIT_K"] == 1:
            plain[size["K"]] = digest
    for size, rows in by_size.items():
        for (a, of_a), (b, of_b) in itertools.combinations(rows, 2):
            differs = cuts(size, a) != cuts(size, b)
            kind = "same cuts" if not differs else "SPLIT_K" if a["BK"] == b["BK"] else "BLOCK_K" if a["SPLIT_K"] == b["SPLIT_K"] else "both"
            counts[kind][0] += (of_a != of_b) == differs
            counts[kind][1] += 1
    result = {"problems": len(by_size), "pairs": {kind: {"as_expected": right, "pairs": count} for kind, (right, count) in sorted(counts.items())}}
    for kind, (right, count) in sorted(counts.items()):
        print(f"  {kind:10} {'same' if kind == 'same cuts' else 'other'} digests in {right} of {count} pairs, over {len(by_size)} problems")
    result["instructions"] = {}
    for family, cases in OTHERS.items():
        for name, where in cases:
            run = re.sub(r"\W+", "-", name)
            tune(run, "gemm", ["-p", problem(sizes), "--family", family, "--where", where, "--effort", "exhaustive", "--budget", "0.3s"])
            other = {size["K"]: digest for size, _, _, digest in evaluations(run)}
            both = [size for size in other if size in plain]
            differ = sum(other[size] != plain[size] for size in both)
            result["instructions"][name] = {"differ": differ, "problems": len(both)}
            print(f"  {name}: other digests than mma, BN=64 in {differ} of {len(both)} problems")
    tune("again", "gemm", ["-p", problem(sizes[:10]), "--family", "mma", "--where", MMA, *budget])
    first = {(size["K"], *values.values()): digest for size, _, values, digest in evaluations("split")}
    again = {(size["K"], *values.values()): digest for size, _, values, digest in evaluations("again")}
    both = [key for key in again if key in first]
    result["again"] = {"same": sum(again[key] == first[key] for key in both), "digests": len(both)}
    print(f"  a second run: {result['again']['same']} of {len(both)} digests are the same")
    wrong = [kind for kind, (right, count) in counts.items() if right < count]
    # another instruction must change the bits always or never
    wrong += [name for name, row in result["instructions"].items() if 0 < row["differ"] < row["problems"]]
    wrong += ["a second run"] if result["again"]["same"] < len(both) else []
    result["wrong"] = wrong
    return result


def beside_cublaslt(name):
    """Returns {M: (microseconds of cuBLASLt's default pick, of its best pick)}, or {} if the program is missing."""
    output = os.path.join(WORK, name + "-versus.json")
    if name != "price" or not os.path.exists("gpu/gemm_vs_cublaslt"):
        return {}
    with open(output + ".log", "w", encoding="utf-8") as log:
        subprocess.run(["gpu/gemm_vs_cublaslt", *SHARED[:4], "--seconds", "0.2", "-o", output, os.path.join(WORK, name + ".json")],
            check=False, stdout=log, stderr=log)
    if not os.path.exists(output):
        return {}
    with open(output, encoding="utf-8") as file:
        entries = [entry for entry in json.load(file)["entries"] if "cublaslt_default_us" in entry]
    return {int(re.search(r"\bM=(\d+)", entry["problem"]).group(1)): (entry["cublaslt_default_us"], entry["cublaslt_best_us"]) for entry in entries}


def prices(name, operation, problem, key):
    said, seconds = tune(name, operation, ["-p", problem, "--bits", f"invariant={key}", "--budget", ENV("BUDGET", "2s")])
    head = re.search(r"the best of (\d+) classes has (\d+) configurations of (\d+) that were compared", said)
    rows = re.findall(r"^ +([\d.]+) us, [-\d.]+% slower than ([\d.]+) us: (.*)$", said, re.M)
    path = os.path.join(WORK, name + ".json")
    if not head or not os.path.exists(path):
        return {"failed": said.strip()[-300:]}
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    entries = {entry["problem"][key]: entry for entry in document["entries"]}
    value = lambda title: int(re.search(rf"\b{key}=(\d+)", title).group(1))  # noqa: E731
    table = [{key: value(title), "us": float(us), "free_us": float(free), "final_us": entries[value(title)]["winner"]["time_us"]["median"],
        "family": entries[value(title)]["winner"]["family"], "configuration": entries[value(title)]["winner"]["configuration"]}
        for us, free, title in rows if value(title) in entries]
    library_us = beside_cublaslt(name)
    print(f"  {key:>6} {'class us':>10} {'free us':>10} {'price':>7} {'cuBLASLt us':>11}  winner in the class")
    for row in table:
        if row[key] in library_us:
            row["cublaslt_default_us"], row["cublaslt_best_us"] = library_us[row[key]]
        print(f"  {row[key]:6} {row['us']:10.2f} {row['free_us']:10.2f} {100 * (row['us'] / row['free_us'] - 1):6.1f}% {row.get('cublaslt_default_us', math.nan):11.2f}  {row['family']} "
            + ",".join(f"{name}={number}" for name, number in row["configuration"].items()))
    bits = document["entries"][0]["bits"]
    print(f"  mean {100 * bits['mean_loss']:.1f}%, worst {100 * bits['worst_loss']:.1f}%; {seconds:.0f} s")
    return {"device": document["device"], "classes": int(head.group(1)), "members": int(head.group(2)), "compared": int(head.group(3)),
        "inputs": document["entries"][0]["winner"]["bits"]["inputs"], "mean_loss": bits["mean_loss"], "worst_loss": bits["worst_loss"],
        "seconds": round(seconds, 1), "rows": table}


# ---- cuBLAS through ctypes ----
def library(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def made(count):
    """Makes bf16 numbers of mixed size in little-endian order: about one in 64 is 2^15, so that large ones cancel."""
    draw = random.Random(1)
    high = draw.randbytes(count).translate(bytes((0x47 if i % 64 == 0 else 0x3c + i % 4) | (i & 0x80 ^ (i << 3 & 0x80)) for i in range(256)))
    data = bytearray(2 * count)
    data[0::2] = draw.randbytes(count)
    data[1::2] = high
    for found in re.finditer(b"[\x47\xc7]", high):
        data[2 * found.start()] = 0
    return bytes(data)


def cublas():
    driver = library("libcuda.so.1")
    blas = library(*(f"{folder}libcublas.so.{version}" for folder in ("", "/usr/local/cuda/lib64/") for version in (13, 12)))
    if not driver or not blas:
        return {"failed": "no libcublas"}
    n = k = 4096
    handle, context, pointers = ctypes.c_void_p(), ctypes.c_void_p(), [ctypes.c_uint64() for _ in range(3)]

    def call(function, *arguments):
        code = function(*arguments)
        if code:
            raise RuntimeError(f"{function.__name__}: {code}")
    call(driver.cuInit, 0)
    call(driver.cuDevicePrimaryCtxRetain, ctypes.byref(context), 0)
    call(driver.cuCtxSetCurrent, context)
    call(blas.cublasCreate_v2, ctypes.byref(handle))
    contents = (b"\x80\x3f" * (max(ROWS) * k), made(n * k), bytes(2 * max(ROWS) * n))
    for pointer, content in zip(pointers, contents):
        call(driver.cuMemAlloc_v2, ctypes.byref(pointer), ctypes.c_size_t(len(content)))
        call(driver.cuMemcpyHtoD_v2, pointer, content, ctypes.c_size_t(len(content)))
    one, zero, bf16, fp32_sums, default = ctypes.c_float(1), ctypes.c_float(0), 14, 68, -1
    digests = {}
    for rows in ROWS:
        call(blas.cublasGemmEx, handle, 1, 0, n, rows, k, ctypes.byref(one), pointers[1], bf16, k, pointers[0], bf16, k, ctypes.byref(zero),
            pointers[2], bf16, n, fp32_sums, default)
        call(driver.cuCtxSynchronize)
        row = ctypes.create_string_buffer(2 * n)
        call(driver.cuMemcpyDtoH_v2, row, pointers[2], ctypes.c_size_t(2 * n))
        digests[rows] = hashlib.sha256(row.raw).hexdigest()[:16]
    print(f"  cublasGemmEx: {len(set(digests.values()))} different first rows for {len(digests)} values of M: "
        + " ".join(str(sorted(set(digests.values())).index(digest)) for digest in digests.values()))
    return {"different": len(set(digests.values())), "digests": {str(rows): digest for rows, digest in digests.items()}}


def cost():
    """Returns the GPU seconds of quick tunings with digests over those without. They run in turn, and the first one alternates."""
    if not ENV("BEFORE"):
        return {"failed": "expected BEFORE, the path of a tiletune without digests"}
    rows = []
    for problem in ("M=4096,N=4096,K=4096,dtype=bf16", "M=64,N=4096,K=4096,dtype=bf16"):
        logs, busy_s = [], {"before": [], "after": []}
        for turn in range(int(ENV("TURNS", "6")) + 1):
            seconds = {}
            for name in ("before", "after") if turn % 2 else ("after", "before"):
                path = os.path.join(WORK, f"cost-{name}.journal.jsonl")
                if os.path.exists(path):
                    os.remove(path)
                program = ENV("BEFORE") if name == "before" else TUNE[0]
                subprocess.run([program, "tune", "gemm", "-p", problem, "--effort", "quick", "--evaluations", "100", *SHARED, "--device", DEVICE, "-o",
                    path.replace(".journal.jsonl", ".json")], check=True, capture_output=True)
                with open(path, encoding="utf-8") as file:
                    lines = [json.loads(line) for line in file]
                finish = next(line for line in lines if line["event"] == "finish")
                seconds[name] = finish["device_s"] / sum(line["event"] == "evaluation" and line["outcome"] == "ok" for line in lines)
            if turn:  # the first turn fills the cache
                logs.append(math.log(seconds["after"] / seconds["before"]))
                for name, value in seconds.items():
                    busy_s[name].append(value)
        mean, error = statistics.mean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
        rows.append({"problem": problem, "busy_s_per_evaluation": busy_s, "ratio": math.exp(mean), "standard_error": error})
        print(f"  {problem}: the GPU is busy for {1e3 * statistics.mean(busy_s['before']):.2f} -> {1e3 * statistics.mean(busy_s['after']):.2f} ms "
            f"an evaluation: {100 * math.expm1(mean):+.1f}% (standard error {100 * error:.1f}%, {len(logs)} turns)")
    return {"rows": rows}


def devices():
    """Runs the first problems of trials, and attention's decoding, on two GPUs of one model: the digests of one configuration agree."""
    sizes = [2048 + 256 * i for i in range(min(TRIALS, 5))]
    cases = {
        "gemm": ["gemm", "-p", f"M=1,37,N=1024,K={','.join(map(str, sizes))},dtype=bf16"],
        "attention": ["attention", "-p", "batch=1,4,heads=32,kv_heads=8,seq_q=1,seq_k=1024,4096,head_dim=128,dtype=bf16"],
    }
    result = {}
    for name, arguments in cases.items():
        digests = []
        for number, device in enumerate(ENV("DEVICES", "cuda:0,cuda:1").split(",")):
            run = f"{name}-{number}"
            tune(run, arguments[0], [*arguments[1:], "--effort", "quick", "--budget", "1s"], device)
            digests.append({(json.dumps(problem), family, *values.items()): digest for problem, family, values, digest in evaluations(run)})
        both = digests[0].keys() & digests[1].keys()
        same = sum(digests[0][key] == digests[1][key] for key in both)
        result[name] = {"same": same, "digests": len(both)}
        print(f"  {name}: {same} of {len(both)} digests are the same on both GPUs")
    return result


def what_ran():
    """Returns the device and the run of the tuned file that was written last."""
    files = sorted(glob.glob(os.path.join(WORK, "*.json")), key=os.path.getmtime)
    if not files:
        return {}
    with open(files[-1], encoding="utf-8") as file:
        tuned = json.load(file)
    run = tuned["runs"][-1]
    return {"device": tuned["device"]["name"], "run": {key: run[key] for key in ("date", "tiletune", "driver", "nvrtc") if key in run}}


PARTS = {
    "trials": trials,
    "price": lambda: prices("price", "gemm", f"M={','.join(map(str, ROWS))},N={SIZE},K={SIZE},dtype=bf16", "M"),
    "cublas": cublas,
    "attention": lambda: prices("attention", "attention", "batch=1,4,16,64,heads=32,kv_heads=8,seq_q=1,seq_k=4096,head_dim=128,dtype=bf16", "batch"),
    "cost": cost,
    "devices": devices,
}


def main():
    output, names = sys.argv[1], sys.argv[2:] or [name for name in PARTS if name != "devices"]
    result = {"format": "tiletune.bits/1", "parts": {}}
    os.makedirs(WORK, exist_ok=True)
    if os.path.exists(output):
        with open(output, encoding="utf-8") as file:
            result = json.load(file)
    result["date"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for name in names:
        print(f"{name}:")
        try:
            result["parts"][name] = PARTS[name]()
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            result["parts"][name] = {"failed": str(error)}
        result.update(what_ran())
        if "failed" in result["parts"][name]:
            print(f"  failed: {result['parts'][name]['failed']}")
        with open(output, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
    wrong = result["parts"].get("trials", {}).get("wrong", [])
    if wrong:
        print("not as expected: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
