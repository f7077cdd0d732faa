"""Loads and launches an entry and prints what was loaded, for checks/launch.py: BUNDLE LAUNCHER PROBLEM."""
import ctypes, sys
sys.path.insert(0, "src/python")
import tiletune.launch
cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
path, libraries, problem = sys.argv[1:]
entry = tiletune.launch.Library(libraries).open(path).find("gemm", problem)
addresses = {}
for name, size in entry.tensors.items():
    address = ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size or 16)) == 0
    addresses[name] = address.value if size else 0
try:
    kernel = entry.load()
    kernel.bind(addresses).launch()
    print(entry.is_default, kernel.entry.is_default, kernel.entry.family, kernel.entry.tensors == entry.tensors)
except tiletune.Error as error:
    print(error)
