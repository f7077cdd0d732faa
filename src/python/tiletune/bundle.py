# SPDX-License-Identifier: MIT
"""Kernels of a bundle as functions of tensors.

    gemm = Bundle("kernels.bundle").op("gemm")
    c = gemm(a, b)              # torch: outputs are allocated; otherwise gemm(A=a, B=b, C=c)
    gemm(a, b, c, stream=s)     # default: torch's current stream, or CUDA's default stream

Sizes, pitches and dtype come from the tensors. Other keys (act, causal, ...) are arguments of op(). A call raises an Error and
launches nothing if a tensor is missing or has another shape, stride, dtype or device, if an address is not a multiple of 16, if the
bundle has no kernel for the sizes or for the GPU, or in a process that was forked after the first launch. A call warns once if the
GPU is of another model than the tuned one, or if a default kernel replaces the tuned one (`export --arch`).

Threads and streams: each thread has its own workspaces for each stream, so that concurrent launches do not share them. A captured
graph retains the workspaces of the last call with these shapes, so call once before each capture; a kernel without workspaces needs
only one call before the first capture. One thread captures at a time."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import warnings
from collections import OrderedDict
from typing import Any, Mapping, NamedTuple, Optional

from .errors import Error
from .launch import Entry, File, Kernel, Library, Run
from .operation import Operation, Tensor, text_of
from .tensors import NAMES, View, is_torch, torch_dtype, view

RUNS_MAX = 64  # runs cached per thread; the least recently used one is dropped
ALIGNMENT = 16


def stored(tensor: Tensor) -> str:
    """Returns the type of the elements in memory."""
    return "fp32" if tensor.dtype == "tf32" else tensor.dtype


class Plan(NamedTuple):
    """The prepared call for tensors of certain shapes."""

    problem: str
    tensors: dict[str, Tensor]
    entry: Entry


class Bundle:
    """Opens a bundle that `tiletune export --format bundle` wrote. library: the launcher, if it is not in the module's folder."""

    def __init__(self, path: str, library: Optional[str] = None):
        if not os.path.exists(path):
            raise Error(f"{path}: No such file or directory", "tiletune export tuned.json --format bundle writes one", 2)
        self.path, self.library = path, Library(library)
        self.file: File = self.library.open(path)
        self.device, self.compiler = self.file.header("device"), self.file.header("compiler")
        self.checked: set[int] = set()
        self.lock = threading.Lock()

    def op(self, operation: str, *, description: Optional[str] = None, **keys: Any) -> Operator:
        """Returns an operation of the bundle. keys: keys that tensors do not determine. description: the JSON of an own kernel."""
        found = Operation(description) if description else Operation.find(operation)
        if found is None:
            raise Error(f"{operation}: expected a folder of templates/, found none", "description: the JSON file of an own kernel")
        unknown = keys.keys() - found.keys.keys()
        if unknown:
            raise Error(f"{operation}: expected keys of {', '.join(found.keys)}, found {', '.join(sorted(unknown))}")
        return Operator(self, found, keys)

    # ---- the driver ----
    def enter(self, device: Optional[int]) -> None:
        """Ensures that a context of the tensors' GPU is current."""
        driver, current, context = self.library.driver, ctypes.c_int(), ctypes.c_void_p()
        if driver.cuCtxGetDevice(ctypes.byref(current)):
            current.value = device or 0
            driver.cuInit(0)
            if driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), current) or driver.cuCtxSetCurrent(context):
                raise Error(f"GPU {current.value}: expected a context, found none", code=5)
        if device not in (None, current.value):
            raise Error(f"expected tensors on the current GPU {current.value}, found GPU {device}", "make that GPU the current one first")
        if current.value not in self.checked:
            self.checked.add(current.value)
            name = ctypes.create_string_buffer(256)
            driver.cuDeviceGetName(name, 256, current)
            found = name.value.decode()
            if not (self.device.startswith(found) or found.startswith(self.device)):
                warnings.warn(f"{self.path} was tuned on {self.device}, this GPU is {found}: other kernels may be faster here", stacklevel=4)

    def capture(self, stream: int) -> int:
        """Returns the number of the graph that the stream is captured into, or 0."""
        status, number = ctypes.c_int(), ctypes.c_uint64()
        if self.library.driver.cuStreamGetCaptureInfo_v2(ctypes.c_void_p(stream), ctypes.byref(status), ctypes.byref(number), None, None, None):
            return 0
        return number.value if status.value else 0


