"""Mutants with one small mistake each, by a rule or drawn with a fixed seed.

A mutant is (name, file, start, end, replacement): text[start:end] of the file becomes the replacement."""
import glob
import hashlib
import os
import re

PER_FOLDER, PER_FAMILY = 8, 4
HERE = os.path.dirname(os.path.abspath(__file__))


class Mutant:
	def __init__(self, name, file, text, start, end, replacement, family=None):
		self.name, self.file, self.start, self.end, self.replacement, self.family = name, file, start, end, replacement, family
		self.line, self.text = text.count("\n", 0, start) + 1, text
		self.before = " ".join(text[start:end].split())
		# independent of the surrounding lines, because results and notes are stored under it
		whole = text[text.rfind("\n", 0, start) + 1 : (text.find("\n", end) + 1 or len(text) + 1) - 1]
		column = start - text.rfind("\n", 0, start) - len(whole) + len(whole.lstrip())
		nth = text.count(whole, 0, start)
		self.key = hashlib.sha256(f"{file}|{' '.join(whole.split())}|{nth}|{column}|{self.before}|{replacement}".encode()).hexdigest()[:12]

	def apply(self, text):
		return text[: self.start] + self.replacement + text[self.end :]

	def function(self):
		"""Returns the name of the C function that contains the mutant."""
		heads = re.findall(r"^[a-z][\w \t*]*?(\w+)\([^;{}]*?\)\n\{", self.text[: self.start], flags=re.M)
		return heads[-1] if heads else ""

	def __str__(self):
		return f"{self.key} {self.file}:{self.line} {self.name}: {self.before[:60]} -> {' '.join(self.replacement.split())[:60]}"


# ---- rules ----
def swaps(pairs):
	return [(re.compile(pattern), replacement) for pattern, replacement in pairs]


C_RULES = swaps([
	(r"(?<= )<(?= )", "<="), (r"(?<= )<=(?= )", "<"), (r"(?<= )>(?= )", ">="), (r"(?<= )>=(?= )", ">"),
	(r"(?<= )==(?= )", "!="), (r"(?<= )!=(?= )", "=="), (r"(?<= )&&(?= )", "||"), (r"(?<= )\|\|(?= )", "&&"),
	(r"(?<=[\w)\]]) \+ (?=[\w(])", " - "), (r"(?<=[\w)\]]) - (?=[\w(])", " + "), (r"(?<=[\w)\]]) \* (?=[\w(])", " / "),
	(r"(?<=[\w)\]]) / (?=[\w(])", " * "), (r" [-+] 1\b(?!\.)", ""), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
	(r"\+\+(?=[;)])", "--"), (r" \+= ", " -= "), (r"\bcontinue;", "break;"), (r"\bbreak;", ";"),
	(r"\bfmin\(", "fmax("), (r"\bfmax\(", "fmin("), (r"(?<=\bif \()(?=[\w!])", "!"), (r"(?<=\breturn )(?=\w+\()", "!"),
])
NUMBER = re.compile(r"(?<![\w.%\[\"#-])(?!(?<=> )0\b)(\d+)(?![\w.\]])")  # another rule handles the operator in x > 0
CALL = re.compile(r"\b(\w+)\((\w+(?:->\w+|\.\w+)*), (\w+(?:->\w+|\.\w+)*)(?=[,)])")
STATEMENT = re.compile(r"(?<=\t)(?!return|if|for|while|else|goto|case|break|continue)[\w*>.()\[\]-]+(?: [-+*/|&]?= [^;{}]*|\([^;{}]*\));(?=$)")
# these have no observable effect, or none by design: memory, progress, speed, wording of messages
PASSED_OVER = re.compile(
	r"free\(|_release\(|_close\(|ARRAY_GROW|capacity|gpu_progress|clock_|static_assert|error_set|error_hint|error_context|json_error|printf|text_append"
	r"|^\s*(//|/\*|\*|#)|\.why|\.help|\.summary|\"help\"|\"why\"|LIKELY|BUG\(|assert|CLEANUP|volatile|memory_zeroed|memory_resize|unroll|regs_estimate"
	r"|^\s*[A-Z0-9_]*(MAX|SIZE|SHOWN|MOST|KEPT)[A-Z0-9_]* = \d"  # limits
	r"|string_format|\bsize_t \w+ = 0|= \{0\}|= NULL|PROMISE|timeout|sleep|close\(|fsync|usage|\.summary|RECORD_|AT\(|VALUE\(|TIME\(|VIEW\(")


def strings_masked(line):
	return re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|/\*.*?\*/|//.*', lambda m: "\x01" * len(m.group(0)), line)


def other(number):
	"""Adds 1 to a small number and doubles a large one, because a limit of 301 instead of 300 is not a mistake."""
	return str(int(number) + 1 if int(number) < 10 else int(number) * 2)


