#!/bin/sh
# `make results` with stand-ins of the driver and of cuBLASLt, and suites of one small problem: its output is
# complete, an interrupted part is resumed, and another card's files are unchanged.
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
	/usr/bin/python3 results/gpu/results.py --suites "$work/suites" --cache "${TEST_BUILD:-build}/test-cache" --into "$work/into" \
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
part 4 tuned --limit 15
said 'tuned: bf16_aligned: no time left'
[ ! -e "$work/into" ] || { echo "expected no file of a table that is not tuned" && exit 1; }
part 0 tuned
said 'wrote .*/into/nvidia-h200'
said '^tuned  *bf16 aligned  *[12] '
part 2 nothing
# a comparison that was stopped after three of four entries is repeated
/usr/bin/python3 -c 'import json, sys
path, tree = sys.argv[1], json.load(open(sys.argv[1]))
tree["entries"].pop()
json.dump(tree, open(path, "w"))' "$work/out/state/versus_cublaslt.json"
part 4 tuned --limit 10
said 'tuned: not compared: no time left'
part 0 tuned
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
/usr/bin/python3 - "$work" <<'PYTHON' || exit 1
# the scoreboard: a drawn suite has every class, the table has ratios by class and the missed goals
import csv, json, random, subprocess, sys
work = sys.argv[1]
sizes = [(m, n, k) for m in (64, 1024, 16384) for n in (64, 2048, 16384) for k in (64, 4096)]
random.shuffle(sizes)
for name in ("offline", "server"):
	with open(f"{work}/{name}.csv", "w") as file:
		file.write("mnk,cuBLASLt-auto-tuning-tn,cuBLASLt-auto-tuning-max\n" + "".join(f"{m}_{n}_{k},9,1.05\n" for m, n, k in sizes))
run = lambda *arguments: subprocess.run(["/usr/bin/python3", "results/gpu/scoreboard.py", *arguments], capture_output=True, text=True)
with open(f"{work}/theirs.csv", "w") as file:
	file.write(run("theirs", f"{work}/offline.csv", f"{work}/server.csv").stdout)
drawn = [tuple(int(item.split("=")[1]) for item in problem.split(",")[:3]) for problem in json.loads(run("suite", f"{work}/theirs.csv", "2").stdout)["problems"]]
assert len(set(drawn)) == len(drawn) and set(drawn) <= set(sizes), drawn
magnitude = [2 * m * n * k for m, n, k in drawn]
assert [sum(low <= f < high for f in magnitude) for low, high in ((0, 1e9), (1e9, 1e10), (1e10, 1e11), (1e11, 1e12), (1e12, 1e99))] == [2, 2, 2, 2, 1], drawn
def table(ratio):
	entries = [{"problem": f"M={m},N={n},K={k},dtype=fp16", "agrees": True, "ratio": {"median": ratio}, "cublaslt_first_us": 3.0, "cublaslt_best_us": 2.0, "gaps": {"ratio": 1.1}} for m, n, k in drawn]
	with open(f"{work}/versus_scoreboard.json", "w") as file:
		json.dump({"device": {"name": "X"}, "cublaslt": "13", "tiletune": {"commit": "c"}, "date": "d", "entries": entries}, file)
	return run("table", f"{work}/versus_scoreboard.json", f"{work}/theirs.csv")
good, bad = table(1.2), table(0.94)
assert good.returncode == 0 and good.stdout.count("reached") == 5, good
assert "all 9 1.200 1.200 1.200 0 1.800 1.100 1.100 1.050 1.050 1.050" in " ".join(good.stdout.split()), good.stdout
assert bad.returncode == 1 and bad.stdout.count("missed") == 5 and "below 0.95: 9 of 9" in bad.stdout, bad
PYTHON
