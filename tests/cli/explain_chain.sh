# "When to tile two matrix multiplies": both families answer, with the document's formulas as printed
# (p = k, b = k), what follows from them, and what the loops really move.
# facts and traffic of kernels that need not be compiled
export TILETUNE_NVRTC=/none
# the products' own tiles do not matter here: few of them
cp -R "$ROOT/templates" "$ROOT/configs" .
sed -i 's/"constraints": \[/&{"expr": "BM <= 64 and BN <= 64", "why": "few"},/' templates/gemm/*mma*.json templates/gemm/simt.json
export TILETUNE_PATH="$PWD"
explain() {
	"$TILETUNE" explain gemm_chain -p "$1" --device model:a100-sxm4 --json >answer.json ||
		cat answer.json
	/usr/bin/python3 - "$1" <<'PYTHON'
import json, sys
m, k, n, p = (int(part.split("=")[1]) for part in sys.argv[1].split(",")[:4])
answer = json.load(open("answer.json"))
print(sys.argv[1])
for candidate in answer["candidates"]:
	if candidate["family"] not in ("gemm_chain/separate", "gemm_chain/fused"):
		continue
	print(" ", candidate["family"])
	facts = {fact["name"]: fact["value"] for fact in candidate["facts"]}
	if candidate["family"].endswith("separate"):
		steps = candidate["steps"]
		print("  separate:", [(step["operation"], [step["problem"][key] for key in "MNK"])
		                      for step in steps],
		      "traffic is the steps' or less:",
		      candidate["traffic"]["dram_bytes"] <= sum(s["traffic"]["dram_bytes"] for s in steps),
		      "all of it on L2's side:",
		      candidate["traffic"]["l2_bytes"] == sum(s["traffic"]["l2_bytes"] for s in steps))
	elif k == p:
		print("  FLOP as printed", facts["as printed, b = k: FLOP, separate"] == 4*m*n*k,
		      facts["as printed, b = k: FLOP, tiled jointly"] == 2*m*n*k*2)
		print("  accesses as printed", facts["as printed, b = k: accesses, separate"] == 2*m*n*3,
		      facts["as printed, b = k: accesses, tiled jointly"] == 2*m*n*(-(-n//k) + 1))
		print("  so separate has fewer:", facts["as printed, b = k: separate has fewer accesses"],
		      "(n > 2k: %s)" % (n > 2*k),
		      "b^2 + bk - kn =", facts["as printed, b = k: b^2 + bk - kn"])
		print("  in numbers: FLOP %d %d, accesses %d %d, refetch corrected %d" % (
			facts["as printed, b = k: FLOP, separate"], facts["as printed, b = k: FLOP, tiled jointly"],
			facts["as printed, b = k: accesses, separate"], facts["as printed, b = k: accesses, tiled jointly"],
			facts["refetch corrected, b = k: accesses, tiled jointly"]))
		print("  refetch corrected, fusing has fewer:",
		      facts["refetch corrected, b = k: tiled jointly has fewer accesses"])
	print("  least DRAM traffic: separate %d, fused %d" % (
	    facts["separate: least DRAM traffic"], facts["fused: least DRAM traffic"]))
PYTHON
}
explain m=16384,k=64,n=1024,p=64,dtype=fp16
explain m=16384,k=64,n=128,p=64,dtype=fp16
explain m=8192,k=64,n=4096,p=128,dtype=bf16

echo "a block of fewer columns than k: separate has fewer accesses iff b^2 + bk - kn < 0"
for n in 32 64 1024; do
	"$TILETUNE" explain gemm_chain -p m=4096,k=64,n=$n,p=64,dtype=fp16 --family fused --config BP=32 \
		--device model:a100-sxm4 --json >answer.json || cat answer.json
	/usr/bin/python3 - $n <<'PYTHON'
import json, sys
m, k, n, b = 4096, 64, int(sys.argv[1]), 32
facts = {fact["name"]: fact["value"] for fact in json.load(open("answer.json"))["candidates"][0]["facts"]}
name = "as printed, b = BP: "
print(n, facts[name + "FLOP, separate"] == 4*m*n*k, facts[name + "FLOP, tiled jointly"] == 2*m*n*k*3,
      facts[name + "accesses, separate"] == 2*m*n*(2*k/b + 1),
      facts[name + "accesses, tiled jointly"] == 2*m*n*k/b*(-(-n//b) + 1),
      facts[name + "b^2 + bk - kn"], "separate has fewer:", facts[name + "separate has fewer accesses"],
      "refetch corrected, fusing has fewer:", facts["refetch corrected, b = BP: tiled jointly has fewer accesses"])
PYTHON
done
echo "the transformer's MLP, and what the document's derivation got wrong"
"$TILETUNE" explain gemm_chain -p batch=16,seq=768,k=4096,n=16384,p=4096,dtype=bf16 --device model:h200-sxm \
	--family fused --json >answer.json || cat answer.json
/usr/bin/python3 - <<'PYTHON'
import json
answer = json.load(open("answer.json"))
facts = {fact["name"]: fact for fact in answer["candidates"][0]["facts"]}
tokens = facts["the document's MLP: tokens per sample, 16 samples"]
print(answer["problem"]["m"], tokens["value"], "not", 3*4096//64, "3d/64" in tokens["source"])
source = facts["the document's condition k < n/3"]["source"]
print("wrong way round" in source, "lost its factor k" in source, "n > 2k" in source)
PYTHON
echo "the rule answers for any sheet; on the H200 as the committed map says"
verdict() { # problem, device
	"$TILETUNE" explain gemm_chain -p "$1,dtype=bf16" --device "model:$2" --family fused \
		--config BM=64,BP=64,BK=64,BN=64 --json >answer.json || cat answer.json
	/usr/bin/python3 - "$1" "$2" "$ROOT/results/nvidia-h200/chain_map.csv" <<'PYTHON'
import csv, json, sys
problem, device, table = sys.argv[1:]
facts = {fact["name"]: fact["value"] for fact in json.load(open("answer.json"))["candidates"][0]["facts"]}
gain = facts["rule: two products"] / facts["rule: one kernel"]
line = [problem, device, facts["rule: verdict"], "gain %.2f" % gain, facts["rule: gain of fusing"] == gain]
for row in csv.DictReader(open(table)) if device == "h200-sxm" else []:
	if problem == "m=%(m)s,k=%(k)s,n=%(n)s,p=%(p)s" % row:
		line += ["in the table:", abs(float(row["rule_gain"]) / gain - 1) < 1e-3, "right:", row["right"]]
print(*line)
PYTHON
}
for device in h200-sxm a100-sxm4; do
	verdict m=16384,k=64,n=1024,p=64 $device
	verdict m=65536,k=64,n=64,p=64 $device
	verdict m=4096,k=128,n=4096,p=128 $device
	verdict m=2048,k=8192,n=32768,p=8192 $device
done
echo "a step that no family can do is the reason that is said"
cp -R "$ROOT/tests/data/kernel" kernel
sed -i 's/"source"/"requires": ["kind == '"'one'"'"], &/' kernel/templates/gadget/plain.json
try "$TILETUNE" explain widget -f pair -p M=128,N=64,dtype=fp32 --path kernel --device model:a100-sxm4
