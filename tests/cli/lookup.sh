# What a tuned file knows: its own problem, another one by the model, another GPU's only when asked.
toy="$ROOT/tests/toy"
"$TILETUNE" tune row_softmax -p rows=256,2048,cols=512 --path "$toy" --device model:toy \
	--effort estimate --budget 10m -o tuned.json >talk.txt 2>&1 || cat talk.txt
lookup() { "$TILETUNE" lookup tuned.json row_softmax --path "$toy" "$@" 2>&1 | sed -E 's/[0-9.]+ us/T us/g; s/loss [0-9.]+%/loss L/'; }
lookup -p rows=256,cols=512
lookup -p rows=300,cols=500
lookup -p rows=300,cols=500 --quick
lookup -p rows=300,cols=500 --device model:h200-sxm
lookup -p rows=300,cols=500 --device model:h200-sxm --any-device | sed -n 2p
lookup -p rows=300,colz=500
lookup
# beside an entry of another operation
/usr/bin/python3 - <<'PYTHON'
import json
tuned = json.load(open("tuned.json"))
other = json.loads(json.dumps(tuned["entries"][0]))
other["operation"] = "gemm"
other["problem"] = {"M": 64, "N": 64, "K": 64, "dtype": "bf16"}
tuned["entries"].insert(0, other)
json.dump(tuned, open("mixed.json", "w"))
PYTHON
"$TILETUNE" lookup tuned.json row_softmax --path "$toy" -p rows=300,cols=500 >alone.txt
"$TILETUNE" lookup mixed.json row_softmax --path "$toy" -p rows=300,cols=500 >mixed.txt
cmp alone.txt mixed.txt && echo "the same answer"
# a folder of tuned files answers as they would together; of what it has exactly, other files are not read
mkdir folder && /usr/bin/python3 - <<'PYTHON'
import json
tuned = json.load(open("tuned.json"))
for i, entry in enumerate(tuned["entries"]):
    json.dump({**tuned, "entries": [entry]}, open(f"folder/{i}.json", "w"))
PYTHON
for rows in 300 256 2048; do
	"$TILETUNE" lookup tuned.json row_softmax --path "$toy" -p rows=$rows,cols=512 --json -d model:toy | grep -v '"file"' >alone.txt
	"$TILETUNE" lookup folder row_softmax --path "$toy" -p rows=$rows,cols=512 --json -d model:toy | grep -v '"file"' | cmp - alone.txt && grep -o '"grade":.*' alone.txt
done
touch -r folder/0.json stamp && tr '[:print:]' x <folder/0.json >bad && cat bad >folder/0.json && touch -r stamp folder/0.json
lookup2() { "$TILETUNE" lookup folder row_softmax --path "$toy" -d "$1" -p "rows=$2,cols=512" 2>&1 | tail -n 1 | sed -E 's/[0-9.]+ us/T us/g; s/column.*//'; }
lookup2 model:toy 2048
lookup2 model:toy 300
lookup2 model:h200-sxm 300
mkdir packed && gzip -c tuned.json >packed/tuned.json.gz
"$TILETUNE" lookup packed row_softmax --path "$toy" -d model:toy -p rows=2048,cols=512 | grep -o 'exact'
"$TILETUNE" lookup folder row_softmax --path "$toy" -p rows=300,cols=512
# the default that an answer is compared with is its own family's, whichever row comes first
cp -R "$toy" two
sed 's/"defaults": {[^}]*}/"defaults": {"ROW_THREADS": 32, "ROWS": 2, "UNROLL": 1, "TURNS": 1}/' \
	"$toy/templates/row_softmax/online.json" >two/templates/row_softmax/twin.json
/usr/bin/python3 - <<'PYTHON'
import json
tuned = json.load(open("tuned.json"))
twin = json.loads(json.dumps(tuned["entries"][0]).replace("row_softmax/online", "row_softmax/twin"))
twin["problem"]["rows"] = 100
twin["winner"]["configuration"] = {"ROW_THREADS": 32, "ROWS": 2, "UNROLL": 1, "TURNS": 1}
twin["tied"] = []
tuned["entries"].insert(0, twin)
json.dump(tuned, open("two.json", "w"))
PYTHON
for file in tuned two; do
	"$TILETUNE" lookup $file.json row_softmax --path two -p rows=300,cols=500 --json |
		grep -E '"(family|default_us)"' >$file.txt
done
sed -n 1p two.txt && cmp tuned.txt two.txt && echo "the same default"
# refused: exit code 1, the answer is there all the same
sed 's/row_softmax\/online/row_softmax\/gone/' tuned.json >gone.json
try "$TILETUNE" lookup gone.json row_softmax -p rows=300,cols=500 --path "$toy"
"$TILETUNE" lookup gone.json row_softmax -p rows=300,cols=500 --path "$toy" --json 2>/dev/null | grep grade
# the committed file of the H200
"$TILETUNE" lookup "$ROOT/results/nvidia-h200/tuned.json" gemm \
	-p M=4000,N=4096,K=4096,dtype=bf16 --json >answer.json && "$TILETUNE" validate answer.json
grep -o '"grade":.*' answer.json
# what was not compared with a reference is said
for verified in reference self; do
	gzip -dc "$ROOT/results/nvidia-h200/drawn.json.gz" | sed "s/\"winner\":.*{/&\"verified\": \"$verified\",/" >$verified.json
	"$TILETUNE" lookup $verified.json gemm -p M=128,N=4096,K=7168,dtype=bf16 | grep -E '^(gemm|  verified)'
done
# among its rows is one whose registers, as the model estimates them here, leave no SM room for a block
"$TILETUNE" lookup "$ROOT/results/nvidia-h200/drawn.json.gz" gemm \
	-p M=128,N=4096,K=7168,dtype=fp8_e4m3,accum=promoted --json >answer.json && "$TILETUNE" validate answer.json
