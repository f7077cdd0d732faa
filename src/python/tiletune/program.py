# SPDX-License-Identifier: MIT
"""A program that `tiletune tune` starts in the place of a kernel's source (templates/programs.md):

	from tiletune.program import serve
	serve(make, reference, inputs)

`inputs(problem)` is a list of (shape, dtype), filled with random numbers in [-1, 1] from tiletune's seed, of functions of a
random generator, or of arrays; dtypes are torch's, or numpy's for a program on the CPU. `make(problem, configuration)` returns
`run` and a list of (shape, dtype), the outputs; `run(*inputs, *outputs)` fills them. `reference(problem, *inputs)` returns what
they should hold. `prepare(problem, configuration)` compiles, if that can be done ahead in processes of their own.
"""
from __future__ import annotations

import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy

try:
	import torch
except ImportError:
	torch = None  # type: ignore[assignment]

SAMPLE_SECONDS, SETS_MAX, CPU_CACHE_BYTES, FEWEST_ROUNDS = 300e-6, 64, 64 << 20, 3
# What is right by tiletune's rule: this part of the expected value, and a sixteenth of it of the largest one.
TOLERANCES = {"float64": 2**-30, "float32": 2**-13, "float16": 2**-8, "bfloat16": 2**-5, "float8_e4m3fn": 2**-2, "float8_e5m2": 2**-2}
# The class of an exception and what it means; compilers' and drivers' names, looked for in this order.
OUTCOMES = (("OutOfMemory", "out_of_memory"), ("MemoryError", "out_of_memory"), ("OutOfResources", "launch_failed"), ("Compil", "compile_failed"),
	("PTXAS", "compile_failed"), ("Assertion", "compile_failed"))


class Lost(Exception):
	"""The device has failed for this process: another one goes on."""


def outcome_of(error: Exception) -> str:
	names = [kind.__name__ for kind in type(error).__mro__]
	return next((outcome for part, outcome in OUTCOMES if any(part in name for name in names)), "launch_failed")


def is_torch(dtype: object) -> bool:
	return torch is not None and isinstance(dtype, torch.dtype)


def on_gpu() -> bool:
	return torch is not None and torch.cuda.is_available()


def empty(shape: Sequence[int], dtype: Any) -> Any:
	if is_torch(dtype):
		return torch.empty(tuple(shape), dtype=dtype, device="cuda" if on_gpu() else "cpu")
	return numpy.empty(tuple(shape), dtype=dtype)


def filled(spec: Any, generator: numpy.random.Generator) -> Any:
	"""An input of its own: random, made by the user's function, or a copy of an array."""
	if callable(spec):
		return spec(generator)
	if not isinstance(spec, tuple):
		return spec.clone() if hasattr(spec, "clone") else spec.copy()
	if not is_torch(spec[1]):
		return generator.uniform(-1, 1, tuple(spec[0])).astype(spec[1])
	made = empty(spec[0], torch.float32)
	seeded = torch.Generator(made.device).manual_seed(int(generator.integers(1 << 62)))
	return made.uniform_(-1, 1, generator=seeded).to(spec[1])


def poison(array: Any) -> None:
	if hasattr(array, "fill_"):
		array.fill_(float("nan") if array.is_floating_point() else 0x5A)
	else:
		array.fill(numpy.nan if array.dtype.kind == "f" else 0x5A)


def compared(found: Any, expected: Any) -> dict[str, Any]:
	"""tiletune's "verification" of one output, on the device that has it."""
	relative = TOLERANCES.get(str(found.dtype).removeprefix("torch."), 0.0)
	if is_torch(found.dtype):
		found, expected = (torch.as_tensor(one, device=found.device).detach().double().flatten() for one in (found, expected))
	else:
		found, expected = (numpy.asarray(one, dtype=float).ravel() for one in (found, expected))
	if len(found) != len(expected):
		raise ValueError(f"expected {len(found)} elements of the reference, found {len(expected)}")
	difference, size = abs(found - expected), abs(expected)
	largest, worst = (float(one.max()) if len(one) else 0.0 for one in (size, difference))
	violations = int((~(difference <= relative * (size + largest / 16))).sum())
	return {"points": len(found), "violations": violations, "max_abs_error": None if worst != worst else worst,
		"max_rel_error": None if worst != worst else worst / (largest or 1)}


def merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
	worst = {key: None if any(part[key] is None for part in parts) else max(part[key] for part in parts) for key in ("max_abs_error", "max_rel_error")}
	return {"points": sum(part["points"] for part in parts), "violations": sum(part["violations"] for part in parts), **worst}


class Data:
	"""A problem's inputs, in sets that together exceed twice the last cache, and what outputs should hold."""

	def __init__(self, problem: dict[str, Any], program: "Program") -> None:
		generator = numpy.random.default_rng(program.seed)
		self.sets = [[filled(spec, generator) for spec in program.inputs(problem)]]
		size = sum(array.nbytes for array in self.sets[0])
		cache = torch.cuda.get_device_properties(0).L2_cache_size if on_gpu() else CPU_CACHE_BYTES
		while len(self.sets) < SETS_MAX and size * len(self.sets) <= 2 * cache:
			self.sets.append([filled(spec, generator) for spec in program.inputs(problem)])
		self.expected = program.reference(problem, *self.sets[0])
		if not isinstance(self.expected, (list, tuple)):
			self.expected = [self.expected]


class Job:
	"""A configuration that is ready to run."""

	def __init__(self, problem: dict[str, Any], configuration: dict[str, Any], program: "Program", data: Data) -> None:
		self.data = data
		self.run, outputs = program.make(problem, configuration)
		self.outputs = [[empty(*spec) for spec in outputs] for _ in data.sets]
		self.calls = itertools.cycle(list(zip(data.sets, self.outputs)))
		self.once()  # compiles, where that was not done
		synchronise()
		self.repeats, self.graph = 1, None
		self.graph = self.captured()
		while (seconds := self.timed()) < SAMPLE_SECONDS and self.repeats < 1 << 20:
			self.repeats = int(self.repeats * min(10.0, 1.2 * SAMPLE_SECONDS / max(seconds, 1e-9))) + 1
			self.graph = self.captured()

	def once(self) -> None:
		inputs, outputs = next(self.calls)
		self.run(*inputs, *outputs)

	def captured(self) -> Any:
		"""A CUDA graph of `repeats` runs; None: there is none, and they are launched one by one between two events."""
		if not on_gpu() or (self.graph is None and self.repeats > 1):
			return None
		graph = torch.cuda.CUDAGraph()
		try:
			with torch.cuda.graph(graph):
				for _ in range(self.repeats):
					self.once()
			return graph
		except RuntimeError:
			synchronise()
			return None

	def timed(self) -> float:
		"""Seconds of `repeats` runs."""
		go = self.graph.replay if self.graph else lambda: [self.once() for _ in range(self.repeats)]
		if not on_gpu():
			started = time.perf_counter()
			go()
			return time.perf_counter() - started
		before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
		torch.cuda._sleep(100_000)  # pylint: disable=protected-access  # no sample holds the processor's time for queueing
		self.once()
		before.record()
		go()
		after.record()
		after.synchronize()
		return before.elapsed_time(after) * 1e-3

	def sample_us(self) -> float:
		return self.timed() / self.repeats * 1e6

	def verified(self) -> dict[str, Any]:
		for array in self.outputs[0]:
			poison(array)
		self.run(*self.data.sets[0], *self.outputs[0])
		synchronise()
		if len(self.outputs[0]) != len(self.data.expected):
			raise ValueError(f"expected {len(self.outputs[0])} outputs of the reference, found {len(self.data.expected)}")
		return merged([compared(*pair) for pair in zip(self.outputs[0], self.data.expected)])


def synchronise() -> None:
	if on_gpu():
		torch.cuda.synchronize()


