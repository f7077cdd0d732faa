#!/bin/sh
# The scripts of a GPU session (tests/gpu), over the stand-in driver and with few of everything:
# what they write is whole and of its format, a slowed kernel is found, a kill loses nothing that was
# finished, and a session without enough time says what it left out.
set -u
out=$1
root=$(pwd)
case $out in /*) ;; *) out=$root/$out ;; esac
work=$out/tests/gpu-scripts
rm -rf "$work"
mkdir -p "$work/lib" "$work/dist"
for library in libcuda.so.1 libnvidia-ml.so.1; do
	ln -s "$out/faults/libcuda.so.1" "$work/lib/$library"
done
# as `make dist TESTS=1` lays it out
for folder in templates configs tests; do
	ln -s "$root/$folder" "$work/dist/$folder"
done
ln -s "$out/gpu" "$work/dist/gpu"
ln -s "$out/tiletune" "$work/dist/tiletune"
cat >"$work/script" <<'SCRIPT'
name Stand-in GPU
memory_bytes 4000000000
kernel gemm_mma us=100 noise=0.005
kernel flash_mma us=50 noise=0.005
kernel unfused_* us=60 noise=0.005
SCRIPT
cache=${TEST_BUILD:-build}/test-cache
case $cache in /*) ;; *) cache=$root/$cache ;; esac
export LD_LIBRARY_PATH="$work/lib" TILETUNE_STANDIN="$work/script" TILETUNE_LOCK_FOLDER="$work/locks"
export CACHE="$cache" TUNED=tuned.json
cd "$work/dist" || exit 1
fail() {
	echo "$1"
	[ -z "${2:-}" ] || tail -n 40 "$2"
	exit 1
}
# by the schemas: tiletune itself reads few of these formats
valid() {
	/usr/bin/python3 - "$root/configs/schemas" "$@" >"$work/validate.log" 2>&1 <<'PYTHON' || fail "$*: not valid" "$work/validate.log"
import json, sys
import jsonschema
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    name = document["format"].split(".")[1].split("/")[0]
    with open(f"{sys.argv[1]}/{name}.schema.json", encoding="utf-8") as file:
        jsonschema.Draft7Validator(json.load(file)).validate(document)
PYTHON
}
./tiletune tune gemm --family mma -p M=96,N=80,K=64,dtype=bf16 -p M=80,N=96,K=64,dtype=bf16 \
	--where "BM == 64 and BK == 32 and MIN_BLOCKS == 1 and SPLIT_K == 1 and (BN == 64 and M == 96 or BN == 32 and M == 80)" \
	--strategy random --evaluations 2 --budget 10m --fresh --no-journal --path . --device cuda:0 --cache-dir "$cache" \
	-o tuned.json >"$work/tune.log" 2>&1 || fail "no baseline" "$work/tune.log"

# checks of two kernels of one source, which are slowed down each by its own spin
export ATTENTION='' COUNT=2 COUNT_THREE=2 COUNT_KEPT=1 BUDGET=0.1s
sh tests/gpu/check.sh rates.json >"$work/check.log" 2>&1 || fail "check.sh" "$work/check.log"
valid rates.json
/usr/bin/python3 - rates.json <<'PYTHON' || fail "rates.json: not as expected" "$work/check.log"
import json, sys
file = json.load(open(sys.argv[1]))
found = [(e["kind"], e["threshold"], e["checks"], e["checks_with_all_slower"]) for e in file["experiments"]]
assert found == [("unchanged", "5%", 2, 0), ("5%", "5%", 2, 2), ("3%", "5%", 2, 0), ("unchanged", "5%", 1, 0),
	("5%", "5%", 1, 1), ("3%", "5%", 1, 0), ("3%", "3%", 2, 2), ("unchanged", "3%", 1, 0)], found
assert all(e["checks"] == e["wanted"] and not e["errors"] and len(e["entries"]) == 2 for e in file["experiments"])
for kernel in file["kernels"]:
	for slowed in kernel["slowed"]:
		assert abs(slowed["ratio"]["ratio"] - 1 - slowed["part"]) < 0.002, kernel
	assert len(kernel["slowed"]) == 2, kernel
assert len({k["slowed"][0]["cycles"] for k in file["kernels"]} | {0}) > 1, "each has its own"
PYTHON

# a kernel that is wrong now: said, with the result whole
sed -i 's/^kernel gemm_mma .*/& wrong/' "$work/script"
COUNT=1 sh tests/gpu/check.sh wrong.json >"$work/wrong.log" 2>&1 && fail "a wrong kernel passed" "$work/wrong.log"
sed -i 's/ wrong$//' "$work/script"

