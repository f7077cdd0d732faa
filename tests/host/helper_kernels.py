#!/usr/bin/python3
"""templates/common/helpers.cu with everything it includes, as C++ for the headers of tests/host.

	tests/host/helper_kernels.py FILE"""
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "tests/checks")
from kernels import preprocess  # noqa: E402  pylint: disable=wrong-import-position


def expanded(path, seen):
	lines = []
	for line in open(path, encoding="utf-8"):
		found = re.match(r'\s*#include "(.*)"', line)
		if not found:
			lines.append(line.replace("#pragma once", ""))
		elif found.group(1) not in seen:
			seen.add(found.group(1))
			lines.append(expanded("templates/" + found.group(1), seen))
	return "".join(lines)


with open(sys.argv[1], "w", encoding="utf-8") as file:
	file.write(preprocess({"source": expanded("templates/common/helpers.cu", set()), "options": []}))
