# The two published rules of the attention document as strategies, and as rows of any other run.
problem=batch=1,heads=16,seq_q=1024,seq_k=1024,head_dim=32,dtype=fp16
for rule in largest_fit occupancy_per_iteration; do
	"$TILETUNE" tune attention -p $problem -f tiled_simt --device model:a100-sxm4 \
		--strategy rule:$rule -o $rule.json >talk.txt 2>&1 || cat talk.txt
	grep -oE 'winner.*\{[^}]*\}' talk.txt | grep -oE '\{.*' | sed "s/^/$rule /"
done
# the same with the document's own budget of 160 KiB
mkdir -p budget/configs
cp -R "$ROOT/configs/devices" budget/configs/
sed 's/"smem_per_block_bytes": {"value": 166912/"smem_per_block_bytes": {"value": 163840/' \
	"$ROOT/configs/devices/a100-sxm4.json" >budget/configs/devices/a100-sxm4.json
cmp -s "$ROOT/configs/devices/a100-sxm4.json" budget/configs/devices/a100-sxm4.json && echo "not changed"
for rule in largest_fit occupancy_per_iteration; do
	"$TILETUNE" tune attention -p $problem -f tiled_simt --device model:a100-sxm4 --path budget --path "$ROOT" \
		--strategy rule:$rule -o $rule.json --fresh >talk.txt 2>&1 || cat talk.txt
	grep -oE 'winner.*\{[^}]*\}' talk.txt | grep -oE '\{.*' | sed "s/^/160 KiB: $rule /"
done
try "$TILETUNE" tune attention -p $problem --device model:a100-sxm4 --strategy rule:largest -o none.json
"$TILETUNE" tune attention -p $problem -f tiled_simt --device model:a100-sxm4 --evaluations 5 --budget 10m \
	--where 'BM % 8 == 0 and BN == BM' -o quick.json >talk.txt 2>&1 || cat talk.txt
"$TILETUNE" validate quick.json
/usr/bin/python3 - <<'PYTHON'
import json
entry, = json.load(open("quick.json"))["entries"]
best = entry["winner"]["time_us"]["median"]
for rule in entry["rules"]:
	print(rule["name"], rule["family"], rule["configuration"], rule["timing"], rule["outcome"],
	      abs(rule["regret_ratio"] - (rule["time_us"] / best - 1)) < 1e-9)
PYTHON
