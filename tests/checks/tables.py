#!/usr/bin/python3
"""Every strategy and export format that is defined is in its table, so that help lists it.

	tests/checks/tables.py OUT"""
import glob
import re
import subprocess
import sys

OUT = sys.argv[1]
KINDS = (("src/search/*.c", r"^STRATEGY\(\s*(\w+),", "tune"), ("src/export/*.c", r"^const struct export_format export_format_(\w+) =", "export"))
bad = 0
for files, pattern, command in KINDS:
	said = subprocess.run([f"{OUT}/tiletune", "help", command], capture_output=True, text=True, check=True).stdout
	names = [name for path in glob.glob(files) for name in re.findall(pattern, open(path, encoding="utf-8").read(), re.M)]
	assert len(names) > 5, names
	for name in names:
		if not re.search(rf"(?<![\w-]){name.replace('_', '[_-]')}(?![\w-])", said):
			print(f"{files}: {name} is defined and `tiletune help {command}` does not name it: its line in the table is missing")
			bad = 1
sys.exit(bad)
