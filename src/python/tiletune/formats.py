# SPDX-License-Identifier: MIT
"""Files for servers and compilers, made from results: vLLM's and SGLang's tables, Triton's lists and caches, Inductor's lookup table,
FlashInfer-Bench's Solutions.

Tables hold configurations of a user's own kernel. They contain only configurations that were timed by a program of this kernel, never
those of tiletune's CUDA kernels or predicted ones. A Solution contains the CUDA kernels themselves.

    python3 -m tiletune.formats solution kernels.bundle gemm M=4096,N=4096,K=4096,dtype=bf16 --definition gemm_n4096_k4096 -o solution.json"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any, Iterator, Mapping, Optional, Sequence

from .errors import Error
from .files import write_file
from .operation import Operation
from .quoting import c_string, identifier
from .tuned import Tuned, tied_rows

MOE = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "num_warps", "num_stages")
TRITON = ("num_warps", "num_ctas", "num_stages", "maxnreg")
Configuration = dict[str, Any]


def rows_of(tuned: Tuned, operation: str, names: Optional[Mapping[str, str]] = None, **fixed: Any) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """Yields problem and (configuration, row) pairs, best first, for entries of an operation with these keys. names: the other format's
        names of parameters."""
    found = False
    for number, entry in enumerate(tuned.entries):
        if entry["operation"] != operation or any(entry["problem"].get(key) != value for key, value in fixed.items()):
            continue
        where, found = f"{tuned.path}: $.entries[{number}]", True
        if entry["timing"] != "measured":
            raise Error(f"{where}: expected measured times, found {entry['timing']} ones")
        if entry["winner"].get("launches"):
            raise Error(f"{where}: expected configurations that a program timed, found {entry['winner']['family']}, a CUDA kernel of tiletune",
                "its parameters mean nothing to another kernel: tune that kernel with a program")
        yield entry["problem"], [({(names or {}).get(key, key): value for key, value in row["configuration"].items()}, row)
            for row in [entry["winner"], *tied_rows(entry)]]
    if not found:
        raise Error(f"{tuned.path}: expected entries of {operation} with {fixed or 'any keys'}, found none")


def need(configuration: Configuration, names: Sequence[str], what: str) -> Configuration:
    missing = [name for name in names if name not in configuration]
    if missing:
        raise Error(f"{what}: expected the parameters {', '.join(missing)}, found {', '.join(configuration)}", 'names={"BM": "BLOCK_SIZE_M", ...}')
    return configuration


# ---- vLLM and SGLang ----
def moe_table(tuned: Tuned, operation: str, *, key: str = "M", names: Optional[Mapping[str, str]] = None, triton_version: Optional[str] = None,
        **fixed: Any) -> dict[str, Any]:
    """Returns, for fused MoE or block fp8, the best configuration by number of rows, which is the problem's key. Additional parameters
    (USE_TMA) are copied."""
    rows = {int(problem[key]): need(dict(found[0][0]), MOE, "a table of vLLM or SGLang") for problem, found in rows_of(tuned, operation, names, **fixed)}
    return {**({"triton_version": triton_version} if triton_version else {}), **{str(count): rows[count] for count in sorted(rows)}}


def table_name(sizes: Mapping[str, int], device_name: str, *, style: str, dtype: Optional[str] = None, block_shape: Optional[Sequence[int]] = None,
        per_channel_quant: bool = False, down: bool = False) -> str:
    """sizes: {"E": 128, "N": 384} for fused MoE, {"N": 2112, "K": 7168} for block fp8; device_name: torch.cuda.get_device_name();
        style: "vllm", or "sglang", whose block shape contains a blank. For fused MoE vLLM uses one name for all cards of the H200 family."""
    device_name = device_name.replace(" ", "_")
    if style == "vllm" and "E" in sizes and "H200" in device_name.split("_"):
        device_name = "NVIDIA_H200"
    shape = str(list(block_shape or [])).replace(" ", "" if style == "vllm" else " ")
    return ",".join([*(f"{key}={size}" for key, size in sizes.items()), f"device_name={device_name}", *([f"dtype={dtype}"] if dtype else []),
        *([f"block_shape={shape}"] if block_shape else []), *(["per_channel_quant=True"] if per_channel_quant else [])]) + ("_down" if down else "") + ".json"


def sglang_folder(triton_version: str) -> str:
    return "triton_" + triton_version.replace(".", "_")


def write_table(folder: str, name: str, table: Mapping[str, Any]) -> str:
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    write_file(path, json.dumps(table, indent=4) + "\n")
    return path


# ---- Triton ----
def split_options(configuration: Configuration) -> tuple[Configuration, Configuration]:
    """Returns the constants of the kernel, and options of its compilation."""
    return ({key: value for key, value in configuration.items() if key not in TRITON},
        {key: configuration[key] for key in TRITON if key in configuration})


def whole_number(name: str, value: Any) -> int:
    if type(value) is not int:
        raise Error(f"{name}: expected an integer, found {value!r}")
    return value


def triton_configs(tuned: Tuned, operation: str, *, names: Optional[Mapping[str, str]] = None, **fixed: Any) -> str:
    """Returns Python text: the list for @triton.autotune, with each winner once."""
    lines = dict.fromkeys(f"    triton.Config({split_options(found[0][0])[0]!r}"
        + "".join(f", {key}={whole_number(key, value)}" for key, value in split_options(found[0][0])[1].items()) + "),\n"
        for _, found in rows_of(tuned, operation, names, **fixed))
    return "[\n" + "".join(lines) + "]\n"


def triton_cache(tuned: Tuned, operation: str, key: Sequence[Any], *, names: Optional[Mapping[str, str]] = None, **fixed: Any) -> dict[str, Any]:
    """Returns KERNEL.autotune.json for one problem: the winner and its ties, with times in ms like Triton's: median, 20%, 80%.
        key: the values of autotune's key, then the types of the arguments."""
    problems = list(rows_of(tuned, operation, names, **fixed))
    if len(problems) != 1:
        raise Error(f"{tuned.path}: expected one problem, found {len(problems)}", "name its keys")
    timings = []
    for configuration, row in problems[0][1]:
        constants, options = split_options(configuration)
        time = row["time_us"]
        timings.append([{"kwargs": constants, **{"num_warps": 4, "num_ctas": 1, "num_stages": 3}, **options},
            [time[name] / 1e3 for name in ("median", "ci95_low", "ci95_high")]])
    return {"key": list(key), "configs_timings": timings}


