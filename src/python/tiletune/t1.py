# SPDX-License-Identifier: MIT
"""Converts T1 files of Kernel Tuner and KTT (github.com/odgaard/TuningSchema) to files of tiletune.

    python3 -m tiletune.t1 vector_add.t1.json -o vector_add.json

Expressions remain text, because tiletune's expression language is the subset of Python that T1 files use.

There are two dialects. With ProblemSize (Kernel Tuner) it determines the grid together with GridDivX..Z, a thread block is
block_size_x..z, GlobalSize is ignored, random numbers are normal, and names of parameters in an argument's Size are the lists of
their values. Without it (KTT) grid and block are GlobalSize and LocalSize, and random numbers are between 0 and FillValue. The
problem is fixed in both: its keys have one value. Search, Budget, General and Device correspond to options of the command line."""

from __future__ import annotations

import argparse
import ast
import json
import operator
import os
import re
import sys
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Optional, Sequence

from .errors import Error, not_json
from .files import write_file

AXES = ("X", "Y", "Z")
PROBLEM_KEYS = ("problem_size_x", "problem_size_y", "problem_size_z")
BLOCK_NAMES = ("block_size_x", "block_size_y", "block_size_z")
GRID_NAMES = ("grid_size_x", "grid_size_y", "grid_size_z")
# T1's name of an element type: tiletune's name for a tensor, for a scalar argument, and whether it may be a vector
TYPES = {
    "float": ("fp32", "f32", True),
    "double": ("fp64", "f64", True),
    "half": ("fp16", "f16", True),
    "bool": ("bool", "bool", False),
    **{f"{u}int{n}": (f"{u or 'i'}{n}", f"{u or 'i'}{n}", False) for n in (8, 16, 32, 64) for u in ("", "u")},
}
ROLES = {"ReadOnly": "in", "WriteOnly": "out", "ReadWrite": "inout"}


class T1Error(Exception):
    """The file is not a T1 file of a CUDA kernel that tiletune can tune; the message has place and reason."""


@dataclass(frozen=True)
class Node:
    """A value of the file, and the path to the value."""

    value: Any
    path: str

    def error(self, expected: str) -> T1Error:
        found = compact(self.value)
        return T1Error(f"{self.path}: expected {expected}, found {found[:60]}{'...' if len(found) > 60 else ''}")

    def find(self, key: str) -> Optional[Node]:
        """Returns the member, if it is present and not null."""
        if not isinstance(self.value, dict):
            raise self.error("an object")
        value = self.value.get(key)
        return None if value is None else Node(value, f"{self.path}.{key}")

    def member(self, key: str) -> Node:
        found = self.find(key)
        if found is None:
            raise self.error(f'a member "{key}"')
        return found

    def items(self) -> Iterator[Node]:
        if not isinstance(self.value, list):
            raise self.error("an array")
        return (Node(value, f"{self.path}[{i}]") for i, value in enumerate(self.value))

    def string(self) -> str:
        if not isinstance(self.value, str):
            raise self.error("a string")
        return self.value

    def is_integer(self) -> bool:
        return is_number(self.value) and self.value == int(self.value)

    def integer(self) -> int:
        if not self.is_integer():
            raise self.error("an integer")
        return int(self.value)

    def number(self) -> float:
        if not is_number(self.value):
            raise self.error("a number")
        return self.value

    def text(self) -> str:
        """Returns a string, or the text of a number."""
        return compact(self.value) if is_number(self.value) else self.string()

    def choice(self, key: str, names: Sequence[str], default: str) -> str:
        found = self.find(key)
        if found is None:
            return default
        if found.string() not in names:
            raise found.error("one of " + ", ".join(names))
        return found.string()


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def plain(value: Any) -> Any:
    """Writes 2.0 as 2."""
    return int(value) if isinstance(value, float) and value == int(value) else value


def compact(value: Any) -> str:
    return json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False)


# ---- Python text ----
class Unknown(Exception):
    """The value of the text cannot be determined."""


BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
LARGEST = 1 << 16  # limit for numbers and lists; the values of parameters are small


