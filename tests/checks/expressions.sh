#!/bin/sh
# Python computes the expected results in tests/data/space/.
set -u
${PYTHON:-/usr/bin/python3} -W ignore - tests/data/space/*.txt <<'PYTHON'
import sys


def ceil_div(a, b):
	return -(-a // b)


functions = {
	"ceil_div": ceil_div,
	"round_up": lambda a, b: ceil_div(a, b) * b,
	"is_pow2": lambda n: n > 0 and n & (n - 1) == 0,
	"dtype_bytes": {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8_e4m3": 1, "i32": 4}.get,
}
bad = count = 0
for path in sys.argv[1:]:
	for number, line in enumerate(open(path, encoding="utf-8"), 1):
		line = line.rstrip("\n")
		if not line or line[0] == "#":
			continue
		expression, bindings, result = line.split(" :: ")
		if result.startswith("error: "):
			continue
		names = dict(item.split("=") for item in bindings.split(", ") if item.strip())
		names = {name: eval(value) for name, value in names.items()}
		found = eval(expression.strip(), {**functions, **names})
		found = repr(list(found) if isinstance(found, range) else found)
		count += 1
		if found != result:
			print(f"{path}:{number}: {expression}: expected {result}, Python says {found}")
			bad += 1
print(f"{count} expressions, {bad} wrong")
sys.exit(bad > 0 or count < 300)
PYTHON
