# An operation, a family and a device that no C code knows: tuned on the device model.
"$TILETUNE" tune row_softmax -p rows=4096,cols=1000,dtype=bf16 --path "$ROOT/tests/toy" \
	--device model:toy --effort estimate --budget 10m -o toy.json >talk.txt 2>&1 || cat talk.txt
# little to compute: GB/s beside the FLOP/s, the entry's; a product of matrices has none
grep -cE '^ +(winner|runner-up|bound by).* TFLOP/s, [0-9]+ GB/s' talk.txt
tr -d '\n\t' <toy.json | grep -oE '"gb_per_s":[0-9.]+' | sed 's/.*://' | while read -r rate; do
	grep winner talk.txt | grep -c ", $(printf %.0f "$rate") GB/s"
done
speed() { "$TILETUNE" explain "$@" -d model:h200-sxm | grep 'bound by' | sed -E 's/[0-9.]+/N/g'; }
speed gemm -p M=4096,N=4096,K=4096,dtype=bf16 -f mma -c BM=128,BN=128
speed gemm -p M=1,N=8192,K=8192,dtype=bf16 -f mma
grep -o '"format":.*"' toy.json | tr -d '\t'
grep -c '"timing":	"predicted"' toy.json
grep -m 1 -o '"family":.*"' toy.json | tr -d '\t'
grep -c '"event":"evaluation"' toy.journal.jsonl
