"""Operators of a bundle on the driver's stand-in, whose GPU memory is host memory. Tensors are fakes with __cuda_array_interface__ or
DLPack's protocol, and torch's if it is installed."""
import ctypes
import math
import multiprocessing
import os
import subprocess
import sys
import threading
import warnings

import pytest

import tiletune
from conftest import CACHE, PROBLEMS, program
from tiletune import bundle as bundle_module
from tiletune.tensors import view

FP16_RIGHT = 0x3A00  # 0.75, the result of the stand-in's kernels
MARK_OUTPUT, DTYPE_FP16 = 0, 2  # constants of tests/faults/standin.h and src/expr/dtype.h


def device_memory(size):
	"""Allocates memory of the stand-in, whose kernels write 0.75 as fp16 into all of an output."""
	cuda, address = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint64()
	cuda.cuInit(0)
	assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0
	return address.value


def mark_output(address, size):
	ctypes.CDLL("libcuda.so.1").standin_mark(MARK_OUTPUT, ctypes.c_uint64(address), ctypes.c_uint64(size), DTYPE_FP16)


class Fake:
	"""Acts like CuPy's tensor with rows of `ld` elements; `shift` moves its start."""

	def __init__(self, *shape, ld=None, kind="<f2", shift=0):
		size = int(kind[2:])
		steps = [1, ld or shape[-1]][:len(shape)][::-1]
		rows = shape[0] if len(shape) > 1 else 1
		start = device_memory(rows * (ld or shape[-1]) * size + 64) + shift
		self.__cuda_array_interface__ = {"shape": shape, "strides": tuple(step * size for step in steps) if ld else None, "typestr": kind,
			"data": (start, False), "version": 3}

	def first(self):
		return ctypes.c_uint16.from_address(self.__cuda_array_interface__["data"][0]).value


def tensors(m=256, n=64, k=64, **options):
	return {"A": Fake(m, k, **options), "B": Fake(n, k, **options), "C": Fake(m, n, **options)}


@pytest.fixture
def opened(bundle):
	with warnings.catch_warnings():
		warnings.simplefilter("ignore")
		yield tiletune.Bundle(bundle)


def refused(call, *arguments, **named):
	with pytest.raises(tiletune.Error) as error:
		call(*arguments, **named)
	return error.value


def test_launches(opened, log):
	gemm, t = opened.op("gemm"), tensors()
	mark_output(t["C"].__cuda_array_interface__["data"][0], 256 * 64 * 2)
	assert gemm(**t) is t["C"]
	line, = log()
	assert line["entry"] == "gemm_mma" and line["args"][:3] == [t[name].__cuda_array_interface__["data"][0] for name in "ABC"]
	assert t["C"].first() == FP16_RIGHT
	other = tensors()
	gemm(other["A"], other["B"], other["C"], stream=0)  # tensors at other addresses, passed by position
	line, = log()
	assert line["args"][:3] == [other[name].__cuda_array_interface__["data"][0] for name in "ABC"]


def test_refuses(opened, log):
	gemm = opened.op("gemm")

	def said(**changed):
		return refused(gemm, **{**tensors(), **changed}).message

	assert said(B=Fake(64, 32)) == "gemm M=256,N=64,K=64,dtype=fp16,ldb=32: B: expected shape [64, 64], found [64, 32]"
	assert "C: expected shape [256, 64], found [256, 32]" in said(C=Fake(256, 32))
	assert "B: expected dtype fp16, found fp32" in said(B=Fake(64, 64, kind="<f4"))
	assert "C: expected strides [64, 1], found [128, 1]" not in said(C=Fake(256, 64, ld=128)) and "no entry" in said(C=Fake(256, 64, ld=128))
	transposed = Fake(64, 64)
	transposed.__cuda_array_interface__["strides"] = (2, 128)
	assert "B: expected strides" in said(B=transposed)
	assert "A: expected an address that is a multiple of 16, found 0x" in said(A=Fake(256, 64, shift=2))
	assert "expected a tensor of torch" in said(A=[1, 2]) and "found list" in said(A=[1, 2])
	assert "C: expected a tensor of shape [256, 64], found none" in said(C=None)
	assert "bias_values, too" in said(bias_values=Fake(64))
	assert "expected tensors A, B" in said(D=Fake(64, 64))
	for m in (255, 257):
		assert "the bundle has no entry for it" in refused(gemm, **tensors(m=m)).message
	assert "act" in refused(opened.op, "gemm", acts="relu").message
	assert refused(opened.op, "gem").hint
	assert "the bundle has no such operation" in refused(opened.op("attention"), *(Fake(1, 1, 64, 64) for _ in range(4))).message
	assert not log()


