#!/bin/sh
# Checks of four kernels on a real GPU, in the folder of `make dist TESTS=1`: fifty of an unchanged
# baseline, fifty of kernels slowed by 5%, fifty of 3%. See check.py.
#
#	sh tests/gpu/check.sh OUTPUT.json
exec python3 "$(dirname "$0")/check.py" "$@"
