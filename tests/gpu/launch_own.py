#!/usr/bin/env python3
"""Launches tests/own/types.json from a bundle on a real GPU and compares with numpy: an in-place tensor, a variable in constant memory,
numbers of 1 to 8 bytes.

	tests/gpu/launch_own.py PROGRAM BUNDLE

PROGRAM is built from tests/consumers/launch/main.c, BUNDLE from `tune tests/own/types.json -p type=fp64,...`. Exit code 1 means a
wrong result."""
import os
import subprocess
import sys
import tempfile

import numpy

TYPES = {"fp64": "f8", "fp32": "f4", "fp16": "f2", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4",
    "u64": "u8", "bool": "?"}
COUNT = 100003
numbers = numpy.random.default_rng(1)
failed = 0
for name, code in TYPES.items():
    kind = numpy.dtype(code)
    low, high = (0, 2) if kind.kind in "bu" else (-2, 3)
    x, by, table = (numbers.integers(low, high, count).astype(kind) for count in (COUNT, COUNT, 64))
    row = numpy.resize(table, COUNT)
    expected = x ^ (by & row) if kind.kind == "b" else x + by * row
    with tempfile.TemporaryDirectory() as folder:
        for tensor, values in (("x", x), ("by", by), ("table", table)):
            values.tofile(os.path.join(folder, tensor))
        done = subprocess.run([sys.argv[1], sys.argv[2], "types", f"n={COUNT},type={name}", folder], capture_output=True, text=True, check=False)
        found = numpy.fromfile(os.path.join(folder, "x"), kind)
    right = done.returncode == 0 and numpy.array_equal(found, expected) and not numpy.array_equal(expected, x)
    failed += not right
    print(f"{'ok  ' if right else 'FAIL'} {name} {done.stderr.strip()}")
sys.exit(failed > 0)
