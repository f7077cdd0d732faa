#!/usr/bin/python3
"""Every -D of a family is a name that one of its sources reads. A parameter that only the model reads has `"as": "model"`, because
otherwise each change of the model would make another kernel. No expression of an operation or a family is longer than 200 characters:
its parts have names.

	defines.py OUT [FOLDER...]	folders with templates; default: the shipped ones and the toy's"""
import glob
import json
import os
import re
import sys

sys.path.insert(0, "tests/tools")
import family_file

EXPRESSION_MAX = 200
WORDS = ("why", "help", "summary", "source", "examples")  # members that only people read
FOLDERS = sys.argv[2:] or [".", "tests/toy"]


def source_of(name, folders, seen):
	"""Returns the file without comments, and all files that it includes."""
	for folder in folders:
		path = os.path.normpath(os.path.join(folder, name))
		if os.path.exists(path):
			break
	else:
		return ""  # this name comes from a header of the toolkit
	if path in seen:
		return ""
	seen.add(path)
	with open(path, encoding="utf-8") as file:
		text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.DOTALL)
	included = re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE)
	return text + "".join(source_of(each, [os.path.dirname(path), *folders], seen) for each in included)


def defines_of(family):
	"""Yields names of -D options, each with whether its value can be a string."""
	entries = " ".join(launch.get("entry", "") for launch in family["launches"])
	for kind in ("parameters", "constants"):
		for name, member in family.get(kind, {}).items():
			member = member if isinstance(member, dict) else {"value": member}
			way = member.get("as", "")
			if way in ("model", "argument"):
				continue
			if not way and any(re.search(rf"\b{name}\b", part) for part in re.findall(r"\{(.*?)\}", entries)):
				continue
			yield way.removeprefix("macro ") if way.startswith("macro ") else name


def unread(path, templates):
	family = family_file.load(path)
	if family.get("format") != "tiletune.family/1" or "launches" not in family:
		return None
	folder = os.path.dirname(path)
	sources = {family.get("source"), *(launch.get("source") for launch in family["launches"])} - {None}
	seen = set()
	text = "".join(source_of(name, [folder, templates, "templates"], seen) for name in sorted(sources))
	# the name is BM, or BM_value for a value that is a string
	return [name for name in defines_of(family) if not re.search(rf"\b{name}(_\w+)?\b", text)]


def long_expressions(value, path):
	if isinstance(value, dict):
		for key, each in value.items():
			if key not in WORDS:
				yield from long_expressions(each, f"{path}.{key}")
	elif isinstance(value, list):
		for index, each in enumerate(value):
			yield from long_expressions(each, f"{path}[{index}]")
	elif isinstance(value, str) and len(value) > EXPRESSION_MAX:
		yield f"{path}: {len(value)} characters, expected at most {EXPRESSION_MAX}: constants \"as\": \"model\" name parts of it"


families, failures = 0, []
for root in FOLDERS:
	for path in sorted(glob.glob(f"{root}/templates/*/*.json")):
		with open(path, encoding="utf-8") as file:
			failures += long_expressions(json.load(file), f"{path}: $")
		names = unread(path, f"{root}/templates")
		families += names is not None
		failures += [f'{path}: {name} is a -D that no source reads: "as": "model" says so' for name in names or []]
print("\n".join([*failures, f"{families} families, {len(failures)} names that no source reads"]))
sys.exit(1 if failures or not families else 0)
