#!/usr/bin/python3
"""The helper kernels (templates/common/helpers.cu) on the CPU: the data that they fill in and the results of comparisons, for every
element type.

	tests/checks/helpers.py OUT"""
import os
import subprocess
import sys
import tempfile

from kernels import CXX, FLAGS, HOST

with tempfile.TemporaryDirectory() as folder:
	subprocess.run([CXX, *FLAGS, "-I" + HOST, f"-I{sys.argv[1]}/faults", "-o", folder + "/helpers", os.path.join(HOST, "helpers.cc")], check=True)
	sys.exit(subprocess.run([folder + "/helpers"], check=False).returncode)
