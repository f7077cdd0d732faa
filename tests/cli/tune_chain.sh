# A composite family competes: its steps are tuned first, as entries of their own; the second time
# they are looked up, but for one whose search was stopped. The tuned file passes its schema.
tune() {
	"$TILETUNE" tune gemm_chain -p m=256,k=64,n=128,p=64,dtype=fp16 --device model:a100-sxm4 \
		--effort estimate --budget 10m -o chain.json "$@" >talk.txt 2>&1 || cat talk.txt
	grep -oE '^\[[0-9]/[0-9]\] [a-z_]+' talk.txt
	grep -oE 'gemm_chain/separate +1 conf.*' talk.txt | tr -s ' '
}
tune
"$TILETUNE" validate chain.json chain.journal.jsonl
/usr/bin/python3 - <<'PYTHON'
import json
entries = {}
tuned = json.load(open("chain.json"))
for entry in tuned["entries"]:
	entries.setdefault(entry["operation"], []).append(entry)
chain, = entries["gemm_chain"]
rows = {row["family"]: row for row in chain["families"]}
separate = rows["gemm_chain/separate"]
print([step["operation"] for step in separate["steps"]], separate["configuration"])
for step, entry in zip(separate["steps"], entries["gemm"]):
	winner = entry["winner"]
	print(step["problem"] == entry["problem"], step["family"] == winner["family"],
	      step["configuration"] == winner["configuration"],
	      step["kernel_hash"] == winner["kernel_hash"])
buffers = {name for launch in separate["launches"] for name in launch["args"] if isinstance(name, str)}
print(sorted(buffers & {"A", "B", "C", "Y", "intermediate"}),
      [workspace["name"] for workspace in separate["workspaces"]][0])
others = [row for row in chain["families"] if row["family"] != chain["winner"]["family"]]
best = min(row["time_us"]["median"] for row in others)
print(abs(chain["margin"]["ratio"] - best / chain["winner"]["time_us"]["median"]) < 1e-9)
entries["gemm"][1]["unfinished"] = True
json.dump(tuned, open("chain.json", "w"))
PYTHON
echo again
tune --fresh
