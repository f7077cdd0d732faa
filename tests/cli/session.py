#!/usr/bin/python3
"""Runs the commands of a transcript and compares their output with the lines below them.

	tests/cli/session.py tests/cli/NAME.session       (or make test T=cli/NAME)

A line that begins with `$ ` is a command, `> ` continues it, `#` is a comment, and empty lines are ignored. All other lines are the
output of the command above, with `[exit N]` if it fails. A printed line that is empty or begins with $, >, # or \\ is preceded by \\.
One sh runs all commands of a file in an empty folder, so variables, functions and `cd` persist. $ROOT is the checkout, $OUT the
build, `tiletune` the program; PRELUDE has other helpers for commands. ACCEPT=1 writes the output into the file, for a reviewed diff."""
import difflib
import os
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

MARK = "@@@"
PRELUDE = r"""
exec 2>&1
# a command within a function, a loop or a pipe: what it is, what it prints, how it ends
try() {
	echo "+ $*"
	"$@" 2>&1
	code=$?
	[ $code -eq 0 ] || echo "[exit $code]"
}
# prints something only if it fails
quiet() { "$@" >talk.txt 2>&1 || cat talk.txt; }
# a line for each winner of a tuned file and for the best of each other family
table() {
	/usr/bin/python3 - "$1" <<'PYTHON' | sort
import json, sys
for entry in json.load(open(sys.argv[1]))["entries"]:
	for kind, row in [("winner", entry["winner"]), *(("family", row) for row in entry["families"])]:
		print(entry["operation"], entry["problem"], entry["timing"], kind, row["family"], row["configuration"], row["time_us"]["median"])
PYTHON
}
# rewrites tuned files with a line for each value, for grep and sed
pretty() { for file; do tiletune merge "$file" -o - >pretty.tmp 2>pretty.err && mv pretty.tmp "$file" || cat pretty.err; rm -f pretty.err; done; }
# from now on the GPU is the stand-in driver (tests/faults), which does what the file `script` says
standin() {
	mkdir lib && ln -s "$OUT/faults/libcuda.so.1" lib/libcuda.so.1 && ln -s libcuda.so.1 lib/libnvidia-ml.so.1
	export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD"
	: >script
}
"""


class Step(NamedTuple):
	before: str  # comments and empty lines
	command: str
	printed: str


def parse(text: str) -> tuple[list[Step], str]:
	"""Returns the steps, and the comments after the last."""
	pattern = re.compile(r"((?:(?:#.*)?\n)*)((?:\$ .*\n)(?:>.*\n)*)((?:(?![$>#\n]).*\n)*)")
	steps, end = [], 0
	while found := pattern.match(text, end):
		steps.append(Step(*found.groups()))
		end = found.end()
	rest = text[end:]
	if not steps or re.search(r"^[^#\n]", rest, re.M):
		line = text.count("\n", 0, end) + 1
		raise SystemExit(f"line {line}: expected a command ($ ), a comment (#) or what a command prints")
	return steps, rest


def execute(steps: list[Step]) -> list[str]:
	"""Returns the output of each command."""
	root, build = os.getcwd(), os.path.abspath(os.environ.get("TEST_BUILD", "build"))
	out = os.path.abspath(os.environ.get("TEST_OUT", "build/release"))
	more = {"ROOT": root, "OUT": out, "PATH": f"{out}:{os.environ['PATH']}", "LC_ALL": "C",
		"XDG_CACHE_HOME": build + "/test-cache", "TILETUNE_LEARNED": os.environ.get("TILETUNE_LEARNED", "none")}
	if not build.startswith(root + "/"):  # the tests' templates are not next to the program
		more["TILETUNE_PATH"] = root
	scratch = tempfile.mkdtemp()
	try:
		commands = "".join(f"{re.sub('^[$>] ?', '', step.command, flags=re.M)}echo \"{MARK} $?\"\n" for step in steps)
		ran = subprocess.run(["sh", "-c", PRELUDE + commands], cwd=scratch, env={**os.environ, **more},
			stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
	finally:
		subprocess.run(f"chmod -R u+w {scratch}; rm -rf {scratch}", shell=True, check=True)
	text = ran.stdout.decode(errors="surrogateescape").replace(scratch, "SCRATCH").replace(root + "/", "")
	pieces = re.split(rf"{MARK} (\d+)\n", text)
	printed = []
	for output, status in zip(pieces[::2], pieces[1::2]):
		output += "" if output.endswith("\n") or not output else "\n"
		output = re.sub(r"^(?=[$>#\\\n])", r"\\", output, flags=re.M)
		printed.append(output + (f"[exit {status}]\n" if status != "0" else ""))
	if len(printed) < len(steps):
		raise SystemExit(f"{pieces[-1]}the shell ended with {ran.returncode} in:\n{steps[len(printed)].command}")
	return printed


def main(path: str) -> int:
	if not path.endswith(".session"):
		raise SystemExit(f"{path}: expected NAME.session, a transcript; see {sys.argv[0]}")
	with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
		text = file.read()
	steps, rest = parse(text)
	found = "".join(step.before + step.command + printed for step, printed in zip(steps, execute(steps))) + rest
	if os.environ.get("ACCEPT"):
		with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
			file.write(found)
		return 0
	sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
	sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), found.splitlines(True), path, "found"))
	return int(found != text)


if __name__ == "__main__":
	sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
