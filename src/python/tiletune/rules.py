# SPDX-License-Identifier: MIT
"""A tuned file as one function without dependencies: a decision tree over the sizes of a problem.

    python3 -m tiletune.rules tuned.json gemm -p dtype=bf16 --format c -o gemm_rule.h    # or: tiletune export --format rule-c

The function returns a family, a configuration, and whether all sizes are within the range of the entries. Outside this range, and for
invalid sizes (M = 0), it returns the default, the configuration that is best over all entries. The comment at its head has the
slowdown of its answers relative to the best known, for its entries and for entries left out of the fit (a tenth at a time), according
to the journal's times. Answers without a time are counted and named. --untimed writes the commands that time them, and the resulting
journal is then read, too. Entries tuned for bitwise equality (`tune --bits`) are answered only by configurations that were measured
to have the same bits; it is an error if a rule cannot do so, and for other sizes equal bits are assumed. During the fit, a
configuration that was not timed for a problem is estimated from the three most similar ones that were, with a small penalty."""

from __future__ import annotations

import argparse
import functools
import math
import os
import shlex
import sys
from dataclasses import dataclass, field
from typing import Any, Optional, Sequence

from .errors import Error, reading
from .files import write_file
from .operation import Operation, text_of
from .quoting import c_string, comment, identifier
from .t4 import numbers, read_journal
from .tuned import load, tied_rows

POOL_MAX = 96  # number of configurations to select leaves from
FOLDS = 10
LEAF_MIN, GAIN_MIN = 3, 0.05  # minimum number of entries of a leaf; minimum gain of a split in logarithms of slowdown
UNKNOWN = math.log(4)  # for families that were not timed for the problem
OTHER_BITS = 1e6  # penalty if a configuration was not measured to have the required bits
Choice = tuple[str, str]  # family, configuration


@dataclass
class Case:
    """Holds an entry with all known times, in us."""

    text: str
    sizes: dict[str, int]
    times: dict[Choice, float]
    features: dict[str, int] = field(default_factory=dict)
    taken: dict[Choice, float] = field(default_factory=dict)  # logarithms of losses, including estimates
    losses: list[float] = field(default_factory=list)  # losses of the pool's choices
    bits: Optional[list[str]] = None  # digests that answers must have

    def loss(self, choice: Choice) -> Optional[float]:
        """Returns the slowdown: 0.02 means 2% slower than the best known. None if not timed."""
        return self.times[choice] / min(self.times.values()) - 1 if choice in self.times else None


@dataclass
class Node:
    choice: int
    loss: float
    cases: list[Case]
    feature: str = ""
    most: int = 0  # the feature's maximum in the first child
    children: list[Node] = field(default_factory=list)
    leaf: int = 0


def cases_of(path: str, operation: str, fixed: dict[str, str], journals: Sequence[str]) -> tuple[list[Case], dict[str, Any]]:
    """Returns the entries with these keys, and the keys that have one value in all of them."""
    known = Operation.find(identifier(operation, path))
    entries = [entry for entry in load(path).entries if entry["operation"] == operation and entry.get("objective", "time") == "time"
        and entry["timing"] == "measured" and all(str(entry["problem"].get(key)) == value for key, value in fixed.items())]
    if len(entries) < 2 * LEAF_MIN:
        raise Error(f"{path}: expected measured entries of {operation} {text_of(fixed)}, found {len(entries)}")
    given = [known.given(entry["problem"]) if known else entry["problem"] for entry in entries]
    keys = [key for key in entries[0]["problem"] if any(key in item for item in given)]
    same = {key: value for key, value in entries[0]["problem"].items() if all(entry["problem"][key] == value for entry in entries)}
    sizes = [identifier(key, f"{path}: a key of {operation}") for key in keys if key not in same]
    texts = [key for key in sizes if not all(isinstance(entry["problem"][key], int) for entry in entries)]
    if texts:
        values = sorted({str(entry["problem"][texts[0]]) for entry in entries})
        raise Error(f"{path}: expected entries of one {texts[0]}, found {', '.join(values)}", f"-p {texts[0]}={values[0]}")
    cases = {text_of(entry["problem"]): Case(text_of(item), {key: entry["problem"][key] for key in sizes}, {}) for entry, item in zip(entries, given)}
    for entry in entries:
        if "bits" in entry:
            cases[text_of(entry["problem"])].bits = entry["winner"]["bits"]["digests"]
        for row in (entry["winner"], *tied_rows(entry), *entry.get("families", ())):
            note(cases[text_of(entry["problem"])], (row["family"], text_of(row["configuration"])), row["time_us"]["median"])
    for journal in journals:
        for _, problem, line in read_journal(journal):
            case = cases.get(problem["text"])
            if case and line["outcome"] == "ok" and (not case.bits or line.get("bits", {}).get("digests") == case.bits) and line.get("timing") != "predicted" and "time_us" in line:
                note(case, (line["family"], line["configuration"]), line["time_us"]["median"])
    for case in cases.values():
        case.features = features_of(case.sizes)
    return list(cases.values()), same


