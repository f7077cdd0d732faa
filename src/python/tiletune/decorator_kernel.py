# SPDX-License-Identifier: MIT
"""Runs a kernel with @tiletune.autotune for decorator_program.py.

It reads NAME.calls.jsonl in the working folder, which the decorator wrote, imports the module that has the kernel, repeats the
recorded call with each configuration, and compares the results with those of the first configuration, or of the decorator's
`reference`. The import stops at the first launch of a decorated kernel, so that a script needs no `if __name__ == "__main__"`."""
from __future__ import annotations

import gc
import hashlib
import importlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .decorator import DEVICE, Launched, Worker, cache_folder, greeting, kernels, read_calls
from .decorator_call import arrays_in, grid_of, random_storage, restored, storages_of
from .program import HARMLESS, Program, outcome_of
from .program_job import SETS_MAX, Data, Job, assign, bits, cache_bytes, compared, copy_of, is_real, on_gpu, poison, synchronise, torch, total

RUN_SECONDS = 20  # a kernel that does not return within this time hangs
COMPILE_SECONDS = 300
REMEMBERED_SECONDS = 600


class NoReference(Exception):
    """No configuration ran, so that results cannot be compared."""


def be_alone() -> None:
    """Lets a module that joins a job of torch.distributed join one of its own, because the job's ranks do not wait for this process."""
    distributed = getattr(torch, "distributed", None)
    if distributed and distributed.is_available():
        original = distributed.init_process_group
        distributed.init_process_group = lambda backend=None, *_, **__: original(backend, store=distributed.HashStore(), rank=0, world_size=1)


