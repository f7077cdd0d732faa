# SPDX-License-Identifier: MIT
"""A program that `tiletune tune` starts in place of a kernel's source (templates/programs.md):

	from tiletune.program import serve
	serve(make, reference, inputs)

`inputs(problem)` is a list of (shape, dtype), filled with random numbers from tiletune's seed (in [-1, 1]; integers in [-100, 100] or
[0, 200], bool 0 or 1), of functions of a random generator, or of arrays. Dtypes are torch's, or numpy's for a program on the CPU.
Inputs that a run changes are restored before they are used again. `make(problem, configuration)` returns `run` and the outputs as a
list of (shape, dtype); `run(*inputs, *outputs)` fills them. `reference(problem, *inputs)` returns the expected outputs.
`prepare(problem, configuration)` is optional and compiles ahead in separate processes."""
from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy

from .program_job import Data, Job, on_gpu, torch

FEWEST_ROUNDS = 3
# Outcome for each class of exception; names of compilers' and drivers' classes, searched in this order.
OUTCOMES = (("OutOfMemory", "out_of_memory"), ("MemoryError", "out_of_memory"), ("OutOfResources", "launch_failed"), ("Compil", "compile_failed"),
	("PTXAS", "compile_failed"), ("Assertion", "compile_failed"))


# After any other exception the device may be unusable for this process.
HARMLESS = ("compile_failed", "launch_failed")


class Lost(Exception):
	"""The process must end, and tiletune starts another one."""


def outcome_of(error: Exception) -> str:
	names = [kind.__name__ for kind in type(error).__mro__]
	return next((outcome for part, outcome in OUTCOMES if any(part in name for name in names)), "crashed")


def sample_of(job: Job, times: dict[int, float]) -> float:
	"""A job that several configurations share is timed once per round."""
	if id(job) not in times:
		times[id(job)] = job.sample_us()
	return times[id(job)]


class Program:
	def __init__(self, make: Callable[..., Any], reference: Callable[..., Any], inputs: Callable[..., Any], prepare: Callable[..., Any] | None) -> None:
		self.make, self.reference, self.inputs, self.compile = make, reference, inputs, prepare
		self.seed, self.data, self.jobs, self.id = 1, {}, {}, 0  # type: ignore[var-annotated]
		self.channel = sys.stdout

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
		job = request["jobs"][0]
		if self.tried(0, lambda: self.compile(job["problem"], job["configuration"]), compiles=True)[0]:  # type: ignore[misc]
			self.say(job=0, outcome="ok")

	def tried(self, index: int, what: Callable[[], Any], compiles: bool = False) -> tuple[bool, Any]:
		"""Returns whether the call succeeded, and its result; an exception becomes the job's answer."""
		try:
			return True, what()
		except Exception as error:  # pylint: disable=broad-exception-caught
			outcome = outcome_of(error)
			outcome = "compile_failed" if compiles and outcome == "crashed" else outcome
			self.say(job=index, outcome=outcome, detail=f"{type(error).__name__}: {error}"[:2000])
			if outcome not in HARMLESS:
				raise Lost from error
			return False, None

	def job(self, asked: dict[str, Any]) -> Job:
		problem = json.dumps(asked["problem"])
		if problem not in self.data:
			self.data, self.jobs = {}, {}  # tensors exist for only one problem at a time, to save memory
			self.data[problem] = Data(asked["problem"], self)
		key = json.dumps(asked)
		if key not in self.jobs:
			self.jobs[key] = Job(asked["problem"], asked["configuration"], self, self.data[problem])
		return self.jobs[key]

	def measure(self, request: dict[str, Any]) -> None:
		jobs, checks, samples = {}, {}, {}  # type: dict[int, Job], dict[int, Any], dict[int, list[float]]
		kept = [json.dumps(asked) for asked in request["jobs"]]
		self.jobs = {key: job for key, job in self.jobs.items() if key in kept}  # other problems are dropped to free memory
		for index, asked in enumerate(request["jobs"]):
			self.say(progress=index, allow_s=300)
			is_right, job = self.tried(index, lambda asked=asked: self.job(asked))
			check = None
			if is_right and request["verify"]:
				is_right, check = self.tried(index, job.verified)
			if check and check["violations"]:
				self.say(job=index, outcome="wrong_result", verification=check)
			elif is_right:
				jobs[index], checks[index], samples[index] = job, {"verification": check} if check else {}, []
		started = time.perf_counter()
		for done in range(request["rounds"]):
			times: dict[int, float] = {}  # times in this round, by job
			if request["seconds"] and done >= FEWEST_ROUNDS and time.perf_counter() - started > request["seconds"]:
				break
			for index in list(jobs):
				if request["give_up_us"] and done >= FEWEST_ROUNDS and min(samples[index]) > request["give_up_us"]:
					continue
				self.say(progress=index)
				is_right, sample = self.tried(index, lambda job=jobs[index], times=times: sample_of(job, times))
				if is_right:
					samples[index].append(sample)
				else:
					del jobs[index]
		for index in jobs:
			self.say(job=index, outcome="ok", samples_us=samples[index], **checks[index])

	def serve(self) -> None:
		self.channel = os.fdopen(os.dup(1), "w")
		os.dup2(2, 1)  # output of libraries must not mix with the answers
		for line in sys.stdin:
			request = json.loads(line)
			self.id = request["id"]
			{"hello": self.hello, "prepare": self.prepare, "measure": self.measure}[request["request"]](request)


def serve(make: Callable[..., Any], reference: Callable[..., Any], inputs: Callable[..., Any], prepare: Callable[..., Any] | None = None) -> None:
	"""Answers tiletune's requests until its input ends."""
	try:
		Program(make, reference, inputs, prepare).serve()
	except Lost:
		sys.exit(1)