def note(case: Case, choice: Choice, time_us: float) -> None:
    case.times[choice] = min(time_us, case.times.get(choice, math.inf))


def features_of(sizes: dict[str, int]) -> dict[str, int]:
    """Returns features as expressions of C and Python over the keys: sizes, their alignment, products of two of the first three."""
    found = {**sizes, **{f"{key} % 8": value % 8 for key, value in sizes.items()}}
    names = list(sizes)[:3]
    return {**found, **{f"{a} * {b}": sizes[a] * sizes[b] for n, a in enumerate(names) for b in names[n + 1:]}}


# ---- evaluations without times ----
@functools.lru_cache(maxsize=None)
def parsed(choice: Choice) -> tuple[Any, ...]:
    """Returns the values of the parameters, with numbers as logarithms."""
    return tuple(math.log2(value + 1) if isinstance(value, int) and value >= 0 else value for value in numbers(choice[1]).values())


def distance(one: tuple[Any, ...], other: tuple[Any, ...]) -> float:
    return sum(abs(a - b) if isinstance(a, float) and isinstance(b, float) else 1.0 for a, b in zip(one, other) if a != b)


def pool_of(cases: Sequence[Case]) -> list[Choice]:
    """Returns choices that are most often the best or close to it."""
    votes: dict[Choice, float] = {}
    for case in cases:
        best = min(case.times.values())
        for choice, time in case.times.items():
            if time < 1.05 * best:
                votes[choice] = votes.get(choice, 0) + (2 if time == best else 1)
    return sorted(votes, key=lambda choice: (-votes[choice], choice))[:POOL_MAX]


def lose(cases: Sequence[Case], pool: list[Choice]) -> None:
    """Computes the losses of each case."""
    for case in cases:
        best = min(case.times.values())
        for choice in pool:
            if case.bits and choice not in case.times:
                case.taken[choice] = OTHER_BITS
            elif choice in case.times:
                case.taken[choice] = math.log(case.times[choice] / best)
            elif choice not in case.taken:
                wanted = parsed(choice)
                near = sorted((distance(wanted, parsed(other)), time) for other, time in case.times.items() if other[0] == choice[0])[:3]
                weights = [1 / (0.1 + far) for far, _ in near]
                case.taken[choice] = near[0][0] / 100 + sum(weight * math.log(time / best) for weight, (_, time) in zip(weights, near)) / sum(weights) \
                    if near else UNKNOWN
        case.losses = [case.taken[choice] for choice in pool]


# ---- the tree ----
def leaf_of(cases: list[Case]) -> Node:
    sums = [sum(column) for column in zip(*(case.losses for case in cases))]
    choice = min(range(len(sums)), key=sums.__getitem__)
    return Node(choice, sums[choice], cases)


def split(node: Node) -> Optional[tuple[float, str, int, list[Case], list[Case]]]:
    """Returns the best split: its gain, feature, limit, and both parts."""
    found = None
    total = [sum(column) for column in zip(*(case.losses for case in node.cases))]
    for feature in node.cases[0].features:
        ordered = sorted(node.cases, key=lambda case: case.features[feature])
        left = [0.0] * len(total)
        for count, case in enumerate(ordered[:-1], 1):
            left = [a + b for a, b in zip(left, case.losses)]
            low, high = case.features[feature], ordered[count].features[feature]
            least = 1 if case.bits else LEAF_MIN
            if count < least or len(ordered) - count < least or low == high:
                continue
            saved = node.loss - min(left) - min(a - b for a, b in zip(total, left))
            # choices with other bits are separated first, although this alone gains nothing
            saved += 2 * GAIN_MIN * any(case.losses[node.choice] >= OTHER_BITS for case in ordered[count - 1:count + 1])
            if saved > (found[0] if found else GAIN_MIN):
                found = saved, feature, max(low, min(high - 1, math.isqrt(low * high))), ordered[:count], ordered[count:]
    return found


