# SPDX-License-Identifier: MIT
"""Data of other libraries' tensors: torch, __cuda_array_interface__ (CuPy, Numba), DLPack. Nothing is copied."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Optional

from .errors import Error

WORDS = {"float": "fp", "int": "i", "uint": "u", "f": "fp", "i": "i", "u": "u"}
NAMES = {"bfloat16": "bf16", "float8_e4m3fn": "fp8_e4m3", "float8_e5m2": "fp8_e5m2", "bool": "bool",
    **{f"{word}{bits}": f"{WORDS[word]}{bits}" for word in ("float", "int", "uint") for bits in (8, 16, 32, 64)}}
TYPES = {"b1": "bool", "V2": "bf16", "V1": "fp8_e4m3", **{f"{word}{size}": f"{WORDS[word]}{8 * size}" for word in "fiu" for size in (1, 2, 4, 8)}}
DL_TYPES = {0: "int{}", 1: "uint{}", 2: "float{}", 4: "bfloat{}", 6: "bool", 10: "float8_e4m3fn", 12: "float8_e5m2"}
DL_CUDA = (2, 13)  # GPU memory and managed memory


class View(NamedTuple):
    """strides: in elements; device: None if the protocol does not tell it; owner: keeps the memory alive."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: Optional[int]
    owner: Any


def packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    return tuple(reversed(strides))


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device", ctypes.c_int), ("rank", ctypes.c_int),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


def is_torch(value: Any) -> bool:
    return type(value).__module__.split(".")[0] == "torch"


def torch_dtype(value: Any) -> str:
    return NAMES.get(str(value.dtype)[6:], str(value.dtype))


def of_dlpack(name: str, value: Any) -> View:
    kind, _ = value.__dlpack_device__()
    if kind not in DL_CUDA:
        raise Error(f"{name}: expected a tensor in the GPU's memory, found DLPack's device type {kind}")
    capsule = value.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = DLTensor.from_address(pointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[:tensor.rank])
    dtype = NAMES.get(DL_TYPES.get(tensor.code, "").format(tensor.bits), "another type") if tensor.lanes == 1 else "vectors"
    return View((tensor.data or 0) + tensor.offset, shape, tuple(tensor.strides[:tensor.rank]) if tensor.strides else packed(shape), dtype,
        tensor.device, capsule)


def view(name: str, value: Any) -> View:
    """Raises Error if it is not a tensor on a GPU."""
    if is_torch(value):
        if value.device.type != "cuda":
            raise Error(f"{name}: expected a tensor on a GPU, found one on {value.device}", f'{name}.to("cuda")')
        return View(value.data_ptr(), tuple(value.shape), tuple(value.stride()), torch_dtype(value), value.device.index or 0, value)
    if hasattr(value, "__cuda_array_interface__"):
        item = value.__cuda_array_interface__
        dtype = TYPES.get(item["typestr"][1:], item["typestr"])
        size, strides = int(item["typestr"][2:]), item.get("strides")
        shape = tuple(item["shape"])
        return View(item["data"][0], shape, tuple(step // size for step in strides) if strides else packed(shape), dtype, None, value)
    if hasattr(value, "__dlpack__"):
        return of_dlpack(name, value)
    raise Error(f"{name}: expected a tensor of torch, with __cuda_array_interface__ or DLPack, found {type(value).__name__}")
