# A kernel of which nothing is said but how it is launched: no model, no FLOP, no bytes.
mkdir -p templates
cp -r "$ROOT/tests/toy/templates/row_softmax" templates
python3 - <<'END'
import json
def change(path, edit):
    tree = json.load(open(path))
    edit(tree)
    json.dump(tree, open(path, "w"))
def plain(family):
    for launch in family["launches"]:
        del launch["model"], launch["regs_estimate"]
change("templates/row_softmax/online.json", plain)
change("templates/row_softmax/operation.json", lambda operation: [operation.pop(key) for key in ("flop", "min_bytes")])
END
"$TILETUNE" validate templates/row_softmax/*.json
"$TILETUNE" explain row_softmax -p rows=4096,cols=1000 -c ROW_THREADS=128,ROWS=2,UNROLL=2,TURNS=1 \
	--path . --path "$ROOT/tests/toy" -d model:toy | sed -E 's/predicted [0-9.]+ us/predicted T us/; s/[0-9]+ GB/N GB/; s/[0-9]+ registers/R registers/'
"$TILETUNE" tune row_softmax -p rows=4096,cols=1000 --path . --path "$ROOT/tests/toy" --device model:toy \
	--effort estimate -o toy.json >talk.txt 2>&1 || cat talk.txt
grep -c 'no model: from FLOP, bytes and waves alone' talk.txt
grep -c TFLOP talk.txt
grep -c '"without_model":	true' toy.json
grep -c '"\(predicted_\)\?tflops":	[0-9]' toy.json
"$TILETUNE" lookup toy.json row_softmax -p rows=4096,cols=1200 --path . --path "$ROOT/tests/toy" | grep -c 'nearest by model'
"$TILETUNE" advise row_softmax --sweep cols=1000:2000:500 -p rows=4096 --path . --path "$ROOT/tests/toy" --device model:toy | sed -n 3p
# the bytes at the sheet's 100 GB/s: nothing is predicted to be faster
"$TILETUNE" explain row_softmax -p rows=262144,cols=1024 --path . --path "$ROOT/tests/toy" -d model:toy --json >explained.json
python3 -c '
import json
score = json.load(open("explained.json"))["candidates"][0]["score"]
print(score["bound"], score["predicted_time_us"] >= 2 * 4 * 262144 * 1024 / 1e11 * 1e6, score["predicted_tflops"])'
