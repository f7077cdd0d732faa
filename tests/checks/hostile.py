#!/usr/bin/python3
"""No name in a file and no path can begin a line of a command's output, or write a control character.

	tests/checks/hostile.py OUT		OUT: the folder with the binary

A line that begins with "::" is a command to GitHub's CI, "##[" and "##vso[" to others; ESC moves a terminal's cursor. Every command
gets files in a folder with a hostile name. validate gets files in which one string or one member's name after the other is hostile,
other commands every fortieth of these (of a journal every fifth)."""
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TILETUNE = os.path.join(os.path.abspath(sys.argv[1]), "tiletune")
ROOT = os.getcwd()
EVIL = "::error::x\nFORGED\n::warning::y\r::notice::z\x1b[2K\x9b##[error]w##vso[a]\t"
LINE = re.compile(r"^\s*(?:::|FORGED)|##\[|##vso\[|[\x00-\x08\x0b-\x1f\x7f-\x9f]", re.M)
PATHS = ["--path", ROOT, "--path", os.path.join(ROOT, "tests/toy")]
failures: list[str] = []
said = 0


def run(folder: str, *arguments: str, machine: bool = False) -> None:
	"""the stdout of machine formats is a document that programs parse"""
	global said
	environment = {**os.environ, "TILETUNE_PATH": "", "TILETUNE_NVRTC": "/none", "LC_ALL": "C"}
	ran = subprocess.run([TILETUNE, *arguments], capture_output=True, cwd=folder, env=environment, check=False, timeout=60)
	text = ran.stderr.decode(errors="replace") + ("" if machine else "\n" + ran.stdout.decode(errors="replace"))
	said += "\\x" in text
	if ran.returncode < 0 or LINE.search(text):
		failures.append(f"{arguments}: exit {ran.returncode}\n{text!r}")


