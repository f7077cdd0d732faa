#!/usr/bin/python3
"""Intervals of 95% hold the truth in 93 to 97 of 100 cases of what GPUs recorded (tests/tools/intervals.py).

	tests/checks/intervals.py OUT		OUT: the folder with the binary
"""
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools"))
sys.dont_write_bytecode = True
from intervals import rates  # noqa: E402  pylint: disable=wrong-import-position

journals = sorted(glob.glob("results/*/*.journal.jsonl.gz"))
found = rates(os.path.join(sys.argv[1], "tests/intervals"), journals)
for rate in found:
    if not 0.93 <= rate <= 0.97:
        sys.exit(f"{len(journals)} journals of results: expected 93% to 97% of the intervals to hold the truth, found {rate:.1%}")
