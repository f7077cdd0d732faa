# SPDX-License-Identifier: MIT
"""@tiletune.autotune: a replacement of @triton.autotune that uses tiletune's search, verification, tie rule and files.

    @tiletune.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4), ...], key=["n"])
    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr): ...

The first call with new values of `key` (or new types of tensors) records its arguments and starts `tiletune tune`, which runs the
kernel in separate processes, so that a configuration that crashes cannot end the user's process. The result goes to a tuned file.
Every process that finds the result there uses it without tuning. See autotune()."""
from __future__ import annotations

import contextlib
import difflib
import fcntl
import functools
import hashlib
import inspect
import itertools
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .errors import Error
from .files import write_file

WORKER = "TILETUNE_AUTOTUNE_WORKER"  # set in processes that tiletune starts to run a kernel
DEVICE = "TILETUNE_AUTOTUNE_DEVICE"  # the hello answer of these processes
IMPORT_ERRORS = "TILETUNE_AUTOTUNE_IMPORT"  # a file for the traceback of a failed import of the user's module
OPTIONS = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")  # members of triton.Config other than the kernel's constants
DEFAULTS = {"num_ctas": 1, "maxnreg": None, "ir_override": None}
SPACE_LISTED_MAX = 100_000  # a space of up to this size is listed for prune_configs_by
# A worker process is a job of one rank, see decorator_kernel.be_alone().
ONE_RANK = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
kernels: dict[str, Any] = {}  # the decorated kernels of this process by qualified name


class Launched(BaseException):
    """Ends the import of a user's module in a worker process."""


class Worker:
    """In a worker process: the qualified name of the kernel that it runs."""
    kernel = ""


# ---- the space ----
def word_of(value: Any) -> str:
    return re.sub(r"\W", "_", str(value))


