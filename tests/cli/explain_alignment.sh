# "What shapes do matrix multiplications like": each number of the machine's answer, on an A100 with
# tiles of 256x128. A matrix of 257x128 needs two tiles; a row of 1793 elements begins no line.
explain() {
	"$TILETUNE" explain gemm -p "$1",dtype=fp16 --family mma --config BM=256,BN=128 \
		--device model:a100-sxm4 --json >answer.json || cat answer.json
	/usr/bin/python3 - "$1" <<'PYTHON'
import json, sys
answer = json.load(open("answer.json"))
candidate, = answer["candidates"]
facts = {fact["name"]: fact["value"] for fact in candidate["facts"]}
score = candidate["score"]
print(answer["format"], sys.argv[1], candidate["configuration"]["BM"],
      candidate["configuration"]["BN"], "BM" in candidate["filled_in"],
      "SPLIT_K" in candidate["filled_in"])
print("  tiles %g on %g slots, %g waves (%.4f), wave efficiency %.4f, tile efficiency %.4f" % (
    score["tiles"], score["slots_per_wave"], score["waves"], score["waves_exact"],
    score["wave_efficiency_ratio"], score["tile_efficiency_ratio"]))
for name in ("tiles along M", "tiles along N", "rows in the last tile along M",
             "columns in the last tile along N", "bytes by which a row of A misses a cache line",
             "widest aligned access to rows of A", "elements in a cache line"):
	print("  %s: %s" % (name, facts[name]))
print("  every row is a line's: %s" % (score["lines_per_row_ratio"] == 1))
PYTHON
}
explain M=1792,N=1792,K=1792
explain M=1793,N=1793,K=1793
explain M=256,N=128,K=128
explain M=257,N=128,K=128