# a watchdog of another length, which sanitizer.sh needs
sed -i 's/^kernel gemm_mma .*/& hang/' "$work/script"
TILETUNE_KERNEL_TIMEOUT=5 ./tiletune tune gemm --family mma -p M=96,N=80,K=64,dtype=bf16 --strategy random \
	--where "BM == 64 and BN == 64 and BK == 32 and MIN_BLOCKS == 1 and SPLIT_K == 1" --evaluations 1 --budget 10m --fresh \
	--no-journal --path . --device cuda:0 --cache-dir "$cache" -o hang.json >"$work/hang.log" 2>&1
grep -q 'timed_out.*no answer within 5 s' "$work/hang.log" || fail "a hanging kernel" "$work/hang.log"
sed -i 's/ hang$//' "$work/script"

# killed in the second experiment: the first is there, whole
COUNT=10 COUNT_KEPT=0 LIMIT=600 sh tests/gpu/check.sh killed.json >"$work/killed.log" 2>&1 &
killed=$!
until grep -q '"kind": "5%"' killed.json 2>/dev/null || ! kill -0 $killed 2>/dev/null; do
	sleep 0.1
done
kill -9 $killed
wait $killed 2>/dev/null
valid killed.json
/usr/bin/python3 - killed.json <<'PYTHON' || fail "killed.json: not as expected" "$work/killed.log"
import json, sys
first, second, *_ = json.load(open(sys.argv[1]))["experiments"]  # more, if the kill was late
assert (first["checks"], first["wanted"], first["checks_with_none_slower"]) == (10, 10, 10), first
assert 0 < second["checks"] <= 10 and second["checks_with_all_slower"] == second["checks"], second
PYTHON

# pairs: one kernel twice is never different, a copy slowed by 3% always
COUNT=2 SECONDS=0.1 /usr/bin/python3 tests/gpu/pairs.py pairs.json >"$work/pairs.log" 2>&1 || fail "pairs.py" "$work/pairs.log"
valid pairs.json
/usr/bin/python3 - pairs.json <<'PYTHON' || fail "pairs.json: not as expected" "$work/pairs.log"
import json, sys
file = json.load(open(sys.argv[1]))
assert file["unchanged"] == {"pairs": 4, "different": 0, "not_tied": 0}, file["unchanged"]
assert file["slowed"] == {"pairs": 4, "different": 4, "not_tied": 4}, file["slowed"]
PYTHON

# lookup: three problems, tuned, compared; with what was tuned the first time a second run only compares
export COUNT=3 SMALL=1 TUNE='--family mma --evaluations 3 --where (STAGES==2)*(BK==32)*(SPLIT_K==1)*(MIN_BLOCKS==1)'
sh tests/gpu/lookup.sh lookup.json >"$work/lookup.log" 2>&1 || fail "lookup.sh" "$work/lookup.log"
valid lookup.json lookup-work/result.json lookup-work/lookups.json
/usr/bin/python3 - lookup.json <<'PYTHON' || fail "lookup.json: not as expected" "$work/lookup.log"
import json, sys
file = json.load(open(sys.argv[1]))
assert [file[key] for key in ("problems", "tuned", "answered", "compared")] == [3, 3, 3, 3], file
assert all(0.98 < row["reached_ratio"] < 1.02 for row in file["rows"]), file
PYTHON
# a tuning that was cut short: what it had is compared, the others are said to be missing
/usr/bin/python3 - lookup-work/fresh.json <<'PYTHON'
import json, sys
file = json.load(open(sys.argv[1]))
del file["entries"][2:]
json.dump(file, open(sys.argv[1], "w"))
PYTHON
rm lookup-work/fresh.journal.jsonl
TUNE='--where BM*0' sh tests/gpu/lookup.sh short.json >"$work/short.log" 2>&1 && fail "a short one passed" "$work/short.log"
valid short.json
grep -q '3 of 3 answered, 2 compared' "$work/short.log" || fail "short.json: not as expected" "$work/short.log"
# unseen: what its tables say of two short records
/usr/bin/python3 - <<'PYTHON'
import json, os
os.makedirs("unseen", exist_ok=True)
def entry(m, first, eight):
	row = {"family": "gemm/mma", "configuration": {"BM": m}}
	return {"operation": "gemm", "problem": {"M": m, "N": 8}, "winner": row, "space": {"evaluated": 9}, "model": {"regret_top1": first, "regret_shortlist8": eight}}
