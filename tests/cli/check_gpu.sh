# The regression gate on a GPU: here the stand-in driver, whose kernels take as long as the script
# says, with the real compiler.
toy="$ROOT/tests/toy"
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
ln -s "$out/faults/libcuda.so.1" lib/libnvidia-ml.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD"
gpu() { printf '%s\n' "$@" >script; } # what the GPU does from now on
check() {
	"$TILETUNE" check "$@" --path "$toy" --device cuda:0 >out.txt 2>err.txt
	code=$?
	grep -E '^(same|faster|slower|unclear|not|failed) |^ {15}|differs|wrote|kept|notice|better' out.txt err.txt |
		sed -E 's/^[a-z]+\.txt://; s/[0-9.]+ -> [0-9.]+ us/T us/; s/[+-][0-9.]+\.\.[+-][0-9.]+%/INTERVAL/; s/[+-][0-9]+\.[0-9]%/PERCENT/g'
	echo "[exit $code]"
}
gpu 'kernel row_softmax_online us=20 noise=0.01'
"$TILETUNE" tune row_softmax -p rows=64,cols=64 --path "$toy" --device cuda:0 --evaluations 2 --budget 10m \
	-o tuned.json >talk.txt 2>&1 || cat talk.txt
check tuned.json
# 10% slower, faster; the clock alone
gpu 'kernel row_softmax_online us=22 noise=0.01'
check tuned.json --junit junit.xml
grep -c '<failure' junit.xml
gpu 'kernel row_softmax_online us=18 noise=0.01'
check tuned.json
gpu 'pace 1.1' 'kernel row_softmax_online us=20 noise=0.01'
check tuned.json --allow driver,nvrtc,uuid,kernel | grep -E 'clock|exit'
# a time that nobody measured
sed 's/"timing":.*"measured"/"timing": "predicted"/' tuned.json >guess.json
check guess.json | sed 's, [0-9.]* us$, T us,'
# wrong, dead, refused: no matter how fast
for fault in wrong crash refuse_load; do
	gpu "kernel row_softmax_online us=20 $fault"
	check tuned.json | grep -oE '^failed|wrong_result|crashed|launch_failed|.exit .*'
done
# a new baseline, with the binaries kept
gpu 'kernel row_softmax_online us=20 noise=0.01'
cp tuned.json base.json
check base.json --keep-cubins
ls base.cubins | sed -E 's/[0-9a-f]{32}/KEY/'
"$TILETUNE" validate base.json base.cubins/*.json | sed -E 's/[0-9a-f]{32}/KEY/'
gpu 'kernel row_softmax_online us=22 noise=0.01'
check base.json
# another kernel beside the kept binary: the machine is as slow for both
cp -R "$toy" changed
sed -i 's|__shared__ partial partials|__shared__ volatile int used[1];\n\tused[0] = cols;\n\t&|' changed/templates/row_softmax/online.cu
toy=changed check base.json
# what was found becomes the baseline
gpu 'kernel row_softmax_online us=18 noise=0.01'
/usr/bin/python3 - <<'PYTHON'
import json
tuned = json.load(open("tuned.json"))
entry = tuned["entries"][0]
entry["families"].append({**entry["families"][0], "family": "row_softmax/other"})
json.dump(tuned, open("two.json", "w"))
PYTHON
# (what is not timed now stays of the run that timed it)
check two.json --update | tail -n 2
/usr/bin/python3 - <<'PYTHON'
import json
(old,), (new,) = (json.load(open(name))["entries"] for name in ("tuned.json", "two.json"))
print(old["run"] != new["run"], {row["family"]: row.get("run") == old["run"] for row in new["families"]})
PYTHON
check tuned.json --update --json
check tuned.json
gpu 'kernel row_softmax_online us=22 noise=0.01'
check tuned.json --update
# what may not differ is not compared
toy=changed check base.json --allow uuid,driver,nvrtc
# noise in which nothing can be told
gpu 'kernel row_softmax_online us=20 noise=0.6'
toy=changed check base.json --budget 0.1s --confidence 99.9% --threshold 1% | grep -oE '^unclear|.exit .*'
# something better than the baseline's winner: its blocks are slow now, those of others are not
winner=$(tr -d ' \n\t' <tuned.json | sed 's/.*"block":\[\([0-9]*\).*/\1/')
gpu "kernel row_softmax_online block_x=$winner us=18 noise=0.01" 'kernel row_softmax_online us=9 noise=0.01'
# (compiled before: a search of --retune has a few seconds, which a busy machine may need for the compiler)
"$TILETUNE" tune row_softmax -p rows=64,cols=64 --path "$toy" --device cuda:0 --effort exhaustive --no-journal \
	-o all.json >talk.txt 2>&1 || cat talk.txt
# where all are as fast and noisy, none is given up after its first samples as one that is far slower
(gpu 'kernel row_softmax_online us=20 noise=0.1'
	"$TILETUNE" tune row_softmax -p rows=64,cols=64 --path "$toy" --device cuda:0 --evaluations 12 \
		-o equal.json >talk.txt 2>&1 || cat talk.txt)
grep '"event":"evaluation"' equal.journal.jsonl | grep -cE '"samples_us":\[([^],]*,){15}[^],]*\]'
gpu "kernel row_softmax_online block_x=$winner us=18 noise=0.01" 'kernel row_softmax_online us=9 noise=0.01'
check tuned.json --retune | sed -E 's/\{.*\}, [0-9.]+%/{CONFIGURATION}, PERCENT/'
"$TILETUNE" check tuned.json --retune --json --path "$toy" --device cuda:0 2>/dev/null | grep -c '"better"'
# which --update makes the new winner
check tuned.json --retune --update | grep -E 'wrote|exit'
check tuned.json | grep -E '^(same|faster|slower)|exit' | sed 's/  .*//'
# a busy or missing GPU
TILETUNE_STANDIN="$PWD/none" LD_LIBRARY_PATH='' check tuned.json
