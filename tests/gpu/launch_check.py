#!/usr/bin/env python3
"""Kernels of a bundle on a real GPU, launched by the C program of tests/consumers and through ctypes, against torch.

	tests/gpu/launch_check.py LIBRARY PROGRAM BUNDLE TUNED.json [SECONDS]

LIBRARY: libtiletune_launch.so; PROGRAM: tests/consumers/launch/main.c; TUNED.json: what the bundle was exported from.
Every entry of gemm and attention is launched on random numbers, from a graph too, and a gemm whose entry allows it with a
row less, whose last row must stay as it was. Results are compared by relative norm. Exit code 1: one is wrong.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path[0] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/python")
import torch  # noqa: E402
from torch.nn.attention.bias import causal_lower_right  # noqa: E402
from torch.nn.functional import scaled_dot_product_attention  # noqa: E402

import tiletune.launch  # noqa: E402

DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16,
    "fp8_e4m3": torch.float8_e4m3fn}
LIMITS = {"fp32": 1e-5, "tf32": 1e-3, "fp16": 2e-3, "bf16": 8e-3, "fp8_e4m3": 2e-2}  # relative norm
torch.backends.cuda.matmul.allow_tf32 = False


def uniform(rows, columns, dtype):
    return (2 * torch.rand(rows, columns, device="cuda") - 1).to(dtype)


def make_gemm(p):
    dtype, n_first = DTYPES[p["dtype"]], p["b_layout"] == "nk"
    a = uniform(p["M"], p["lda"], dtype)
    b = uniform(p["N"] if n_first else p["K"], p["ldb"], dtype)
    c = torch.full((p["M"], p["ldc"]), float("nan"), device="cuda", dtype=DTYPES[p["out_dtype"]])
    return {"A": a, "B": b, "C": c}


def expect_gemm(p, t):
    exact = torch.float32 if p["dtype"] in ("fp32", "tf32") else torch.bfloat16 if p["dtype"] == "fp8_e4m3" else t["A"].dtype
    b = t["B"][:, :p["K"]].to(exact).T if p["b_layout"] == "nk" else t["B"][:, :p["N"]].to(exact)
    assert p["act"] == "none"
    return t["A"][:, :p["K"]].to(exact) @ b


def make_attention(p):
    shapes = {"Q": ("heads", "seq_q"), "K": ("kv_heads", "seq_k"), "V": ("kv_heads", "seq_k"), "O": ("heads", "seq_q")}
    tensors = {name: torch.randn(p["batch"], p[heads], p[rows], p["head_dim"], device="cuda").to(DTYPES[p["dtype"]])
        for name, (heads, rows) in shapes.items()}
    tensors["O"].fill_(float("nan"))
    return tensors


def expect_attention(p, t):
    k, v = (t[name].repeat_interleave(p["heads"] // p["kv_heads"], 1) for name in "KV")
    if p["causal"] and p["seq_q"] != p["seq_k"]:
        return scaled_dot_product_attention(t["Q"], k, v, attn_mask=causal_lower_right(p["seq_q"], p["seq_k"]))
    return scaled_dot_product_attention(t["Q"], k, v, is_causal=bool(p["causal"]))


OPERATIONS = {"gemm": (make_gemm, expect_gemm, "C"), "attention": (make_attention, expect_attention, "O")}


def error_of(found, expected):
    expected = expected.float()
    return ((found.float() - expected).norm() / expected.norm()).item()


def text_of(p):
    return ",".join(f"{key}={value}" for key, value in p.items())


def valid(operation, p, tensor):
    return tensor[:, :p["N"]] if operation == "gemm" else tensor


def by_program(bundle, program, path, chosen):
    """[(operation, problem)] in one run of the program."""
    with tempfile.TemporaryDirectory() as folder:
        words, kept = [], []
        for number, (operation, p) in enumerate(chosen):
            make, expect, output = OPERATIONS[operation]
            where = os.path.join(folder, str(number))
            os.mkdir(where)
            tensors = make(p)
            for name, tensor in tensors.items():
                tensor.cpu().view(torch.uint8).numpy().tofile(os.path.join(where, name))
            for name in set(bundle.find(operation, text_of(p)).tensors) - set(tensors):  # of other problems
                open(os.path.join(where, name), "wb").close()
            words += [operation, text_of(p), where]
            kept.append((operation, p, expect(p, tensors), os.path.join(where, output), tensors[output]))
        torch.cuda.synchronize()
        done = subprocess.run([program, path, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"FAIL the C program: {done.stderr}")
            return False
        right = True
        for operation, p, expected, file, like in kept:
            found = torch.frombuffer(bytearray(open(file, "rb").read()), dtype=torch.uint8).view(like.dtype).view(like.shape)
            error = error_of(valid(operation, p, found.cuda()), expected)
            right &= error <= LIMITS[p["dtype"]]
            print(f"{'ok  ' if error <= LIMITS[p['dtype']] else 'FAIL'} C program: {operation} {text_of(p)}: error {error:.1e}")
        return right


def by_ctypes(bundle, operation, p, with_graph):
    """The relative error; that of a graph; of a row less, or None."""
    make, expect, output = OPERATIONS[operation]
    tensors = make(p)
    expected = expect(p, tensors)
    addresses = {name: tensor.data_ptr() for name, tensor in tensors.items()}
    stream = torch.cuda.current_stream()
    entry = bundle.find(operation, text_of(p))
    kernel = entry.load()
    run = kernel.bind(addresses, stream=stream.cuda_stream)
    run.launch(stream.cuda_stream)
    errors = [error_of(valid(operation, p, tensors[output]), expected)]
    if with_graph:
        tensors[output].fill_(float("nan"))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run.launch(torch.cuda.current_stream().cuda_stream)
        graph.replay()
        errors.append(error_of(valid(operation, p, tensors[output]), expected))
    smaller = {**p, "M": p["M"] - 1} if operation == "gemm" else None
    try:
        same = smaller and bundle.find(operation, text_of(smaller)).address.value == entry.address.value
    except tiletune.Error:
        same = False
    if same:
        tensors[output].fill_(float("nan"))
        rows = tensors["A"][:-1].clone()
        shorter = kernel.bind({**addresses, "A": rows.data_ptr()}, text_of(smaller), stream.cuda_stream)
        shorter.launch(stream.cuda_stream)
        errors.append(error_of(tensors["C"][:-1, :p["N"]], expected[:-1]) if tensors["C"][-1].isnan().all() else float("inf"))
    torch.cuda.synchronize()
    return errors, same


def main():
    library, program, path, tuned = sys.argv[1:5]
    until = time.monotonic() + float(sys.argv[5] if len(sys.argv) > 5 else 600)
    torch.manual_seed(1)
    torch.zeros(1, device="cuda")  # makes the context current
    bundle = tiletune.launch.Library(os.path.abspath(library)).open(path)
    with open(tuned, encoding="utf-8") as file:
        entries = [(entry["operation"], entry["problem"]) for entry in json.load(file)["entries"]]
    first = [next(e for e in entries if e[0] == operation and e[1]["dtype"] == "bf16")
        for operation in OPERATIONS]
    right = by_program(bundle, program, path, first)
    launched, shorter, worst, wrong = 0, 0, {}, 0
    for number, (operation, p) in enumerate(entries):
        if time.monotonic() > until:
            break
        errors, same = by_ctypes(bundle, operation, p, number % 8 == 0)
        launched, shorter = launched + 1, shorter + bool(same)
        key = f"{operation} {p['dtype']}"
        worst[key] = max(worst.get(key, 0), *errors)
        if not all(error <= LIMITS[p["dtype"]] for error in errors):  # not a number is wrong, too
            wrong += 1
            print(f"FAIL {operation} {text_of(p)}: {errors}")
    print(f"{launched} of {len(entries)} entries through ctypes, {shorter} of them with a row less, {wrong} wrong; worst "
        "errors: " + ", ".join(f"{key} {value:.1e}" for key, value in worst.items()), flush=True)
    return 0 if right and not wrong and launched else 1


sys.exit(main())