def journal(name, *times):
	lines = [{"event": "problem", "number": 0, "text": "M=1,dtype=bf16"}] + [{"event": "evaluation", "problem": 0, "outcome": "ok" if t else "wrong",
		"time_us": {"median": t}} for t in times]
	open(f"unseen/{name}.journal.jsonl", "w").writelines(json.dumps(line) + "\n" for line in lines)
def compared(m, **times):
	return {"operation": "gemm", "problem": f"M={m},N=8", "rows": [{"name": k.replace("_", " "), "time_us": t} for k, t in times.items()]}
for name, regret in (("shipped", 0.25), ("physics", 1.0), ("thorough", 0)):
	json.dump({"entries": [entry(m, regret, regret / 2) for m in (1, 2)][: 1 if name == "thorough" else 2]}, open(f"unseen/{name}.json", "w"))
json.dump({"comparisons": [compared(1, shipped=10, physics=8, thorough=5, looked_up=20), compared(2, shipped=5, physics=10)]}, open("unseen/compared.json", "w"))
json.dump({"shipped gemm": 2, "physics gemm": 3}, open("unseen/elapsed.json", "w"))
journal("physics", 12, None, 11, 10.2, 10)
journal("learned", 10.4, 10)
PYTHON
BUDGET=12 /usr/bin/python3 tests/gpu/unseen.py table unseen >"$work/unseen.log" 2>&1 || fail "unseen.py table" "$work/unseen.log"
BUDGET=12 /usr/bin/python3 tests/gpu/unseen.py suite_table unseen >>"$work/unseen.log" 2>&1 || fail "unseen.py suite_table" "$work/unseen.log"
for line in 'all *shipped first  *2: geometric mean 0.5657, lowest 0.4000' 'gemm *shipped / thorough *1: geometric mean 0.5000' 'gemm *looked up / shipped *1: geometric mean 0.5000' \
	'all *physics first 8 *2: geometric mean 0.3727' 'seconds: .*: 1.50 times' 'to 0.97 of the best known: learned *mean *2.0, 0.50 of physics' \
	'to 0.95 of the best known: physics *mean *4.0'; do
	grep -q "$line" "$work/unseen.log" || fail "unseen.py: $line" "$work/unseen.log"
done

# comparisons that are stopped print what they had
/usr/bin/python3 - lookup-work/comparisons.json <<'PYTHON'
import json, sys
file = json.load(open(sys.argv[1]))
file["comparisons"] = file["comparisons"][:1] * 400
json.dump(file, open("long.json", "w"))
PYTHON
# (how soon the first is done depends on the machine)
patience=1 count=0
while [ "$count" -lt 2 ]; do
	./gpu/compare_rows long.json --device cuda:0 --cache-dir "$cache" >compared.json 2>"$work/compared.log" &
	comparing=$!
	sleep $patience
	kill -TERM $comparing
	wait $comparing || fail "compare_rows" "$work/compared.log"
	valid compared.json
	count=$(grep -c '"over_first"' compared.json)
	patience=$((4 * patience))
done
if [ "$count" -ge 800 ]; then fail "$count rows were timed before the end"; fi

