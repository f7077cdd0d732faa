# What is tuned already, elsewhere: it is not tuned again, and near problems begin with it. A recorded journal is
# replayed.
recording=$ROOT/results/nvidia-h200/decode.journal.jsonl.gz
export TILETUNE_PATH="$ROOT"
tune() { "$TILETUNE" tune --suite decode -d "replay:$recording" --budget 10m "$@" 2>&1 | grep -E 'known|^tiletune:|^hint:'; }
tune -o whole.json
tune --shard 1/3 -o first.json
tune --known first.json -o rest.json
/usr/bin/python3 - <<'PYTHON'
import copy, json, os
whole, first, rest = (json.load(open(name + ".json")) for name in ("whole", "first", "rest"))
def winners(tuned):
    return {json.dumps(entry["problem"]): entry["winner"]["configuration"] for entry in tuned["entries"]}
print("the same problems:", winners(whole).keys() == winners(rest).keys())
print("the same winners of known ones:", all(winners(rest)[key] == value for key, value in winners(first).items()))
runs = {run["id"] for run in first["runs"]}
print("of the first run:", sum(entry["run"] in runs for entry in rest["entries"]), "of", len(first["entries"]))
# another kernel than the sources make, or a search that was stopped; a prediction
for name, member, value in (("hash", "kernel_hash", "0" * 32), ("predicted", None, "predicted")):
    other = copy.deepcopy(first)
    for i, entry in enumerate(other["entries"]):
        if member and i % 2:
            entry["winner"][member] = value
        elif member:
            entry["unfinished"] = True
        else:
            entry["timing"] = value
    json.dump(other, open(name + ".json", "w"))
# written before the operation had these keys
for entry in first["entries"]:
    del entry["problem"]["page"], entry["problem"]["head_dim_v"]
os.mkdir("older")
json.dump(first, open("older/tuned.json", "w"))
# one problem, with a winner that a neighbour's search found slow: it is what a search of one candidate tries
lines = [json.loads(line) for line in open("whole.journal.jsonl")]
numbers = {line["number"]: line["text"] for line in lines if line["event"] == "problem"}
near = next(number for number, text in numbers.items() if "batch=1,heads=32,seq_q=1,seq_k=32768" in text)
slow = max((line for line in lines if line["event"] == "evaluation" and line["problem"] == near and line["outcome"] == "ok"),
           key=lambda line: line["time_us"]["median"])
kept = next(entry for entry in whole["entries"] if entry["problem"]["batch"] == 1 and entry["problem"]["seq_k"] == 8192)
far = next(entry for entry in whole["entries"] if entry["problem"]["batch"] == 64)
kept["winner"]["configuration"] = dict(
    (name, int(value)) for name, value in (pair.split("=") for pair in slow["configuration"].split(",")))
kept["winner"]["family"] = slow["family"]
whole["entries"] = [far, kept]
json.dump(whole, open("near.json", "w"))
open("near", "w").write(numbers[near])
open("slow", "w").write(slow["family"] + " {" + slow["configuration"] + "}")
PYTHON
tune --known hash.json -o x.json --shard 1/3
tune --known predicted.json -o y.json --shard 1/3
tune --known older -o z.json --shard 1/3
one() {
	"$TILETUNE" tune attention -p "$(cat near)" -d "replay:$recording" --no-journal -o - --strategy model_top -e quick "$@" 2>&1 >/dev/null |
		grep -c -F "$(cat slow)"
}
one --evaluations 1
one --evaluations 1 --known near.json
# another compiler's is not known
toy() {
	"$TILETUNE" tune row_softmax -p rows=256,cols=512 --path "$ROOT/tests/toy" -d model:toy -e estimate --evaluations 1 \
		--no-journal "$@" 2>&1 | grep known
}
toy -o toy.json
toy --known toy.json -o taken.json
sed -i '/"nvrtc"/s/(V/(V9/' toy.json
toy --known toy.json -o other.json
# a folder: others' files lie there, too
mkdir folder
cp first.json rest.json "$ROOT/configs/suites/decode.json" "$ROOT/configs/devices/h200-sxm.json" folder
sed 's/H200/A100/g; s/h200-sxm/a100-sxm4/' whole.json >folder/other.json
echo '{' >folder/broken.json
tune --known folder -o all.json
"$TILETUNE" validate all.json
# what is in the folder is looked up in an index, which is never out of date, and which a damaged one is not
known() { tune --known folder --shard 1/3 -o again.json; rm -f again.json; }
rm folder/rest.json
known
cp folder/.tiletune.index kept
/usr/bin/python3 - <<'PYTHON'
import json
first = json.load(open("folder/first.json"))
del first["entries"][0]
json.dump(first, open("folder/first.json", "w"))
PYTHON
known
cp kept folder/.tiletune.index
known
tr 1 2 <folder/.tiletune.index >damaged
cp damaged folder/.tiletune.index
known
cmp -s damaged folder/.tiletune.index || echo "made anew"
cp first.json folder
known
rm folder/first.json
one --evaluations 1 --known folder >talk.txt
grep -c "^measured" folder/.tiletune.index
for file in folder/other.json folder/broken.json folder/decode.json none.json; do
	tune --known $file -o none.json
done
[ -e none.json ] || echo "nothing is written"
