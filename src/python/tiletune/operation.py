# SPDX-License-Identifier: MIT
"""Operations as templates/ and JSON files of own kernels describe them: defaults of keys, shapes of tensors."""

from __future__ import annotations

import ast
import functools
import json
import os
import sys
from typing import Any, Iterator, Mapping, NamedTuple, Optional

from .errors import Error, reading

Problem = dict[str, Any]
BYTES = {"fp64": 8, "i64": 8, "u64": 8, "fp32": 4, "tf32": 4, "i32": 4, "u32": 4, "fp16": 2, "bf16": 2, "i16": 2, "u16": 2,
    "fp8_e4m3": 1, "fp8_e5m2": 1, "i8": 1, "u8": 1, "bool": 1}
FUNCTIONS = {"min": min, "max": max, "abs": abs, "int": int, "any": any, "all": all, "len": len, "range": lambda *ends: list(range(*ends)),
    "ceil_div": lambda a, b: -(-a // b), "round_up": lambda a, b: -(-a // b) * b,
    "is_pow2": lambda n: n > 0 and n & (n - 1) == 0, "dtype_bytes": lambda name: BYTES[name],
    **{name: name for name in BYTES}}
NODES = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Name, ast.Constant, ast.Call, ast.List, ast.Tuple,
    ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.Subscript, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)


@functools.lru_cache(maxsize=None)
def parsed(text: str) -> tuple[ast.expr, frozenset[str], Any]:
    """Returns the tree, the names and the code of an expression. The language is the subset of Python in NODES."""
    tree = ast.parse(text.strip(), mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, NODES) or (isinstance(node, ast.Call) and not isinstance(node.func, ast.Name)):
            raise Error(f"{text}: expected an expression of tiletune, found {ast.unparse(node)}")  # type: ignore[arg-type]
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    variables = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return tree.body, frozenset(names - variables - FUNCTIONS.keys()), compile(tree, text, "eval")


def evaluate(expression: Any, values: Mapping[str, Any]) -> Any:
    """Returns a number unchanged, and evaluates a text. KeyError: a name has no value."""
    if not isinstance(expression, str):
        return expression
    _, names, code = parsed(expression)
    return eval(code, {"__builtins__": {}, **FUNCTIONS, **{name: values[name] for name in names}})


def folders() -> Iterator[str]:
    """Yields possible parents of templates/: TILETUNE_PATH, around the module (checkout, installed), share of the prefix that contains the
    module (wheel), the environment's."""
    yield from filter(None, os.environ.get("TILETUNE_PATH", "").split(":"))
    here = os.path.dirname(os.path.abspath(__file__))
    yield from (os.path.join(here, *[".."] * n) for n in (0, 2, 3))
    yield from (os.path.join(prefix, "share", "tiletune") for prefix in (os.path.join(here, *[".."] * 4), sys.prefix))


class Tensor(NamedTuple):
    """A tensor of a problem. strides: in elements."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    role: str


def guarded(method: Any) -> Any:
    """Wraps a method so that its errors name the operation's file."""
    @functools.wraps(method)
    def call(self: Operation, *arguments: Any) -> Any:
        with reading(self.path, "an operation or an own kernel"):
            return method(self, *arguments)
    return call


