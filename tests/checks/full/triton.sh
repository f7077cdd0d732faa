#!/bin/sh
# @tiletune.autotune with a pinned triton and torch, in triton's interpreter on the CPU: the example of
# src/python/README.md, and the tests of tests/python that need triton. TEST_PYTHON: an interpreter that has
# both; otherwise they are installed into the build folder once (3 GB from PyPI, 6 GB on disk).
set -u
venv=${TEST_BUILD:-build}/triton
python=${TEST_PYTHON:-$venv/bin/python}
if ! "$python" -c 'import pytest, torch, triton' 2>/dev/null; then
	[ "$(df -Pk "$(dirname "$venv")" | awk 'NR == 2 { print $4 }')" -gt 12000000 ] || { echo "skipped: torch and triton need 12 GB of free disk"; exit 77; }
	rm -rf "$venv"
	/usr/bin/python3 -m venv "$venv" && timeout 1800 "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
		torch==2.15.0 triton==3.9.0 'numpy>=2,<3' pytest || { rm -rf "$venv"; echo "skipped: PyPI did not give torch and triton"; exit 77; }
	python=$venv/bin/python
fi
TEST_PYTHON=$python exec /usr/bin/python3 tests/checks/python.py "$1" -k "with_triton or triton_example"
