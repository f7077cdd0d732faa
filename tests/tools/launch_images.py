"""Which of two images of an entry the launcher loads, for checks/launch.py: BUNDLE LAUNCHER OPERATION PROBLEM CAPABILITY."""
import ctypes, itertools, struct, sys
sys.path.insert(0, "src/python")
import tiletune.launch
cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
path, libraries, operation, problem, capability = sys.argv[1:]
bundle = tiletune.launch.Library(libraries).open(path)
entry = bundle.find(operation, problem)
header = bundle.library.calls.ttl_bundle_header(bundle.handle)
at = ctypes.addressof(header.contents) + header.contents.tables[22] + 32 * entry.fields.images.first
both = [struct.unpack_from("<4I2Q", ctypes.string_at(at + 32 * i, 32)) for i in range(entry.fields.images.count)]
assert len(both) == 2 and both[0][0] == both[1][0] == 0, both
code = ctypes.addressof(header.contents) + header.contents.tables[2] + both[0][4]
kinds = [(number, suffix) for number in (80, 86, 89, 90, 100, 103) for suffix in (0, ord("a"), ord("f"))]
for pair in itertools.product(kinds, kinds):
    for good in range(2):  # the other image has no code, so that loading it fails
        for i, (number, suffix) in enumerate(pair):
            ctypes.memmove(at + 32 * i, struct.pack("<4I2Q", 0, number, suffix, 0, both[0][4], both[0][5] if i == good else 0), 32)
        try:
            entry.load()
            said = "loaded"
        except tiletune.Error as error:
            said = "none" if "expected an image" in str(error) else "other" if "found another" in str(error) else str(error)
        print(capability, *pair[0], *pair[1], good, said)