class Dl(Fake):
	"""Passes the same memory through DLPack; device: kind and number."""

	device = (2, 0)

	def __init__(self, *shape):
		super().__init__(*shape)
		item = self.__dict__.pop("__cuda_array_interface__")
		self.shape = (ctypes.c_int64 * len(shape))(*shape)
		self.structure = bundle_tensor(item["data"][0], self.device, len(shape), self.shape)

	def __dlpack_device__(self):
		return self.device

	def __dlpack__(self):
		new = ctypes.pythonapi.PyCapsule_New
		new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
		return new(ctypes.addressof(self.structure), b"dltensor", None)


def bundle_tensor(address, device, rank, shape):
	from tiletune.tensors import DLTensor
	return DLTensor(address, *device, rank, 2, 16, 1, shape, None, 0)


def test_dlpack(opened, log):
	gemm = opened.op("gemm")
	t = {"A": Dl(256, 64), "B": Dl(64, 64), "C": Dl(256, 64)}
	gemm(**t)
	assert log()[0]["args"][:3] == [t[name].structure.data for name in "ABC"]
	on_host = type("OnHost", (Dl,), {"device": (1, 0)})(256, 64)
	assert "A: expected a tensor in the GPU's memory, found DLPack's device type 1" in refused(gemm, **{**t, "A": on_host}).message
	second = type("Second", (Dl,), {"device": (2, 1)})
	assert "expected tensors of one GPU, found GPUs 0, 1" in refused(gemm, **{**t, "A": second(256, 64)}).message
	all_second = {"A": second(256, 64), "B": second(64, 64), "C": second(256, 64)}
	assert "expected tensors on the current GPU 0, found GPU 1" in refused(gemm, **all_second).message
	assert not log()


def test_another_gpu(bundle, log):
	opened = tiletune.Bundle(bundle)
	opened.device = "NVIDIA Other"
	with pytest.warns(UserWarning, match="was tuned on NVIDIA Other, this GPU is"):
		opened.op("gemm")(**tensors())
	with warnings.catch_warnings():
		warnings.simplefilter("error")
		opened.op("gemm")(**tensors())  # once
	assert len(log()) == 2


def test_no_kernel_for_the_gpu(bundle):
	"""Tests another compute capability, which the stand-in reads from its script, and therefore in another process."""
	script = os.environ["TILETUNE_STANDIN"] + ".80"
	with open(script, "w", encoding="utf-8") as file:
		print("compute_capability 80", file=file)
	code = (f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\nimport tiletune, test_bundle\n"
		f"print(test_bundle.refused(tiletune.Bundle({bundle!r}).op('gemm'), **test_bundle.tensors()))\n")
	done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env={**os.environ, "TILETUNE_STANDIN": script}, capture_output=True,
		text=True, check=False)
	assert done.returncode == 0 and "--arch" in done.stdout, done


def test_default_kernel(tmp_path):
	"""A bundle with --arch runs on a GPU that its kernel for Hopper does not support, and reports that nothing was tuned for it."""
	script, more = os.environ["TILETUNE_STANDIN"] + ".86", str(tmp_path / "more.bundle")
	tuned = str(tmp_path / "tuned.json")
	program("tune", "gemm", "-p", next(iter(PROBLEMS)), "--family", "wgmma", "--device", "model:h200-sxm", "--effort", "estimate", "--evaluations", "1",
		"--no-journal", "--cache-dir", CACHE, "-o", tuned)
	program("export", tuned, "--format", "bundle", "--arch", "sm_80", "--cache-dir", CACHE, "-o", more)
	with open(script, "w", encoding="utf-8") as file:
		print("compute_capability 86", file=file)
	code = (f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\nimport tiletune, test_bundle\n"
		f"tiletune.Bundle({more!r}).op('gemm')(**test_bundle.tensors())\n")
	done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "TILETUNE_STANDIN": script}, capture_output=True, text=True, check=False)
	assert done.returncode == 0 and "gemm/mma is used with its default configuration" in done.stderr, done


def workspaces(lines):
	"""Returns addresses that were zeroed or passed to a kernel in addition to the tensors."""
	return {line["args"][3] for line in lines if line["entry"] == "gemm_mma"} - {0}


def test_threads_and_streams(opened, log):
	gemm = opened.op("gemm")
	mine = tensors(m=64, k=4096)
	gemm(**mine, stream=0)
	gemm(**mine, stream=0)
	assert len(workspaces(log())) == 1
	gemm(**mine, stream=0)
	gemm(**mine, stream=1)
	assert len(workspaces(log())) == 2  # two streams do not share a workspace
	problems, all_launched = [], threading.Barrier(4)  # a workspace of a thread that has ended may be used again

	def work():
		try:
			gemm(**tensors(m=64, k=4096), stream=0)
			all_launched.wait(60)
		except Exception as error:  # pylint: disable=broad-except
			problems.append(error)

	gemm(**mine, stream=0)
	threads = [threading.Thread(target=work) for _ in range(4)]
	for thread in threads:
		thread.start()
	for thread in threads:
		thread.join()
	lines = log()
	assert not problems and sum(line["entry"] == "gemm_mma" for line in lines) == 5
	assert len(workspaces(lines)) == 5  # two threads do not share a workspace, either
	assert len(opened.op("gemm").kernels) == 0 and len(gemm.kernels) == 1  # one kernel for all threads


