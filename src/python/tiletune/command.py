# SPDX-License-Identifier: MIT
"""Starts the program: tune, check, report, and what else has a command line.

Options are those of `tiletune help COMMAND` with `_` for `-`: effort="quick", family=["mma", "wgmma"], fresh=True. A problem is
a text as after -p, or a dict; a list of them is several. progress: None says nothing, True lets the program talk on standard
error, a function is called with each line, or state of the progress, that the program prints.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from .errors import Error
from .operation import text_of
from .tuned import Tuned, load

ProblemLike = Union[str, Mapping[str, Any]]
Progress = Union[None, bool, Callable[[str], None]]


def find_program() -> str:
    """TILETUNE, the environment's bin, where `make install` puts it, a checkout's build, then PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.environ.get("TILETUNE"), os.path.join(sysconfig.get_path("scripts"), "tiletune"),
        os.path.join(here, *[".."] * 4, "bin", "tiletune"), os.path.join(here, *[".."] * 3, "build", "tiletune"),
        os.path.join(here, *[".."] * 2, "tiletune"), shutil.which("tiletune")]
    for place in filter(None, places):
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
        if place == places[0]:
            raise Error(f"TILETUNE: expected the tiletune program, found {place}", "unset it, or name the program")
    raise Error("tiletune: expected the program in the environment's bin or on PATH, found none", "set TILETUNE to its path")


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Options as words: True is the name alone, None and False are nothing, a list is the option several times."""
    words = []
    for name, value in options.items():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is not None and item is not False:
                words.append("--" + name.replace("_", "-"))
                words += [] if item is True else [text_of(item) if isinstance(item, Mapping) else str(item)]
    return words


def run(*words: str, accepted: Iterable[int] = (0,), progress: Progress = None, environment: Optional[Mapping[str, str]] = None,
        **options: Any) -> tuple[int, str]:
    """The exit code and standard output. Error: any code that is not accepted."""
    command = [find_program(), *words, *words_of(options), *(["--progress"] if progress and words[0] == "tune" else [])]
    said: list[str] = []

    def hear(lines: Iterable[bytes]) -> None:
        for line in lines:
            text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line.decode(errors="replace"))
            if text:
                said.append(text)
                if callable(progress):
                    progress(text)

    with tempfile.TemporaryFile("w+", encoding="utf-8") as output, \
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr
        try:
            rest = b""
            while chunk := os.read(process.stderr.fileno(), 65536):
                if progress is True:
                    sys.stderr.write(chunk.decode(errors="replace"))
                    sys.stderr.flush()
                *lines, rest = re.split(rb"[\r\n]+", rest + chunk)
                hear(lines)
            hear([rest])
            code = process.wait()
        except BaseException:
            process.terminate()  # it keeps its journal
            process.wait()
            raise
        output.seek(0)
        if code not in accepted:
            hint = next((line.strip()[6:] for line in said if line.strip().startswith("hint: ")), None)
            first = [line for line in said if line.startswith("tiletune: ")] or said[-1:] or [f"tiletune {words[0]}: expected exit code 0, found {code}"]
            message = first[0].removeprefix("tiletune: ")
            raise Error(message, hint, code)
        return code, output.read()


def problems_of(problems: Union[None, ProblemLike, Iterable[ProblemLike]]) -> list[str]:
    items = [problems] if isinstance(problems, (str, Mapping)) else problems or []
    return [text_of(item) if isinstance(item, Mapping) else item for item in items]


def tune(operation: Optional[str] = None, problem: Union[None, ProblemLike, Iterable[ProblemLike]] = None, *, output: str = "tuned.json",
        progress: Progress = None, **options: Any) -> Tuned:
    """`tiletune tune`: an operation, or the JSON of an own kernel, and its problems; or suite=. Returns the file it wrote."""
    run("tune", *([operation] if operation else []), progress=progress, output=output, problem=problems_of(problem), **options)
    return load(output)


class Check(dict[str, Any]):
    """The answer of `tiletune check --json`: is_regression, is_inconclusive, and the document's members."""

    is_regression = property(lambda self: self["exit_code"] == 3)
    is_inconclusive = property(lambda self: self["exit_code"] == 4)


def check(baseline: str, *, progress: Progress = None, **options: Any) -> Check:
    """`tiletune check`. A regression is an answer, not an exception."""
    return Check(json.loads(run("check", baseline, accepted=(0, 3, 4), progress=progress, json=True, **options)[1]))


def report(*files: str, output: str = "report.html", **options: Any) -> str:
    """`tiletune report`: a page of tuned files and journals. Returns the path of the page."""
    run("report", *files, output=output, **options)
    return output