# ---- Inductor ----
def inductor_key(device_name: str, tensors: Sequence[tuple[str, Sequence[int], Sequence[int]]], operation: str, **scalars: Any) -> str:
    """tensors: (torch dtype, sizes, strides) of each input."""
    inputs = ",".join(f"({dtype},{list(sizes)},{list(strides)})".replace(" ", "") for dtype, sizes, strides in tensors)
    words = [device_name, f"({inputs}{',' if len(tensors) == 1 else ''})", "&".join(f"{key}={value}" for key, value in scalars.items()), operation]
    return "+".join(filter(None, words))


def inductor_table(tuned: Tuned, operation: str, keys: Mapping[str, Mapping[str, Any]], *, names: Optional[Mapping[str, str]] = None,
        template: str = "triton::mm") -> dict[str, list[dict[str, Any]]]:
    """keys: maps inductor_key(...) to the keys of the problem that answers it."""
    table = {}
    for key, fixed in keys.items():
        problem, found = next(rows_of(tuned, operation, names, **fixed))
        configuration = need(dict(found[0][0]), ("BLOCK_M", "BLOCK_N", "BLOCK_K", "num_stages", "num_warps", "GROUP_M"), "Inductor's lookup table")
        table[key] = [{"template_id": template, "EVEN_K": problem["K"] % configuration["BLOCK_K"] == 0, "ACC_TYPE": "tl.float32", **configuration}]
    return table