def places(node: object, at: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
	"""Returns the place of each string and of each member's name; in a list, only places within the first element."""
	if isinstance(node, str):
		return [at]
	if isinstance(node, list):
		return places(node[0], (*at, 0)) if node else []
	found: list[tuple[object, ...]] = []
	for name, item in node.items() if isinstance(node, dict) else []:
		found += [(*at, name, None)] + places(item, (*at, name))
	return found


def damaged(tree: object, place: tuple[object, ...]) -> object:
	"""a place that ends with None is that of a member's name"""
	tree = copy.deepcopy(tree)
	node = tree
	*way, last = place[:-1] if place[-1] is None else place
	for step in way:
		node = node[step]  # type: ignore[index]
	if place[-1] is None:
		items = [(EVIL if name == last else name, item) for name, item in node.items()]  # type: ignore[attr-defined]
		node.clear()  # type: ignore[attr-defined]
		node.update(items)  # type: ignore[attr-defined]
	else:
		node[last] = EVIL  # type: ignore[index]
	return tree


def first_line(path: str) -> object:
	with open(path, encoding="utf-8") as file:
		return json.loads(file.readline())


def load(path: str) -> object:
	with open(path, encoding="utf-8") as file:
		return json.load(file)


def hostile_paths(folder: str) -> None:
	problem = ["-p", "M=64,N=64,K=64,dtype=bf16"]
	work = os.path.join(folder, EVIL.replace("/", ""))
	os.mkdir(work)
	for name, source in (("tuned.json", "small.json"), ("journal.jsonl", "small.journal.jsonl")):
		shutil.copy(f"tests/data/report/{source}", os.path.join(work, name))
	for name in ("vector_add.json", "vector_add.cu"):
		shutil.copy(f"tests/own/{name}", os.path.join(work, name))
	with open(os.path.join(work, "bad.json"), "w", encoding="utf-8") as file:
		file.write("{" + EVIL)
	for name in ("tuned.json", "bad.json", "missing.json"):
		path = os.path.join(EVIL, name)
		for command in (["validate", path], ["report", path], ["report", path, "-o", path + ".html"], ["check", path, "--device", "model:h200-sxm"],
				["merge", path, path, "-o", path + ".merged"], ["lookup", path, "gemm", *problem], ["tune", "--suite", path, "-n"],
				["tune", path, "-n"], ["export", path, "--format", "c-header", "-o", path + ".h"], ["tune", "gemm", *problem, "-n", "--known", path],
				["tune", "gemm", *problem, "-n", "--learned", path], ["tune", "gemm", *problem, "-e", "estimate", "-o", path],
				["explain", "gemm", *problem, "--device", "model:" + path], ["explain", path], ["advise", path], ["new", path]):
			run(folder, *command, *(PATHS if command[0] not in ("validate", "report") else []))
	own = os.path.join(EVIL, "vector_add.json")
	for command in (["validate", own], ["tune", own, "-n"], ["explain", own], ["advise", own], ["new", own[:-4] + "cu", "-o", own + ".new.json"],
			["report", os.path.join(EVIL, "journal.jsonl")], ["devices", "--cache-dir", work], ["families", "--path", work],
			["validate", os.path.join(EVIL, "journal.jsonl")]):
		run(folder, *command)
	for command in ("tune", "explain", "advise"):
		for options in (["-p", EVIL], ["-p", f"M={EVIL}"], ["-p", f"{EVIL}=1"], [*problem, "--device", EVIL], [*problem, "--family", EVIL]):
			run(folder, command, "gemm", *options, *PATHS)
		run(folder, command, EVIL, *problem, *PATHS)
	run(folder, "tune", "gemm", *problem, "--where", EVIL, "-n", *PATHS)
	run(folder, "tune", "gemm", *problem, "--config", f"BM={EVIL}", "-n", *PATHS)
	run(folder, EVIL)
	run(folder, "help", EVIL)
	run(folder, "validate", "--" + EVIL)
	run(folder, "families", EVIL)


def hostile_names(folder: str) -> None:
	own = ["x.json", "--device", "model:h200-sxm", "--path", ROOT]
	commands = {
		"tests/data/report/small.json": [["validate", "x.json"], ["report", "x.json"], ["merge", "x.json", "-o", "y.json"],
			["check", "x.json", "--device", "model:h200-sxm", *PATHS], ["lookup", "x.json", "gemm", "-p", "M=64,N=64,K=64,dtype=bf16", *PATHS],
			["export", "x.json", "--format", "cmake", "-o", "y.cmake", *PATHS]],
		"tests/own/vector_add.json": [["validate", "x.json"], ["explain", *own], ["tune", *own, "-n"], ["advise", *own],
			["tune", *own, "-e", "estimate", "--no-journal", "-o", "-"]],
		"configs/suites/fp8.json": [["validate", "x.json"], ["tune", "--suite", "x.json", "-n", "--device", "model:h200-sxm", *PATHS]],
		"configs/devices/h200-sxm.json": [["validate", "x.json"]],
		"tests/toy/templates/row_softmax/operation.json": [["validate", "templates/row_softmax/operation.json"], ["families", "--path", "."],
			["tune", "row_softmax", "-p", "rows=64,cols=64", "-n", "--device", "model:h200-sxm", "--path", ".", "--path", ROOT]],
		"tests/toy/templates/row_softmax/online.json": [["validate", "templates/row_softmax/online.json"], ["families", "--path", "."],
			["tune", "row_softmax", "-p", "rows=64,cols=64", "-n", "--verbose", "--device", "model:h200-sxm", "--path", ".", "--path", ROOT]],
	}
	shutil.copytree("tests/toy/templates", folder + "/templates")
	shutil.copy("tests/own/vector_add.cu", folder)
	for path, uses in commands.items():
		tree = load(path)
		if "entries" in tree:  # type: ignore[operator]
			tree["entries"] = tree["entries"][:1]  # type: ignore[index]
		name = path[len("tests/toy/"):] if "toy" in path else "x.json"
		for number, place in enumerate(places(tree)):
			with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
				json.dump(damaged(tree, place), file)
			for command in uses[:1] + uses[1:] * (number % 40 == 0):
				run(folder, *command, machine="-" in command)
		if "toy" in path:
			shutil.copy(path, os.path.join(folder, name))
	line = first_line("tests/data/report/small.journal.jsonl")
	for number, place in enumerate(places(line)):
		with open(os.path.join(folder, "x.jsonl"), "w", encoding="utf-8") as file:
			file.write(json.dumps(damaged(line, place)) + "\n")
		for command in [["validate", "x.jsonl"]] + [["report", "x.jsonl"]] * (number % 5 == 0):
			run(folder, *command)


with tempfile.TemporaryDirectory() as scratch:
	hostile_paths(scratch)
with tempfile.TemporaryDirectory() as scratch:
	hostile_names(scratch)
print(f"{said} messages with an escaped name or path")
if said < 300:
	failures.append("expected 300 messages that escape something")
print("\n".join(failures[:20]))
sys.exit(f"{len(failures)} messages with a line that a name began" if failures else 0)