def import_module(record: dict[str, Any]) -> None:
    """Runs the user's module until it ends, or launches a decorated kernel."""
    be_alone()
    root = os.path.normpath(os.path.join(os.getcwd(), record["root"]))
    sys.path.insert(0, root)
    sys.argv = [record["file"], *record["argv"]]
    try:
        if record["module"] != "__main__":
            importlib.import_module(record["module"])
            return
        path = os.path.join(root, record["file"])
        spec = importlib.util.spec_from_file_location("__tiletune_main__", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    except Launched:
        pass


class KernelProgram(Program):
    """Serves one kernel."""

    def __init__(self, name: str) -> None:
        self.record = read_calls(f"{name}.calls.jsonl")
        self.name, self.index = name, 0
        Worker.kernel = self.record["kernel"]
        import_module(self.record)
        self.kernel = kernels[self.record["kernel"]]
        gc.freeze()  # each capture of a CUDA graph collects garbage
        can_prepare = on_gpu() and hasattr(self.kernel.base_jit, "cache_key")
        super().__init__(self.kernel_job, self.no_function, self.no_function, self.prepare_one if can_prepare else None)

    @staticmethod
    def no_function(*_: Any) -> Any:
        raise AssertionError("KernelData makes the inputs and the expected values")

    kernel_job = no_function

    def hello(self, request: dict[str, Any]) -> None:
        """Answers hello, unless main() did so before this class was imported."""
        self.seed = request["seed"]
        if DEVICE not in os.environ:
            self.say(protocol="tiletune.program/1", **greeting(bool(self.compile)))

    def find(self, module: str, name: str) -> Any:
        """Returns an object of the user's program."""
        if module == "__main__":
            return self.kernel.base_fn.__globals__[name]
        return getattr(importlib.import_module(module), name)

    def call_of(self, problem: dict[str, Any]) -> dict[str, Any]:
        found = next((call for call in self.record["calls"] if call["problem"] == problem), None)
        if found is None:
            raise LookupError(f"{self.name}.calls.jsonl has no call of {problem}; launch the kernel with it again")
        return found

    def tried(self, index: int, what: Callable[[], Any], compiles: bool = False) -> tuple[bool, Any]:
        self.index = index
        return super().tried(index, what, compiles)

    def expect(self, seconds: float) -> None:
        """Tells tiletune how long this process may be silent from now on."""
        self.say(progress=self.index, allow_s=seconds)

    def job(self, asked: dict[str, Any]) -> Job:
        problem = json.dumps(asked["problem"])
        if problem not in self.data:
            self.data, self.jobs = {}, {}
            self.data[problem] = KernelData(self.call_of(asked["problem"]), self)
        key = json.dumps(asked)
        if key not in self.jobs:
            data, configuration = self.data[problem], asked["configuration"]
            code = self.compile_first(data.call, configuration)
            same = next((job for job in self.jobs.values() if code and job.code == code), None)
            self.jobs[key] = same or KernelJob(configuration, self, data, code)
        return self.jobs[key]

    def arguments(self, call: dict[str, Any], configuration: dict[str, Any], storages: list[Any]) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
        """Returns positional arguments, keyword arguments with those of the configuration, and all arguments by name for hooks."""
        positional = [restored(value, call, storages, self.find) for value in call["args"]]
        named = {name: restored(value, call, storages, self.find) for name, value in call["kwargs"].items()}
        named.update(self.kernel.space.config(configuration).all_kwargs())
        return positional, named, {**dict(zip(self.kernel.arg_names, positional)), **named}

    def bound(self, call: dict[str, Any], configuration: dict[str, Any], storages: list[Any]) -> Callable[..., Any]:
        """Returns a function that runs the kernel with the user's hooks, like triton.autotune. It calls its argument (a function) before
        the post-hook, and returns that function's result."""
        kernel, config = self.kernel, self.kernel.space.config(configuration)
        positional, named, every = self.arguments(call, configuration, storages)
        grid = grid_of(call["grid"], configuration)

        def run(take: Callable[[], Any] | None = None) -> Any:
            if config.pre_hook:
                config.pre_hook(every)
            if kernel.user_defined_pre_hook:
                kernel.pre_hook(every)
            try:
                kernel.fn.run(*positional, grid=grid, warmup=False, **named)
            except Exception as error:
                if kernel.user_defined_post_hook:
                    kernel.post_hook(every, exception=error)
                raise
            taken = take() if take else None
            if kernel.user_defined_post_hook:
                kernel.post_hook(every, exception=None)
            return taken

        return run

    def compile_first(self, call: dict[str, Any], configuration: dict[str, Any]) -> str | None:
        """Compiles in this process, mostly from the compiler's cache, so that the next steps are short. Returns the result of code_of()."""
        self.expect(COMPILE_SECONDS)
        if not self.compile:
            return None
        try:
            compiled = self.compile_one(call, configuration)
        except Exception as error:  # pylint: disable=broad-exception-caught  # the run itself will say what is wrong
            if outcome_of(error) not in ("launch_failed", "crashed"):
                raise
            return None
        self.expect(RUN_SECONDS)
        return self.code_of(compiled, call, configuration)

    def code_of(self, compiled: Any, call: dict[str, Any], configuration: dict[str, Any]) -> str | None:
        """Returns a hash of everything that a launch with this configuration executes. Configurations with the same hash are one kernel,
        which is timed once per round, so that noise cannot prefer the later of them. None: unknown, or hooks may distinguish
        configurations."""
        kernel, config = self.kernel, self.kernel.space.config(configuration)
        cubin = getattr(compiled, "asm", {}).get("cubin")
        constants = {parameter.name for parameter in getattr(kernel.base_jit, "params", ()) if parameter.is_constexpr}
        if not cubin or config.pre_hook or kernel.user_defined_pre_hook or kernel.user_defined_post_hook or not kernel.heuristics.keys() <= constants:
            return None
        passed = {name: value for name, value in config.kwargs.items() if name not in constants}
        options = [getattr(compiled.metadata, name, None) for name in ("num_warps", "num_ctas", "shared", "name")]
        return hashlib.sha256(cubin + repr([passed, options, grid_of(call["grid"], configuration)]).encode()).hexdigest()

    def compile_one(self, call: dict[str, Any], configuration: dict[str, Any]) -> Any:
        """Compiles without memory for the tensors. A pre-hook of the configuration may set block shapes of descriptors."""
        positional, named, every = self.arguments(call, configuration, storages_of(call, ".", 0, is_meta=True))
        config = self.kernel.space.config(configuration)
        if config.pre_hook:
            config.pre_hook(every)
        return self.kernel.fn.warmup(*positional, grid=grid_of(call["grid"], configuration), **named)

    def prepare_one(self, problem: dict[str, Any], configuration: dict[str, Any]) -> None:
        self.compile_one(self.call_of(problem), configuration)

    # ---- the reference ----


class Attempts:
    """Stores the configurations that were tried as the reference and failed in a file, because a crash ends this process. They are skipped
    for some minutes only, so that a process killed from outside does not change the reference permanently."""

    def __init__(self, identity: str) -> None:
        folder = os.path.join(cache_folder(), "references")
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, hashlib.sha256(identity.encode()).hexdigest()[:32])
        self.failed: list[Any] = []
        if os.path.exists(self.path) and time.time() - os.stat(self.path).st_mtime < REMEMBERED_SECONDS:
            with open(self.path, encoding="utf-8") as file:
                self.failed = [json.loads(line) for line in file]

    def save(self) -> None:
        with open(self.path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(one) + "\n" for one in self.failed)

    def begin(self, configuration: Any) -> None:
        self.failed.append(configuration)
        self.save()

    def succeeded(self) -> None:
        self.failed.pop()
        self.save()