# ---- FlashInfer-Bench ----
MAIN = r"""// The kernels are machine code in bundle.h, written by `tiletune export --format bundle`.
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
#define TTL_DYNAMIC
#define TTL_IMPLEMENTATION
#include "tiletune_launch.h"
#include "bundle.h"

static void need(ttl_status status, const ttl_error &err) {
  if (status != TTL_OK) TVM_FFI_THROW(RuntimeError) << err.text;
}

static ttl_bundle *open_bundle() {
  ttl_error err{};
  ttl_bundle *bundle = nullptr;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  void *get = driver ? dlsym(driver, "cuGetProcAddress_v2") : nullptr;
  if (!get) TVM_FFI_THROW(RuntimeError) << "expected the CUDA driver, found none";
  need(ttl_driver(get, &err), err);
  need(ttl_open_memory(bundle_data, sizeof(bundle_data), &bundle, &err), err);
  return bundle;
}

static CUdeviceptr address(const tvm::ffi::TensorView &t) {
  if (!t.IsContiguous()) TVM_FFI_THROW(ValueError) << "expected contiguous tensors";
  return reinterpret_cast<CUdeviceptr>(static_cast<char *>(t.data_ptr()) + t.byte_offset());
}

void run(@PARAMETERS@) {
  static std::mutex mutex;  // a run belongs to one thread at a time
  std::lock_guard<std::mutex> lock(mutex);
  static ttl_bundle *bundle = open_bundle();
  static std::map<std::string, ttl_run *> runs;
  ttl_error err{};
  const DLDevice device = @FIRST@.device();
  CUstream stream = static_cast<CUstream>(TVMFFIEnvGetStream(device.device_type, device.device_id));
  const std::string problem = @PROBLEM@;
  const ttl_tensor tensors[] = {@TENSORS@};
  ttl_run *&ready = runs[std::to_string(device.device_id) + " " + std::to_string((uintptr_t)stream) + " " + problem];
  if (!ready) {
    const ttl_entry *entry = nullptr;
    ttl_kernel *kernel = nullptr;
    need(ttl_find(bundle, "@OPERATION@", problem.c_str(), &entry, &err), err);
    need(ttl_load(bundle, entry, &kernel, &err), err);
    need(ttl_bind(kernel, tensors, sizeof(tensors) / sizeof(*tensors), stream, &ready, &err), err);
  }
  for (const ttl_tensor &tensor : tensors) need(ttl_set(ready, tensor.name, tensor.address, &err), err);
  need(ttl_launch(ready, stream, &err), err);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""


def solution(bundle: str, operation: str, problem: Mapping[str, Any], *, definition: str, header: str, name: Optional[str] = None,
        author: str = "tiletune", hardware: Sequence[str] = ("cuda",)) -> dict[str, Any]:
    """Returns a Solution of FlashInfer-Bench: the kernels of a bundle behind a function of tensors, inputs before outputs. problem: one of
        the bundle's; sizes that tensors determine are read from them. header: the path of tiletune_launch.h."""
    described = Operation.find(operation)
    if described is None:
        raise Error(f"{operation}: expected a folder of templates/, found none")
    complete = described.complete(problem)
    given = described.given(complete)
    tensors = {tensor.name: tensor for tensor in described.tensors(complete)}
    shapes = {key: value for key, value in given.items() if isinstance(value, int)}

    def place(key: str) -> Optional[str]:
        """Returns the dimension of a tensor that grows by one with the key."""
        try:
            other = described.tensors(described.complete({**given, key: shapes[key] + 1}))
        except Error:
            return None
        return next((f"{tensor.name}.size({axis})" for tensor in other for axis, size in enumerate(tensor.shape)
            if tensors[tensor.name].shape[axis] == shapes[key] and size == shapes[key] + 1), None)

    words = []
    for key, value in given.items():
        where = place(key) if key in shapes else None
        words.append(f'{c_string(key + "=")} + std::to_string({where})' if where else f'std::string({c_string(f"{key}={value}")})')
    order = sorted(tensors.values(), key=lambda tensor: tensor.role == "out")
    for name in (operation, *tensors):
        identifier(name, operation)
    text = MAIN.replace("@OPERATION@", operation).replace("@FIRST@", order[0].name).replace("@PROBLEM@", ' + "," + '.join(words)) \
        .replace("@PARAMETERS@", ", ".join(f"tvm::ffi::TensorView {tensor.name}" for tensor in order)) \
        .replace("@TENSORS@", ", ".join(f'{{"{tensor.name}", address({tensor.name})}}' for tensor in order))
    with open(bundle, "rb") as file:
        data = file.read()
    with open(header, encoding="utf-8") as source:
        launcher = source.read()
    lines = "".join(",".join(map(str, data[at:at + 32])) + ",\n" for at in range(0, len(data), 32))
    return {"name": name or f"tiletune_{definition}", "definition": definition, "author": author,
        "spec": {"language": "cuda", "target_hardware": list(hardware), "entry_point": "main.cu::run", "dependencies": [],
            "destination_passing_style": True, "binding": "tvm-ffi"},
        "sources": [{"path": "main.cu", "content": text}, {"path": "tiletune_launch.h", "content": launcher},
            {"path": "bundle.h", "content": f"alignas(8) static const unsigned char bundle_data[] = {{\n{lines}}};\n"}],
        "description": "Kernels that tiletune found, compiled, with the header that launches them."}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tiletune.formats", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("form", choices=["solution"])
    parser.add_argument("bundle")
    parser.add_argument("operation")
    parser.add_argument("problem", help="one of the bundle's: M=4096,N=4096,K=4096,dtype=bf16")
    parser.add_argument("--definition", required=True, help="whose solution it is: gemm_n4096_k4096")
    parser.add_argument("--header", required=True, help="tiletune_launch.h, which `make install` puts into include/")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args(arguments)
    try:
        problem = {key: int(value) if value.lstrip("-").isdigit() else value for key, value in (item.split("=", 1) for item in options.problem.split(","))}
        document = solution(options.bundle, options.operation, problem, definition=options.definition, header=options.header)
        write_file(options.output, json.dumps(document, indent=1) + "\n")
    except (Error, OSError, ValueError) as error:
        print(f"tiletune.formats: {error}", file=sys.stderr)
        return 2
    print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
