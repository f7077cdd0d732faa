#!/bin/sh
# `make results` over stand-ins of the driver and of cuBLASLt, with suites of one small problem: what it
# makes is whole, a part without time is gone on with, and another card's files stay as they are.
set -u
out=$1
work=$out/tests/gpu-scripts
. tests/faults/cublaslt.sh
export LD_LIBRARY_PATH="$libraries" TILETUNE_STANDIN="$work/script" TILETUNE_LOCK_FOLDER="$work/locks"
mkdir -p "$work/suites"
while read -r suite k dtype; do
	echo '{"format": "tiletune.suite/1", "operation": "gemm", "problems": ["M=96,N=80,K='"$k,dtype=$dtype"'"]}' >"$work/suites/$suite.json"
done <<'SUITES'
bf16_aligned 64 bf16
bf16_misaligned 63 bf16
fp8 64 tf32
fp32 64 fp32
SUITES
cp configs/suites/attention.json configs/suites/decode.json "$work/suites/"
part() { # expected exit code, arguments
	wanted=$1
	shift
	/usr/bin/python3 tests/gpu/results.py --suites "$work/suites" --cache "${TEST_BUILD:-build}/test-cache" --into "$work/into" \
		--tune '--family mma --family simt --where (BM==64)*(BN==64)*(BK==32)*(MIN_BLOCKS==1)*(SPLIT_K==1) --evaluations 2' "$work/out" "$@" >"$work/part.log" 2>&1
	code=$?
	[ $code -eq "$wanted" ] && return
	echo "expected exit $wanted, found $code:"
	cat "$work/part.log" "$work/out/log.txt"
	exit 1
}
said() {
	grep -q "$1" "$work/part.log" && return
	echo "expected \"$1\":"
	cat "$work/part.log"
	exit 1
}
part 4 tuned --limit 70
said 'tuned: bf16_aligned: no time left'
part 0 tuned
said 'wrote .*/into/nvidia-h200'
said '^tuned  *bf16 aligned  *[12] '
part 2 nothing
mv "$work/out/state.tar.gz" "$work/state.tar.gz" && rm -rf "$work/out"
part 0 tuned --state "$work/state.tar.gz" --limit 10 # on another machine: nothing is left to do
part 4 tuned attention # what is there is kept; nothing of attention can be tuned so
said 'not complete: attention'
/usr/bin/python3 - "$work/into/nvidia-h200" <<'PYTHON' || exit 1
import csv, gzip, json, sys
folder = sys.argv[1]
tuned, versus = (json.load(open(f"{folder}/{name}.json")) for name in ("tuned", "versus_cublaslt"))
assert len(tuned["entries"]) == len(versus["entries"]) == 4, "an entry of each suite"
assert all(entry["winner"]["kernel_hash"] for entry in tuned["entries"])
rows = list(csv.DictReader(open(f"{folder}/results.csv")))
assert {"bf16 aligned", "all"} <= {row["table"] for row in rows}, rows
assert all(row["commit"] and len(row["kernels"]) == 16 and float(row["lowest"]) >= 0 for row in rows), rows
assert b'"event":"evaluation"' in gzip.open(f"{folder}/tuned.journal.jsonl.gz").read()
PYTHON
sed -i 's/"name":[[:space:]]*"NVIDIA H200"/"name": "Another GPU"/' "$work/into/nvidia-h200/tuned.json"
before=$(cksum <"$work/into/nvidia-h200/tuned.json")
part 0 tuned
said 'not written: .* is of Another GPU, this is NVIDIA H200'
[ "$before" = "$(cksum <"$work/into/nvidia-h200/tuned.json")" ] || { echo "another card's file was overwritten" && exit 1; }
