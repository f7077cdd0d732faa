# "Must tiles be powers of two": what the document computes for head_dim 32 on an A100, from the
# machine's answer. 64x64 and 32x64 are its powers of two; 48x96 its tensor-core tile.
explain() {
	"$TILETUNE" explain attention \
		-p batch=1,heads=16,seq_q=1024,seq_k=1024,head_dim=32,dtype=fp16 \
		--family tiled_simt --config "$1" --device "model:${2:-a100-sxm4}" --json >answer.json || cat answer.json
	/usr/bin/python3 - "$1" <<'PYTHON'
import json, sys
candidate, = json.load(open("answer.json"))["candidates"]
facts = {fact["name"]: fact["value"] for fact in candidate["facts"]}
score = candidate["score"]
print(sys.argv[1], score["tiles"], "blocks,", score["blocks_per_sm"], "per SM, occupancy",
      score["occupancy_ratio"], "compiled" if candidate["resources"] else "not compiled")
registers = max((launch["regs_per_thread"] for launch in candidate["resources"]), default=0)
print("  at most 80 registers:", registers <= 80)
print("  KiB: %.2f" % facts["the same in KiB"])
for name in ("shared memory by the design's formula", "blocks per SM by shared memory alone", "query tiles", "key iterations",
             "blocks of the grid", "16x16 fragments of a tile of scores", "of these full",
             "cache lines of a query tile", "row stride of S modulo banks"):
	print("  %s: %s" % (name, facts[name]))
PYTHON
}
explain BM=120,BN=120
explain BM=45,BN=90
explain BM=32,BN=64
explain BM=64,BN=64
explain BM=48,BN=96
explain BM=37,BN=53
# does not fit on an A100: 166,912 bytes are the most that a block may have there
try "$TILETUNE" explain attention -p batch=1,heads=16,seq_q=1024,seq_k=1024,head_dim=32,dtype=fp16 \
	--family tiled_simt --config BM=128,BN=128 --device model:a100-sxm4
explain BM=128,BN=128 h200-sxm