# the three kernels of attention, all configurations, beside the fused one
export LENGTHS=64 SHAPE=batch=1,heads=2,head_dim=16,dtype=bf16
BASE='' TUNE='--evaluations 3' sh tests/gpu/unfused.sh unfused.json >"$work/unfused.log" 2>&1 || fail "unfused.sh" "$work/unfused.log"
valid unfused.json unfused-work/unfused.json
grep -q '^1 of 1 lengths' "$work/unfused.log" || fail "unfused.json: not as expected" "$work/unfused.log"

# repeated tunings: loads and launches of a kernel are not equally fast, and yet one configuration wins
cat >twice.json <<'SUITE'
{"format": "tiletune.suite/1", "operation": "gemm", "problems": ["M=96,N=80,K=64,dtype=bf16", "M=80,N=96,K=64,dtype=bf16"],
	"families": ["mma"], "where": "BM == 64 and BN == 64 and BK == 32 and MIN_BLOCKS == 1 and STAGES <= 3 and SPLIT_K == 1"}
SUITE
sed -i 's/^kernel gemm_mma .*/kernel gemm_mma us=100 noise=0.005 place_us=0.4/' "$work/script"
SUITE=twice.json TUNE='--evaluations 12' BUDGET=60s WARM=60s LIMIT=600 ROUNDS=3 sh tests/gpu/repeat.sh repeat \
	>"$work/repeat.log" 2>&1 || fail "repeat.sh" "$work/repeat.log"
valid repeat/rates.json
grep -q '^of 2 problems: whole configuration the same in all runs in 2' "$work/repeat.log" ||
	fail "repeat/rates.json: not as expected" "$work/repeat.log"
sed -i 's/ place_us=0.4//' "$work/script"

# several GPUs, of which one is killed again and again: the same problems
sed -i '1i devices 3\nkernel row_softmax_online us=20 noise=0.01' "$work/script"
cat >softmax.json <<'SUITE'
{"format": "tiletune.suite/1", "operation": "row_softmax", "problems": ["rows=64:768:64,cols=64"], "families": ["online"],
	"where": "UNROLL == 1 and ROW_THREADS <= 64"}
SUITE
RUNS='one killed' SUITE=softmax.json SHARD=1/1 EVERY=0 LIMIT=600 TUNE="--path $root/tests/toy" sh tests/gpu/gpus.sh gpus \
	>"$work/gpus.log" 2>&1 || fail "gpus.sh" "$work/gpus.log"
valid gpus/several_gpus.json
[ "$(grep -cE '^(one .* 12 problems, 1|killed .* 12 problems, 3) GPUs' gpus/table.txt)" = 2 ] &&
	grep -q '^killed: [1-9].*; the same problems: True' gpus/table.txt || fail "gpus: not as expected" "$work/gpus.log"
sed -i 1,2d "$work/script"

# a session: phases in turn, a table, few files; what there was no time for is said
export COUNT_THREE=1 COUNT_KEPT=1 COUNT=2
TOTAL=570 sh tests/gpu/experiments.sh sat lookup check >"$work/experiments.log" 2>&1 || fail "experiments.sh" "$work/experiments.log"
valid sat/check_rates.json sat/lookup_rates.json
[ "$(grep -cE '^== (check|lookup): exit 0' sat/summary.txt)" = 2 ] || fail "no table" "$work/experiments.log"
tar -tzf sat/experiments.tar.gz | grep -q '^lookup-work/fresh.json' || fail "nothing packed"
TOTAL=10 sh tests/gpu/experiments.sh late check >"$work/late.log" 2>&1 && fail "no time was enough" "$work/late.log"
grep -q '^== check: not begun, ' late/summary.txt || fail "what was left out is not said" "$work/late.log"
LD_LIBRARY_PATH='' sh tests/gpu/experiments.sh none check >"$work/none.log" 2>&1
[ $? -eq 5 ] || fail "no GPU was enough" "$work/none.log"
[ "$(find sat -type f | wc -l)" -le 8 ] || fail "too many files"
exit 0
