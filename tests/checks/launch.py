#!/usr/bin/python3
"""libtuned_launch.so through ctypes, as the benchmarks against PyTorch use it, over the driver's
stand-in: an exported kernel gets its tensors and workspaces and writes what the stand-in's kernels
write; what is wrong is said.

	tests/checks/launch.py OUT		OUT: the folder with the binary
"""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

OUT = os.path.abspath(sys.argv[1])
PROBLEMS = {  # without and with a workspace
	"flash_mma": "batch=1,heads=2,seq_q=40,seq_k=24,head_dim=16,dtype=bf16",
	"unfused": "batch=1,heads=2,seq_q=40,seq_k=24,head_dim=16,dtype=bf16",
}
BYTES = {"Q": 2 * 40 * 16 * 2, "K": 2 * 24 * 16 * 2, "V": 2 * 24 * 16 * 2, "O": 2 * 40 * 16 * 2}
MARK_OUTPUT, DTYPE_BF16 = 0, 3  # of tests/faults/standin.h and src/expr/dtype.h
RIGHT = (0x3F40).to_bytes(2, "little")  # 0.75, what the stand-in's kernels write

if "san-" in os.path.basename(OUT):
	print("skipped: a sanitized library does not load into a plain python3")
	sys.exit(77)
if "--child" not in sys.argv:
	# the loader reads LD_LIBRARY_PATH once, at the start
	with tempfile.TemporaryDirectory() as folder:
		os.symlink(os.path.join(OUT, "faults", "libcuda.so.1"), os.path.join(folder, "libcuda.so.1"))
		environment = {**os.environ, "LD_LIBRARY_PATH": folder}
		environment.pop("TILETUNE_STANDIN", None)
		sys.exit(subprocess.run([sys.executable, *sys.argv, "--child"], env=environment, check=False).returncode)

sys.path.insert(0, "tests/bench")
sys.dont_write_bytecode = True
import tuned_launch  # noqa: E402  pylint: disable=wrong-import-position

cuda = ctypes.CDLL("libcuda.so.1")


class Tensor:
	"""As much of torch.Tensor as is asked for."""

	def __init__(self, size, value=0):
		self.size, self.address = size, ctypes.c_uint64()
		assert cuda.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(max(size, 1))) == 0
		cuda.cuMemsetD8Async(self.address, ctypes.c_ubyte(value), ctypes.c_size_t(size), None)

	def numel(self):
		return self.size

	def element_size(self):
		return 1

	def is_contiguous(self):
		return True

	def data_ptr(self):
		return self.address.value

	def read(self):
		content = ctypes.create_string_buffer(self.size)
		cuda.cuMemcpyDtoHAsync_v2(content, self.address, ctypes.c_size_t(self.size), None)
		cuda.cuStreamSynchronize(None)
		return content.raw


def run(*arguments):
	done = subprocess.run([os.path.join(OUT, "tiletune"), *arguments, "--path", "."], capture_output=True, text=True,
		check=False)
	assert done.returncode == 0, done.stderr


def refusal(call):
	try:
		call()
	except (RuntimeError, ValueError) as error:
		return str(error)
	return "none"


cuda.cuInit(0)
context = ctypes.c_void_p()
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
library = tuned_launch.Library(os.path.join(OUT, "gpu", "libtuned_launch.so"))
with tempfile.TemporaryDirectory() as folder:
	cubin = os.path.join(folder, "kernel.cubin")
	for family, problem in PROBLEMS.items():
		tuned = os.path.join(folder, family + ".json")
		run("tune", "attention", "-p", problem, "--family", family, "--device", "model:h200-sxm", "--effort", "estimate",
			"--evaluations", "1", "--fresh", "--cache-dir", os.path.join(os.environ.get("TEST_BUILD", "build"), "test-cache"),
			"-o", tuned)
		run("export", tuned, "attention", "-p", problem, "--format", "cubin", "-o", cubin)
		kernel = library.open(cubin + ".json")
		sizes = dict(kernel.buffers)
		assert {name: sizes[name] for name in BYTES} == BYTES, sizes
		assert ("S" in sizes) == (family == "unfused"), sizes
		tensors = {name: Tensor(size) for name, size in BYTES.items()}
		assert tensors["O"].read() == bytes(BYTES["O"])
		cuda.standin_mark(MARK_OUTPUT, tensors["O"].address, ctypes.c_uint64(BYTES["O"]), DTYPE_BF16)
		kernel.bind(tensors, Tensor).queue(0)
		assert tensors["O"].read() == RIGHT * (BYTES["O"] // 2), "the kernel did not run"
		short = {**tensors, "K": Tensor(BYTES["K"] - 2)}
		said = refusal(lambda: kernel.bind(short, Tensor))
		assert re.fullmatch(rf"K: expected {BYTES['K']} bytes without gaps", said), said
	said = refusal(lambda: library.open(os.path.join(folder, "none.json")))
	assert "none.json" in said, said
	run("export", tuned, "--format", "source", "-o", os.path.join(folder, "kernel.cu"))
	said = refusal(lambda: library.open(os.path.join(folder, "kernel.cu.json")))
	assert "expected a kernel exported with --format cubin" in said, said
	os.remove(cubin)
	said = refusal(lambda: library.open(cubin + ".json"))
	assert "kernel.cubin" in said, said
print("a kernel without and one with a workspace ran; four mistakes were named")
