#!/bin/sh
# Device functions that need no GPU (tests/host/functions.cc) keep their promises on the CPU.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/exp2_cubic(float x)$/,/^}/p' templates/attention/flash_wgmma_rows.cuh >"$work/exp2_cubic.inc"
grep -q return "$work/exp2_cubic.inc" || { echo "expected exp2_cubic in flash_wgmma_rows.cuh"; exit 1; }
sed -n '/^struct tf32 {/,/^};/p' templates/common/convert.cuh >"$work/tf32.inc"
"${CXX:-g++}" -std=c++17 -O2 -w -fno-pie -no-pie -fwrapv -Itemplates -Itests/host -I"$work" \
	-o "$work/functions" tests/host/functions.cc
"$work/functions"
