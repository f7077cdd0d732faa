# The saw-tooth with a fixed configuration: waves begin where tiles pass a multiple of the slots.
"$TILETUNE" advise gemm -p M=1792,K=1024,dtype=fp16 --sweep N=1024:2560:128 --family mma \
	--config BM=256,BN=128,BK=32,STAGES=3,MIN_BLOCKS=1,SPLIT_K=1 --device model:a100-sxm4 \
	--csv sweep.csv -o sweep.svg >plot.txt || cat plot.txt
head -n 1 sweep.csv
sed -E 's/,gemm[^"]*"[^"]*"/ /; s/,/ /g' sweep.csv | awk 'NR > 1 { print $1, $2 " tiles", $3 " waves" }'
grep -o '<circle' sweep.svg | wc -l
/usr/bin/python3 -c 'import xml.dom.minidom as x; print(x.parse("sweep.svg").documentElement.tagName)'
grep -cE '^ +[0-9.]+ \|' plot.txt
grep -oE 'predicted, not measured|\| another number of waves' plot.txt
"$TILETUNE" advise gemm -p M=1792,K=1024,dtype=fp16 --sweep N=1024:2560:128 --family mma \
	--config BM=256,BN=128,BK=32,STAGES=3,MIN_BLOCKS=1,SPLIT_K=1 --device model:a100-sxm4 --json >sweep.json
"$TILETUNE" validate sweep.json
sed 's/"waves_exact":.*/"waves_exact": null,/' sweep.json >bad.json
try "$TILETUNE" validate bad.json
/usr/bin/python3 -c 'import json; print(json.load(open("sweep.json"))["wave_edges"])'
try "$TILETUNE" advise gemm -p M=64,K=64,dtype=fp16 --sweep N=64:128:64 --config BM=64 --device model:a100-sxm4
echo "# keys that were not given are the operation's"
TILETUNE_NVRTC=/nonexistent "$TILETUNE" advise attention --sweep seq_q=64:128:64 -p seq_k=64 --device model:h200-sxm --json 2>/dev/null |
	/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["first_problem"])'