class Space:
    """The configurations in tiletune's form: parameters whose values are integers or words."""

    def __init__(self, configs: Sequence[Any], space: Mapping[str, Sequence[Any]] | None, constraints: Sequence[str], config_class: Any) -> None:
        self.config_class, self.constraints = config_class, list(constraints)
        self.is_list = space is None
        if space is None:
            rows = [{**config.kwargs, **{name: getattr(config, name, DEFAULTS.get(name)) for name in OPTIONS}} for config in configs]
            names = list(dict.fromkeys(name for row in rows for name in row))
            names = [name for name in names if name not in DEFAULTS or any(row[name] != DEFAULTS[name] for row in rows)]
            space = {name: list(dict.fromkeys(row.get(name) for row in rows)) for name in names}
        self.objects = {name: self.written(values) for name, values in space.items()}
        self.by_values = {} if not self.is_list else {self.key({name: self.value(name, row.get(name)) for name in self.objects}): config
            for row, config in reversed(list(zip(rows, configs)))}

    @staticmethod
    def written(values: Sequence[Any]) -> dict[Any, Any]:
        """Maps written values to objects."""
        if all(isinstance(value, int) for value in values):
            return {int(value): value for value in values}
        if all(value is None or (isinstance(value, int) and value > 0) for value in values):
            return {value or 0: value for value in values}
        texts: dict[Any, Any] = {}
        for value in values:
            text = word_of(value)
            texts[text if text not in texts else f"{text}_{len(texts)}"] = value
        return texts

    def value(self, name: str, wanted: Any) -> Any:
        return next(value for value, found in self.objects[name].items() if found is wanted or (type(found) is type(wanted) and found == wanted))

    def key(self, configuration: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(configuration[name] for name in self.objects)

    def holds(self, configuration: Mapping[str, Any]) -> bool:
        """Returns whether the space has this configuration."""
        if any(configuration.get(name) not in values for name, values in self.objects.items()) or configuration.keys() != self.objects.keys():
            return False
        return self.key(configuration) in self.by_values if self.is_list else all(self.meets(text, configuration) for text in self.constraints)

    @staticmethod
    def meets(text: str, configuration: Mapping[str, Any]) -> bool:
        return bool(eval(text, {"__builtins__": {"min": min, "max": max, "abs": abs}}, dict(configuration)))  # pylint: disable=eval-used  # the program's own text

    def config(self, configuration: Mapping[str, Any]) -> Any:
        """Returns the triton.Config of a written configuration."""
        if self.is_list:
            return self.by_values[self.key(configuration)]
        found = {name: self.objects[name][value] for name, value in configuration.items()}
        options = {name: found.pop(name) for name in OPTIONS if name in found}
        return self.config_class(found, **options)

    def configuration(self, config: Any) -> dict[str, Any]:
        """Returns the written configuration of a triton.Config."""
        row = {**config.kwargs, **{name: getattr(config, name, DEFAULTS.get(name)) for name in OPTIONS}}
        return {name: self.value(name, row.get(name)) for name in self.objects}

    def legal(self, listed: Sequence[Mapping[str, Any]] | None) -> Iterator[dict[str, Any]]:
        """Yields the configurations in order. listed: those that remain after pruning; None for all."""
        if listed is not None:
            yield from map(dict, listed)
            return
        if self.is_list:
            yield from (dict(zip(self.objects, key)) for key in reversed(self.by_values))
            return
        for values in itertools.product(*self.objects.values()):
            configuration = dict(zip(self.objects, values))
            if self.holds(configuration):
                yield configuration

    def expression(self, listed: Sequence[Mapping[str, Any]]) -> str:
        """Returns an expression that only these configurations satisfy."""
        return " or ".join("(" + " and ".join(f"{name} == {value!r}" for name, value in row.items()) + ")" for row in listed)

    def members(self, listed: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
        """Returns the members of a kernel's JSON that describe the space."""
        constraints = [{"expr": text, "why": "a constraint of the decorator"} for text in self.constraints]
        if self.is_list:
            constraints = [{"expr": self.expression(list(self.legal(None))), "why": "the decorator's list of configurations"}]
        first = next(iter(self.legal(listed)), None)
        return {"parameters": {name: list(values) for name, values in self.objects.items()}, "constraints": constraints, **({"defaults": {name: repr(value) if isinstance(value, str) else value for name, value in first.items()}} if first else {})}


# ---- where results are ----
def cache_folder() -> str:
    return os.path.join(os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache"), "tiletune", "autotune")


@contextlib.contextmanager
def file_lock(path: str, seconds: float) -> Iterator[bool]:
    """Yields whether the lock was acquired within this time."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        deadline, taken = time.monotonic() + seconds, False
        while not taken:
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                taken = True
            except BlockingIOError:
                if time.monotonic() > deadline:
                    break
                time.sleep(0.05)
        yield taken
    finally:
        os.close(number)


def torch_module() -> Any:
    """Returns the torch module, if the program has imported it."""
    return sys.modules.get("torch")


def device_name() -> str:
    torch = torch_module()
    return torch.cuda.get_device_name() if torch and torch.cuda.is_available() else os.uname().machine


def greeting(can_prepare: bool) -> dict[str, Any]:
    """Returns versions, device and abilities, as tiletune.program answers `hello`."""
    torch, triton = torch_module(), sys.modules.get("triton")
    versions = {"python": sys.version.split()[0], **{name: getattr(module, "__version__", "?") for name, module in (("torch", torch), ("triton", triton)) if module}}
    device: dict[str, Any] = {"name": device_name()}
    if torch and torch.cuda.is_available():
        found = torch.cuda.get_device_properties(torch.cuda.current_device())
        device.update(uuid=f"GPU-{found.uuid}", compute_capability=10 * found.major + found.minor, sm_count=found.multi_processor_count,
            l2_bytes=found.L2_cache_size, dram_bytes=found.total_memory)
    return {"versions": versions, "device": device, "abilities": ["prepare"] if can_prepare else []}


def default_store() -> Any:
    """Returns the store that all ranks of torch.distributed share, or None for a single process."""
    torch = torch_module()
    distributed = getattr(torch, "distributed", None)
    if not distributed or not distributed.is_available() or not distributed.is_initialized() or distributed.get_world_size() < 2:
        return None
    return distributed.distributed_c10d._get_default_store()  # pylint: disable=protected-access


def wait_in_store(store: Any, name: str, seconds: float) -> bytes | None:
    """Returns None if no process writes the value within this time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if store.check([name]):
            return store.get(name)
        time.sleep(0.02)
    return None


class Results:
    """Represents a kernel's tuned file, and next to it FILE.kernels: the kernel's JSON and the recorded calls, which `tiletune check`
    repeats."""

    def __init__(self, path: str, name: str) -> None:
        self.path = os.path.abspath(path)
        self.folder = (self.path[:-5] if self.path.endswith(".json") else self.path) + ".kernels"
        self.name = name
        self.kernel, self.calls = (os.path.join(self.folder, name + ending) for ending in (".json", ".calls.jsonl"))
        self.lock = os.path.join(cache_folder(), "locks", hashlib.sha256(f"{self.path}\0{name}".encode()).hexdigest()[:32])

    def recorded(self) -> dict[str, Any]:
        try:
            return read_calls(self.calls)
        except FileNotFoundError:
            return {"calls": []}
        except (ValueError, TypeError) as error:
            raise Error(f"{self.calls}: not a record of calls ({error})", "remove the file; the next run writes it again") from None

    def entry(self, problem: Mapping[str, Any]) -> dict[str, Any] | None:
        """Returns the entry of a problem."""
        from .tuned import load  # pylint: disable=import-outside-toplevel
        if not os.path.exists(self.path):
            return None
        return next((entry for entry in load(self.path).entries if entry["operation"] == self.name and entry["problem"] == problem), None)

    def is_of_this_device(self) -> bool:
        from .tuned import load  # pylint: disable=import-outside-toplevel
        return not os.path.exists(self.path) or load(self.path).device.get("name") == device_name()


def calls_text(document: Mapping[str, Any]) -> str:
    """Writes the module on the first line and one line per call, so that a change of one call changes one line."""
    return "".join(json.dumps(line) + "\n" for line in [{name: value for name, value in document.items() if name != "calls"}, *document["calls"]])


def read_calls(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        head, *calls = [json.loads(line) for line in file]
    return {**head, "calls": calls}


def place_of(record: Mapping[str, Any]) -> tuple[str, str]:
    """Returns where a kernel is: the same for a file that is run and for one that is imported."""
    return os.path.normpath(os.path.join(record.get("root", ""), record.get("file", ""))), record.get("kernel", "")


# ---- the kernel ----
def types_of(arguments: Mapping[str, Any]) -> str:
    """Returns the types of the tensors as a word: float16x3_int32."""
    names = [str(value.dtype).removeprefix("torch.") for value in arguments.values() if hasattr(value, "dtype")]
    groups = [(name, len(list(group))) for name, group in itertools.groupby(names)]
    return word_of("_".join(f"{name}x{count}" if count > 1 else name for name, count in groups)) or "none"


@functools.lru_cache(maxsize=None)
def tuned_kernel_class() -> Any:
    """Defines TunedKernel once triton is available: handling of arguments, hooks and pruning is inherited from triton.autotune."""
    from triton.runtime.autotuner import Autotuner, Config  # pylint: disable=import-outside-toplevel,import-error

    class TunedKernel(Autotuner):  # type: ignore[misc]
        """A kernel that is launched as `kernel[grid](...)`. best_config is the configuration of the last launch."""

        def __init__(self, fn: Any, configs: Any, key: Any, options: Mapping[str, Any], triton_options: Mapping[str, Any]) -> None:
            space = options["space"]
            if bool(configs) == bool(space):
                raise Error("tiletune.autotune: give either configs or space")
            found = Space(configs or [], space, options["constraints"], Config)
            first = next(found.legal(None), None)
            if first is None:
                raise Error("tiletune.autotune: the constraints remove every configuration of the space")
            super().__init__(fn, fn.arg_names, list(configs) if configs else [found.config(first)], list(key), **triton_options)
            self.space, self.reference, self.outputs = found, options["reference"], list(options["outputs"])
            self.file, self.budget, self.effort = options["file"], options["budget"], options["effort"]
            self.user_bench = getattr(self, "_do_bench", None)
            self.base_jit = fn
            self.heuristics: dict[str, Any] = {}
            while not inspect.isfunction(self.base_jit.fn):
                self.heuristics.update(getattr(self.base_jit, "values", {}))
                self.base_jit = self.base_jit.fn
            self.base_fn = self.base_jit.fn
            self.operation = options["name"] or word_of(self.base_fn.__name__)
            self.fallback: Any = None
            kernels[self.base_fn.__qualname__] = self

        # ---- launching ----
        def run(self, *args: Any, **kwargs: Any) -> Any:
            if os.environ.get(WORKER) and Worker.kernel in kernels:
                raise Launched
            self.nargs = dict(zip(self.arg_names, args))
            if self.fallback:
                return self.fallback.run(*args, **kwargs)
            every = {**self.nargs, **kwargs}
            arguments = {name: every[name] for name in self.arg_names if name in every}
            key = (*(arguments[name] for name in self.keys if name in arguments), *(str(value.dtype) for value in arguments.values() if hasattr(value, "dtype")))
            config = self.cache.get(key)
            if config is None:
                config = self.choose(args, kwargs, arguments)
                if config is None:
                    return self.fallback.run(*args, **kwargs)
                self.cache[key] = config
            self.best_config = config
            current = {**kwargs, **config.all_kwargs()}
            if config.pre_hook is not None:
                config.pre_hook({**self.nargs, **current})
            try:
                return self.fn.run(*args, **current)
            finally:
                self.nargs = None

        def choose(self, args: Any, kwargs: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
            """Returns the configuration for these arguments, or None to let self.fallback tune."""
            from .decorator_call import Unrecordable  # pylint: disable=import-outside-toplevel
            listed = None
            if self.early_config_prune or self.perf_model:
                if not self.space.is_list:
                    self.configs = [self.space.config(one) for one in itertools.islice(self.space.legal(None), SPACE_LISTED_MAX)]
                listed = [self.space.configuration(config) for config in self.prune_configs(dict(kwargs))]
            some = list(itertools.islice(self.space.legal(listed), 2))
            if len(some) == 1:
                return self.space.config(some[0])
            if os.environ.get(WORKER):  # the module launches this kernel before it defines the worker's kernel
                return self.space.config(self.known(self.results(arguments), self.problem(arguments), listed) or some[0])
            try:
                return self.space.config(self.agreed(args, kwargs, arguments, listed))
            except Unrecordable as reason:
                warnings.warn(f"tiletune.autotune: {self.base_fn.__qualname__} is tuned by triton.autotune in this process: {reason}", stacklevel=4)
                self.fallback = Autotuner(self.fn, self.arg_names, self.configs, self.keys, self.reset_to_zero, self.restore_value,
                    pre_hook=self.pre_hook if self.user_defined_pre_hook else None, post_hook=self.post_hook if self.user_defined_post_hook else None,
                    do_bench=self.user_bench)
                return None

        # ---- several processes ----
        def agreed(self, args: Any, kwargs: Mapping[str, Any], arguments: Mapping[str, Any], listed: Any) -> dict[str, Any]:
            """Ranks of torch.distributed agree: the first to arrive tunes. A rank that waits too long proposes the first configuration. The first
                        answer in the store counts for all, including the rank that tunes."""
            results, problem = self.results(arguments), self.problem(arguments)
            store = default_store()
            if store is None:
                return self.tuned(results, problem, args, kwargs, listed)
            name = f"tiletune/{self.operation}/{json.dumps(problem)}"
            if store.add(name + "/ranks", 1) == 1:
                try:
                    answer = self.tuned(results, problem, args, kwargs, listed)
                except BaseException:
                    answer = next(self.space.legal(listed))
                    store.compare_set(name, "", json.dumps(answer))
                    raise
            elif wait_in_store(store, name, self.wait_s) is None:
                warnings.warn(f"tiletune.autotune: no rank has tuned {self.operation} within {self.wait_s:.0f} s; the first configuration is used")
                answer = next(self.space.legal(listed))
            else:
                answer = {}
            if answer:
                store.compare_set(name, "", json.dumps(answer))
            return json.loads(store.get(name))

        @property
        def wait_s(self) -> float:
            """Returns the seconds to wait for another process that tunes."""
            return 2 * self.budget + 120

        def tuned(self, results: Results, problem: dict[str, Any], args: Any, kwargs: Mapping[str, Any], listed: Any) -> dict[str, Any]:
            found = self.known(results, problem, listed)
            if found:
                return found
            with file_lock(results.lock, self.wait_s) as is_locked:
                found = self.known(results, problem, listed)  # another process may have tuned in the meantime
                if found:
                    return found
                if not is_locked:
                    warnings.warn(f"tiletune.autotune: another process has been tuning {self.operation} for {self.wait_s:.0f} s; the first configuration is used")
                    return next(self.space.legal(listed))
                return self.tune(results, problem, args, kwargs, listed)

        def known(self, results: Results, problem: dict[str, Any], listed: Any) -> dict[str, Any] | None:
            """Returns the configuration in the file, if it belongs to the kernel's current source and space and no configuration is new."""
            entry = results.entry(problem)
            if not entry:
                return None
            configuration = entry["winner"]["configuration"]
            call = next((call for call in results.recorded()["calls"] if call["problem"] == problem), None)
            if not self.space.holds(configuration) or (listed is not None and configuration not in listed):
                return None
            if call and (call["source"] != self.source_hash() or self.untried(call, listed) is not None):
                return None
            return configuration

        # ---- identity ----
        def results(self, arguments: Mapping[str, Any]) -> Results:
            del arguments
            path = os.fspath(self.file or os.environ.get("TILETUNE_FILE") or "")
            if path and os.environ.get(WORKER):  # workers run in FILE.kernels
                path = os.path.join(os.path.dirname(os.getcwd()), os.path.basename(path))
            default = os.path.join(cache_folder(), word_of(device_name()), f"{self.operation}.json")
            found = Results(path.replace("{device}", word_of(device_name())) or default, self.operation)
            if path and not found.is_of_this_device():
                warnings.warn(f"tiletune.autotune: {found.path} is of another GPU; results for this one go to {default}. A file name with {{device}} names one for each")
                found = Results(default, self.operation)
            return found

        def problem(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
            """Returns the key's values and the types of the tensors. A value that is not an integer becomes a word."""
            values = {name: arguments[name] for name in self.keys if name in arguments}
            return {**{name: value if isinstance(value, int) and not isinstance(value, bool) else word_of(value) for name, value in values.items()},
                "tensors": types_of(arguments)}

        def source_hash(self) -> str:
            """Returns a hash of the kernel's source, including the functions that it calls if Triton knows them."""
            key = getattr(self.base_jit, "cache_key", None)
            if key is None:  # functions of triton's interpreter lack a hash
                source = inspect.getsource(self.base_fn)
                key = source[source.index("def "):]  # the source without decorators
            return hashlib.sha256(key.encode()).hexdigest()[:16]

        def module(self, folder: str) -> dict[str, Any]:
            """Returns how a worker process imports the kernel's module."""
            from .decorator_call import Unrecordable  # pylint: disable=import-outside-toplevel
            name, file = self.base_fn.__module__, inspect.getsourcefile(self.base_fn)
            spec = getattr(sys.modules.get(name), "__spec__", None)
            if "<locals>" in self.base_fn.__qualname__ or not file or not os.path.isfile(file):
                raise Unrecordable("the kernel is not defined at the top of a module's file")
            if name == "__main__" and spec is not None:
                name = spec.name
            file = os.path.abspath(file)
            root = os.path.dirname(file) if name == "__main__" else file
            for _ in [] if name == "__main__" else name.split(".") + ([""] if os.path.basename(file) == "__init__.py" else []):
                root = os.path.dirname(root)
            return {"module": name, "file": os.path.relpath(file, root), "root": os.path.relpath(root, folder), "kernel": self.base_fn.__qualname__,
                "argv": sys.argv[1:] if name == "__main__" else []}

        # ---- tuning ----
        def untried(self, call: Mapping[str, Any], listed: Any) -> str | None:
            """Returns an expression for the configurations that earlier runs of this call did not try, or None."""
            if call["tried"] is None:
                return "1"
            if self.space.is_list or listed is not None:
                rows = list(self.space.legal(listed))
                new = [row for row in rows if row not in call["tried"]]
                return self.space.expression(new) if new else None
            before = call["tried"]
            if isinstance(before, list) or before["constraints"] != self.space.constraints or before["parameters"].keys() != self.space.objects.keys():
                return "1"
            added = {name: [value for value in values if value not in before["parameters"][name]] for name, values in self.space.objects.items()}
            return " or ".join(f"{name} == {value!r}" for name, values in added.items() for value in values) or None

        def record(self, results: Results, problem: dict[str, Any], args: Any, kwargs: Mapping[str, Any], listed: Any) -> tuple[dict[str, Any], str | None]:
            """Writes the call and the kernel's JSON. Returns the call, and an expression for the configurations to try."""
            from .decorator_call import Recorder, grid_table  # pylint: disable=import-outside-toplevel
            document = results.recorded()
            module = self.module(results.folder)
            if document["calls"] and place_of(document) != place_of(module):
                document = {"calls": []}
            os.makedirs(results.folder, exist_ok=True)
            before = next((call for call in document["calls"] if call["problem"] == problem), None)
            recorder = Recorder(results.folder)
            values = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
            defaults = {name: parameter.default for name, parameter in inspect.signature(self.base_fn).parameters.items() if parameter.default is not inspect.Parameter.empty}
            call = {"problem": problem, "source": self.source_hash(), "configurations": listed,
                "args": [recorder.describe(value) for value in args], "kwargs": {name: recorder.describe(value) for name, value in values.items()},
                "grid": grid_table(kwargs["grid"], {**defaults, **dict(zip(self.arg_names, args)), **values}, self.space.objects, self.heuristics)}
            call["storages"] = recorder.finish()
            is_same = before is not None and before["source"] == call["source"] and before.get("tried") is not None
            where = self.untried(before, listed) if is_same else None
            call["tried"] = before["tried"] if is_same else None
            document = {**module, "calls": [*(other for other in document["calls"] if other["problem"] != problem), call]}
            write_file(results.calls, calls_text(document))
            write_file(results.kernel, json.dumps(self.own_kernel(document, listed), indent=1) + "\n")
            return call, where

        def own_kernel(self, document: Mapping[str, Any], listed: Any) -> dict[str, Any]:
            keys: dict[str, Any] = {}
            for name in document["calls"][-1]["problem"]:
                values = list(dict.fromkeys(call["problem"][name] for call in document["calls"] if name in call["problem"]))
                words = [value for value in values if isinstance(value, str)]
                keys[name] = {"enum": [str(value) for value in values]} if words else {"min": min(1, *values)} if min(values) < 1 else {}
            return {"format": "tiletune.own_kernel/1", "name": self.operation, "summary": f"{document['kernel']}, a Triton kernel of {document['file']}",
                "program": ["python3" if os.path.exists(os.path.join(os.path.dirname(sys.executable), "python3")) else os.path.basename(sys.executable), "-m", "tiletune.decorator_program", self.operation, self.source_hash()],
                "keys": keys, **self.space.members(listed)}

        def environment(self) -> dict[str, str]:
            """Returns the environment of the program that runs the kernel: this Python, its path, this GPU, no rank of a job."""
            environment = {name: value for name, value in os.environ.items() if not name.startswith("TORCHELASTIC_")}
            if "RANK" in environment:
                environment.update(ONE_RANK)
            here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([here, *(os.path.abspath(path) for path in sys.path)]))
            environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environment.get("PATH", os.defpath)
            torch = torch_module()
            environment[DEVICE] = json.dumps(greeting(bool(torch) and torch.cuda.is_available() and hasattr(self.base_jit, "cache_key")))
            if torch and torch.cuda.is_available():
                number = torch.cuda.current_device()
                visible = [name for name in environment.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
                environment["CUDA_VISIBLE_DEVICES"] = visible[number] if number < len(visible) else str(number)
                if torch.cuda.is_current_stream_capturing():
                    raise Error(f"tiletune.autotune: {self.operation} has no result for these sizes, and a CUDA graph is being captured",
                        "launch the kernel once with these sizes before the capture")
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
            return environment

        def tune(self, results: Results, problem: dict[str, Any], args: Any, kwargs: Mapping[str, Any], listed: Any) -> dict[str, Any]:
            from .command import run  # pylint: disable=import-outside-toplevel
            from .decorator_server import SERVER, start  # pylint: disable=import-outside-toplevel
            environment = self.environment()
            environment[SERVER] = start(environment)
            call, where = self.record(results, problem, args, kwargs, listed)
            incumbent = results.entry(problem)
            if where and incumbent and self.space.holds(incumbent["winner"]["configuration"]):
                where = f"({where}) or {self.space.expression([incumbent['winner']['configuration']])}"
            else:
                where = self.space.expression(listed) if listed is not None and len(listed) < len(self.space.by_values or listed) else None
            started = time.monotonic()
            is_loud = os.environ.get("TRITON_PRINT_AUTOTUNING") == "1"
            with tempfile.NamedTemporaryFile("r", encoding="utf-8") as errors:
                environment[IMPORT_ERRORS] = errors.name
                try:
                    run("tune", results.kernel, problem=",".join(f"{name}={value}" for name, value in problem.items()), output=results.path, where=where,
                        budget=f"{self.budget:g}s", effort=self.effort, wait=f"{self.budget:g}s", environment=environment, progress=is_loud or None)
                except Error as error:
                    text = errors.read().strip()
                    if text:
                        raise Error(f"tiletune.autotune: a worker process cannot import the module of {self.operation}: {text.splitlines()[-1]}", text) from None
                    raise error
            self.bench_time = time.monotonic() - started
            self.finish(results, call, listed)
            entry = results.entry(problem)
            if entry is None:
                raise Error(f"{results.path}: tuning wrote no entry of {self.operation}")
            configuration = entry["winner"]["configuration"]
            if is_loud:
                print(f"tiletune.autotune: {self.operation} {problem}: {self.space.config(configuration)} after {self.bench_time:.1f} s", file=sys.stderr)
            return configuration

        def finish(self, results: Results, call: Mapping[str, Any], listed: Any) -> None:
            """Records which configurations were tried."""
            document = results.recorded()
            tried: Any = {"parameters": {name: list(values) for name, values in self.space.objects.items()}, "constraints": self.space.constraints}
            if self.space.is_list or listed is not None:
                rows = list(self.space.legal(listed))
                tried = [*(row for row in call["tried"] or [] if row not in rows), *rows]
            for one in document["calls"]:
                if one["problem"] == call["problem"]:
                    one["tried"] = tried
            write_file(results.calls, calls_text(document))

    return TunedKernel


def autotune(configs: Sequence[Any] | None = None, key: Sequence[str] = (), prune_configs_by: Mapping[str, Any] | None = None,
        reset_to_zero: Sequence[str] | None = None, restore_value: Sequence[str] | None = None, pre_hook: Any = None, post_hook: Any = None,
        warmup: int | None = None, rep: int | None = None, use_cuda_graph: bool = False, do_bench: Any = None, cache_results: bool = False, *,
        space: Mapping[str, Sequence[Any]] | None = None, constraints: Sequence[str] = (), reference: Callable[..., Any] | None = None,
        outputs: Sequence[str] = (), file: Any = None, budget: float = 60, effort: str = "quick", name: str | None = None,
        **unknown: Any) -> Callable[[Any], Any]:
    """Decorates a `triton.jit` function, with the arguments of `triton.autotune` in their usual meaning.

        configs, key, prune_configs_by, reset_to_zero, restore_value, pre_hook, post_hook: as in triton.autotune.
        warmup, rep, use_cuda_graph, do_bench: as in triton.autotune. Without them tiletune times with sets of buffers that exceed the L2
            and CUDA graphs, and times the fastest configurations again in turn.
        cache_results: has no effect, because results are always stored.
        space: instead of configs, values by parameter: {"BLOCK_M": [64, 128], "num_warps": [4, 8]}. num_warps, num_stages, num_ctas and
            maxnreg are options of the compiler, all others are constants of the kernel.
        constraints: expressions that a configuration of the space must satisfy: ["BLOCK_M * BLOCK_N <= 16384"].
        reference: a function of the kernel's arguments, by name, that returns {argument: expected tensor}, or writes the expected values
            into the tensors and returns None. Without it every configuration must agree with the first one that runs.
        outputs: arguments that the kernel writes, if a run does not show it (tensors that already hold the result).
        file: the tuned file; default TILETUNE_FILE, otherwise a file in the user's cache folder. {device} in it becomes the GPU's name. Commit the
            file and the folder FILE.kernels next to it, and `tiletune check FILE` repeats the recorded calls.
        budget: seconds for one set of key values.
        effort: "quick", "thorough" or "exhaustive", the share of the space to try.
        name: name of the operation in the file; default the name of the function.

        Ranks of torch.distributed, and processes of one host, wait for the first of them that tunes and use its result.
        A kernel that another process cannot import (one defined inside a function) is tuned by triton.autotune, with a warning."""
    del cache_results
    for wrong in unknown:
        near = difflib.get_close_matches(wrong, inspect.signature(autotune).parameters, 1)
        raise Error(f"autotune has no argument {wrong}", f"did you mean {near[0]}?" if near else "help(tiletune.autotune) lists the arguments")
    options = {"space": space, "constraints": constraints, "reference": reference, "outputs": outputs, "file": file, "budget": float(budget),
        "effort": effort, "name": name}
    given = {"prune_configs_by": prune_configs_by, "pre_hook": pre_hook, "post_hook": post_hook, "warmup": warmup, "rep": rep, "do_bench": do_bench,
        "use_cuda_graph": use_cuda_graph or None}
    triton_options = {"reset_to_zero": reset_to_zero, "restore_value": restore_value, **{name: value for name, value in given.items() if value is not None}}

    def decorate(fn: Any) -> Any:
        return tuned_kernel_class()(fn, configs, key, options, triton_options)

    return decorate