def child(gemm, arguments, queue):
	try:
		gemm(**arguments)
		queue.put("launched")
	except tiletune.Error as error:
		queue.put(str(error))


def test_fork(opened):
	gemm, t = opened.op("gemm"), tensors()
	context = multiprocessing.get_context("fork")
	queue = context.Queue()
	gemm(**t)
	process = context.Process(target=child, args=(gemm, t, queue))
	process.start()
	said = queue.get()
	process.join()
	assert "which forked it" in said and "hint: load kernels after the fork" in said
	gemm(**t)  # the parent process continues


def test_capture(opened, log):
	gemm, cuda = opened.op("gemm"), opened.library.driver
	state, plain = tensors(m=64, k=4096), tensors()

	def capture(*calls):
		graph = ctypes.c_void_p()
		assert cuda.cuStreamBeginCapture_v2(None, 0) == 0
		try:
			return [refused(gemm, **call) if is_refused else gemm(**call, stream=0) for call, is_refused in calls]
		finally:
			cuda.cuStreamEndCapture(None, ctypes.byref(graph))

	error, = capture((plain, True))
	assert "before the capture" in error.message and "first capture" in error.hint
	gemm(**plain), gemm(**state)
	before = workspaces(log())
	capture((plain, False), (state, False), (state, False))
	inside = workspaces(log())
	assert len(inside) <= 1 and inside <= before  # the graph retains the workspaces of the last call
	gemm(**state)
	after = workspaces(log())
	assert after and not after & before, "the next call has others"
	capture((plain, False))  # without workspaces no earlier call is needed
	capture((state, False))
	error, = capture((state, True))
	assert "before each capture" in error.hint


def test_memory_of_shapes_is_bounded(opened):
	gemm = opened.op("gemm")
	t = tensors()
	for stream in range(bundle_module.RUNS_MAX + 5):
		gemm(**t, stream=stream)
	assert len(gemm.local.runs) == bundle_module.RUNS_MAX


# ---- torch ----
@pytest.fixture
def torch(monkeypatch):
	"""Returns torch without a GPU: its tensors use the stand-in's memory, and count as tensors of GPU 0."""
	module = pytest.importorskip("torch", reason="torch is not installed")

	def of(name, value):
		if isinstance(value, module.Tensor):
			shape, dtype = tuple(value.shape), bundle_module.torch_dtype(value)
			return bundle_module.View(value.data_ptr(), shape, tuple(value.stride()), dtype, 0, value)
		return view(name, value)

	def allocate(like, tensor):
		if type(like) is not module.Tensor:  # torch asks the operator for the shape
			return original(like, tensor)
		size = math.prod(tensor.shape) * 2
		address = device_memory(size)
		mark_output(address, size)
		return module.frombuffer((ctypes.c_uint8 * size).from_address(address), dtype=module.float16).view(tensor.shape)

	original = bundle_module.Operator.allocate
	monkeypatch.setattr(bundle_module, "view", of)
	monkeypatch.setattr(bundle_module.Operator, "allocate", staticmethod(allocate))
	return module


def test_torch_device(bundle):
	torch = pytest.importorskip("torch", reason="torch is not installed")
	error = refused(tiletune.Bundle(bundle).op("gemm"), torch.zeros(256, 64), torch.zeros(64, 64))
	assert error.message == "A: expected a tensor on a GPU, found one on cpu"


def test_torch_outputs(opened, torch):
	a, b = torch.zeros(256, 64, dtype=torch.float16), torch.zeros(64, 64, dtype=torch.float16)
	c = opened.op("gemm")(a, b)
	assert c.shape == (256, 64) and c.dtype == torch.float16 and float(c[0, 0]) == 0.75
	with pytest.raises(tiletune.Error, match="B: expected strides"):
		opened.op("gemm")(a, b.t())


def test_torch_operator(opened, torch):
	gemm = opened.op("gemm")
	operator = gemm.torch_operator("tiletune_test::gemm")
	a, b = torch.zeros(256, 64, dtype=torch.float16), torch.zeros(64, 64, dtype=torch.float16)
	torch.library.opcheck(operator.default, (a, b), test_utils=("test_schema", "test_faketensor"))

	def layer(x, y):
		return operator(x + 0, y) * 2

	assert float(layer(a, b)[3, 5]) == 1.5
	compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
	assert torch.equal(compiled(a, b), layer(a, b))
	with pytest.raises(Exception, match="expected shape"):
		operator(a, torch.zeros(64, 32, dtype=torch.float16))


def test_a_missing_bundle_is_named():
	with pytest.raises(tiletune.Error, match="^none.bundle: No such file") as error:
		tiletune.Bundle("none.bundle")
	assert "export" in error.value.hint
