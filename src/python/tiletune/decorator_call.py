# SPDX-License-Identifier: MIT
"""A kernel call as data, so that another process can repeat it: arguments, tensors, grid.

Tensors of integers, and small ones of any type, are stored with their values, because kernels read indices and lengths from them. Of
large floating-point tensors only mean and standard deviation are stored, and they are filled with random numbers."""
from __future__ import annotations

import hashlib
import itertools
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy

from .files import write_file
from .program_job import bits, is_real, is_torch, torch

SMALL_BYTES = 64 << 10  # a tensor of floating point numbers up to this size is stored with its values
VALUES_BYTES_MAX = 64 << 20  # larger tensors of integers are filled with random numbers, too
SAMPLE_ELEMENTS = 1 << 20  # sample size for mean and standard deviation
GRID_ROWS_MAX = 100_000


class Unrecordable(Exception):
    """The call cannot be repeated in another process; the message has the reason."""


# ---- arrays of torch or numpy ----
def is_array(value: Any) -> bool:
    return isinstance(value, numpy.ndarray) or (torch is not None and isinstance(value, torch.Tensor))


def dtype_name(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.")


def view(storage: Any, size: Sequence[int], stride: Sequence[int], offset: int) -> Any:
    if isinstance(storage, numpy.ndarray):
        return numpy.lib.stride_tricks.as_strided(storage[offset:], size, [step * storage.itemsize for step in stride])
    return torch.as_strided(storage, tuple(size), tuple(stride), offset)


def random_storage(record: Mapping[str, Any], like: Any, seed: int) -> None:
    """Fills a storage in pieces, so that the random numbers need little additional memory."""
    piece = 1 << 24
    for begin in range(0, len(like), piece):
        part = like[begin:begin + piece]
        if isinstance(part, numpy.ndarray):
            generator = numpy.random.default_rng([seed, begin])
            drawn = generator.normal(record["mean"], record["std"], len(part)) if part.dtype.kind == "f" else generator.integers(*record["range"], len(part))
            part[...] = drawn.astype(part.dtype)
            continue
        seeded = torch.Generator(part.device).manual_seed(seed + begin)
        if part.is_floating_point():
            drawn = torch.empty(len(part), dtype=torch.float32, device=part.device).normal_(record["mean"], record["std"], generator=seeded)
        else:
            drawn = torch.randint(*record["range"], (len(part),), device=part.device, generator=seeded)
        part.copy_(drawn.to(part.dtype))


# ---- the recorder ----
class Recorder:
    """Turns arguments into JSON. folder: where the values of tensors are stored, in files named after their content."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.storages: list[dict[str, Any]] = []
        self.spans: dict[Any, list[Any]] = {}  # (address, type): [number, first, last + 1, a tensor]

    def describe(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if is_array(value):
            return {"array": self.array(value)}
        if isinstance(value, numpy.generic):
            return value.item()
        if type(value) in (tuple, list) or (torch is not None and isinstance(value, torch.Size)):
            return {"list" if isinstance(value, list) else "tuple": [self.describe(item) for item in value]}
        if is_torch(value):
            return {"torch": str(value).removeprefix("torch.")}
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        if kind == "triton.tools.tensor_descriptor.TensorDescriptor":
            return {"descriptor": {name: self.describe(getattr(value, name)) for name in vars(value)}}
        if kind == "triton.language.core.dtype":
            return {"triton": value.name}
        if kind == "triton.language.core.constexpr":
            return {"constexpr": self.describe(value.value)}
        found = getattr(value, "fn", value)
        if getattr(found, "__qualname__", "<").isidentifier() and hasattr(found, "__module__"):
            return {"global": [found.__module__, found.__qualname__]}
        raise Unrecordable(f"an argument is a {kind}")

    def array(self, value: Any) -> dict[str, Any]:
        if isinstance(value, numpy.ndarray):
            address, offset, device = value.ctypes.data, 0, "cpu"
            stride = [step // value.itemsize for step in value.strides]
        else:
            if type(value) not in (torch.Tensor, torch.nn.Parameter):
                raise Unrecordable(f"an argument is a {type(value).__name__}, a subclass of torch.Tensor")
            address, offset, device, stride = value.untyped_storage().data_ptr(), value.storage_offset(), value.device.type, list(value.stride())
        if any(step < 0 for step in stride):
            raise Unrecordable("an argument is an array with a negative stride")
        end = offset + (sum((size - 1) * step for size, step in zip(value.shape, stride)) + 1 if all(value.shape) else 0)
        key = (address, dtype_name(value), device)
        span = self.spans.setdefault(key, [len(self.spans), offset, end, value])
        span[1:3] = min(span[1], offset), max(span[2], end)
        return {"storage": span[0], "dtype": dtype_name(value), "size": list(value.shape), "stride": stride, "offset": offset}

    def finish(self) -> list[dict[str, Any]]:
        """Returns the storages. Offsets of arrays count from the original allocation; subtract "first"."""
        for (_, dtype, device), (_, first, end, value) in self.spans.items():
            first -= first % 16  # preserves the alignment that the compiler assumes
            record = {"dtype": dtype, "device": device, "first": first, "count": end - first, "torch": not isinstance(value, numpy.ndarray)}
            self.storages.append({**record, **self.contents(value, first, end)})
        return self.storages

    def contents(self, value: Any, first: int, end: int) -> dict[str, Any]:
        if isinstance(value, numpy.ndarray):
            flat = view(value.reshape(-1) if value.flags.c_contiguous else value, (end - first,), (1,), 0)
        else:
            flat = torch.as_strided(value.detach(), (end - first,), (1,), first)
        sample = flat[:SAMPLE_ELEMENTS]
        sample = (sample.float().cpu().numpy() if is_real(flat) else sample.cpu().numpy()) if not isinstance(sample, numpy.ndarray) else sample
        has_infinity = is_real(flat) and bool(numpy.isinf(sample).any()) and not numpy.isnan(sample).any()  # -inf elements belong to a mask
        limit = VALUES_BYTES_MAX if has_infinity or not is_real(flat) else SMALL_BYTES
        if flat.nbytes <= limit:
            raw = (flat if isinstance(flat, numpy.ndarray) else bits(flat.contiguous() if flat.dtype != torch.bool else flat.to(torch.int8)).cpu().numpy()).tobytes()
            name = hashlib.sha256(raw).hexdigest()[:24] + ".z"
            path = os.path.join(self.folder, name)
            if not os.path.exists(path):
                os.makedirs(self.folder, exist_ok=True)
                write_file(path, zlib.compress(raw, 6))
            return {"values": name}
        if not is_real(flat):
            return {"range": [int(flat.min()), int(flat.max()) + 1]}
        finite = sample[numpy.isfinite(sample)].astype(float)
        mean, std = (float(finite.mean()), float(finite.std())) if len(finite) else (0.0, 1.0)
        if not (abs(mean) < 1e4 and 1e-6 < std < 1e4):  # the memory was not written yet, or holds constants
            mean, std = (mean if abs(mean) < 1e4 else 0.0), 1.0 if std >= 1e4 or not mean else 0.0
        return {"mean": mean, "std": std}


# ---- the grid ----
class Meta(dict[str, Any]):
    """Argument of a grid function. It records the parameters that the function reads. Heuristics are computed when they are read."""

    def __init__(self, values: Mapping[str, Any], parameters: Sequence[str], heuristics: Mapping[str, Callable[[Any], Any]]) -> None:
        super().__init__(values)
        self.parameters, self.heuristics, self.reads = set(parameters), heuristics, set[str]()

    def __getitem__(self, name: str) -> Any:
        if name in self.parameters:
            self.reads.add(name)
        return self.heuristics[name](self) if name in self.heuristics else super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self or name in self.heuristics else default


def grid_table(grid: Any, arguments: Mapping[str, Any], parameters: Mapping[str, Mapping[Any, Any]], heuristics: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the grid for each combination of the parameters that it depends on. parameters: by name, objects by written value."""
    if not callable(grid):
        return {"reads": [], "rows": [[[], list(grid)]]}
    reads: list[str] = []
    while True:
        rows, found, failure = [], set(reads), None
        for written in itertools.product(*(parameters[name] for name in reads)):
            if len(rows) > GRID_ROWS_MAX:
                raise Unrecordable("its grid depends on too many parameters")
            chosen = {**{name: next(iter(values.values())) for name, values in parameters.items()},
                **{name: parameters[name][value] for name, value in zip(reads, written)}}
            meta = Meta({**arguments, **chosen}, list(parameters), heuristics)
            try:
                rows.append([list(written), [int(size) for size in grid(meta)]])
            except Exception as error:  # pylint: disable=broad-exception-caught  # of a combination that no configuration has
                failure = error
            found |= meta.reads
            if not found <= set(reads):
                break
        if found <= set(reads):
            if not rows:
                raise failure or Unrecordable("its grid has no size")
            return {"reads": reads, "rows": rows}
        reads = [name for name in parameters if name in found]


def grid_of(table: Mapping[str, Any], configuration: Mapping[str, Any]) -> tuple[int, ...]:
    key = [configuration[name] for name in table["reads"]]
    found = next((grid for values, grid in table["rows"] if values == key), None)
    if found is None:
        raise ValueError(f"the recorded call has no grid for {dict(zip(table['reads'], key))}")
    return tuple(found)


# ---- the receiving process ----
def storages_of(call: Mapping[str, Any], folder: str, seed: int, is_meta: bool = False) -> list[Any]:
    """Allocates memory for all tensors of a call, filled with data. is_meta: without memory, for a compiler."""
    made = []
    for number, record in enumerate(call["storages"]):
        if record["torch"]:
            device = "meta" if is_meta else record["device"]
            storage = torch.empty(record["count"], dtype=getattr(torch, record["dtype"]), device=device)
        else:
            storage = numpy.empty(record["count"], dtype=record["dtype"])
        if "values" in record and not is_meta:
            with open(os.path.join(folder, record["values"]), "rb") as file:
                raw = numpy.frombuffer(bytearray(zlib.decompress(file.read())), dtype=numpy.uint8)
            if record["torch"]:
                flat = storage if storage.dtype != torch.bool else storage.view(torch.int8)
                flat.view(torch.uint8).copy_(torch.from_numpy(raw))
            else:
                storage[...] = raw.view(storage.dtype)
        elif not is_meta:
            random_storage(record, storage, seed + 1000 * number)
        made.append(storage)
    return made


def restored(value: Any, call: Mapping[str, Any], storages: Sequence[Any], find: Callable[[str, str], Any]) -> Any:
    """Restores an argument. find(module, name) returns an object of the program."""
    if isinstance(value, list) or not isinstance(value, dict):
        return value
    (kind, content), = value.items()
    if kind == "array":
        storage = storages[content["storage"]]
        return view(storage, content["size"], content["stride"], content["offset"] - call["storages"][content["storage"]]["first"])
    if kind in ("tuple", "list"):
        return {"tuple": tuple, "list": list}[kind](restored(item, call, storages, find) for item in content)
    if kind == "torch":
        return getattr(torch, content)
    if kind == "global":
        return find(*content)
    import triton  # pylint: disable=import-outside-toplevel,import-error
    if kind == "triton":
        return triton.language.dtype(content)
    if kind == "constexpr":
        return triton.language.constexpr(restored(content, call, storages, find))
    members = {name: restored(item, call, storages, find) for name, item in content.items()}
    return triton.tools.tensor_descriptor.TensorDescriptor(**members)


def arrays_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yields the arrays of a recorded argument."""
    if isinstance(value, dict):
        (kind, content), = value.items()
        if kind == "array":
            yield content
        for item in content.values() if isinstance(content, dict) and kind != "array" else content if isinstance(content, list) else ():
            yield from arrays_in(item)
