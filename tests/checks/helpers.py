#!/usr/bin/python3
"""The helper kernels (templates/common/helpers.cu) on the CPU: what they fill, and what they find in a comparison, for every element type.

	tests/checks/helpers.py OUT
"""
import os
import re
import subprocess
import sys
import tempfile

from kernels import CXX, FLAGS, HOST, preprocess


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


with tempfile.TemporaryDirectory() as folder:
	with open(folder + "/helpers.h", "w", encoding="utf-8") as file:
		file.write(preprocess({"source": expanded("templates/common/helpers.cu", set()), "options": []}))
	subprocess.run([CXX, *FLAGS, "-I" + HOST, "-I" + folder, "-o", folder + "/helpers", os.path.join(HOST, "helpers.cc")], check=True)
	sys.exit(subprocess.run([folder + "/helpers"], check=False).returncode)