def of_code(path, text, family=None):
	"""Yields the mutants by every rule at every place."""
	at, comment, depth = 0, False, 0
	for line in text.splitlines(keepends=True):
		masked = strings_masked(line)
		start, at = at, at + len(line)
		was_comment, comment = comment, (comment or "/*" in masked) and "*/" not in masked
		inside = depth > 0
		depth += masked.count("{") - masked.count("}")
		if was_comment or comment or PASSED_OVER.search(line) or not inside:
			continue
		for pattern, replacement in C_RULES:
			for m in pattern.finditer(masked):
				yield Mutant("operator", path, text, start + m.start(), start + m.end(), replacement, family)
		for m in NUMBER.finditer(masked):
			yield Mutant("constant", path, text, start + m.start(), start + m.end(), other(m.group(1)), family)
		for m in CALL.finditer(masked):
			if m.group(1) not in ("if", "while", "sizeof", "fmin", "fmax", "min", "max") and m.group(2) != m.group(3):
				yield Mutant("arguments swapped", path, text, start + m.start(2), start + m.end(3), f"{m.group(3)}, {m.group(2)}", family)
		for m in STATEMENT.finditer(masked.rstrip("\n")):
			if masked[: m.start()].strip() == "":
				yield Mutant("statement dropped", path, text, start + m.start(), start + m.end(), ";", family)


JSON_RULES = swaps([
	(r"(?<= )<=(?= )", "<"), (r"(?<= )<(?= )", "<="), (r"(?<= )>=(?= )", ">"), (r"(?<= )>(?= )", ">="), (r"(?<= )==(?= )", "!="), (r"\bceil_div\(", "min("),
	(r"(?<=[\w)])\s?\+\s?(?=[\w(])", " - "), (r"(?<=[\w)])\s?\*\s?(?=[\w(])", " + "), (r"(?<=[\w)])\s?//\s?(?=[\w(])", " + "), (r" and ", " or "),
])
JSON_KEYS = ("grid", "block", "smem_bytes", "bytes", "expr", "units", "useful_fraction", "steps", "when", "args")


def of_json(path, text, family):
	"""Yields the mutants inside expressions of launches, constraints and constants."""
	at, part = 0, ""
	for line in text.splitlines(keepends=True):
		start, at = at, at + len(line)
		key = re.match(r'\s*\{?"(\w+)":', line)
		named = key.group(1) if key else ""
		part = named if named in ("constants", "constraints", "launches", "examples", "defaults", "parameters", "prune", "per_step", "facts") else part
		if part in ("examples", "defaults", "parameters", "prune", "facts") or '"as": "model"' in line:
			continue
		if named == "args":
			m = re.search(r'\[("\w+"), ("\w+")', line)
			if m:
				yield Mutant("arguments swapped", path, text, start + m.start(1), start + m.end(2), f"{m.group(2)}, {m.group(1)}", family)
			continue
		expression = re.search(r'(?:"expr": |: |\[)"([^"]*[<>=+*/(][^"]*)"', line)
		if not expression or (named not in JSON_KEYS and part != "constants"):
			continue
		low, high = expression.span(1)
		for pattern, replacement in JSON_RULES:
			for m in pattern.finditer(line, low, high):
				yield Mutant("operator", path, text, start + m.start(), start + m.end(), replacement, family)
		for m in NUMBER.finditer(line, low, high):
			yield Mutant("constant", path, text, start + m.start(), start + m.end(), other(m.group(1)), family)


def pick(mutants, seed):
	"""Orders the mutants by the seed, with at most one per line, and spreads them over the files."""
	mutants = sorted(mutants, key=lambda m: hashlib.sha256((m.key + seed).encode()).hexdigest())
	chosen, lines, of_file = [], set(), {}
	for mutant in mutants:
		if (mutant.file, mutant.line) not in lines:
			lines.add((mutant.file, mutant.line))
			of_file[mutant.file] = of_file.get(mutant.file, 0) + 1
			chosen.append((of_file[mutant.file], len(chosen), mutant))
	return [mutant for _, _, mutant in sorted(chosen, key=lambda c: c[:2])]


def read(path):
	with open(path, encoding="utf-8") as file:
		return file.read()


def drawn(root, seed="1"):
	"""Yields (group, number of mutants to run, its mutants in random order) for folders of src, and for families with their source and
	JSON. Sources that need a GPU (no case of checks/kernels.py) are left to `make test-gpu`."""
	on_cpu = read(os.path.join(root, "tests/checks/kernels.py"))
	for folder in sorted(glob.glob(os.path.join(root, "src/*/"))):
		files = sorted(glob.glob(folder + "*.c")) or sorted(glob.glob(folder + "*.h"))
		everything = [m for path in files for m in of_code(os.path.relpath(path, root), read(path))]
		yield os.path.relpath(folder, root), PER_FOLDER, pick(everything, seed)
	for path in sorted(glob.glob(os.path.join(root, "templates/*/*.json"))):
		family = os.path.relpath(path, root)[len("templates/") : -len(".json")]
		if family.endswith("operation"):
			continue
		source = path[: -len("json")] + "cu"
		runs = os.path.exists(source) and f"\n{family.replace('/', ' ')} " in on_cpu
		code = of_code(os.path.relpath(source, root), read(source), family) if runs else []
		yield "templates/" + family, PER_FAMILY // 2 if runs else 0, pick(code, seed)
		rules = of_json(os.path.relpath(path, root), read(path), family)
		yield "templates/" + family, PER_FAMILY - (PER_FAMILY // 2 if runs else 0), pick(rules, seed)


if __name__ == "__main__":
	for _, count, mutants in drawn(os.getcwd()):
		for each in mutants[:count]:
			print(each)
