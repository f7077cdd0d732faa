#!/usr/bin/python3
"""Draws texts of the code base at random, for a reader who grades how well they can be understood.

	sample_text.py [SEED] [--words]

The seed is the hash of the current commit unless SEED is given, so that nobody can choose the sample. Prints 60 comments (of src,
templates, tests and results), 40 messages of src, 20 help texts of src/cli and 10 paragraphs of pages, each with its file and line.
--words prints instead how many words the comments of C have per line of code, in src and in each of its folders."""
import glob
import io
import random
import re
import subprocess
import sys
import tokenize

C_TOKEN = re.compile(r"""(?P<block>/\*.*?\*/)|(?P<line>//[^\n]*(?:\n[ \t]*//[^\n]*)*)|(?P<strings>"(?:\\.|[^"\\\n])*"(?:\s*(?:[A-Z][A-Za-z0-9_]*\s*)?"(?:\\.|[^"\\\n])*")*)|(?P<char>'(?:\\.|[^'\\\n])+')""", re.S)
KINDS = (("comment", 60), ("message", 40), ("help", 20), ("paragraph", 10))


def files(*patterns):
	found = (path for pattern in patterns for path in glob.glob(pattern, recursive=True))
	return sorted(path for path in found if "/corpus/" not in path and "/build/" not in path)


def read(path):
	with open(path, encoding="utf-8") as file:
		return file.read()


def is_sentence(text, at_least=3):
	return sum(1 for word in text.split() if re.search("[A-Za-z]{2}", word)) >= at_least


def c_tokens(path):
	"""Yields line, kind (block, line, strings), text without comment marks, and the 200 characters before it."""
	text = read(path)
	for match in C_TOKEN.finditer(text):
		kind, content = match.lastgroup, match.group()
		if kind == "strings":
			content = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', content))
		elif kind in ("block", "line"):
			content = re.sub(r"(?m)^\s*(?:/\*+|\*/|\*|//+) ?|\s*\*/$", "", content)
			content = re.sub(r"SPDX-License-Identifier: \S+", "", content).strip(" -\n")
		yield text.count("\n", 0, match.start()) + 1, kind, content, text[max(0, match.start() - 200):match.start()]


def comments_of(path):
	if path.endswith(".sh"):
		for match in re.finditer(r"(?m)(?:^[ \t]*#[^!\n][^\n]*\n)+", read(path)):
			yield read(path).count("\n", 0, match.start()) + 1, re.sub(r"(?m)^[ \t]*# ?", "", match.group())
	elif not path.endswith(".py"):
		yield from ((line, text) for line, kind, text, _ in c_tokens(path) if kind in ("block", "line"))
	else:
		yield from python_comments(path)


def python_comments(path):
	"""Yields docstrings, and runs of comment lines as one comment."""
	first, text, last, before = 0, "", 0, tokenize.NEWLINE
	for token in tokenize.generate_tokens(io.StringIO(read(path)).readline):
		if token.type == tokenize.COMMENT and not token.string.startswith(("#!", "# pylint")):
			if token.start[0] != last + 1:
				yield first, text
				first, text = token.start[0], ""
			text, last = f"{text}\n{token.string[1:]}".strip(), token.start[0]
		elif token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.NL) and token.string.startswith('"""'):
			yield token.start[0], token.string.strip('"')
		before = before if token.type == tokenize.COMMENT else token.type
	yield first, text


def is_help(before):
	return re.search(r"\.(?:summary|help|details|usage|text) = $", before) is not None


def help_texts():
	"""Yields the texts of options, and the summaries of commands and formats."""
	for path in files("src/cli/*.[ch]"):
		for line, kind, text, before in c_tokens(path):
			if kind == "strings" and is_sentence(text) and is_help(before):
				yield path, line, text
	help_lines = read("src/cli/help.txt").split("\n")
	for line, text in enumerate(help_lines, 1):
		if is_sentence(text) and (text.startswith("  --") or help_lines[line - 3].startswith("usage: ")):
			yield "src/cli/help.txt", line, text.strip()


def messages():
	for path in files("src/**/*.[ch]"):
		for line, kind, text, before in c_tokens(path):
			if kind == "strings" and is_sentence(text) and not is_help(before) and "#include" not in before[-12:]:
				yield path, line, text


def paragraphs():
	"""Yields paragraphs and list items, without code and tables."""
	for path in files("*.md", *(f"{top}/**/*.md" for top in ("src", "templates", "configs", "results", "tests"))):
		page = re.sub(r"(?ms)^[ \t]*```.*?^[ \t]*```", lambda match: "\n" * match.group().count("\n"), read(path))
		line = 1
		for block in re.split(r"(\n(?=[ \t]*\n)|\n(?=[ \t]*- ))", page):
			text = block.strip("\n")
			if is_sentence(text, 8) and not text.startswith(("    ", "\t", "|", "#")):
				yield path, line + len(block) - len(block.lstrip("\n")), text
			line += block.count("\n")


def comments():
	code = files("src/**/*.[ch]", "src/**/*.def", "src/**/*.py", "src/**/*.js",
		*(f"{top}/**/*.{end}" for top in ("templates", "tests", "results") for end in ("c", "h", "cc", "cu", "cuh", "py", "sh")))
	for path in code:
		yield from ((path, line, text) for line, text in comments_of(path) if is_sentence(text))


def print_words():
	totals = {}
	for path in files("src/**/*.[ch]", "src/**/*.def"):
		text = read(path)
		words = sum(len(comment.split()) for _, comment in comments_of(path))
		bare = C_TOKEN.sub(lambda match: " " if match.lastgroup in ("block", "line") else "x", text)
		lines = sum(1 for line in bare.split("\n") if line.strip())
		for name in ("src", path.rsplit("/", 1)[0]):
			total = totals.setdefault(name, [0, 0])
			total[0] += words
			total[1] += lines
	for name, (words, lines) in sorted(totals.items()):
		print(f"{name}: {words} words of comments, {lines} lines of C, {words / lines:.2f} words per line")


def main():
	arguments = [argument for argument in sys.argv[1:] if argument != "--words"]
	if "--words" in sys.argv:
		print_words()
		return
	seed = arguments[0] if arguments else subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
	chosen = random.Random(seed)
	print(f"seed {seed}")
	for (kind, count), texts in zip(KINDS, (comments, messages, help_texts, paragraphs)):
		all_texts = list(texts())
		for number, (path, line, text) in enumerate(chosen.sample(all_texts, count), 1):
			print(f"\n{kind} {number} of {len(all_texts)}: {path}:{line}\n{text}")


if __name__ == "__main__":
	main()
