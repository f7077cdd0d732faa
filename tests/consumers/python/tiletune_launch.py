"""tiletune_launch.h for Python, through ctypes: kernels of a bundle on another library's tensors.

	cc -shared -fPIC -DTTL_IMPLEMENTATION -x c tiletune_launch.h -lcuda -o libtiletune_launch.so

	bundle = Library("./libtiletune_launch.so").open("kernels.bundle")
	kernel = bundle.find("attention", "batch=4,heads=32,...").load()
	run = kernel.bind({"Q": q.data_ptr(), "K": ..., "V": ..., "O": ...})  # workspaces are allocated
	run.launch(torch.cuda.current_stream().cuda_stream)  # also while a graph is captured

Everything happens in the CUDA context that is current in the calling thread.
"""
import ctypes
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p


def struct(title, /, **fields):
    return type(title, (ctypes.Structure,), {"_fields_": list(fields.items())})


Error = struct("Error", status=c_int, cuda=c_int, text=c_char * 256)
Range = struct("Range", first=c_uint32, count=c_uint32)
Buffer = struct("Buffer", name=c_uint32, dtype=c_uint32, role=c_uint32, init=c_uint32, bytes=c_uint64, rows=c_uint64,
    columns=c_uint64, ld=c_uint64)
Header = struct("Header", magic=c_char * 8, version=c_uint32, header_bytes=c_uint32, bytes=c_uint64, checksum=c_uint64,
    tables=c_uint64 * 22, device=c_uint32, compiler=c_uint32)
Tensor = struct("Tensor", name=c_char_p, address=c_uint64)
EntryFields = struct("EntryFields", family=c_uint32, configuration=c_uint32, kernel_hash=c_uint32, unused=c_uint32,
    is_predicted=c_uint32, tensor_count=c_uint32, sizes=Range, buffers=Range, maps=Range, steps=Range, images=Range,
    time_us=c_double)


class Owner:
    """A handle of the library and the call that releases it; keeps what it borrows from."""

    def __init__(self, library, handle, release, borrowed=None):
        self.library, self.handle, self.release, self.borrowed = library, handle, release, borrowed

    def __del__(self):
        self.release(self.handle)


class Run(Owner):
    def launch(self, stream=0):
        self.library.call("launch", self.handle, c_void_p(stream))

    def set(self, name, address):
        self.library.call("set", self.handle, name.encode(), c_uint64(address))


class Kernel(Owner):
    def bind(self, addresses, problem=None, stream=0):
        tensors = (Tensor * len(addresses))(*((name.encode(), address) for name, address in addresses.items()))
        run = c_void_p()
        self.library.call("bind", self.handle, problem and problem.encode(), tensors, c_size_t(len(tensors)),
            c_void_p(stream), byref(run))
        return Run(self.library, run, self.library.calls.ttl_unbind, self)


class Entry:
    def __init__(self, bundle, address):
        self.bundle, self.address = bundle, address
        self.fields = ctypes.cast(address, POINTER(EntryFields)).contents
        self.is_predicted, self.time_us = bool(self.fields.is_predicted), self.fields.time_us
        self.family, self.configuration, self.kernel_hash = (bundle.string(text) for text in (self.fields.family,
            self.fields.configuration, self.fields.kernel_hash))
        buffers = bundle.library.calls.ttl_buffers(bundle.handle, address)
        self.tensors = {bundle.string(buffers[i].name): buffers[i].bytes for i in range(self.fields.tensor_count)}

    def load(self):
        kernel = c_void_p()
        self.bundle.library.call("load", self.bundle.handle, self.address, byref(kernel))
        return Kernel(self.bundle.library, kernel, self.bundle.library.calls.ttl_unload, self.bundle)


class Bundle(Owner):
    def string(self, text):
        return self.library.calls.ttl_string(self.handle, text).decode()

    def compiler(self):
        return self.string(self.library.calls.ttl_bundle_header(self.handle).contents.compiler)

    def find(self, operation, problem):
        entry = c_void_p()
        self.library.call("find", self.handle, operation.encode(), problem.encode(), byref(entry))
        return Entry(self, entry)


class Library:
    def __init__(self, path):
        self.calls = ctypes.CDLL(path)
        self.calls.ttl_string.restype = c_char_p
        self.calls.ttl_bundle_header.restype = POINTER(Header)
        self.calls.ttl_buffers.restype = POINTER(Buffer)

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.calls, "ttl_" + name)(*arguments, byref(error)):
            raise RuntimeError(error.text.decode())

    def open(self, path):
        bundle = c_void_p()
        self.call("open", path.encode(), byref(bundle))
        return Bundle(self, bundle, self.calls.ttl_close)