def fit(cases: list[Case], leaves: int) -> Node:
    root = leaf_of(cases)
    open_nodes = [(root, split(root))]
    for _ in range(leaves - 1):
        node, best = max(open_nodes, key=lambda item: item[1][0] if item[1] else 0)
        if not best:
            break
        open_nodes.remove((node, best))
        _, node.feature, node.most, *parts = best
        node.children = [leaf_of(part) for part in parts]
        open_nodes += [(child, split(child)) for child in node.children]
    return root


def pick(node: Node, case: Case) -> int:
    while node.children:
        node = node.children[case.features[node.feature] > node.most]
    return node.choice


@dataclass
class Score:
    """Holds statistics of answers: losses of the timed ones, the untimed problems and answers, and the assumed losses of all."""

    losses: list[float] = field(default_factory=list)
    untimed: list[tuple[Case, Choice]] = field(default_factory=list)
    taken: list[float] = field(default_factory=list)

    def add(self, case: Case, pool: list[Choice], choice: int) -> None:
        loss = case.loss(pool[choice])
        if loss is None:
            self.untimed.append((case, pool[choice]))
        else:
            self.losses.append(loss)
        self.taken.append(math.exp(min(case.losses[choice], UNKNOWN)) - 1)

    def lines(self, what: str) -> list[str]:
        mean = lambda values: f"mean {100 * sum(values) / len(values):.1f}%, largest {100 * max(values):.1f}%" if values else "none"  # noqa: E731
        return [f"{what}: {len(self.losses)} of {len(self.taken)} answers were timed, loss: {mean(self.losses)}; with estimates of the others: "
            f"{mean(self.taken)}", *(f"  not timed: {case.text}" for case, _ in self.untimed)]


@dataclass
class Rule:
    operation: str
    source: str
    root: Node
    pool: list[Choice]
    cases: list[Case]
    same: dict[str, Any]
    known: Score
    left_out: Score

    @staticmethod
    def make(path: str, operation: str, fixed: dict[str, str], journals: Sequence[str], leaves: int) -> Rule:
        cases, same = cases_of(path, operation, fixed, journals)
        left_out, known = Score(), Score()
        for fold in range(min(FOLDS, len(cases))):
            kept = [case for number, case in enumerate(cases) if number % FOLDS != fold]
            pool = pool_of(kept)
            lose(cases, pool)
            tree = fit(kept, leaves)
            for case in cases[fold::FOLDS]:
                left_out.add(case, pool, pick(tree, case))
        pool = pool_of(cases)
        lose(cases, pool)
        root = fit(cases, leaves)
        for case in cases:
            known.add(case, pool, pick(root, case))
            if case.losses[pick(root, case)] >= OTHER_BITS:
                raise Error(f"{path}: expected a rule with {leaves} leaves that keeps the bits of every entry, found none for {case.text}", "--leaves")
        return Rule(operation, os.path.basename(path), root, pool, cases, same, known, left_out)

    def used(self) -> list[int]:
        """Returns the choices of the leaves, with the default first."""
        found = [leaf_of(self.cases).choice]

        def walk(node: Node) -> None:
            if node.children:
                any(walk(child) for child in node.children)
            elif node.choice not in found:
                found.append(node.choice)
        walk(self.root)
        return found

    def head(self) -> list[str]:
        ranges = ", ".join(f"{key} {low} to {high}" for key, (low, high) in self.ranges().items())
        return [f"The configuration of {self.operation} for a problem, fitted to {len(self.cases)} entries of {self.source}.",
            f"For {text_of(self.same)}." if self.same else "",
            "Answers for its entries have the bits that these were tuned for; for other sizes that is assumed." if any(case.bits for case in self.cases) else "",
            f"Range that was seen: {ranges}. Outside of it, and for sizes below 1: the default.",
            *self.known.lines("Its entries"), *self.left_out.lines("Entries left out of the fit")]

    def ranges(self) -> dict[str, tuple[int, int]]:
        return {key: (min(case.sizes[key] for case in self.cases), max(case.sizes[key] for case in self.cases)) for key in self.cases[0].sizes}

    def body(self, test: str, answer: str, indent: str, end: str = "") -> list[str]:
        """Writes the tree as nested conditions."""
        used = self.used()

        def walk(node: Node, depth: str) -> list[str]:
            if not node.children:
                return [depth + answer.format(used.index(node.choice))]
            return [depth + test.format(f"{node.feature} <= {node.most}"), *walk(node.children[0], depth + indent), *([depth + end] if end else []),
                *walk(node.children[1], depth)]
        return walk(self.root, indent)

    def python(self) -> str:
        names, function = list(self.cases[0].sizes), self.operation
        rows = "".join(f"    ({self.pool[choice][0]!r}, {numbers(self.pool[choice][1])!r}),\n" for choice in self.used())
        seen = " and ".join(f"{low} <= {key} <= {high}" for key, (low, high) in self.ranges().items())
        head = "\n".join(map(comment, filter(None, self.head())))
        return f'"""{head}\n"""\n\nCONFIGURATIONS = [  # the first is the default\n{rows}]\n\n\n' \
            f"def {function}({', '.join(names)}):\n" \
            f'    """(family, configuration, whether all sizes are in the range that was seen)."""\n' \
            f"    is_seen = {seen}\n    return (*CONFIGURATIONS[choose_{function}({', '.join(names)}) if is_seen else 0], is_seen)\n\n\n" \
            f"def choose_{function}({', '.join(names)}):\n" + "\n".join(self.body("if {}:", "return {}", "    ")) + "\n"

    def c(self) -> str:
        names, function = list(self.cases[0].sizes), f"{self.operation}_rule"
        rows = "".join(f"\t\t{{{c_string(self.pool[choice][0])}, {c_string(self.pool[choice][1])}, 0}},\n" for choice in self.used())
        seen = " && ".join(f"{key} >= {low} && {key} <= {high}" for key, (low, high) in self.ranges().items())
        head = "".join(f" * {comment(line)}\n" for line in filter(None, self.head()))
        arguments = ", ".join(f"long long {name}" for name in names)
        guard = f"{function.upper()}_H"
        return f"/*\n{head} */\n#ifndef {guard}\n#define {guard}\n\nstruct {function} {{\n\tconst char *family, *configuration; /* \"BM=128,BN=256,...\" */\n" \
            f"\tint is_seen; /* all sizes are in the range that was seen; 0: this is the default */\n}};\n\n" \
            f"static inline int {function}_index({arguments})\n{{\n" + "\n".join(self.body("if ({}) {{", "return {};", "\t", "}")) + "\n}\n\n" \
            f"static inline struct {function} {function}({arguments})\n{{\n\tstatic const struct {function} all[] = {{ /* the first is the default */\n{rows}\t}};\n" \
            f"\tconst int is_seen = {seen};\n\tstruct {function} found = all[is_seen ? {function}_index({', '.join(names)}) : 0];\n\n" \
            f"\tfound.is_seen = is_seen;\n\treturn found;\n}}\n\n#endif\n"

    def untimed(self) -> str:
        """Returns commands that time the untimed answers."""
        return "".join(f"tiletune tune {self.operation} -p {shlex.quote(case.text)} --family={shlex.quote(choice[0].split('/')[1])} --config={shlex.quote(choice[1])} "
            "-o rule_times.json --journal rule_times.journal.jsonl\n" for case, choice in (*self.known.untimed, *self.left_out.untimed))


