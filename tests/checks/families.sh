#!/bin/sh
# Every family compiles over a sample of its space, for one device sheet of each architecture
# (all sheets, larger samples with TEST_SIZE=full).
set -u
out=$1
devices="model:h200-sxm model:a100-sxm4"
[ "${TEST_SIZE:-quick}" = full ] && devices=$(ls configs/devices/*.json | sed 's|.*/|model:|; s|\.json$||')
# shellcheck disable=SC2086
"$out/tests/sample_families" . "${TEST_BUILD:-build}/test-cache" "$out/tiletune" "${TEST_SIZE:-quick}" $devices
