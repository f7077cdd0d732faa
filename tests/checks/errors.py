#!/usr/bin/python3
"""Readers refuse broken input and name the place: every row of tests/errors/*.txt.

	tests/checks/errors.py OUT		OUT: the folder with the binary

A line without " | " names the subject of the rows below it:

	PATH			a good file, of which each row damages a copy; `validate` reads all of them
	PATH by ARGUMENTS	the same, read by another command: FILE is the copy, FOLDER the parent of its templates or configs
	$ ARGUMENTS		a command line, to which each row adds arguments; it must not write. ROOT is the checkout

A row for a file is `old text | new text | message | hint`: the first occurrence of the old text is replaced; * is the whole file. A
row for a command line is `arguments | message | hint`. Message and hint are compared as prefixes, the message after the copy's name.
A row without a hint expects none. "..." stands for the last argument, and a message that begins with ... may occur later in the line.
\\n is a newline. The checksums of a journal's lines are updated, unless the row changes one."""
import collections
import concurrent.futures
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib

TILETUNE = os.path.join(os.path.abspath(sys.argv[1]), "tiletune")
PATHS = [word for folder in (".", "tests/data/kernel", "tests/data/replay", "tests/toy") for word in ("--path", os.path.abspath(folder))]
Row = collections.namedtuple("Row", "place good command fields")  # place is FILE:LINE; good and command are "" if absent
failures = []


def read_rows(path):
	good = command = ""
	with open(path, encoding="utf-8") as file:
		for number, line in enumerate(file, 1):
			line = line.rstrip("\n").replace("ROOT", os.getcwd()).replace("\\n", "\n")
			if " | " in line:
				yield Row(f"{path}:{number}", good, command, line.split(" | "))
			elif line.startswith("$ "):
				good, command = "", line[2:]
			elif line and not line.startswith("# "):
				good, _, command = line.partition(" by ")


def run(arguments, folder):
	environment = {**os.environ, "TILETUNE_PATH": "", "TILETUNE_NVRTC": "/none", "LC_ALL": "C"}
	return subprocess.run([TILETUNE, *arguments], capture_output=True, text=True, cwd=folder, env=environment, check=False)


def with_checksums(text):
	def line_of(match):
		return f'{match[1]},"checksum":"{zlib.crc32(match[1].encode()):08x}"}}'
	return re.sub(r'(?m)^(.*),"checksum":"[^"]*"}$', line_of, text)


def copy(good, folder):
	"""Copies the file (a kernel with its neighbours) below the folder. Returns the copy's path relative to the folder."""
	parts = good.split("/")
	first = next(i for i, part in enumerate(parts) if part in ("templates", "configs") or i == len(parts) - 2)
	if parts[first] in ("templates", "own"):
		shutil.copytree("/".join(parts[:first + 1]), os.path.join(folder, parts[first]))
	else:
		os.makedirs(os.path.join(folder, *parts[first:-1]))
	return "/".join(parts[first:])


def damage(row, folder, number):
	"""Writes the row's file into the folder `number`; returns its path."""
	path = f"{number}/{copy(row.good, os.path.join(folder, str(number)))}"
	with open(row.good, encoding="utf-8") as file:
		text = file.read()
	old, new = row.fields[:2]
	if old != "*" and old not in text:
		failures.append(f"{row.place}: {row.good} does not hold {old}")
	text = new if old == "*" else text.replace(old, new, 1)
	with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
		file.write(text if "checksum" in old else with_checksums(text))
	return path


def compare(row, path, refused, message, hint):
	words, expected_hint = [*row.fields[2 if row.good else 1:], ""][:2]
	words = words if row.good else words.replace('"..."', f'"{shlex.split(row.fields[0])[-1]}"')
	words = f"{path}: {words.replace('FOLDER', path.partition('/')[0])}" if path and not words.startswith("... ") else words
	fits = words[4:] in message if words.startswith("... ") else message.startswith(words) and not words.endswith(": ")
	if not refused or not fits:
		failures.append(f"{row.place}: expected {words}\n\tfound {message if refused else 'that it is not'}")
	elif not hint.startswith(expected_hint) or hint and not expected_hint:
		failures.append(f"{row.place}: expected the hint \"{expected_hint}\"\n\tfound \"{hint}\"")


def check_files(rows, folder):
	"""One process reads all copies, and the good files, which must be valid."""
	if not rows:
		return
	good = sorted({os.path.abspath(row.good) for row in rows})
	paths = [damage(row, folder, number) for number, row in enumerate(rows)]
	result = run(["validate", "--json", *PATHS, *paths, *good], folder)
	if result.returncode != 2:
		failures.append(f"validate: expected exit code 2, found {result.returncode}: {result.stderr}")
		return
	verdicts = json.loads(result.stdout)
	for row, path, verdict in zip(rows, paths, verdicts):
		compare(row, path, not verdict["ok"], verdict.get("error", ""), verdict.get("hint", ""))
	failures.extend(verdict["error"] for verdict in verdicts[len(paths):] if not verdict["ok"])


def check_command(row, folder):
	name = "by" + row.place.rpartition(":")[2]
	os.mkdir(os.path.join(folder, name))
	path = damage(row, folder, name) if row.good else ""
	words = {"FILE": path, "FOLDER": name}
	arguments = [words.get(word, word) for word in shlex.split(row.command if row.good else f"{row.command} {row.fields[0]}")]
	at = len(arguments) if row.good else 1  # -p may be the last argument
	result = run([*arguments[:at], *PATHS, *arguments[at:]], folder if row.good else os.path.join(folder, name))
	message, _, hint = result.stderr.partition("\nhint: ")
	written = not row.good and os.listdir(os.path.join(folder, name)) or "-" in arguments and result.stdout
	compare(row, path, result.returncode == 2 and not written, message.removeprefix("tiletune: "), hint.strip())


def check_table(path):
	rows = list(read_rows(path))
	with tempfile.TemporaryDirectory() as folder:
		check_files([row for row in rows if not row.command], folder)
		for row in rows:
			if row.command:
				check_command(row, folder)
	return f"{path}: {len(rows)} rows"


def main():
	with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
		tables = list(pool.map(check_table, sorted(glob.glob("tests/errors/*.txt"))))
	print("\n".join(tables + failures))
	return 1 if failures or not tables else 0


sys.exit(main())
