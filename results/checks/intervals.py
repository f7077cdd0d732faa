#!/usr/bin/python3
"""Intervals of 95% contain the truth in GPU recordings (results/tools/intervals.py). Two halves of one kernel's samples agree in 93 to 97
of 100 cases. Two kernels agree in at least 93 cases with today's sampler (RENEWED), and in at least 90 with older journals, whose
rounds were longer.

	results/checks/intervals.py OUT		OUT: the folder with the binary"""
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
sys.dont_write_bytecode = True
from intervals import rates  # noqa: E402  pylint: disable=wrong-import-position

RENEWED = ("tuned", "attention", "attention_drawn", "decode")  # files that `make results` writes

journals = sorted(glob.glob("results/*/*.journal.jsonl.gz"))
program = os.path.join(sys.argv[1], "tests/intervals")
one, two = rates(program, journals)
_, today = rates(program, [path for path in journals if os.path.basename(path).split(".")[0] in RENEWED])
for what, rate, low, high in (("one kernel", one, 0.93, 0.97), ("two kernels", two, 0.90, 1), ("two kernels, today's sampler", today, 0.93, 1)):
    if not low <= rate <= high:
        sys.exit(f"{what}: expected {low:.0%} to {high:.0%} of the intervals to hold the truth, found {rate:.1%}")