class Operator:
    """A function of tensors, passed by name or by position; tensors that not every problem has come last. Returns its outputs."""

    def __init__(self, bundle: Bundle, operation: Operation, keys: dict[str, Any]):
        self.bundle, self.operation, self.keys = bundle, operation, keys
        # tensors of every problem come first
        self.order = sorted(operation.declared, key=lambda name: "when" in operation.declared[name])
        self.outputs = [name for name, item in operation.declared.items() if item.get("role", "in") == "out"]
        self.plans: dict[Any, Plan] = {}
        self.kernels: dict[int, Kernel] = {}
        self.captured: dict[Any, Run] = {}
        self.local = threading.local()

    def __call__(self, *tensors: Any, stream: Any = None, **named: Any) -> Any:
        given = dict(zip(self.order, tensors), **named)
        torch_tensor = next((value for value in given.values() if is_torch(value)), None)
        views = {name: view(name, value) for name, value in given.items() if value is not None}
        with self.guard(torch_tensor):
            devices = {item.device for item in views.values() if item.device is not None}
            if len(devices) > 1:
                raise Error(f"{self.operation.name}: expected tensors of one GPU, found GPUs {', '.join(map(str, sorted(devices)))}")
            self.bundle.enter(next(iter(devices), None))
            signature = tuple((name, item.shape, item.strides, item.dtype) for name, item in views.items())
            plan = self.plans.get(signature) or self.plan(signature, views)
            for name in self.outputs:
                if name not in views and torch_tensor is not None:
                    given[name] = self.allocate(torch_tensor, plan.tensors[name])
                    views[name] = view(name, given[name])
            for name in self.outputs:
                if name in plan.tensors and name not in views:
                    raise Error(f"{self.operation.name} {plan.problem}: {name}: expected a tensor of shape {list(plan.tensors[name].shape)}, found none")
            for name, item in views.items():
                if item.address % ALIGNMENT:
                    raise Error(f"{self.operation.name} {plan.problem}: {name}: expected an address that is a multiple of {ALIGNMENT}, "
                        f"found {item.address:#x}")
            self.launch(signature, plan, {name: item.address for name, item in views.items()}, self.stream(stream, torch_tensor))
        found = tuple(given[name] for name in self.outputs if name in given)
        return found[0] if len(found) == 1 else found or None

    @staticmethod
    def guard(torch_tensor: Any) -> contextlib.AbstractContextManager[Any]:
        if torch_tensor is None or torch_tensor.device.type != "cuda":
            return contextlib.nullcontext()
        import torch  # pylint: disable=import-outside-toplevel
        return torch.cuda.device(torch_tensor.device)

    @staticmethod
    def stream(stream: Any, torch_tensor: Any) -> int:
        if stream is None and torch_tensor is not None and torch_tensor.device.type == "cuda":
            import torch  # pylint: disable=import-outside-toplevel
            stream = torch.cuda.current_stream()
        return int(getattr(stream, "cuda_stream", getattr(stream, "ptr", stream)) or 0)

    def plan(self, signature: Any, views: Mapping[str, View]) -> Plan:
        unknown = views.keys() - self.operation.declared.keys()
        if unknown:
            raise Error(f"{self.operation.name}: expected tensors {', '.join(self.operation.declared)}, found {', '.join(sorted(unknown))}")
        problem, tensors = self.solve({name: (item.shape, item.strides, item.dtype) for name, item in views.items()})
        text = text_of(self.operation.given(problem))
        self.check(f"{self.operation.name} {text}", tensors, views)
        plan = self.plans[signature] = Plan(text, tensors, self.bundle.file.find(self.operation.name, text))
        return plan

    def solve(self, shapes: Mapping[str, tuple[Any, Any, str]]) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Returns the problem and all its tensors, derived from the given ones."""
        inputs = {name: Tensor(name, *item, "") for name, item in shapes.items()
            if name not in self.outputs and len(item[0]) == len(self.operation.declared[name]["shape"])}
        problem = self.operation.solve(inputs, self.keys)
        tensors = {tensor.name: tensor for tensor in self.operation.tensors(problem)}
        for name in self.outputs:  # only the outputs themselves determine their pitch
            ld = self.operation.declared[name].get("ld")
            if ld in self.operation.keys and ld not in self.keys and name in shapes and len(shapes[name][1]) > 1:
                problem = self.operation.complete({**self.operation.given(problem), ld: shapes[name][1][-2]})
                tensors = {tensor.name: tensor for tensor in self.operation.tensors(problem)}
        return problem, tensors

    def check(self, where: str, tensors: Mapping[str, Tensor], views: Mapping[str, View]) -> None:
        for name, wanted in tensors.items():
            found = views.get(name)
            if found is None:
                if name not in self.outputs:
                    raise Error(f"{where}: {name}: expected a tensor of shape {list(wanted.shape)}, found none")
                continue
            steps = [[step for step, size in zip(strides, wanted.shape) if size > 1] for strides in (wanted.strides, found.strides)]
            for what, one, other in (("shape", list(wanted.shape), list(found.shape)), ("strides", *steps), ("dtype", stored(wanted), found.dtype)):
                if one != other:
                    raise Error(f"{where}: {name}: expected {what} {one}, found {other}")
        extra = views.keys() - tensors.keys()
        if extra:
            raise Error(f"{where}: expected {', '.join(tensors)}, found {', '.join(sorted(extra))}, too")

    @staticmethod
    def allocate(like: Any, tensor: Tensor) -> Any:
        import torch  # pylint: disable=import-outside-toplevel
        name = next(name for name, ours in NAMES.items() if ours == stored(tensor))
        return like.new_empty_strided(tensor.shape, tensor.strides, dtype=getattr(torch, name))

    def launch(self, signature: Any, plan: Plan, addresses: dict[str, int], stream: int) -> None:
        runs: OrderedDict[Any, Run] = self.local.__dict__.setdefault("runs", OrderedDict())
        graph, key, run = self.bundle.capture(stream), (signature, stream), None
        loaded = self.kernels.get(plan.entry.address.value or 0)
        if graph and (loaded.entry if loaded else plan.entry).has_state:
            run = self.captured.get((graph, key))
            if run is None:
                mine = next((other for other in reversed(runs) if other[0] == signature), None)
                if mine is None:
                    raise Error(f"{self.operation.name} {plan.problem}: expected a call with these shapes before the capture, found none: "
                        "workspaces cannot be allocated while a graph is captured", "call the operator once before each capture")
                run = self.captured[graph, key] = runs.pop(mine)
        else:
            run = runs.get(key)
        if run is None:
            kernel = self.kernel(plan, bool(graph))
            run = kernel.bind(addresses, stream)
            runs[key] = run
            while len(runs) > RUNS_MAX and not graph:
                runs.popitem(last=False)
        else:
            for name, address in addresses.items():
                run.set(name, address)
            if key in runs:
                runs.move_to_end(key)
        run.launch(stream)

    def kernel(self, plan: Plan, is_captured: bool) -> Kernel:
        """Returns one kernel for all runs, or one per run if the kernel has variables in constant memory."""
        number = plan.entry.address.value or 0
        with self.bundle.lock:
            kernel = self.kernels.get(number)
            if kernel is None or plan.entry.fields.symbols.count:
                if is_captured:
                    raise Error(f"{self.operation.name} {plan.problem}: expected a call with these shapes before the capture, found none",
                        "call the operator once before the first capture")
                try:
                    kernel = self.kernels[number] = plan.entry.load()
                except Error as error:
                    hint = "tiletune export --format bundle --arch sm_XX adds kernels for another GPU" if "compute capability" in error.message else error.hint
                    raise Error(f"{self.bundle.path}: {error.message}", hint) from None
                if kernel.entry.is_default:
                    warnings.warn(f"{self.operation.name} {plan.problem}: no kernel was tuned for this GPU; {kernel.entry.family} is used with "
                        "its default configuration", stacklevel=5)
            return kernel

    # ---- torch.library ----
    def torch_operator(self, name: str) -> Any:
        """Registers and returns the operator "NAMESPACE::NAME" of torch.library, for torch.compile, with positional inputs and
                new outputs. It has no gradient."""
        import torch  # pylint: disable=import-outside-toplevel
        namespace, short = name.split("::")
        inputs = [key for key in self.order if key not in self.outputs]
        items = [self.operation.declared[key] for key in inputs]
        words = [f"Tensor({chr(97 + n)}!)" if item.get("role") == "inout" else "Tensor?" if "when" in item else "Tensor"
            for n, item in enumerate(items)]
        arguments = ", ".join(f"{word} {key}{'=None' if word == 'Tensor?' else ''}" for word, key in zip(words, inputs))
        result = {0: "()", 1: "Tensor"}.get(len(self.outputs), f"({', '.join(['Tensor'] * len(self.outputs))})")

        def named(tensors: tuple[Any, ...]) -> dict[str, Any]:
            return {key: tensor for key, tensor in zip(inputs, tensors) if tensor is not None}

        def launch(*tensors: Any) -> Any:
            return self(**named(tensors)) if self.outputs else (self(**named(tensors)), None)[1]

        def fake(*tensors: Any) -> Any:
            shapes = {key: (tuple(tensor.shape), tuple(tensor.stride()), torch_dtype(tensor)) for key, tensor in named(tensors).items()}
            _, all_tensors = self.solve(shapes)
            found = tuple(self.allocate(tensors[0], all_tensors[key]) for key in self.outputs)
            return found[0] if len(found) == 1 else found or None

        self.library = torch.library.Library(namespace, "FRAGMENT")  # the registration ends when the object is collected
        self.library.define(f"{short}({arguments}) -> {result}")
        self.library.impl(short, launch, "CompositeExplicitAutograd")
        torch.library.register_fake(name, fake, lib=self.library)
        return getattr(getattr(torch.ops, namespace), short)
