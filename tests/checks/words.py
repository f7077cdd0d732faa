#!/usr/bin/python3
"""Finds words of tests/data/words.txt in names, comments, help and messages of src, and in the pages for users.

	tests/checks/words.py"""
import glob
import re
import sys

PAGES = ["README.md", *glob.glob("templates/**/*.md", recursive=True), *glob.glob("src/**/README.md", recursive=True), *glob.glob("configs/**/*.md", recursive=True)]
SOURCES = [path for ending in ("c", "h", "def", "in", "py", "js", "css", "html") for path in glob.glob(f"src/**/*.{ending}", recursive=True)]


def read_rows() -> list[tuple[str, str]]:
	with open("tests/data/words.txt", encoding="utf-8") as file:
		rows = [line.strip().split(" -> ", 1) for line in file if line.strip() and not line.startswith("#")]
	assert all(len(row) == 2 for row in rows) and rows == sorted(rows), "expected OLD -> NEW in each line, sorted"
	return [(old, new) for old, new in rows]


def pattern(old: str) -> str:
	"""A phrase may continue on the next line of a comment."""
	return r"(?:\s+(?:\*|//|#)?\s*)".join(map(re.escape, old.split()))


ROWS = read_rows()
WORD = "A-Za-z0-9"
FIRST = "".join(sorted({old[0] for old, _ in ROWS}))  # one search for all rows at once
ANY = re.compile(rf"(?<![{WORD}])(?=[{FIRST}])(?:{'|'.join(f'({pattern(old)})' for old, _ in ROWS)})(?![{WORD}])", re.I)
found = 0
for path in sorted(PAGES + SOURCES):
	with open(path, encoding="utf-8") as file:
		text = file.read()
	for match in ANY.finditer(text):
		old, new = ROWS[match.lastindex - 1]
		line = text.count("\n", 0, match.start()) + 1
		print(f"{path}:{line}: expected {new}, found {old}")
		found += 1
assert ANY.search("x_filler kernel_y") and ANY.search("so\n\t * many") and not ANY.search("relies")
assert len(ROWS) >= 40
print(f"{found} old words")
sys.exit(found != 0)