def evaluate(node: ast.AST, names: dict[str, Any]) -> Any:
    """Evaluates a list of values, or a part of one, with bounded work."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [evaluate(item, names) for item in node.elts]
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -evaluate(node.operand, names)
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        left, right = evaluate(node.left, names), evaluate(node.right, names)
        sizes = [len(x) if isinstance(x, list) else abs(x) for x in (left, right)]
        if max(sizes) > LARGEST or (isinstance(node.op, ast.Pow) and sizes[1] > 64):
            raise Unknown
        if isinstance(left, list) != isinstance(right, list):
            raise Unknown
        return BINARY[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        arguments = [evaluate(argument, names) for argument in node.args]
        if node.func.id == "list" and len(arguments) == 1:
            return list(arguments[0])
        if node.func.id == "range" and len(range(*arguments)) <= LARGEST:
            return list(range(*arguments))
    if isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs:
        loop = node.generators[0]
        if isinstance(loop.target, ast.Name):
            return [evaluate(node.elt, {**names, loop.target.id: item}) for item in evaluate(loop.iter, names)]
    raise Unknown


def may_have(values: Node, value: Any) -> bool:
    """Returns whether a parameter may have the value, if that can be decided. Public files have defaults that are not among the values, and
    these are ignored."""
    if isinstance(values.value, list):
        return value in values.value
    try:
        return value in evaluate(ast.parse(values.string().strip(), mode="eval").body, {})
    except (Unknown, ArithmeticError, SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
        return True


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"expected members once, found two of \"{next(n for n in names if names.count(n) > 1)}\"")
    return members


WORDS = re.compile(r"ProblemSize\[([012])\]|\w+|\W")


# ---- one file ----
@dataclass
class Conversion:
    root: Node
    folder: str  # folder of the T1 file
    target: str  # the folder of the result, to which its paths are relative
    specification: Node = field(init=False)
    parameters: dict[str, Node] = field(default_factory=dict)  # Values by name
    has_problem: bool = False  # whether it is Kernel Tuner's dialect
    rank: int = 0
    grid: list[str] = field(default_factory=list)
    block: list[str] = field(default_factory=list)
    own: dict[str, Any] = field(default_factory=lambda: {"format": "tiletune.own_kernel/1"})
    keys: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Any] = field(default_factory=dict)
    symbols: dict[str, str] = field(default_factory=dict)
    arguments: list[Any] = field(default_factory=list)
    references: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.specification = self.root.member("KernelSpecification")

    def path(self, name: str) -> str:
        """Returns the path of a file or folder that the T1 file names, as written in the result."""
        if os.path.isabs(name) or os.path.realpath(self.folder) == os.path.realpath(self.target):
            return name
        return os.path.relpath(os.path.join(self.folder, name), self.target)

    def python(self, text: str, sizes: bool = False, index: Optional[str] = None) -> str:
        """The text without `list`, which tiletune's lists do not need; with sizes, ProblemSize becomes keys and
                parameters become the lists of their values; with index, `i` gets that name."""

        def word(match: re.Match[str]) -> str:
            found = match.group()
            if found == "list":
                return "" if text.startswith("(", match.end()) else found
            if sizes and found.startswith("ProblemSize") and (match.group(1) or found == "ProblemSize"):
                return PROBLEM_KEYS[int(match.group(1) or 0)]
            if sizes and found in self.parameters:
                values = self.parameters[found].value
                return f"({self.python(values) if isinstance(values, str) else compact(values)})"
            return index if index and found == "i" else found

        return WORDS.sub(word, text)

    def add_key(self, name: str, value: int) -> None:
        self.keys[name] = {"min": value, "max": value, "default": value}

    def convert(self) -> dict[str, Any]:
        language = self.specification.member("Language")
        if language.string().upper() != "CUDA":
            raise language.error('"CUDA"')
        self.convert_source()
        self.convert_options()
        self.convert_space()
        self.convert_problem()
        self.convert_sizes()
        if self.has_problem:
            self.convert_macros()
        for i, argument in enumerate(self.specification.member("Arguments").items()):
            self.convert_argument(argument, f"argument_{i}")
        if not any(tensor["role"] != "in" for tensor in self.tensors.values()):
            raise self.specification.member("Arguments").error(
                "the kernel's arguments, at least one of them a Vector that is written"
            )
        if not self.keys:
            self.add_key("run", 1)
        self.convert_references()
        self.convert_launch()
        self.own.update(keys=self.keys, tensors=self.tensors, symbols=self.symbols, reference=self.references)
        return {key: value for key, value in self.own.items() if value not in ({}, [])}

    def convert_source(self) -> None:
        """Searches the folder of the T1 file, and its parent folder, where Kernel Tuner also searches."""
        node = self.specification.member("KernelFile")
        for name in (node.string(), "../" + node.string()):
            if os.path.isfile(os.path.join(self.folder, name)):
                self.own["source"] = self.path(name)
                return
        raise node.error(f"a file of {self.folder}")

    def convert_options(self) -> None:
        """Converts options to the form in NVRTC's documentation: two hyphens before a word, except -std. Folders are stored separately."""
        options, folders = [], []
        found = self.specification.find("CompilerOptions")
        for item in found.items() if found else ():
            option = item.string()
            if option.startswith("-I"):
                folders.append(self.path(option[2:]))
            elif option:
                is_word = re.match(r"-[a-z]", option) and not option.startswith("-std=")
                options.append("-" + option if is_word else option)
        self.own.update(include_paths=folders, options=options)

    def convert_space(self) -> None:
        space = self.root.member("ConfigurationSpace")
        parameters: dict[str, Any] = {}
        defaults: dict[str, Any] = {}
        for item in space.member("TuningParameters").items():
            name = item.member("Name").string()
            item.choice("Type", ("int", "uint", "float", "bool"), "int")
            values = item.member("Values")
            if not isinstance(values.value, (str, list)):
                raise values.error("a list, or Python text of one")
            self.parameters[name] = values
            parameters[name] = self.python(values.value) if isinstance(values.value, str) else values.value
            default = item.find("Default")
            if default is None:
                continue
            chosen = default.value[0] if isinstance(default.value, list) and default.value else default.value
            if may_have(values, chosen):
                defaults[name] = chosen
        conditions = space.find("Conditions")
        self.own.update(
            parameters=parameters,
            defaults=defaults,
            constraints=[
                {"expr": self.python(item.member("Expression").string()), "why": "a condition of the T1 file"}
                for item in (conditions.items() if conditions else ())
            ],
        )

    def convert_problem(self) -> None:
        sizes = self.specification.find("ProblemSize")
        self.has_problem = sizes is not None
        if sizes is None:
            return
        for item in sizes.items() if isinstance(sizes.value, list) else [sizes]:
            if self.rank == len(AXES):
                raise item.error(f"at most {len(AXES)} sizes")
            self.add_key(PROBLEM_KEYS[self.rank], item.integer())
            self.rank += 1
        if not self.rank:
            raise sizes.error("at least one size")

    def block_parameter(self, axis: int) -> Optional[str]:
        """Returns the parameter of that name, ignoring case (Kernel Tuner's dialect)."""
        return next((name for name in self.parameters if name.lower() == BLOCK_NAMES[axis]), None)

    def size(self, name: str, is_needed: bool) -> Optional[list[str]]:
        """Returns the members X, Y, Z of a size; "1" if absent."""
        node = self.specification.member(name) if is_needed else self.specification.find(name)
        if node is None:
            return None
        members = (node.find(axis) for axis in AXES)
        return [member.text() if member else "1" for member in members]

    def divisor(self, axis: int) -> str:
        """Returns the product of the divisors, or without a list the block size, if it is a parameter."""
        factors = self.specification.find(f"GridDiv{AXES[axis]}")
        if factors is None or factors.value == []:
            return self.block_parameter(axis) or "1"
        return "*".join(f"({item.text()})" for item in factors.items())

    def convert_sizes(self) -> None:
        kind = self.specification.choice("GlobalSizeType", ("CUDA", "OpenCL", "Vulkan"), "CUDA")
        block = self.size("LocalSize", not self.has_problem)
        self.block = block or [self.block_parameter(i) or ("256" if i == 0 else "1") for i in range(len(AXES))]
        if self.has_problem:
            self.grid = [
                f"ceil_div({PROBLEM_KEYS[i]}, {self.divisor(i)})" if i < self.rank else "1" for i in range(len(AXES))
            ]
            return
        threads = self.size("GlobalSize", True) or []
        self.grid = threads if kind == "CUDA" else [f"ceil_div({n}, {b})" for n, b in zip(threads, self.block)]

    def convert_macros(self) -> None:
        """Adds the macros that Kernel Tuner adds to the parameters."""
        constants: dict[str, Any] = {"kernel_tuner": 1}
        for i in range(len(AXES)):
            if BLOCK_NAMES[i] not in self.parameters:
                constants[BLOCK_NAMES[i]] = self.block[i]
            constants[GRID_NAMES[i]] = self.grid[i]
        self.own["constants"] = constants

    def convert_argument(self, argument: Node, default_name: str) -> None:
        memory = argument.choice("MemoryType", ("Vector", "Scalar", "Symbol"), "Vector")
        # Kernel Tuner also passes arguments in constant memory to the kernel
        placement = argument.choice("MemType", ("Global", "Constant"), "Global")
        named = argument.find("Name")
        name = named.string() if named else default_name
        if memory == "Scalar":
            self.convert_scalar(argument, name)
            return
        is_symbol = memory == "Symbol" or placement == "Constant"
        if is_symbol:
            symbol = argument.find("SymbolName") if memory == "Symbol" else None
            self.symbols[symbol.string() if symbol else name] = name
        if memory == "Vector":
            self.arguments.append(name)
        self.tensors[name] = self.tensor(argument, "ReadOnly" if is_symbol else "ReadWrite")

    @staticmethod
    def type_of(argument: Node) -> tuple[str, str, int]:
        """Returns tiletune's names for a tensor and for a scalar, and the lanes of "float4"."""
        node = argument.member("Type")
        match = re.fullmatch(r"(float|double|half)(\d+)", node.string())
        name, lanes = (match.group(1), int(match.group(2))) if match else (node.string(), 1)
        if name not in TYPES:
            raise node.error(f"one of {', '.join(TYPES)}, or float, double, half with a number of lanes")
        return TYPES[name][0], TYPES[name][1], lanes

    def tensor(self, argument: Node, default_access: str) -> dict[str, Any]:
        dtype, _, lanes = self.type_of(argument)
        shape: list[Any] = [self.python(argument.member("Size").text(), sizes=True)]
        access = argument.choice("AccessType", tuple(ROLES), default_access)
        tensor = {"shape": shape + ([lanes] if lanes > 1 else []), "dtype": dtype, "role": ROLES[access]}
        if access != "WriteOnly":
            tensor.update(self.contents(argument, is_integer=dtype[:2] != "fp"))
        return tensor

    def contents(self, argument: Node, is_integer: bool) -> dict[str, Any]:
        fill = argument.choice("FillType", ("Constant", "Random", "Generator", "BinaryRaw"), "Constant")
        value = argument.find("FillValue")
        if fill == "Constant":
            number = value.number() if value else 0
            if number in (0, 1):
                return {"contents": "one" if number else "zero"}
            return {"contents": {"expression": compact(number)}}
        if fill == "Random":
            most = plain(value.number()) if value else 0
            if self.has_problem and not is_integer:
                return {"fill": [0, 1], "contents": "normal"}
            return {"fill": [0, most if most > 0 else 1]}
        source = argument.member("DataSource").string()
        if fill == "BinaryRaw":
            return {"contents": {"file": self.path(source)}}
        return {"contents": {"expression": self.python(source, sizes=True, index="index")}}

    def convert_scalar(self, argument: Node, name: str) -> None:
        _, scalar, _ = self.type_of(argument)
        value = argument.member("FillValue")
        if not self.has_problem and scalar == "i32" and value.is_integer():
            self.add_key(name, value.integer())
            self.arguments.append(name)
        else:
            self.arguments.append({"value": value.text(), "type": scalar})

    def convert_references(self) -> None:
        """Converts files of expected values. Values that need Python are omitted: the result is then compared with that of the default
        configuration, as usual."""
        found = self.specification.find("ReferenceArguments")
        for item in found.items() if found else ():
            output, fill = item.member("TargetName").string(), item.member("FillType").string()
            if fill == "BinaryRaw":
                file = self.path(item.member("DataSource").string())
                self.references.append({"file": file, "output": output})

    def convert_launch(self) -> None:
        launch: dict[str, Any] = {"entry": self.specification.member("KernelName").string(), "grid": self.grid, "block": self.block}
        smem = self.specification.find("SharedMemory")
        if smem:
            launch["smem_bytes"] = smem.text()
        self.own["launches"] = [{**launch, "args": self.arguments}]


