#!/bin/sh
# The comparison of fused products with two calls of cuBLASLt, over stand-ins of the driver and of
# cuBLASLt: choices without a GPU, every way that is measured, results that differ are seen.
set -u
out=$1
work=$out/tests/chain-versus
. tests/faults/cublaslt.sh
cat >"$work/suite.json" <<'SUITE'
{"format": "tiletune.suite/1", "name": "small", "operation": "gemm_chain",
 "problems": ["m=64,k=16,n=32,p=16,dtype=bf16"]}
SUITE
cache=${TEST_BUILD:-build}/test-cache
program=$out/gpu/chain_vs_cublaslt

fail() {
	echo "$1"
	cat "$work/log"
	exit 1
}
# of all families, but in small spaces
ln -s "$(pwd)/configs" "$work/configs"
cp -R templates "$work"
/usr/bin/python3 - "$work"/templates/gemm*/*.json <<'PYTHON'
import json, sys
few = {"STAGES": "STAGES <= 4", "MIN_BLOCKS": "MIN_BLOCKS == 1", "BM": "BM <= 64", "BN": "BN <= 64"}
for path in sys.argv[1:]:
	file = json.load(open(path))
	if "parameters" in file:
		file["constraints"] += [{"expr": few[name], "why": "few"} for name in few if name in file["parameters"]]
		json.dump(file, open(path, "w"))
PYTHON
"$program" --choose --path "$work" --cache-dir "$cache" "$work/suite.json" -o "$work/choices.json" \
	>"$work/log" 2>&1 || fail "choosing failed"
# what is chosen here and now is many kernels: of each list the first
/usr/bin/python3 - "$work/choices.json" <<'PYTHON'
import json, sys
file = json.load(open(sys.argv[1]))
for choice in file["choices"]:
	families = {row["family"]: row for row in choice["candidates"]}
	assert set(families) == {"gemm_chain/fused", "gemm_chain/fused_resident",
		"gemm_chain/fused_wgmma"}, families
	choice["candidates"] = list(families.values())
	assert len(choice["steps"]) == 2
	for step in choice["steps"]:
		step["candidates"] = [row for row in step["candidates"] if row["family"] == "gemm/mma"][:1]
json.dump(file, open(sys.argv[1], "w"))
PYTHON
export LD_LIBRARY_PATH="$libraries" TILETUNE_STANDIN="$work/script" TILETUNE_LOCK_FOLDER="$work/locks"
measure() {
	"$program" --path . --cache-dir "$cache" --rounds 7 "$work/choices.json" -o "$work/map.json" \
		>"$work/log" 2>&1
}
measure || fail "measuring failed"
/usr/bin/python3 - "$work/map.json" <<'PYTHON' || fail "not as expected"
import json, sys
entry, = json.load(open(sys.argv[1]))["entries"]
for name in "fused_us", "fused_resident_us", "fused_wgmma_us", "separate_us", "cublaslt_us", "gain", "gain_over_cublaslt":
	assert isinstance(entry[name], (int, float)), (name, entry)
assert entry["separate_us"] > 0 and entry["fused_us"] > 0, entry
assert entry["agrees"] and entry["rounds"] == 7, entry
assert len(entry["tried"]) == 5, entry["tried"]
assert [len(step["picks_us"]) for step in entry["cublaslt_products"]] == [2, 2], entry
PYTHON
STANDIN_LT_VALUE=0.5 measure && fail "a result that differs passed"
grep -q DIFFERS "$work/log" || fail "a result that differs was not named"
