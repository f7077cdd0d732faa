# SPDX-License-Identifier: MIT
"""The objects that tiletune.program times: a problem's inputs with the expected outputs, and a configuration that is ready to run."""
from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

try:
	import torch
except ImportError:
	torch = None  # type: ignore[assignment]
if TYPE_CHECKING:
	from .program import Program

SAMPLE_SECONDS, SETS_MAX, CPU_CACHE_BYTES = 300e-6, 64, 64 << 20
# Relative tolerances; the absolute tolerance is a sixteenth of this part of the largest expected value.
TOLERANCES = {"float64": 2**-30, "float32": 2**-13, "float16": 2**-8, "bfloat16": 2**-5, "float8_e4m3fn": 2**-2, "float8_e5m2": 2**-2}


def on_gpu() -> bool:
	return torch is not None and torch.cuda.is_available()


def cache_bytes() -> int:
	"""Returns the size of the last-level cache."""
	return torch.cuda.get_device_properties(0).L2_cache_size if on_gpu() else CPU_CACHE_BYTES


def synchronise() -> None:
	if on_gpu():
		torch.cuda.synchronize()


def is_torch(dtype: object) -> bool:
	return torch is not None and isinstance(dtype, torch.dtype)


def empty(shape: Sequence[int], dtype: Any) -> Any:
	if is_torch(dtype):
		return torch.empty(tuple(shape), dtype=dtype, device="cuda" if on_gpu() else "cpu")
	return numpy.empty(tuple(shape), dtype=dtype)


def copy_of(array: Any) -> Any:
	return array.clone() if hasattr(array, "clone") else array.copy()


def assign(target: Any, source: Any) -> None:
	if hasattr(target, "copy_"):
		target.copy_(source)
	else:
		target[...] = source


def is_real(array: Any) -> bool:
	return array.is_floating_point() if hasattr(array, "is_floating_point") else array.dtype.kind == "f"


def bits(array: Any) -> Any:
	"""Views the elements as integers, so that NaN equals itself."""
	if isinstance(array, numpy.ndarray):
		return numpy.ascontiguousarray(array).view(f"i{array.itemsize}")
	return array.contiguous().view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[array.element_size()])


def integer_range(name: str) -> tuple[int, int] | None:
	"""Returns the range of random numbers of an integer type, as for tensors of CUDA kernels, or None for other types."""
	return (0, 1) if name == "bool" else (0, 200) if name.startswith("uint") else (-100, 100) if name.startswith("int") else None


def filled(spec: Any, generator: numpy.random.Generator) -> Any:
	"""Returns a new input: random, made by the user's function, or a copy of an array."""
	if callable(spec):
		return spec(generator)
	if not isinstance(spec, tuple):
		return copy_of(spec)
	if not is_torch(spec[1]):
		bounds = integer_range(numpy.dtype(spec[1]).name)
		drawn = generator.integers(bounds[0], bounds[1] + 1, tuple(spec[0])) if bounds else generator.uniform(-1, 1, tuple(spec[0]))
		return drawn.astype(spec[1])
	bounds = integer_range(str(spec[1]).removeprefix("torch."))
	made = empty(spec[0], torch.int16 if bounds else torch.float32)
	seeded = torch.Generator(made.device).manual_seed(int(generator.integers(1 << 62)))
	made = made.random_(bounds[0], bounds[1] + 1, generator=seeded) if bounds else made.uniform_(-1, 1, generator=seeded)
	return made.to(spec[1])


def poison(array: Any) -> None:
	(array.fill_ if hasattr(array, "fill_") else array.fill)(numpy.nan if is_real(array) else 1 if "bool" in str(array.dtype) else 0x5A)


def largest_typical(size: Any) -> float:
	"""Returns the largest size, limited to a small multiple of the median, because a few huge elements, such as masks, must not hide errors
	of the others."""
	some = size[:: max(1, len(size) >> 20)]
	some = some[some > 0]
	return min(float(size.max()), 8 * float(some.median() if hasattr(some, "copy_") else numpy.median(some))) if len(some) else 0.0


def compared(found: Any, expected: Any) -> dict[str, Any]:
	"""Returns the "verification" member for one output, computed on its device. Infinities and NaN must be equal in kind and position."""
	relative = TOLERANCES.get(str(found.dtype).removeprefix("torch."), 0.0)
	of, result_type = (torch if is_torch(found.dtype) else numpy), found.dtype
	if of is torch:
		found, expected = (torch.as_tensor(one, device=found.device).detach().flatten() for one in (found, expected))
	else:
		found, expected = (numpy.asarray(one).ravel() for one in (found, expected))
	if len(found) != len(expected):
		raise ValueError(f"expected {len(found)} elements of the reference, found {len(expected)}")
	is_exact = not relative and not is_real(expected)
	wrong = int((found != expected).sum()) if is_exact else 0
	found, expected = (one.double() if of is torch else one.astype(float) for one in (found, expected))
	with numpy.errstate(all="ignore"):
		if relative:  # a value that the output's type cannot hold becomes infinite
			rounded = expected.to(result_type).float() if of is torch else expected.astype(result_type)
			expected = of.where(of.isinf(rounded), of.sign(expected) * numpy.inf, expected)
		is_finite = of.isfinite(found) & of.isfinite(expected)
		difference, size = abs(found - expected)[is_finite], abs(expected)[is_finite]
	largest = largest_typical(size) if len(size) else 0.0
	worst = float(difference.max()) if len(difference) else 0.0
	if not is_exact:
		wrong = int((~is_finite & (found != expected) & ~(of.isnan(found) & of.isnan(expected))).sum())
		wrong += int((difference > relative * (size + largest / 16)).sum())
	return {"points": len(found), "violations": wrong, "max_abs_error": worst, "max_rel_error": worst / (largest or 1)}


