# SPDX-License-Identifier: MIT
"""Suites, which are lists of problems for `tiletune tune --suite`, recorded from a program or converted from other tools' lists.

    with tiletune.record("layers.json"):    # torch.matmul, linear and scaled_dot_product_attention of this program
        model(x)

    python3 -m tiletune.suites FILE... -o suite.json    # tunableop_untuned*.csv, aiter's *_untuned_gemm.csv, a CSV of CUTLASS's
                                                        # profiler, a problem list (JSON) of nvMatmulHeuristics"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import math
import os
import re
import sys
from typing import Any, Callable, Iterator, Optional, Sequence

from .errors import Error
from .files import write_file
from .operation import Operation, text_of
from .tensors import torch_dtype

DTYPES = {"float": "fp32", "f32": "fp32", "s": "fp32", "tf32": "tf32", "half": "fp16", "f16": "fp16", "h": "fp16", "bfloat16": "bf16", "bf16": "bf16",
    "float8_e4m3fn": "fp8_e4m3", "e4m3": "fp8_e4m3", "fe4m3": "fp8_e4m3", "fp8": "fp8_e4m3", "float16": "fp16", "float32": "fp32"}
Problem = dict[str, Any]


class Unserved(Exception):
    """No kernel computes the product; the message has the reason."""


def dtype_of(text: str) -> str:
    name = text.strip().lower().removeprefix("torch.").removeprefix("dtypes.")
    if name not in DTYPES:
        raise Unserved(f"dtype {text}")
    return DTYPES[name]


def gemm(m: int, n: int, k: int, dtype: str, layout: str = "nk", **more: Any) -> Problem:
    """Returns a problem without the keys that have default values."""
    problem = {"M": m, "N": n, "K": k, "dtype": dtype, "b_layout": layout, **more}
    operation = Operation.find("gemm")
    return operation.given(operation.complete(problem)) if operation else problem


def blas(trans_a: str, trans_b: str, trans_d: str, m: int, n: int, k: int, dtype: str, lds: Sequence[int] = (), batch: int = 1, **others: Any) -> Problem:
    """Returns a BLAS product, whose matrices are stored by columns (n) or rows (t). By rows, D by columns is D' = B' A'."""
    if trans_d == "n":
        m, n, trans_a, trans_b = n, m, "t" if trans_b == "n" else "n", "t" if trans_a == "n" else "n"
        lds = (lds[1], lds[0], *lds[2:]) if lds else ()
    if trans_a != "t":
        raise Unserved("a first factor by columns")
    more = dict(zip(("lda", "ldb", "ldc"), lds))
    return gemm(m, n, k, dtype, "nk" if trans_b == "n" else "kn", **more, **others, **({"batch": batch} if batch > 1 else {}))


# ---- other tools' lists ----
def is_true(text: Any) -> bool:
    return str(text).strip().lower() not in ("", "0", "false", "none", "nan")


def with_output(dtype: str, out: Optional[str], more: Problem) -> Problem:
    """Adds a type of C that is not the default to `more`."""
    found = dtype_of(out) if out else ""
    if not out or found == ("bf16" if dtype == "fp8_e4m3" else "fp32" if dtype == "tf32" else dtype):
        return more
    if found not in ("fp32", dtype):
        raise Unserved(f"dtype {dtype} and output type {out}")
    return {**more, "out_dtype": found}


def with_factors(alpha: Any, beta: Any, more: Problem) -> Problem:
    """Adds alpha and beta that are not the defaults to `more`."""
    values = {name: float(value) for name, value in (("alpha", alpha), ("beta", beta)) if value not in (None, "")}
    plain = {name: int(value) if value == int(value) else value for name, value in values.items()}
    return {**more, **{name: value for name, value in plain.items() if value != {"alpha": 1, "beta": 0}[name]}}


