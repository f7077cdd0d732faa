# Shards of one GPU model made into one file; what is refused leaves every file as it is.
cat >make.py <<'PYTHON'
import copy
import json
import sys

whole = json.load(open(sys.argv[1] + "/results/nvidia-h200/tuned.json"))
mould = next(entry for entry in whole["entries"] if entry["operation"] == "gemm")
del whole["runs"][1:]
whole["entries"] = []
for number in range(8):
    entry = copy.deepcopy(mould)
    entry["problem"] = {"M": 64 * number + 64, "N": 64, "K": 64, "dtype": "bf16", "b_layout": "nk", "lda": 64, "ldb": 64,
        "ldc": 64, "out_dtype": "bf16", "act": "none", "accum": "fast"}
    entry["families"] = [copy.deepcopy(entry["winner"])]
    entry["tied"] = []
    for row in [entry["winner"], *entry["families"]]:
        row["time_us"].update(median=10.0, ci95_low=10.0, ci95_high=10.0)
    whole["entries"].append(entry)


def write(name, entries, run=None, device=None, timing=None, scale=1.0):
    shard = copy.deepcopy({**whole, "entries": whole["entries"][entries]})
    shard["device"].update(device or {})
    if run:
        shard["runs"] = [{**shard["runs"][0], "id": run, "date": run + "T00:00:00Z"}]
    for entry in shard["entries"]:
        entry["timing"] = timing or entry["timing"]
        entry["run"] = run or entry["run"]
        for row in [entry["winner"], *entry["families"]]:
            for key in ("median", "ci95_low", "ci95_high"):
                row["time_us"][key] *= scale
    json.dump(shard, open(name, "w"))


write("a.json", slice(0, 6), run="2026-01-01")
write("b.json", slice(4, 8), run="2026-01-01")
write("later.json", slice(2, 4), run="2030-01-01", scale=2.0)
write("earlier.json", slice(2, 4), run="2000-01-01", scale=0.5)
write("predicted.json", slice(3, 5), run="2031-01-01", timing="predicted", scale=0.1)
write("other.json", slice(0, 1), device={"name": "NVIDIA L4", "sheet": "l4", "compute_capability": 89, "sm_count": 58})
write("fewer.json", slice(0, 1), device={"sm_count": 114})
PYTHON
cat >show.py <<'PYTHON'
import json
import sys

merged = json.load(open(sys.argv[1]))
for entry in merged["entries"]:
    print(f"{entry['problem']['M']}:{entry['winner']['time_us']['median']:g} {entry['timing'][0]} {entry['run']}", end="; ")
print(f"runs: {' '.join(run['id'] for run in merged['runs'])}")
PYTHON
/usr/bin/python3 make.py "$ROOT"
show() { /usr/bin/python3 show.py "$1"; }
try "$TILETUNE" merge a.json b.json -o ab.json
show ab.json
"$TILETUNE" validate ab.json
for rule in newest fastest first; do
	try "$TILETUNE" merge a.json later.json earlier.json --on-conflict $rule -o $rule.json
	show $rule.json
done
try "$TILETUNE" merge earlier.json later.json -o in_place.json
try "$TILETUNE" merge in_place.json a.json -o in_place.json
show in_place.json
# a prediction neither comes nor stays, however fast and new
try "$TILETUNE" merge a.json predicted.json --on-conflict fastest -o measured.json
show measured.json
try "$TILETUNE" merge predicted.json a.json --on-conflict first -o measured.json
show measured.json
"$TILETUNE" merge a.json b.json -o - 2>talk.txt >stdout.json
cat talk.txt
show stdout.json
# into a folder with a file for each GPU model; one has no sheet
mkdir fleet
sed 's/"name": "NVIDIA L4", "sheet": "l4"/"name": "NVIDIA  L4 (x)"/' other.json >unlisted.json
try "$TILETUNE" merge a.json other.json fewer.json unlisted.json --update fleet
try "$TILETUNE" merge b.json later.json other.json --update fleet/
for file in fleet/*; do
	echo "$file"
	show "$file"
done
"$TILETUNE" validate fleet/*.json | grep -v ': ok'
# refused, and nothing is written
cp fleet/l4-58.json wrong
cp b.json fleet/l4-58.json
cp fleet/h200-sxm-132.json before.json
try "$TILETUNE" merge a.json other.json --update fleet
cmp before.json fleet/h200-sxm-132.json
try "$TILETUNE" merge a.json --update none
try "$TILETUNE" merge a.json --update fleet -o x.json
rm -r fleet wrong
cp a.json before.json
try "$TILETUNE" merge a.json later.json --on-conflict fail -o a.json
try "$TILETUNE" merge a.json other.json -o a.json
try "$TILETUNE" merge a.json fewer.json -o new.json
try "$TILETUNE" merge a.json missing.json -o a.json
try "$TILETUNE" merge a.json make.py -o a.json
try "$TILETUNE" merge a.json b.json
try "$TILETUNE" merge a.json b.json --on-conflict slowest -o a.json
cmp a.json before.json && ls *.json | tr '\n' ' '