def journals_of(path: str) -> list[str]:
    """Returns journals in the folder of the tuned file."""
    stem = path.removesuffix(".json") + ".journal.jsonl"
    return [name for name in (stem, stem + ".gz") if os.path.exists(name)]


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tiletune.rules", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", help="a tuned file; its journal is looked for in its folder")
    parser.add_argument("operation")
    parser.add_argument("-p", "--problem", default="", help="only entries with these keys: dtype=bf16,b_layout=nk")
    parser.add_argument("-F", "--format", choices=["c", "py", "rule-c", "rule-py"], required=True)
    parser.add_argument("--leaves", type=int, default=32, help="of the tree, at most; default 32")
    parser.add_argument("--journal", action="append", default=[], help="another journal with times; may be repeated")
    parser.add_argument("--untimed", help="a file for the commands that time what was answered without a time")
    parser.add_argument("-o", "--output", default="-", help="default: standard output")
    options = parser.parse_args(arguments)
    try:
        fixed = dict(item.split("=", 1) for item in options.problem.split(",")) if options.problem else {}
        with reading(options.file, "a tuned file with a journal"):
            rule = Rule.make(options.file, options.operation, fixed, [*journals_of(options.file), *options.journal], max(1, options.leaves))
        for path, text in ((options.output, rule.c() if options.format.endswith("c") else rule.python()), (options.untimed, rule.untimed())):
            if path == "-":
                sys.stdout.write(text)
            elif path:
                write_file(path, text)
                print(f"wrote {path}", file=sys.stderr)
        print("\n".join(line for line in rule.head()[4:] if not line.startswith(" ")), file=sys.stderr)
    except (Error, OSError, ValueError) as error:
        print(f"tiletune.rules: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
