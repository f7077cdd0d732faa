#!/usr/bin/python3
"""The README of each folder of src names every module in it, and its list of modules names no other.

	tests/checks/readmes.py

A module is a name of .c, .h, .def or .py files. The list consists of the first cells of a table, or the first words of lines that
begin with a tab."""
import glob
import os
import re
import sys

ENDINGS = (".c", ".h", ".def", ".py", ".js", ".css", ".html")
bad = 0
for page in sorted(glob.glob("src/*/README.md")):
	folder = os.path.dirname(page)
	with open(page, encoding="utf-8") as file:
		text = file.read()
	modules = {os.path.splitext(name)[0] for name in os.listdir(folder) if name.endswith(ENDINGS) and not name.startswith("__")}
	named = {os.path.splitext(name)[0] for name in re.findall(r"`([a-z0-9_]+(?:\.[a-z]+)?)`", text)}
	first_cells = [cell for line in re.findall(r"^\|([^|]*)\|", text, re.M) for cell in re.findall(r"`([a-z0-9_]+)(?:\.[a-z]+)?`", line)]
	listed = set(first_cells) | set(re.findall(r"^\t([a-z0-9_]+) {2,}", text, re.M))
	others = {os.path.splitext(os.path.basename(path))[0] for path in glob.glob(f"{folder}/**/*", recursive=True)}
	for name in sorted(module for module in modules - named - listed if not module.startswith("cmd_")):  # `help` lists commands
		print(f"{page}: expected a line on {name}, found none")
		bad += 1
	for name in sorted(listed - modules - others):
		print(f"{page}: expected a module of {folder}, found {name}")
		bad += 1
for folder in sorted(path for path in glob.glob("src/*/") if glob.glob(path + "*.[ch]")):
	if not os.path.exists(folder + "README.md"):
		print(f"{folder}: expected a README.md")
		bad += 1
sys.exit(bad != 0)