def of_tunableop(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, Callable[[], Problem]]]:
    form = re.compile(r"([tn])([tn])_(\d+)_(\d+)_(\d+)(?:_B_(\d+))?_ld_(\d+)_(\d+)_(\d+)(?:_rw_(\d))?(?:_bias_(\w+))?$")

    def problem(words: list[str]) -> Problem:
        name, found = words[0].split("_"), form.match(words[1])
        if not found:
            raise ValueError(f"expected tn_M_N_K_ld_A_B_C, found {words[1]}")
        trans_a, trans_b, m, n, k, batch, *lds, rowwise, bias = found.groups()
        types, more = "_".join(name[1:-1]), Problem()
        if name[0].startswith("Scaled"):  # types of A, B and D
            if not types.lower().startswith("float8_e4m3fn_float8_e4m3fn_"):
                raise Unserved(f"dtype {types}")
            more = with_output("fp8_e4m3", types[len("float8_e4m3fn_float8_e4m3fn_"):], {"scale": "row" if rowwise == "1" else "tensor"})
            types = "float8_e4m3fn"
        if "AndBias" in name[0] or is_true(bias or ""):
            more["bias"] = "row"
        return blas(trans_a, trans_b, "n", int(m), int(n), int(k), dtype_of(types), [int(ld) for ld in lds], int(batch or 1), **more)

    for number, words in rows:
        if words[0] != "Validator" and len(words) > 1:
            yield number, lambda cells=words: problem([cell.strip() for cell in cells])  # type: ignore[misc]


# Columns about how a product was computed, or about its speed. They do not change the product.
SILENT = {"problem", "provider", "operation", "disposition", "status", "accum", "bytes", "flops", "flops/byte", "runtime", "gb/s", "gflops", "cu_num", "us",
    "kernelid", "kernelname", "splitk", "libtype", "errratio", "tflops", "bw", "solidx", "op_class", "min_cc", "max_cc", "raster_order", "swizzle_size",
    "split_k_mode", "split_k_slices", "stages", "inst_m", "inst_n", "inst_k", "cta_m", "cta_n", "cta_k", "cluster_m", "cluster_n", "cluster_k", "warps_m",
    "warps_n", "warps_k", "cluster_m_fallback", "cluster_n_fallback", "cluster_k_fallback", "use_pdl", "enable_sm90_mixed_dtype_shuffle_test",
    "runtime_input_datatype_a", "runtime_input_datatype_b"}
READ = {"m", "n", "k", "a", "b", "c", "d", "dtype", "q_dtype_w", "outdtype", "bias", "alpha", "beta", "batch_count", "operationkind", "gemm_kind"}


def of_columns(rows: Iterator[tuple[int, list[str]]], path: str) -> Iterator[tuple[int, Callable[[], Problem]]]:
    """Reads a CSV with a header, from CUTLASS's profiler or aiter. A row with an unknown column that may change the problem is skipped."""
    _, head = next(rows)
    names = [name.strip().lower() for name in head]
    is_bf16 = "bf16" in os.path.basename(path).lower()

    def problem(row: dict[str, str]) -> Problem:
        for name in ("m", "n", "k"):
            if name not in row:
                raise KeyError(name.upper())
        sizes = [int(row[name]) for name in ("m", "n", "k")]
        others = [name for name, value in row.items() if name not in SILENT | READ and is_true(value)]
        if others:
            raise Unserved(f"a column {others[0]}")
        if row.get("gemm_kind", "universal") not in ("universal", "gemm", ""):
            raise Unserved(f"gemm_kind {row['gemm_kind']}")
        more = with_factors(row.get("alpha"), row.get("beta"), {"bias": "row"} if is_true(row.get("bias", "")) else {})
        if "a" in row:  # bf16:row
            (dtype, a), (other, b), d = (row[name].split(":") for name in ("a", "b", "d" if row.get("d") else "c"))
            if dtype_of(other) != dtype_of(dtype):
                raise Unserved(f"dtypes {dtype} and {other}")
            trans = ["t" if layout.startswith("row") else "n" for layout in (a, b, d[1])]
            return blas(*trans, *sizes, dtype_of(dtype), batch=int(row.get("batch_count") or 1),  # type: ignore[misc]
                **with_output(dtype_of(dtype), d[0], more))
        dtype = row.get("dtype") or row.get("q_dtype_w") or ("bf16" if is_bf16 else "")
        if not dtype:
            raise Unserved("no column for the type")
        return gemm(*sizes, dtype_of(dtype), **with_output(dtype_of(dtype), row.get("outdtype"), more))  # type: ignore[misc]

    for number, words in rows:
        row = {name: word.strip() for name, word in zip(names, words)}
        if row.get("operationkind", "gemm") == "gemm":
            yield number, lambda row=row: problem(row)  # type: ignore[misc]


