# SPDX-License-Identifier: MIT
"""The program's commands as functions: tune, check, judge, explain, advise, report, export, new, validate.

A problem is given by keywords, tune("gemm", M=4096, N=4096, K=4096, dtype="bf16"), or as `problem`: a text ("M=4096,N=4096,..."), a
dict, or a list of these. A list or a range as the value of a key gives several problems. All other keywords are options: those that
`tiletune help COMMAND` lists, with `_` for `-`, such as effort="quick", family=["mma", "wgmma"], fresh=True. A key with the name of
an option must be given in `problem`.

progress: None prints nothing, True lets the program print on standard error, a function is called with each line."""

from __future__ import annotations

import difflib
import functools
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from .errors import Error
from .files import write_file
from .operation import text_of
from .tuned import Answer, Tuned, load

ProblemLike = Union[str, Mapping[str, Any]]
Progress = Union[None, bool, Callable[[str], None]]


def find_program() -> str:
    """Searches $TILETUNE, the environment's bin, the place of `make install`, a checkout's build, then PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.environ.get("TILETUNE"), os.path.join(sysconfig.get_path("scripts"), "tiletune"),
        os.path.join(here, *[".."] * 4, "bin", "tiletune"), os.path.join(here, *[".."] * 3, "build", "tiletune"),
        os.path.join(here, *[".."] * 2, "tiletune"), shutil.which("tiletune")]
    for place in filter(None, places):
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
        if place == places[0]:
            raise Error(f"TILETUNE: {place} is not the tiletune program", "unset the variable, or let it name the program")
    raise Error("the program tiletune is neither in the environment's bin nor on PATH", "set TILETUNE to its path")


SHORT = {"-p": "problem", "-o": "output", "-d": "device", "-f": "family", "-w": "where", "-c": "config", "-e": "effort", "-b": "budget", "-F": "format"}


def in_python(text: Optional[str]) -> Optional[str]:
    """Rewrites a message of the program with arguments instead of options: `--cache-dir DIR` becomes cache_dir="DIR"."""
    def argument(match: re.Match[str]) -> str:
        name = match["long"].replace("-", "_") if match["long"] else SHORT.get(match["short"], match["short"])
        return name + (f'="{match["value"]}"' if match["value"] and not name.startswith("-") else match["space"] or "")
    return text and re.sub(r"(?<![\w-])(?:--(?P<long>[a-z][a-z0-9-]*)|(?P<short>-[a-zA-Z])(?![\w-]))(?:(?P<space> )(?P<value>(?:[A-Z]|model:|cuda:)[^\s`;)]*[^\s`;).,:])?)?",
        argument, text)


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Returns options as command-line words: True gives only the name, None and False nothing, and a list repeats the option."""
    words = []
    for name, value in options.items():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is not None and item is not False:
                words.append("--" + name.replace("_", "-"))
                words += [] if item is True else [text_of(item) if isinstance(item, Mapping) else str(item)]
    return words


def run(*words: str, accepted: Iterable[int] = (0,), progress: Progress = None, environment: Optional[Mapping[str, str]] = None,
        **options: Any) -> tuple[int, str]:
    """Returns the exit code and standard output. Raises Error for any code that is not accepted, and for a failure without the requested
    JSON."""
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
            process.terminate()  # the program still saves its journal
            process.wait()
            raise
        output.seek(0)
        answer = output.read()
        if code not in accepted or (code and options.get("json") and not answer):
            at = next((number for number, line in enumerate(said) if line.startswith("tiletune: ")), len(said) - 1)
            lines = itertools.takewhile(lambda line: line[:1] == " ", said[at + 1:])
            hint = next((line.strip()[6:] for line in said if line.strip().startswith("hint: ")), None)
            more = "".join("\n" + line for line in lines if not line.strip().startswith("hint: "))
            first = said[at].removeprefix("tiletune: ") if said else f"tiletune {words[0]} ended with exit code {code}"
            message = (in_python(first) or "") + more
            unknown = re.search(r'unknown key "(\w+)"', message)
            near = difflib.get_close_matches(unknown[1], option_names(command[0], words[0]), 1) if unknown and not hint else []
            hint = f"did you mean the option {near[0]}?" if near else hint
            raise Error(message, in_python(hint), code)
        return code, answer