class Data:
	"""Holds a problem's inputs, in sets that together exceed twice the last-level cache, and the expected outputs."""

	def __init__(self, problem: dict[str, Any], program: Program) -> None:
		generator = numpy.random.default_rng(program.seed)
		self.sets: list[list[Any]] = []
		while not self.sets or (len(self.sets) < SETS_MAX and len(self.sets) * sum(array.nbytes for array in self.sets[0]) <= 2 * cache_bytes()):
			self.sets.append([filled(spec, generator) for spec in program.inputs(problem)])
		self.pristine = [copy_of(array) for array in self.sets[0]]
		expected = program.reference(problem, *self.sets[0])
		self.expected = expected if isinstance(expected, (list, tuple)) else [expected]
		self.restore(self.changed())

	def changed(self) -> list[int]:
		"""Returns the inputs of the first set that a run or the reference has changed."""
		return [index for index, pair in enumerate(zip(self.sets[0], self.pristine)) if bool((bits(pair[0]) != bits(pair[1])).any())]

	def restore(self, indices: Sequence[int]) -> None:
		for arrays in self.sets if indices else ():
			for index in indices:
				assign(arrays[index], self.pristine[index])


class Job:
	"""A configuration that is ready to run. Between calls of its methods all inputs are unchanged; in_place lists those that a run
	changes."""

	def __init__(self, problem: dict[str, Any], configuration: dict[str, Any], program: Program, data: Data) -> None:
		self.data = data
		self.run, outputs = program.make(problem, configuration)
		self.outputs = [[empty(*spec) for spec in outputs] for _ in data.sets]
		self.calibrate()

	def calibrate(self) -> None:
		"""Runs once, which also compiles, and selects the number of runs per sample."""
		self.next_set = itertools.cycle(range(len(self.data.sets)))
		self.run_set(0)
		synchronise()
		self.in_place = self.changed_inputs()
		self.data.restore(self.in_place)
		most = len(self.data.sets) if self.in_place else 1 << 20  # a set with changed inputs would be another problem
		self.repeats, self.graph = 1, None
		self.graph = self.captured()
		while (seconds := self.timed()) < SAMPLE_SECONDS and self.repeats < most:
			self.repeats = min(most, int(self.repeats * min(10.0, 1.2 * SAMPLE_SECONDS / max(seconds, 1e-9))) + 1)
			self.graph = self.captured()

	def changed_inputs(self) -> list[int]:
		return self.data.changed()

	def run_set(self, number: int) -> None:
		self.run(*self.data.sets[number], *self.outputs[number])

	def once(self) -> None:
		self.run_set(next(self.next_set))

	def captured(self) -> Any:
		"""Returns a CUDA graph of `repeats` runs, or None if they are launched one by one between two events."""
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
		"""Returns the seconds of `repeats` runs."""
		go = self.graph.replay if self.graph else lambda: [self.once() for _ in range(self.repeats)]
		if not on_gpu():
			started = time.perf_counter()
			go()
			seconds = time.perf_counter() - started
		else:
			before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
			torch.cuda._sleep(100_000)  # pylint: disable=protected-access  # no sample holds the processor's time for queueing
			if not self.in_place:
				self.once()
			before.record()
			go()
			after.record()
			after.synchronize()
			seconds = before.elapsed_time(after) * 1e-3
		self.data.restore(self.in_place)
		return seconds

	def sample_us(self) -> float:
		return self.timed() / self.repeats * 1e6

	def verified(self) -> dict[str, Any]:
		outputs = self.outputs[0]
		for array in outputs:
			poison(array)
		self.run_set(0)
		synchronise()
		self.data.restore(self.in_place)
		if len(outputs) != len(self.data.expected):
			raise ValueError(f"expected {len(outputs)} outputs of the reference, found {len(self.data.expected)}")
		return total(compared(*pair) for pair in zip(outputs, self.data.expected))


def total(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
	"""Combines the verifications of several outputs."""
	listed = list(parts)
	return {key: (max if key.startswith("max") else sum)([part[key] for part in listed]) for key in ("points", "violations", "max_abs_error", "max_rel_error")}