def of_list(items: Any) -> Iterator[tuple[int, Callable[[], Problem]]]:
    """nvMatmulHeuristics: {"m", "n", "k", "batch_count", "layout": "tnn", "dtype_a": "f16"}."""
    def problem(item: dict[str, Any]) -> Problem:
        layout, dtype = item["layout"][:3], dtype_of(item["dtype_a"])
        if dtype_of(item.get("dtype_b") or item["dtype_a"]) != dtype:
            raise Unserved(f"dtypes {item['dtype_a']} and {item['dtype_b']}")
        if item.get("epilogue") not in (None, "", "none", "default"):
            raise Unserved(f"epilogue {item['epilogue']}")
        more = with_factors(item.get("alpha"), item.get("beta"), with_output(dtype, item.get("dtype_d"), {}))
        return blas(*layout, item["m"], item["n"], item["k"], dtype, batch=int(item.get("batch_count", 1)), **more)

    for number, item in enumerate(items):
        yield number, lambda item=item: problem(item)  # type: ignore[misc]


def read(path: str, skipped: Optional[collections.Counter[str]] = None) -> list[Problem]:
    """Returns the problems of another tool's list in their original order, without duplicates. skipped: number of skipped problems by
    reason."""
    problems: dict[str, Problem] = {}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            if path.endswith(".json"):
                items, place = of_list(json.load(file)), "$[{}]"
            else:
                listed = [(number, row) for number, row in enumerate(csv.reader(file, skipinitialspace=True), 1) if any(word.strip() for word in row)]
                is_table = bool(listed) and {"m", "n"} <= {name.strip().lower() for name in listed[0][1]}
                items, place = of_columns(iter(listed), path) if is_table else of_tunableop(iter(listed)), "line {}"
            for number, make in items:
                try:
                    problem = make()
                    problems.setdefault(text_of(problem), problem)
                except Unserved as reason:
                    if skipped is not None:
                        skipped[str(reason)] += 1
                except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
                    expected = f"a column {error}" if isinstance(error, KeyError) else "a problem"
                    raise Error(f"{path}: {place.format(number)}: expected {expected}, found {error}") from None
    except (OSError, ValueError, StopIteration, TypeError, csv.Error) as error:
        raise Error(f"{path}: expected a list of problems, found {error}") from None
    if not problems and not skipped:
        raise Error(f"{path}: expected a list of problems, found none")
    return list(problems.values())


def write(path: str, operation: str, problems: Sequence[Problem], summary: str) -> str:
    suite = {"format": "tiletune.suite/1", "name": os.path.splitext(os.path.basename(path))[0], "summary": summary, "operation": operation,
        "problems": [text_of(problem) for problem in problems]}
    write_file(path, json.dumps(suite, indent="\t") + "\n")
    return path


# ---- problems of the operators that a program calls ----
def of_matmul(a: Any, b: Any, **_: Any) -> tuple[str, Problem]:
    if a.dim() < 2 or b.dim() < 2:
        raise Unserved("a product with a vector")
    (m, k), n = a.shape[-2:], b.shape[-1]
    batch = math.prod(b.shape[:-2])
    if a.stride(-1) != 1 and a.shape[-1] > 1:
        raise Unserved("a first factor by columns")
    layout = "kn" if b.stride(-1) == 1 or n == 1 else "nk"
    if batch > 1:
        if math.prod(a.shape[:-2]) != batch:
            raise Unserved("a product that repeats a factor")
        more = {"batch": batch}
    else:
        m, more = m * math.prod(a.shape[:-2]), {"lda": max(a.stride(-2), k)} if a.dim() == 2 else {}
        more["ldb"] = max(b.stride(-2) if layout == "kn" else b.stride(-1), n if layout == "kn" else k)
    return "gemm", gemm(m, n, k, dtype_of_torch(a), layout, **more)


def of_linear(x: Any, weight: Any, bias: Any = None) -> tuple[str, Problem]:
    return "gemm", gemm(math.prod(x.shape[:-1]), weight.shape[0], weight.shape[1], dtype_of_torch(x), **({} if bias is None else {"bias": "row"}))


