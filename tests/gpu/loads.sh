#!/bin/sh
# How far two loads of one binary are apart, within a process and between processes: the source of
# the absolute floors of ties and of `check`. From the folder of `make dist TESTS=1`:
#
#	sh tests/gpu/loads.sh OUTPUT.json
#
# From the environment: DEVICE (cuda:0), PROCESSES (5).
set -u
output=$1
device=${DEVICE:-cuda:0}
here=$(dirname "$0")
work=$(mktemp -d ./loads-XXXXXX)
trap 'rm -rf "$work"' EXIT
# small ones, on a few SMs; any configuration does
tune() {
	timeout 60 ./tiletune tune gemm "$@" --evaluations 4 --device "$device" --path . --no-journal \
		--cache-dir session-cache >"$work/tune.log" 2>&1 || {
		cat "$work/tune.log"
		exit 1
	}
}
tune -p M=256,N=256,K=256,1024,dtype=bf16 --family mma -o "$work/small.json"
tune -p M=512,N=512,K=512,dtype=bf16 --family mma -o "$work/small.json"
tune -p M=256,N=256,K=256,dtype=fp32 --family simt -o "$work/small.json"
python3 "$here/loads.py" comparisons results/nvidia-h200/tuned.json "$work/small.json" \
	>"$work/comparisons.json" || exit 1
i=0
while [ $i -lt "${PROCESSES:-5}" ]; do
	i=$((i + 1))
	timeout 60 ./gpu/compare_rows "$work/comparisons.json" --device "$device" --cache-dir session-cache \
		>"$work/answer-$i.json" || exit 1
done
python3 "$here/loads.py" summary "$work"/answer-*.json >"$output" || exit 1
python3 - "$output" <<'PYTHON'
import json
import sys

for kernel in json.load(open(sys.argv[1], encoding="utf-8"))["kernels"]:
    print(
        f"{kernel['time_us']:9.2f} us  loads +-{kernel['deviation_between_loads_us']:.3f} us"
        f"  processes +-{kernel['deviation_between_processes_us']:.3f} us"
        f"  widest {kernel['widest_pair_of_loads_us']:.3f} us"
        f"  {kernel['blocks_of_the_grid']} blocks  {kernel['problem'].split(',b_')[0]}"
    )
PYTHON
