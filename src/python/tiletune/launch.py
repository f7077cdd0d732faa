# SPDX-License-Identifier: MIT
"""tiletune_launch.h for Python, through ctypes: kernels of a bundle on another library's tensors. `bundle` is a higher-level interface.

    bundle = Library().open("kernels.bundle")
    kernel = bundle.find("attention", "batch=4,heads=32,...").load()
    run = kernel.bind({"Q": q.data_ptr(), "K": ..., "V": ..., "O": ...})  # workspaces are allocated
    run.launch(torch.cuda.current_stream().cuda_stream)  # also while a graph is captured

Everything happens in the CUDA context that is current in the calling thread. Kernels and runs belong to the process that made them: a
forked process gets an Error and does not release them."""

from __future__ import annotations

import ctypes
import os
import weakref
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Mapping, Optional

from .errors import Error

NAME = "libtiletune_launch.so"


def struct(title: str, /, **fields: Any) -> Any:
    return type(title, (ctypes.Structure,), {"_fields_": list(fields.items())})


ErrorText = struct("ErrorText", status=c_int, cuda=c_int, text=c_char * 256)
Range = struct("Range", first=c_uint32, count=c_uint32)
Buffer = struct("Buffer", name=c_uint32, dtype=c_uint32, role=c_uint32, init=c_uint32, bytes=c_uint64, rows=c_uint64,
    columns=c_uint64, ld=c_uint64)
Header = struct("Header", magic=c_char * 8, version=c_uint32, header_bytes=c_uint32, bytes=c_uint64, checksum=c_uint64,
    tables=c_uint64 * 24, device=c_uint32, compiler=c_uint32)
Tensor = struct("Tensor", name=c_char_p, address=c_uint64)
EntryFields = struct("EntryFields", family=c_uint32, configuration=c_uint32, kernel_hash=c_uint32, is_default=c_uint32,
    is_predicted=c_uint32, tensor_count=c_uint32, sizes=Range, buffers=Range, maps=Range, symbols=Range, steps=Range, images=Range,
    time_us=c_double)


class Owner:
    """Holds a handle of the library, the function that releases it, and references to the objects that it borrows from."""

    def __init__(self, library: Library, handle: c_void_p, release: Any, borrowed: Optional[Owner] = None):
        self.library, self.handle, self.process = library, handle, os.getpid()
        # references the borrowed objects until the release function has run, in any order of garbage collection
        weakref.finalize(self, self.free, handle, release, self.process, borrowed).atexit = False

    @staticmethod
    def free(handle: c_void_p, release: Any, process: int, _: Optional[Owner]) -> None:
        if process == os.getpid():
            release(handle)

    def own(self) -> c_void_p:
        if self.process != os.getpid():
            raise Error(f"process {os.getpid()}: expected a kernel that it loaded, found one of process {self.process}, which forked it",
                "load kernels after the fork, or start processes with multiprocessing's spawn")
        return self.handle


class Run(Owner):
    def launch(self, stream: int = 0) -> None:
        self.library.call("launch", self.own(), c_void_p(stream))

    def set(self, name: str, address: int) -> None:
        self.library.call("set", self.own(), name.encode(), c_uint64(address))


class Kernel(Owner):
    """entry is the loaded entry: the requested one, or (entry.is_default) the one that replaces it on this GPU."""

    entry: Entry

    def bind(self, addresses: Mapping[str, int], stream: int = 0) -> Run:
        tensors = (Tensor * len(addresses))(*((name.encode(), address) for name, address in addresses.items()))
        run = c_void_p()
        self.library.call("bind", self.own(), tensors, c_size_t(len(tensors)), c_void_p(stream), byref(run))
        return Run(self.library, run, self.library.calls.ttl_unbind, self)


class Entry:
    """is_predicted, is_default, time_us, family, configuration, kernel_hash; tensors: their bytes by name; has_state: it has workspaces or
        variables in constant memory, which two concurrent launches must not share."""

    def __init__(self, bundle: File, address: c_void_p):
        self.bundle, self.address = bundle, address
        self.fields = ctypes.cast(address, POINTER(EntryFields)).contents
        self.is_predicted, self.is_default, self.time_us = bool(self.fields.is_predicted), bool(self.fields.is_default), self.fields.time_us
        self.family, self.configuration, self.kernel_hash = (bundle.string(text) for text in (self.fields.family,
            self.fields.configuration, self.fields.kernel_hash))
        buffers = bundle.library.calls.ttl_buffers(bundle.handle, address)
        self.tensors = {bundle.string(buffers[i].name): buffers[i].bytes for i in range(self.fields.tensor_count)}
        self.has_state = self.fields.symbols.count > 0 or any(
            buffers[i].bytes for i in range(self.fields.tensor_count, self.fields.buffers.count))

    def load(self) -> Kernel:
        kernel = c_void_p()
        self.bundle.library.call("load", self.bundle.handle, self.address, byref(kernel))
        loaded = Kernel(self.bundle.library, kernel, self.bundle.library.calls.ttl_unload, self.bundle)
        address = self.bundle.library.calls.ttl_kernel_entry(kernel)
        loaded.entry = self if address == self.address.value else Entry(self.bundle, c_void_p(address))
        return loaded


class File(Owner):
    """An opened bundle; needs no CUDA context."""

    def string(self, text: int) -> str:
        return self.library.calls.ttl_string(self.handle, text).decode()

    def header(self, member: str) -> str:
        """Returns a member of the header: "device" (the one tuned on) or "compiler"."""
        return self.string(getattr(self.library.calls.ttl_bundle_header(self.handle).contents, member))

    def find(self, operation: str, problem: str) -> Entry:
        entry = c_void_p()
        self.library.call("find", self.handle, operation.encode(), problem.encode(), byref(entry))
        return Entry(self, entry)


def find_library() -> str:
    """Searches TILETUNE_LAUNCH, the module's folder, a checkout's build."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.environ.get("TILETUNE_LAUNCH"), os.path.join(here, NAME), os.path.join(here, *[".."] * 3, "build", "release", NAME)]
    for place in filter(None, places):
        if os.path.exists(place):
            return place
    raise Error(f"{here}: there is no {NAME}", "make; or set TILETUNE_LAUNCH to its path")


class Library:
    """Represents the launcher library, and the driver that it calls."""

    def __init__(self, path: Optional[str] = None):
        self.path = path or find_library()
        try:
            self.driver = ctypes.CDLL("libcuda.so.1")
            self.calls = ctypes.CDLL(self.path)
        except OSError as error:
            raise Error(f"the CUDA driver and the launcher cannot be loaded: {error}", code=5) from None
        self.calls.ttl_string.restype = c_char_p
        self.calls.ttl_bundle_header.restype = POINTER(Header)
        self.calls.ttl_buffers.restype = POINTER(Buffer)
        self.calls.ttl_kernel_entry.restype = c_void_p
        self.call("driver", self.driver.cuGetProcAddress_v2)

    def call(self, name: str, *arguments: Any) -> None:
        error = ErrorText()
        if getattr(self.calls, "ttl_" + name)(*arguments, byref(error)):
            raise Error(error.text.decode())

    def open(self, path: str) -> File:
        bundle = c_void_p()
        self.call("open", path.encode(), byref(bundle))
        return File(self, bundle, self.calls.ttl_close)