def of_attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, **_: Any) -> tuple[str, Problem]:
    if attn_mask is not None or dropout_p or query.dim() != 4:
        raise Unserved("attention with a mask, with dropout, or not of four dimensions")
    if is_causal and query.shape[2] != key.shape[2]:
        raise Unserved("a causal mask of other queries than keys: torch aligns it to the first key, tiletune to the last")
    batch, heads, seq_q, dim = query.shape
    problem = {"batch": batch, "heads": heads, "seq_q": seq_q, "seq_k": key.shape[2], "head_dim": dim, "dtype": dtype_of_torch(query)}
    for name, size, default in (("kv_heads", key.shape[1], heads), ("causal", int(is_causal), 0), ("head_dim_v", value.shape[3], dim)):
        problem.update({name: size} if size != default else {})
    return "attention", problem


def dtype_of_torch(tensor: Any) -> str:
    import torch  # pylint: disable=import-outside-toplevel
    name = torch_dtype(tensor)
    if name == "fp32" and torch.backends.cuda.matmul.allow_tf32:
        return "tf32"
    if name not in ("fp32", "fp16", "bf16"):
        raise Unserved(f"dtype {tensor.dtype}")
    return name


class Recorder:
    """problems: counts of runs, by operation; skipped: unrecorded calls, with counts; files: the written files."""

    def __init__(self, path: str):
        self.path, self.files = path, list[str]()
        self.problems: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.skipped: collections.Counter[str] = collections.Counter()

    def add(self, convert: Callable[..., tuple[str, Problem]], arguments: Any, named: Any) -> None:
        try:
            operation, problem = convert(*arguments, **named)
            self.problems[operation][text_of(problem)] += 1
        except Unserved as reason:
            self.skipped[str(reason)] += 1

    def save(self) -> list[str]:
        stem, ending = os.path.splitext(self.path)
        for operation, counts in self.problems.items():
            path = self.path if len(self.problems) == 1 else f"{stem}_{operation}{ending}"
            problems = [dict(item.split("=") for item in text.split(",")) for text, _ in counts.most_common()]
            self.files.append(write(path, operation, problems, f"Recorded: {counts.total()} calls, the most frequent first"))
        return self.files

    def __enter__(self) -> Recorder:
        try:
            import torch  # pylint: disable=import-outside-toplevel
            from torch.overrides import TorchFunctionMode  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise Error("record: expected torch, found none", "pip install torch") from None
        functions: dict[Any, Callable[..., tuple[str, Problem]]] = {function: of_matmul for function in (
            torch.matmul, torch.mm, torch.bmm, torch.Tensor.matmul, torch.Tensor.__matmul__, torch.Tensor.mm, torch.Tensor.bmm)}
        functions.update({torch.nn.functional.linear: of_linear, torch.nn.functional.scaled_dot_product_attention: of_attention})
        recorder = self

        class Mode(TorchFunctionMode):  # type: ignore[misc]
            def __torch_function__(self, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
                if function in functions:
                    recorder.add(functions[function], arguments, named or {})
                return function(*arguments, **(named or {}))

        self.mode = Mode()
        self.mode.__enter__()
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        self.mode.__exit__(kind, value, trace)
        if kind is None:
            self.save()


def record(path: str) -> Recorder:
    """A context that writes the torch products and attentions executed in it as a suite, the most frequent first. For several
        operations the files are PATH_gemm.json and PATH_attention.json. Functions that torch.compile replaced are not recorded."""
    return Recorder(path)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tiletune.suites", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("-o", "--output", required=True, help="the suite to write")
    options = parser.parse_args(arguments)
    skipped: collections.Counter[str] = collections.Counter()
    try:
        problems = {text_of(problem): problem for path in options.files for problem in read(path, skipped)}
        write(options.output, "gemm", list(problems.values()), "From " + ", ".join(os.path.basename(path) for path in options.files))
    except (Error, OSError) as error:
        print(f"tiletune.suites: {error}", file=sys.stderr)
        return 2
    print(f"wrote {options.output}: {len(problems)} problems" + "".join(f"\n  left out: {count} with {why}" for why, count in skipped.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