def convert(path: str, target: str = "") -> dict[str, Any]:
    """Returns the kernel of a T1 file as tiletune.own_kernel/1, for the folder `target` (default: the folder
        of the file). Raises T1Error for missing members and wrong types, for features that a CUDA kernel cannot have
        (another Language, Local memory), and for fills that need Python."""
    folder = os.path.dirname(path) or "."
    try:
        with open(path, encoding="utf-8-sig") as file:
            root = Node(json.load(file, object_pairs_hook=unique), "$")
        return Conversion(root, folder, target or folder).convert()
    except json.JSONDecodeError as error:
        raise T1Error(not_json(path, error)) from None
    except (T1Error, ValueError, OverflowError, OSError, RecursionError) as error:
        raise T1Error(f"{path}: {error}") from None


def layout(own: dict[str, Any]) -> str:
    """Writes JSON with a line for each member, and for each member of a nested object with several."""
    lines = []
    for key, value in own.items():
        if isinstance(value, dict) and len(value) > 1:
            inner = ",\n".join(f"\t\t{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items())
            lines.append(f'\t"{key}": {{\n{inner}\n\t}}')
        else:
            lines.append(f'\t"{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tiletune.t1", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", help="the T1 file")
    parser.add_argument("-o", "--output", default="-", help="the file to write; default standard output")
    options = parser.parse_args(arguments)
    to_file = options.output != "-"
    try:
        own = convert(options.file, (os.path.dirname(options.output) or ".") if to_file else ".")
        if to_file and os.path.exists(options.output) and os.path.samefile(options.file, options.output):
            raise T1Error(f"{options.output}: expected another file than the T1 file, which is read")
    except T1Error as error:
        print(f"tiletune.t1: {error}", file=sys.stderr)
        return 2
    if not to_file:
        sys.stdout.write(layout(own))
        return 0
    try:
        write_file(options.output, layout(own))
    except (Error, OSError) as error:
        print(f"tiletune.t1: {error}", file=sys.stderr)
        return 1
    print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