class Program:
	def __init__(self, make: Callable[..., Any], reference: Callable[..., Any], inputs: Callable[..., Any], prepare: Callable[..., Any] | None) -> None:
		self.make, self.reference, self.inputs, self.compile = make, reference, inputs, prepare
		self.seed, self.data, self.jobs, self.id = 1, {}, {}, 0  # type: ignore[var-annotated]
		self.failed, self.channel = False, sys.stdout

	def say(self, **members: Any) -> None:
		self.channel.write(json.dumps({"id": self.id, **members}, allow_nan=False) + "\n")
		self.channel.flush()

	def hello(self, request: dict[str, Any]) -> None:
		self.seed = request["seed"]
		versions, device = {"python": sys.version.split()[0], "numpy": numpy.__version__}, {"name": os.uname().machine}
		if on_gpu():
			found = torch.cuda.get_device_properties(0)
			device = {"name": found.name, "uuid": f"GPU-{found.uuid}", "compute_capability": 10 * found.major + found.minor,
				"sm_count": found.multi_processor_count, "l2_bytes": found.L2_cache_size, "dram_bytes": found.total_memory}
		for name in ("torch", "triton"):
			if name in sys.modules:
				versions[name] = getattr(sys.modules[name], "__version__", "?")
		self.say(protocol="tiletune.program/1", versions=versions, device=device, abilities=["prepare"] if self.compile else [])

	def prepare(self, request: dict[str, Any]) -> None:
		assert self.compile
		job = request["jobs"][0]
		self.tried(0, lambda: self.compile(job["problem"], job["configuration"]) and None, "compile_failed")  # type: ignore[misc]
		if not self.failed:
			self.say(job=0, outcome="ok")

	def tried(self, index: int, what: Callable[[], Any], otherwise: str | None = None) -> Any:
		"""What becomes of it; an exception is the job's answer."""
		self.failed = False
		try:
			return what()
		except Exception as error:  # pylint: disable=broad-exception-caught
			lost = "CUDA error" in str(error)
			self.failed = True
			outcome = outcome_of(error)
			self.say(job=index, outcome="crashed" if lost else otherwise if otherwise and outcome == "launch_failed" else outcome,
				detail=f"{type(error).__name__}: {error}"[:2000])
			if lost:
				raise Lost from error
			return None

	def job(self, asked: dict[str, Any]) -> Job:
		problem = json.dumps(asked["problem"])
		if problem not in self.data:
			self.data, self.jobs = {}, {}  # of one problem at a time: they take memory
			self.data[problem] = Data(asked["problem"], self)
		key = json.dumps(asked)
		if key not in self.jobs:
			self.jobs[key] = Job(asked["problem"], asked["configuration"], self, self.data[problem])
		return self.jobs[key]

	def measure(self, request: dict[str, Any]) -> None:
		jobs, checks, samples = {}, {}, {}  # type: dict[int, Job], dict[int, Any], dict[int, list[float]]
		kept = [json.dumps(asked) for asked in request["jobs"]]
		self.jobs = {key: job for key, job in self.jobs.items() if key in kept}  # the others' memory is for these
		for index, asked in enumerate(request["jobs"]):
			self.say(progress=index, allow_s=300)
			job = self.tried(index, lambda asked=asked: self.job(asked))
			check = self.tried(index, job.verified) if job and request["verify"] else None
			if self.failed:
				continue
			if check and check["violations"]:
				self.say(job=index, outcome="wrong_result", verification=check)
				continue
			jobs[index], checks[index], samples[index] = job, {"verification": check} if check else {}, []
		started = time.perf_counter()
		for done in range(request["rounds"]):
			if request["seconds"] and done >= FEWEST_ROUNDS and time.perf_counter() - started > request["seconds"]:
				break
			for index in list(jobs):
				if request["give_up_us"] and done >= FEWEST_ROUNDS and min(samples[index]) > request["give_up_us"]:
					continue
				self.say(progress=index)
				sample = self.tried(index, jobs[index].sample_us)
				if self.failed:
					del jobs[index]
				else:
					samples[index].append(sample)
		for index in jobs:
			self.say(job=index, outcome="ok", samples_us=samples[index], **checks[index])

	def serve(self) -> None:
		self.channel = os.fdopen(os.dup(1), "w")
		os.dup2(2, 1)  # what libraries print is no answer
		for line in sys.stdin:
			request = json.loads(line)
			self.id = request["id"]
			{"hello": self.hello, "prepare": self.prepare, "measure": self.measure}[request["request"]](request)


def serve(make: Callable[..., Any], reference: Callable[..., Any], inputs: Callable[..., Any], prepare: Callable[..., Any] | None = None) -> None:
	"""Answers tiletune until it has no more to ask."""
	try:
		Program(make, reference, inputs, prepare).serve()
	except Lost:
		sys.exit(1)