class KernelData(Data):
    """Holds the tensors of a call, in sets that together exceed twice the last-level cache.

        written: the storages that the kernel changes. pristine: their content before a verified run, which is poison if the result does
        not depend on earlier contents, and the recorded contents otherwise. expected: pairs of a function that maps a set to an array,
        and the expected content of this array after a run."""

    def __init__(self, call: dict[str, Any], program: KernelProgram) -> None:  # pylint: disable=super-init-not-called
        self.call, self.program = call, program
        first = storages_of(call, ".", program.seed)
        for name in program.kernel.reset_to_zero if not program.kernel.user_defined_pre_hook else ():
            for array in self.arrays(name, first):
                array[...] = 0
        configuration, after = self.reference_run(first)
        self.written = self.find_written(configuration, first, after)
        self.is_in_place = bool(program.kernel.reset_to_zero or program.kernel.restore_value)
        self.pristine = self.find_pristine(configuration, first, after)
        self.sets = [first]
        self.restore(self.written)
        self.expected = self.find_expected(configuration, first)
        self.sums = {number: checksum(storage) for number, storage in enumerate(first) if number not in self.written}
        size, count = sum(storage.nbytes for storage in first), 1
        while count < SETS_MAX and count * size <= 2 * cache_bytes():
            count += 1
        if on_gpu():  # sets use at most half of the free memory
            count = max(1, min(count, 1 + int(torch.cuda.mem_get_info()[0] // 2 // max(size, 1))))
        self.restore(self.written)
        self.sets += [[copy_of(storage) for storage in first] for _ in range(count - 1)]

    def arrays(self, name: str, storages: list[Any]) -> list[Any]:
        """Returns the arrays of an argument, in these storages."""
        arguments = {**dict(zip(self.program.kernel.arg_names, self.call["args"])), **self.call["kwargs"]}
        return [restored({"array": record}, self.call, storages, self.program.find) for record in arrays_in(arguments.get(name))]

    def restore(self, indices: Sequence[int]) -> None:
        for storages in self.sets if indices else ():
            for number in indices:
                assign(storages[number], self.pristine[number])

    def run(self, configuration: dict[str, Any], storages: list[Any]) -> list[Any]:
        """Returns the storages after a run. They are copied before a post-hook is called, because it may restore them."""
        has_hook = self.program.kernel.user_defined_post_hook
        taken = self.program.bound(self.call, configuration, storages)(lambda: list(map(copy_of, storages)) if has_hook else storages)
        synchronise()
        return taken

    def reference_run(self, first: list[Any]) -> tuple[dict[str, Any], list[Any]]:
        """Returns the first configuration that runs, and the storages after it. The contents of `first` do not change."""
        failure: Exception = NoReference("every configuration has failed")
        attempts = Attempts(json.dumps([os.getcwd(), self.program.name, self.call["source"], self.call["problem"]]))
        for configuration in self.program.kernel.space.legal(self.call["configurations"]):
            if configuration in attempts.failed:
                continue
            attempts.begin(configuration)
            try:
                self.program.compile_first(self.call, configuration)
                after = self.run(configuration, [copy_of(storage) for storage in first])
                attempts.succeeded()
                return configuration, after
            except Exception as error:  # pylint: disable=broad-exception-caught  # the next one may run
                if not is_harmless(error):
                    raise
                failure = error
        raise NoReference(f"no configuration ran; the last one: {type(failure).__name__}: {failure}") from failure

    def find_written(self, configuration: dict[str, Any], first: list[Any], after: list[Any]) -> list[int]:
        """A storage may already hold the result, because the recorded call ran before. Other random numbers reveal this."""
        written = {number for number, pair in enumerate(zip(first, after)) if differ(*pair)}
        for name in self.program.kernel.outputs:
            written |= {record["storage"] for record in arrays_in({**dict(zip(self.program.kernel.arg_names, self.call["args"])), **self.call["kwargs"]}[name])}
        stored = [number for number, record in enumerate(self.call["storages"]) if "values" in record]
        if not any(is_real(first[number]) for number in stored):
            return sorted(written)
        other = [copy_of(storage) if number in stored or number in written else storage for number, storage in enumerate(first)]
        for number in stored:
            if is_real(other[number]):
                random_storage({"mean": 0.5, "std": 0.25}, other[number], self.program.seed + number)
        before = {number: copy_of(other[number]) for number in stored}
        try:
            result = self.run(configuration, other)
            written |= {number for number in stored if differ(before[number], result[number])}
        except Exception as error:  # pylint: disable=broad-exception-caught  # these numbers mean nothing to the kernel
            if not is_harmless(error):
                raise
        return sorted(written)

    def find_pristine(self, configuration: dict[str, Any], first: list[Any], after: list[Any]) -> dict[int, Any]:
        """See the class. One run on poison shows which outputs do not depend on earlier contents."""
        trial = [copy_of(storage) if number in self.written else storage for number, storage in enumerate(first)]
        for number in self.written:
            poison(trial[number])
        poisoned = {number: copy_of(trial[number]) for number in self.written}
        result = self.run(configuration, trial)
        pristine = {}
        for number in self.written:
            of = torch if hasattr(first[number], "copy_") else numpy
            same = bits(result[number]) == bits(after[number])
            untouched = (bits(after[number]) == bits(first[number])) & (bits(result[number]) == bits(poisoned[number]))
            self.is_in_place |= bool((~same & ~untouched).any())
            pristine[number] = of.where(same, bits(poisoned[number]), bits(first[number])).view(first[number].dtype)
        return pristine

    def find_expected(self, configuration: dict[str, Any], first: list[Any]) -> list[tuple[Callable[[list[Any]], Any], Any]]:
        reference = self.program.kernel.reference
        if reference is None:
            result = self.run(configuration, first)
            return [(lambda storages, number=number: storages[number], copy_of(result[number])) for number in self.written]
        arguments = {**dict(zip(self.program.kernel.arg_names, self.call["args"])), **self.call["kwargs"]}
        copies = [copy_of(storage) for storage in storages_of(self.call, ".", self.program.seed)]
        named = {name: restored(value, self.call, copies, self.program.find) for name, value in arguments.items()}
        returned = reference(**named)
        if returned is None:
            return [(lambda storages, number=number: storages[number], copies[number]) for number in self.written]
        return [(lambda storages, name=name: self.arrays(name, storages)[0], value) for name, value in returned.items()]


class KernelJob(Job):
    """A configuration of the kernel. Restoring the tensors in reset_to_zero and restore_value is not timed; hooks are, as in
    triton.autotune."""

    def __init__(self, configuration: dict[str, Any], program: KernelProgram, data: KernelData, code: str | None) -> None:  # pylint: disable=super-init-not-called
        self.data: KernelData = data
        self.program, self.configuration, self.code, self.outputs = program, configuration, code, []
        self.runs = [program.bound(data.call, configuration, storages) for storages in data.sets]
        self.calibrate()

    def changed_inputs(self) -> list[int]:
        return self.data.written if self.data.is_in_place else []

    def run_set(self, number: int) -> None:
        self.runs[number]()

    def sample_us(self) -> float:
        bench = self.program.kernel.user_bench
        if bench is None:
            return super().sample_us()
        found = bench(lambda: self.run_set(0), quantiles=(0.5, 0.2, 0.8))
        self.data.restore(self.data.written)
        return 1e3 * float(found if isinstance(found, (int, float)) else found[0])

    def verified(self) -> dict[str, Any]:
        data = self.data
        data.restore(data.written)
        result = data.run(self.configuration, data.sets[0])
        found = total(compared(take(result), expected) for take, expected in data.expected)
        if any(checksum(data.sets[0][number]) != value for number, value in data.sums.items()):
            found["violations"] += 1  # it wrote to a tensor that the reference only reads
            self.program.data = {}  # the next job makes new ones
        data.restore(data.written)
        return found


def is_harmless(error: Exception) -> bool:
    """Returns whether this process can run other kernels after the exception. On a GPU this holds only if no kernel was launched."""
    return not on_gpu() or outcome_of(error) in (*HARMLESS, "out_of_memory")


def differ(a: Any, b: Any) -> bool:
    return bool((bits(a) != bits(b)).any())


def checksum(storage: Any) -> int:
    return int(bits(storage).sum(**({} if isinstance(storage, numpy.ndarray) else {"dtype": torch.int64}))) if len(storage) else 0