def problems_of(problems: Union[None, ProblemLike, Iterable[ProblemLike]]) -> list[str]:
    items = [problems] if isinstance(problems, (str, Mapping)) else problems or []
    return [text_of(item) if isinstance(item, Mapping) else item for item in items]


@functools.lru_cache(maxsize=None)
def option_names(program: str, name: str) -> frozenset[str]:
    """Returns the options of a command, from its help."""
    text = subprocess.run([program, "help", name], stdout=subprocess.PIPE, text=True, check=False, stdin=subprocess.DEVNULL).stdout
    return frozenset(found.replace("-", "_") for found in re.findall(r"^ +(?:-\w, )?--([a-z][a-z0-9-]*)", text, re.MULTILINE))


def split(name: str, problem: Union[None, ProblemLike, Iterable[ProblemLike]], named: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Returns the problems and the options of a command. Keywords that are not options are keys of the problem."""
    options = option_names(find_program(), name)
    keys = {key: value for key, value in named.items() if key not in options}
    if keys and problem is not None:
        raise Error(f"{name}: {', '.join(keys)}: no options of this command, and the problem is given already",
            f"options are {', '.join(sorted(options))}")
    return problems_of(keys or problem), {key: value for key, value in named.items() if key in options}


def tune(operation: Optional[str] = None, problem: Union[None, ProblemLike, Iterable[ProblemLike]] = None, *, output: str = "tuned.json",
        progress: Progress = None, **named: Any) -> Tuned:
    """Finds the fastest configurations and writes them to a tuned file. Returns the file.

        operation: "gemm", or the JSON file of an own kernel; None if suite="file.json" gives a list of problems.
        Without a GPU, times are predicted. Options: effort, budget ("30s"), family, where, device, evaluations, ...

            tuned = tiletune.tune("gemm", M=[1, 16, 128], N=4096, K=4096, dtype="bf16", effort="quick")
            tuned.lookup("gemm", M=16, N=4096, K=4096, dtype="bf16").configuration"""
    problems, options = split("tune", problem, named)
    run("tune", *([operation] if operation else []), progress=progress, output=output, problem=problems, **options)
    return load(output)


@dataclass(frozen=True)
class CheckRow:
    """One entry of a baseline. verdict: "same", "faster", "slower", "unclear", "not comparable", "other bits" or "failed"."""

    operation: str
    problem: dict[str, Any]
    verdict: str
    reason: str
    baseline_us: Optional[float]
    now_us: Optional[float]  # None if the entry was not timed
    row: dict[str, Any]  # all data of the check about this entry


@dataclass(frozen=True)
class Check:
    """is_regression: slower beyond threshold and noise, or other bits. is_inconclusive: the measurements do not decide."""

    exit_code: int
    counts: dict[str, int]  # number of entries by verdict
    rows: list[CheckRow]
    document: dict[str, Any]  # tiletune.check/1

    is_regression = property(lambda self: self.exit_code == 3)
    is_inconclusive = property(lambda self: self.exit_code == 4)


def check(baseline: str, operation: Optional[str] = None, problem: Union[None, ProblemLike, Iterable[ProblemLike]] = None, *,
        progress: Progress = None, **named: Any) -> Check:
    """Compiles and times the configurations of a tuned file again. A regression is a result, not an exception.

        operation and problem select entries. Options: threshold ("5%"), budget, device ("model:h200-sxm" compares resources without a GPU), ..."""
    problems, options = split("check", problem, named)
    text = run("check", baseline, *([operation] if operation else []), accepted=(0, 3, 4), progress=progress, json=True, problem=problems, **options)[1]
    document = json.loads(text)
    rows = [CheckRow(entry["operation"], entry["problem"], entry["verdict"], entry.get("reason", ""), entry.get("baseline_us"), entry.get("time_us"), entry)
        for entry in document["entries"]]
    return Check(document["exit_code"], document.get("counts", {}), rows, document)


@dataclass(frozen=True)
class Judgement:
    """verdict: "right", "wrong", "too fast", "unstable" or "undecided". is_accepted: right, and not slower than the baseline."""

    exit_code: int
    verdict: str
    reason: Optional[str]  # reason why the kernel is not right, or a remark about its time
    time_us: Optional[float]  # None if not timed
    slowdown: Optional[float]  # time over the baseline's; None if not compared
    document: dict[str, Any]  # tiletune.judgement/1

    is_accepted = property(lambda self: self.exit_code == 0)


def judge(kernel: str, problem: Union[None, ProblemLike, Iterable[ProblemLike]] = None, *, progress: Progress = None, **named: Any) -> Judgement:
    """Gives one verdict about the kernel of a JSON file. A wrong kernel is a result, not an exception. Options: baseline (another kernel's JSON),
        task (JSON that defines inputs and reference; default the baseline), threshold ("2%"), budget, config, device, ..."""
    problems, options = split("judge", problem, named)
    text = run("judge", kernel, accepted=(0, 1, 3, 4), progress=progress, json=True, problem=problems, **options)[1]
    document = json.loads(text)
    return Judgement(document["exit_code"], document["verdict"], document.get("reason"), document["kernel"].get("time_us", {}).get("median"),
        document.get("slowdown", {}).get("ratio"), document)


def answers(name: str, operation: str, problem: Union[None, ProblemLike, Iterable[ProblemLike]], named: Mapping[str, Any], progress: Progress) -> list[Answer]:
    problems, options = split(name, problem, named)
    document = json.loads(run(name, operation, json=True, problem=problems, progress=progress, **options)[1])
    return [Answer.of({**entry, "winner": row}, "predicted", None) for entry in document["entries"] for row in [entry["winner"], *entry["families"]]]


def explain(operation: str, problem: Union[None, ProblemLike, Iterable[ProblemLike]] = None, *, progress: Progress = None, **named: Any) -> list[Answer]:
    """Explains why configurations are fast or slow, one for each family of the operation. row["score"] has tiles, waves, occupancy and the
        limiting resource, row["why"] the origin of these numbers. Options: family, config ("BM=128,..."), device, ..."""
    return answers("explain", operation, problem, named, progress)


def advise(operation: str, problem: Union[None, ProblemLike, Iterable[ProblemLike]] = None, *, progress: Progress = None, **named: Any) -> list[Answer]:
    """The cost of the problem's sizes, and faster sizes nearby; the given problem comes first. Options: family, device, ..."""
    problems, options = split("advise", problem, named)
    document = json.loads(run("advise", operation, json=True, problem=problems, progress=progress, **options)[1])
    return [Answer.of(entry, "predicted", None) for entry in document["entries"]]


def export(file: str, format: str, operation: Optional[str] = None, problem: Union[None, ProblemLike, Iterable[ProblemLike]] = None, *,  # pylint: disable=redefined-builtin
        output: Optional[str] = None, **named: Any) -> Optional[str]:
    """Converts a tuned file for other builds ("c-header", "cmake", "make", "rule-c", "rule-py"), or exports its kernels ("bundle", "cubin", "ptx",
        "source"). Writes output, or returns the text. operation and problem select entries."""
    problems, options = split("export", problem, named)
    text = run("export", file, *([operation] if operation else []), format=format, problem=problems, output=output, **options)[1]
    return None if output else text


def new(source: str, output: Optional[str] = None, **options: Any) -> dict[str, Any]:
    """Drafts an own kernel's JSON from its CUDA source. Values that the source does not determine are "?". output: also writes it.
        entry: the kernel, if the file has several."""
    draft: dict[str, Any] = json.loads(run("new", source, json=True, **options)[1])
    if output:
        write_file(output, json.dumps(draft, indent="\t") + "\n")
    return draft


@dataclass(frozen=True)
class Validation:
    """Whether a file is valid, and the error if it is not."""

    file: str
    format: Optional[str]
    is_ok: bool
    error: Optional[str]
    hint: Optional[str]


def validate(*files: str, **options: Any) -> list[Validation]:
    """Checks files of any of tiletune's formats with the readers that use them."""
    text = run("validate", *files, accepted=(0, 2), json=True, **options)[1]
    return [Validation(found["file"], found.get("format"), found["ok"], found.get("error"), found.get("hint")) for found in json.loads(text)]


def report(*files: str, output: str = "report.html", **options: Any) -> str:
    """Writes an HTML page about tuned files and journals. Returns its path."""
    run("report", *files, output=output, **options)
    return output
