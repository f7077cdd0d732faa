#!/usr/bin/python3
"""Cases of the expression language with Python's own results, for tests/unit/test_expression.c: each operator on each pair of extreme
values, then random expressions. Expressions that Python refuses, or whose result exceeds 64 bits, are in
tests/data/space/run_errors.txt.

	tests/tools/expression_cases.py arithmetic|random"""
import math
import random
import sys
import warnings
from decimal import Decimal

VALUES = [
	0, 1, 2, 3, 5, 7, -1, -2, -7, 63, 64, 128, 1793, 4096, True, False,
	2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -2**63, 10**18,
	508008274535330, 6331928056137989809, -7469488407482587189,
	0.0, -0.0, 0.1, 0.2, 0.5, -0.5, 1.0, 1.5, 2.5, -7.5, 3.0, 1e300, -1e300, 1e-5, 5e-324, 536980.6070689242, 2.0**53, 2.0**62, 2.0**63, -2.0**63,
]
BINARY = [f"a {sign} b" for sign in "+ - * / // % ** << >> & | ^ == != < <= > >=".split()]
BINARY += ["min(a, b)", "max(a, b)", "ceil_div(a, b)", "round_up(a, b)", "b < a", "a and b", "a or b"]
UNARY = ["-a", "+a", "--a", "-+-a", "-a ** 2", "(-a) ** 2", "a - -a", "not a", "not not a", "abs(a)", "int(a)", "is_pow2(a)", "2 ** -a if a < 5 else 0"]


warnings.simplefilter("ignore")


def ceil_div(a, b):
	return -(-a // b)


FUNCTIONS = {"ceil_div": ceil_div, "round_up": lambda a, b: ceil_div(a, b) * b, "is_pow2": lambda n: n > 0 and n & (n - 1) == 0}


def is_whole(value) -> bool:
	return not isinstance(value, float)


def fits(value) -> bool:
	"""Excludes integers beyond 64 bits, and numbers with two equally near shortest texts, of which printf and Python may select different
	ones."""
	if isinstance(value, float) and math.isfinite(value):
		return float(f"{value:.{len(Decimal(repr(value)).normalize().as_tuple().digits) - 1}e}") == value
	return isinstance(value, int) and -2**63 <= value < 2**63


def is_asked(expression: str, a, b) -> bool:
	"""Excludes other than whole numbers where an operator needs these, and powers that would take Python very long."""
	if any(name in expression for name in ("ceil_div", "round_up", "is_pow2", "<<", ">>", "&", "|", "^")):
		if not (is_whole(a) and is_whole(b)) or (isinstance(a, bool) and isinstance(b, bool)):
			return False
	if expression == "a ** b" and is_whole(a) and is_whole(b):
		return abs(b) < 100 or abs(a) <= 1
	if expression.startswith("2 **"):
		return abs(a) < 100
	if a == -2**63 and (expression in ("--a", "-+-a") or (expression == "round_up(a, b)" and b == -1)):
		return False  # an intermediate result exceeds 64 bits
	return "<<" not in expression or 0 <= b < 64 or a == 0


def put(expression: str, names: dict) -> bool:
	try:
		result = eval(expression, {**FUNCTIONS, **names})
	except (ArithmeticError, ValueError, TypeError):
		return False
	if not fits(result):
		return False
	print(f"{expression} :: {', '.join(f'{name}={value!r}' for name, value in names.items())} :: {result!r}")
	return True


def arithmetic() -> None:
	for a in VALUES:
		for expression in UNARY:
			if is_asked(expression, a, 2):
				put(expression, {"a": a})
		for b in VALUES:
			for expression in BINARY:
				if is_asked(expression, a, b):
					put(expression, {"a": a, "b": b})


def made_up(generator: random.Random, depth: int) -> str:
	def part() -> str:
		return made_up(generator, depth - 1)

	kind = generator.randrange(11) if depth else 10
	if kind < 3:
		return f"({part()} {generator.choice('+ - * // % & | ^ == != < <= > >='.split())} {part()})"
	if kind == 3:
		return f"({part()} if {part()} else {part()})"
	if kind == 4:
		return f"({part()} {generator.choice(['and', 'or'])} {part()})"
	if kind == 5:
		return f"{generator.choice(['ceil_div', 'round_up', 'min', 'max'])}({part()}, {part()})"
	if kind == 6:
		return f"-{part()}"
	if kind == 7:
		return f"({part()} {generator.choice(['<', '<='])} {part()} < {part()})"
	if kind == 8:
		return f"({part()} {generator.choice(['in', 'not in'])} ({part()}, {part()}))"
	if kind == 9:
		return f"{generator.choice(['any', 'all'])}(x {generator.choice(['<', '%'])} {part()} for x in [{part()}, {part()}])"
	return generator.choice(["a", "b", "c", "d", str(generator.randrange(21))])


def at_random() -> None:
	generator = random.Random(7)
	left = 1000
	while left:
		names = {name: generator.choice([generator.randrange(-20, 20), generator.randrange(300)]) for name in "abcd"}
		left -= put(made_up(generator, 4), names)


{"arithmetic": arithmetic, "random": at_random}[sys.argv[1]]()
