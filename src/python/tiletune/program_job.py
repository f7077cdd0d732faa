# SPDX-License-Identifier: MIT
"""What tiletune.program times: a problem's inputs and what they should become; a configuration that is ready to run."""
from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

try:
	import torch
except ImportError:
	torch = None  # type: ignore[assignment]
if TYPE_CHECKING:
	from .program import Program

SAMPLE_SECONDS, SETS_MAX, CPU_CACHE_BYTES = 300e-6, 64, 64 << 20
# What is right by tiletune's rule: this part of the expected value, and a sixteenth of it of the largest one.
TOLERANCES = {"float64": 2**-30, "float32": 2**-13, "float16": 2**-8, "bfloat16": 2**-5, "float8_e4m3fn": 2**-2, "float8_e5m2": 2**-2}


def on_gpu() -> bool:
	return torch is not None and torch.cuda.is_available()


def synchronise() -> None:
	if on_gpu():
		torch.cuda.synchronize()


def is_torch(dtype: object) -> bool:
	return torch is not None and isinstance(dtype, torch.dtype)


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
	in_torch = hasattr(array, "fill_")
	is_real = array.is_floating_point() if in_torch else array.dtype.kind == "f"
	(array.fill_ if in_torch else array.fill)(numpy.nan if is_real else 0x5A)


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
	return {"points": len(found), "violations": int((~(difference <= relative * (size + largest / 16))).sum()),
		"max_abs_error": None if worst != worst else worst, "max_rel_error": None if worst != worst else worst / (largest or 1)}


class Data:
	"""A problem's inputs, in sets that together exceed twice the last cache, and what outputs should hold."""

	def __init__(self, problem: dict[str, Any], program: Program) -> None:
		generator = numpy.random.default_rng(program.seed)
		cache = torch.cuda.get_device_properties(0).L2_cache_size if on_gpu() else CPU_CACHE_BYTES
		self.sets: list[list[Any]] = []
		while not self.sets or (len(self.sets) < SETS_MAX and len(self.sets) * sum(array.nbytes for array in self.sets[0]) <= 2 * cache):
			self.sets.append([filled(spec, generator) for spec in program.inputs(problem)])
		expected = program.reference(problem, *self.sets[0])
		self.expected = expected if isinstance(expected, (list, tuple)) else [expected]


class Job:
	"""A configuration that is ready to run."""

	def __init__(self, problem: dict[str, Any], configuration: dict[str, Any], program: Program, data: Data) -> None:
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
		outputs = self.outputs[0]
		for array in outputs:
			poison(array)
		self.run(*self.data.sets[0], *outputs)
		synchronise()
		if len(outputs) != len(self.data.expected):
			raise ValueError(f"expected {len(outputs)} outputs of the reference, found {len(self.data.expected)}")
		parts = [compared(*pair) for pair in zip(outputs, self.data.expected)]
		return {key: None if any(part[key] is None for part in parts) else (max if key.startswith("max") else sum)(part[key] for part in parts)
			for key in ("points", "violations", "max_abs_error", "max_rel_error")}
