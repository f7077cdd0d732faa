"""libtuned_launch.so for Python: kernels that `tiletune export --format cubin` wrote, launched on
torch tensors, in the CUDA context and stream of torch.

	library = Library("gpu/libtuned_launch.so")
	kernel = library.open("k.cubin.json")
	bound = kernel.bind({"Q": q, "K": k, "V": v, "O": o})	# workspaces are allocated
	bound.queue(torch.cuda.current_stream().cuda_stream)	# also while a graph is captured
"""
import ctypes

MESSAGE_SIZE = 1024


class Bound:
    def __init__(self, library, kernel, handle, keep):
        self.library, self.kernel, self.handle, self.keep = library, kernel, handle, keep

    def queue(self, stream):
        message = ctypes.create_string_buffer(MESSAGE_SIZE)
        if not self.library.calls.tuned_launch_queue(self.handle, stream, message, MESSAGE_SIZE):
            raise RuntimeError(message.value.decode())


class Kernel:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle
        calls = library.calls
        self.buffers = [(calls.tuned_launch_buffer_name(handle, i).decode(),
            calls.tuned_launch_buffer_bytes(handle, i)) for i in range(calls.tuned_launch_buffer_count(handle))]

    def bind(self, tensors, allocate):
        """tensors: by name; allocate(bytes) makes a tensor for each workspace."""
        addresses, keep = (ctypes.c_uint64 * len(self.buffers))(), []
        for index, (name, size) in enumerate(self.buffers):
            tensor = tensors[name] if name in tensors else allocate(size)
            if tensor.numel() * tensor.element_size() < size or not tensor.is_contiguous():
                raise ValueError(f"{name}: expected {size} bytes without gaps")
            addresses[index] = tensor.data_ptr() if size else 0
            keep.append(tensor)
        message = ctypes.create_string_buffer(MESSAGE_SIZE)
        handle = self.library.calls.tuned_launch_bind(self.handle, addresses, message, MESSAGE_SIZE)
        if not handle:
            raise RuntimeError(message.value.decode())
        return Bound(self.library, self, handle, keep)


class Library:
    def __init__(self, path):
        self.calls = ctypes.CDLL(path)
        text = (ctypes.c_char_p, ctypes.c_size_t)
        for name, result, arguments in (
                ("open", ctypes.c_void_p, (ctypes.c_char_p, *text)),
                ("close", None, (ctypes.c_void_p,)),
                ("buffer_count", ctypes.c_size_t, (ctypes.c_void_p,)),
                ("buffer_name", ctypes.c_char_p, (ctypes.c_void_p, ctypes.c_size_t)),
                ("buffer_bytes", ctypes.c_uint64, (ctypes.c_void_p, ctypes.c_size_t)),
                ("bind", ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_void_p, *text)),
                ("unbind", None, (ctypes.c_void_p,)),
                ("queue", ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint64, *text))):
            call = getattr(self.calls, "tuned_launch_" + name)
            call.restype, call.argtypes = result, arguments

    def open(self, path):
        message = ctypes.create_string_buffer(MESSAGE_SIZE)
        handle = self.calls.tuned_launch_open(path.encode(), message, MESSAGE_SIZE)
        if not handle:
            raise RuntimeError(message.value.decode())
        return Kernel(self, handle)
