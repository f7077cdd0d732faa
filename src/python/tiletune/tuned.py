# SPDX-License-Identifier: MIT
"""Tuned files: entries of the file are read, other problems are answered by `tiletune lookup`."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Mapping, Optional

from .errors import Error, reading
from .operation import Operation, Problem, text_of

FORMAT = "tiletune.tuned/1"


@dataclass(frozen=True)
class Answer:
    """A configuration for a problem. grade: "exact" (the file has the problem), or how lookup found it."""

    operation: str
    problem: Problem
    family: str
    configuration: dict[str, Any]
    launches: list[dict[str, Any]]  # grid, block, cluster, shared memory, arguments
    time_us: float
    is_predicted: bool
    grade: str
    expected_loss: Optional[float]  # 0.02 means 2% slower than the best that the model knows; 0 if the file has the problem
    row: dict[str, Any]  # all members of the file's entry, or of lookup's answer

    @staticmethod
    def of(entry: Mapping[str, Any], grade: str, loss: Optional[float]) -> Answer:
        row = entry["winner"]
        return Answer(entry["operation"], entry["problem"], row["family"], row["configuration"], row.get("launches", []),
            row["time_us"]["median"], entry["timing"] == "predicted", grade, loss, row)


class Tuned:
    """path, device and entries of the file."""

    def __init__(self, path: str, document: dict[str, Any]):
        self.path, self.document = path, document
        self.device: dict[str, Any] = document["device"]
        self.entries: list[dict[str, Any]] = document["entries"]

    def __repr__(self) -> str:
        return f"<tuned file {self.path}: {len(self.entries)} entries of {self.device.get('name')}>"

    def find(self, operation: str, problem: Problem, objective: str = "time") -> Optional[dict[str, Any]]:
        """Returns the entry of this problem. Keys that are not given have the defaults of templates/ or, for an unknown operation, those of
        the only entry with these keys."""
        entries = [entry for entry in self.entries if entry["operation"] == operation and entry.get("objective", "time") == objective]
        if any(problem.items() == entry["problem"].items() for entry in entries):
            wanted = problem
        else:
            known = Operation.find(operation)
            if known is None:
                return None
            wanted = known.complete(problem)
        return next((entry for entry in entries if entry["problem"] == wanted), None)

    def lookup(self, operation: str, *, device: Optional[str] = None, objective: str = "time", **problem: Any) -> Answer:
        """Returns the best configuration for a problem. If the file does not have the problem, `tiletune lookup` answers, for the file's
        GPU or the given device. Raises Error if no configuration of the file fits."""
        with reading(self.path, "a tuned file"):
            entry = self.find(operation, problem, objective) if device is None else None
            if entry:
                return Answer.of(entry, "exact", 0.0)
        for key, value in problem.items():
            if isinstance(value, (list, tuple, range)):
                raise Error(f"lookup: {key}: an answer is for one problem, but {value} gives {len(value)}",
                    f'[tuned.lookup("{operation}", ..., {key}=value) for value in {value}]')
        from .command import run  # pylint: disable=import-outside-toplevel
        text = run("lookup", self.path, operation, problem=text_of(problem), device=device, json=True,
            objective=None if objective == "time" else objective)[1]
        entry = json.loads(text)["entries"][0]
        why = entry["winner"].get("why", {})
        return Answer.of(entry, why.get("grade", "exact"), why.get("expected_loss_ratio"))


def tied_rows(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the rows tied with the winner, completed: the file stores only their differences from the winner."""
    winner = entry["winner"]
    return [row if "family" in row else {**row, "family": winner["family"], "configuration": {**winner["configuration"], **row["configuration"]}}
        for row in entry.get("tied", ())]


def load(path: str) -> Tuned:
    """Reads a tuned file. Raises an Error whose message has the place and what is wrong, in one line."""
    if not os.path.exists(path):
        raise Error(f"{path}: there is no such file", f'tiletune.tune(OPERATION, output="{path}", KEY=VALUE, ...) writes it')
    with reading(path, "a tuned file"), open(path, encoding="utf-8") as file:
        document = json.load(file)
    form = document.get("format") if isinstance(document, dict) else type(document).__name__
    if form != FORMAT:
        raise Error(f"{path}: expected the format {FORMAT}, found {form}",
            f'this file describes a kernel: tiletune.tune("{path}", KEY=VALUE, ...) tunes it' if form == "tiletune.own_kernel/1" else None)
    for place, kind in (("device", dict), ("entries", list)):
        if not isinstance(document.get(place), kind):
            raise Error(f"{path}: $.{place}: expected {'an object' if kind is dict else 'an array'}, found {type(document.get(place)).__name__}")
    for number, entry in enumerate(document["entries"]):
        for key, kind in (("operation", str), ("problem", dict), ("timing", str), ("winner", dict)):
            if not isinstance(entry, dict) or not isinstance(entry.get(key), kind):
                raise Error(f'{path}: $.entries[{number}]: no member "{key}", or one of the wrong type', f"tiletune validate {path}")
    return Tuned(path, document)
