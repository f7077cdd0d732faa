#!/bin/sh
# The benchmark against cuBLASLt and compare_rows, with stand-ins of the driver and of cuBLASLt: entries of a
# tuned file are rebuilt, different results are detected, and entries that cannot be compared are skipped.
set -u
out=$1
work=$out/tests/versus
. tests/faults/cublaslt.sh
export LD_LIBRARY_PATH="$libraries" TILETUNE_STANDIN="$work/script" TILETUNE_LOCK_FOLDER="$work/locks"
cache=${TEST_BUILD:-build}/test-cache

"$out/tiletune" tune gemm --family mma --family simt --where "BM == 64 and BN == 64 and BK == 32 and MIN_BLOCKS == 1" \
	-p M=96,N=80,K=64,dtype=bf16 -p M=33,N=35,K=37,dtype=fp16,b_layout=kn \
	-p M=64,N=72,K=64,dtype=fp32,act=none,silu --strategy random --evaluations 2 --budget 10m --fresh \
	--device cuda:0 --path . --cache-dir "$cache" -o "$work/tuned.json" >"$work/tune.log" 2>&1
[ -s "$work/tuned.json" ] || {
	cat "$work/tune.log"
	exit 1
}
# rows of that file in turn: equal kernels are equally fast, an illegal configuration has an error
/usr/bin/python3 - "$work" <<'PYTHON'
import json, sys
entry = json.load(open(f"{sys.argv[1]}/tuned.json"))["entries"][0]
row = {name: entry["winner"][name] for name in ("family", "configuration")}
rows = [[{"name": name, **row} for name in ("fresh", "looked up")], [{"name": "fresh", **row, "configuration": {"BM": 64}}]]
json.dump({"seconds": 0.05, "loads": 2, "comparisons": [{"operation": "gemm", "problem": entry["problem"], "rows": of} for of in rows]}, open(f"{sys.argv[1]}/rows.json", "w"))
PYTHON
"$out/gpu/compare_rows" "$work/rows.json" --path . --cache-dir "$cache" >"$work/rows.out" || exit 1
/usr/bin/python3 -c 'import json, sys
good, bad = json.load(open(sys.argv[1]))["comparisons"]
first, second = good["rows"]
assert abs(second["over_first"]["value"] - 1) < 1e-6 and len(second["loads_us"]) == 2, good
assert "gives no value of" in bad["error"] and "rows" not in bad, bad' "$work/rows.out" || exit 1
versus() {
	"$out/gpu/gemm_vs_cublaslt" --path . --cache-dir "$cache" --rounds 7 -o "$work/versus.json" "$@" \
		"$work/tuned.json" >"$work/versus.log" 2>&1
}
expect() { # times, pattern
	found=$(grep -cE "$2" "$work/versus.log")
	[ "$found" = "$1" ] && return
	echo "expected $1 lines with \"$2\", found $found:"
	cat "$work/versus.log"
	exit 1
}
versus
expect 3 '^[0-9x]+ .*\[.*\] +0\.0e\+00$'
expect 1 'silu|not comparable: has an activation'
expect 1 '^33x35x37 fp16 kn '
expect 1 '^all +3 entries'
versus --only dtype=bf16 --picks 100 --gaps 0.02
/usr/bin/python3 -c 'import json, sys
(entry,) = json.load(open(sys.argv[1]))["entries"]
assert entry["picks"] == 11, entry
assert entry["gaps"]["ours_us"] > 0 and entry["gaps"]["cublaslt_best_us"] >= 0, entry
assert entry["cublaslt_first_us"] >= entry["cublaslt_best_us"], entry' "$work/versus.json" || exit 1
expect 1 '^all +1 entries'
versus --family gemm/mma
expect 2 'no result of gemm/mma|has an activation'
STANDIN_LT_VALUE=0.5 versus
expect 3 'DIFFERS'
expect 0 '^all '
/usr/bin/python3 -c 'import json, sys
entries = json.load(open(sys.argv[1]))["entries"]
assert [entry.get("agrees") for entry in entries].count(False) == 3, entries' "$work/versus.json"

# two products in one kernel, compared with two calls
"$out/tiletune" tune gemm_chain -f fused -f fused_resident --where "STAGES == 2" \
	-p m=64,k=16,n=32,p=16,dtype=bf16 -p m=96,k=32,n=64,p=24,dtype=bf16,act=none,silu --strategy random --evaluations 2 --budget 10m --fresh \
	--device cuda:0 --path . --cache-dir "$cache" -o "$work/chains.json" >"$work/tune.log" 2>&1
mv "$work/chains.json" "$work/tuned.json"
versus
expect 2 '^m=.*\[.*\] +0\.0e\+00$'
expect 1 'act=silu .* not comparable: has an activation'
expect 1 '^bf16 two products +2 entries'
expect 1 '^two products fused, share that wins: .* over 2 \(promised: 0.42\)'
expect 0 'bf16 aligned'
STANDIN_LT_VALUE=0.5 versus
expect 2 'DIFFERS'
/usr/bin/python3 -c 'import json, sys
entries = json.load(open(sys.argv[1]))["entries"]
assert [(entry.get("agrees"), entry.get("picks")) for entry in entries] == [(False, 3), (False, 3), (None, None)], entries' "$work/versus.json"
