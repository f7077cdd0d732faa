#!/usr/bin/python3
"""Every constant that src/compile/headers/nvcc.h defines has the host compiler's value, and all M_* constants and those of float.h are
defined.

	tests/checks/nvcc_names.py OUT"""
import json
import os
import re
import subprocess
import sys
import tempfile

TILETUNE = os.path.abspath(sys.argv[1] + "/tiletune")
HEADERS = "#define _GNU_SOURCE\n#include <float.h>\n#include <limits.h>\n#include <math.h>\n#include <stdint.h>\n#include <stddef.h>\n#include <stdio.h>\n"
CXX = os.environ.get("CXX", "g++")

with open("src/compile/headers/nvcc.h", encoding="ascii") as file:
	ours = re.findall(r"^#define (\w+) ", file.read(), re.M)
macros = subprocess.run([CXX, "-x", "c++", "-E", "-dM", "-"], input=HEADERS, capture_output=True, text=True, check=True).stdout
theirs = set(re.findall(r"^#define (M_\w*[A-Z0-9]|(?:FLT|DBL)_(?:MIN|MAX|EPSILON|TRUE_MIN|DIG|MANT_DIG|\w+_EXP)|HUGE_VALF?|DECIMAL_DIG) ", macros, re.M))
missing = sorted(name for name in theirs - set(ours) if not re.match(r"M_\w+(l|f\d+x?)$", name))
assert len(theirs) > 30 and not missing, f"not in nvcc.h: {missing}"
# as doubles, because a GPU has no long doubles; infinities and NaN are not constant expressions there
printed = "".join(f'	printf("{name} %a\\n", (double)({name}));\n' for name in ours if not re.match("HUGE_VAL|INFINITY|NAN|CUDA", name))
with tempfile.TemporaryDirectory() as work:
	os.chdir(work)
	with open("print.cc", "w", encoding="ascii") as file:
		file.write(f"{HEADERS}int main()\n{{\n{printed}}}\n")
	subprocess.run([CXX, "-w", "-o", "print", "print.cc"], check=True)
	values = dict(line.split() for line in subprocess.run(["./print"], capture_output=True, text=True, check=True).stdout.splitlines())
	assert len(values) > 50, values
	asserts = "".join(f'static_assert((double)({name}) == {value}, "{name}");\n' for name, value in values.items() if value not in ("inf", "-inf"))
	with open("names.cu", "w", encoding="ascii") as file:
		file.write(f"{asserts}__global__ void names(float *y)\n{{\n\ty[threadIdx.x] = HUGE_VALF - (float)HUGE_VAL + INFINITY + NAN;\n}}\n")
	with open("names.json", "w", encoding="ascii") as file:
		json.dump({"format": "tiletune.own_kernel/1", "source": "names.cu", "keys": {"n": {"default": 64}}, "tensors": {"y": {"shape": ["n"], "dtype": "fp32", "role": "out"}},
			"parameters": {"threads": {"values": [64], "as": "argument"}}, "launches": [{"entry": "names", "grid": [1], "block": ["threads"], "args": ["y"]}]}, file)
	done = subprocess.run([TILETUNE, "validate", "names.json"], capture_output=True, text=True, check=False)
	assert done.returncode == 0 and "nothing" not in done.stderr, done.stdout + done.stderr