class Operation:
    """Holds keys and tensors of templates/NAME/operation.json, or of the JSON of an own kernel."""

    def __init__(self, path: str):
        self.path = path
        with reading(path, "an operation or an own kernel"):
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            self.keys: dict[str, dict[str, Any]] = document["keys"]
            self.declared: dict[str, dict[str, Any]] = document["tensors"]
            for place in ("keys", "tensors"):
                if not isinstance(document[place], dict) or not all(isinstance(item, dict) for item in document[place].values()):
                    raise Error(f"{path}: $.{place}: expected an object of objects")
        self.name: str = document.get("name") or os.path.splitext(os.path.basename(path))[0]

    @staticmethod
    def find(name: str) -> Optional[Operation]:
        paths = (os.path.join(folder, "templates", name, "operation.json") for folder in folders())
        return next((Operation(path) for path in paths if os.path.exists(path)), None)

    @guarded
    def complete(self, given: Mapping[str, Any]) -> Problem:
        """Returns every key, in the operation's order, completed with defaults."""
        unknown = given.keys() - self.keys.keys()
        if unknown:
            raise Error(f"{self.name}: expected keys of {', '.join(self.keys)}, found {', '.join(sorted(unknown))}")
        values: Problem = dict(given)
        while True:
            found = {key: value for key in self.keys if key not in values for value in [self.default(key, values)] if value is not None}
            values.update(found)
            if not found:
                break
        if any(key not in values for key in self.keys):
            missing = [key for key in self.keys if key not in values and "default" not in self.keys[key]]
            raise Error(f"{self.name}: no value of {', '.join(missing)}; given: {text_of(given) or 'nothing'}",
                f"add {', '.join(f'{key}=...' for key in missing)}")
        return {key: values[key] for key in self.keys}

    def default(self, key: str, values: Mapping[str, Any]) -> Any:
        """Returns None if the key has no default, or one that needs a key without a value."""
        try:
            return evaluate(self.keys[key]["default"], values) if "default" in self.keys[key] else None
        except KeyError:
            return None

    def given(self, problem: Problem) -> Problem:
        """Returns the keys of a complete problem that differ from their defaults."""
        kept = dict(problem)
        for key in self.keys:
            rest = {name: value for name, value in problem.items() if name != key}
            if self.default(key, rest) == problem[key]:
                del kept[key]
        return kept

    @guarded
    def tensors(self, problem: Problem) -> list[Tensor]:
        """Returns the tensors that the problem has."""
        found = []
        for name, item in self.declared.items():
            if evaluate(item.get("when", 1), problem):
                shape = tuple(int(evaluate(size, problem)) for size in item["shape"])
                strides = [1]
                for size in reversed(shape[1:]):
                    strides.append(int(evaluate(item["ld"], problem)) if "ld" in item and len(strides) == 1 else strides[-1] * size)
                found.append(Tensor(name, shape, tuple(reversed(strides)), evaluate(item["dtype"], problem), item.get("role", "in")))
        return found

    @guarded
    def solve(self, tensors: Mapping[str, Tensor], given: Problem) -> Problem:
        """Returns the problem whose tensors have these shapes. A size that is a key, or is linear in one, determines the key; other keys
        have their defaults. The caller must check whether all shapes fit."""
        values = dict(given)
        facts = [(expression, value) for name, tensor in tensors.items() for item in [self.declared[name]]
            for expression, value in (*zip(item["shape"], tensor.shape), *([(item["ld"], tensor.strides[-2])]
                if "ld" in item and len(tensor.strides) > 1 else []), (item["dtype"], tensor.dtype))]

        def bind_some(has_default: bool) -> bool:
            for expression, value in facts:
                keys = [key for key in self.unknown(expression, values) if ("default" in self.keys[key]) == has_default]
                if len(keys) == 1:
                    solved = self.invert(expression, keys[0], value, values)
                    if solved is not None:
                        values[keys[0]] = solved
                        return True
            return False

        while bind_some(False) or bind_some(True):
            pass
        return self.complete(values)

    def unknown(self, expression: Any, values: Problem) -> list[str]:
        """Returns keys without a value that the expression still needs after its conditions are evaluated with values and constant
        defaults."""
        if not isinstance(expression, str):
            return []
        constants = {key: self.default(key, {}) for key in self.keys}
        node = parsed(expression)[0]
        while isinstance(node, ast.IfExp):
            try:
                node = node.body if evaluate(ast.unparse(node.test), {**{k: v for k, v in constants.items() if v is not None}, **values}) else node.orelse
            except KeyError:
                break
        return [key for key in self.keys if key not in values and any(isinstance(n, ast.Name) and n.id == key for n in ast.walk(node))]

    def invert(self, expression: str, key: str, wanted: Any, values: Problem) -> Any:
        """Returns the value of the key for which the expression has the wanted value, or None."""
        def at(value: Any) -> Any:
            known = {**values, key: value}
            for _ in self.keys:  # defaults may depend on defaults
                known = {**{k: v for k in self.keys for v in [self.default(k, known)] if v is not None}, **known}
            return evaluate(expression, known)
        try:
            if isinstance(wanted, str):
                return wanted if at(wanted) == wanted else None
            zero, one = at(0), at(1)
            value = (wanted - zero) // (one - zero)
            return value if at(value) == wanted else None
        except (KeyError, TypeError, ZeroDivisionError):
            return None


def text_of(problem: Mapping[str, Any]) -> str:
    """The form of the command line: M=4096,N=4096. A list gives several values, a range gives M=16:256:16."""
    def value_of(value: Any) -> str:
        if isinstance(value, range):
            return f"{value[0]}:{value[-1]}:{value.step}" if len(value) > 1 else str(value[0])
        return ",".join(map(value_of, value)) if isinstance(value, (list, tuple)) else str(int(value) if isinstance(value, bool) else value)
    return ",".join(f"{key}={value_of(value)}" for key, value in problem.items())
