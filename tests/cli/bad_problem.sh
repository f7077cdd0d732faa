# Problems, operations, families, devices and options that are not right: what was expected, what was
# found, the nearest name, exit code 2; nothing is written.
tune() { try "$TILETUNE" tune "$@" | sed 's/one of those in .* (/one of those in FOLDERS (/'; }
export TILETUNE_PATH="$ROOT:$ROOT/tests/data/replay"
m=model:h200-sxm
recording=replay:$ROOT/tests/data/replay/measured.jsonl.gz

echo "# names"
tune tile -n -d $m -p
tune gem -p M=1,N=1,K=1,dtype=bf16 -n -d $m
tune nothing_like_it -p M=1 -n -d $m
tune -p M=1 -n -d $m
tune gemm -n -d $m
tune tile -p M=64,N=64,K=64 -f dirct -n -d $m
tune tile -p M=64,N=64,K=64 -f gemm/mma -n -d $m
tune tile -p M=64,N=64,K=64 -n -d model:h200-smx
tune tile -p M=64,N=64,K=64 -n -d modle:h200-sxm
tune tile -p M=64,N=64,K=64 -n -d h200-sxm
tune tile -p M=64,N=64,K=64 -n -d replay:
tune tile -p M=64,N=64,K=64 -n -d replay:missing.jsonl
tune tile -p M=64,N=64,K=64 --suite nosuite -n -d $m
tune tile -p M=1000,N=1000,1001,K=512 --strategy exhaustiv -d "$recording" --no-journal -o x.json
tune tile -p M=1000,N=1000,K=512 --where 'FOO == 1' -d "$recording" --no-journal -o - # nothing on stdout

echo "# what the card cannot hold, and what one family cannot take"
tune gemm -p M=400000,N=400000,K=64,dtype=bf16 -e estimate --no-journal -o big.json -d $m
try "$TILETUNE" explain gemm -p M=400000,N=400000,K=64,dtype=bf16 -d $m
tune gemm -p M=8,N=8,K=2147483647,dtype=bf16 --where 'BM == 64 and BN == 16 and BK == 64' \
	-e estimate --evaluations 1 --no-journal -o long.json -d $m | grep -E "compete|wrote|exit"

echo "# keys"
tune gemm -p M=64,N=64,L=64,dtype=bf16 -n -d $m
tune gemm -p M=64,N=64,K=64,dtyp=bf16 -n -d $m
tune gemm -p M=64,N=64,K=64,dtype=bf61 -n -d $m
tune gemm -p M=64,N=64,dtype=bf16 -n -d $m
tune gemm -p M=64,M=32,N=64,K=64,dtype=bf16 -n -d $m
tune gemm -p M=64,,N=64 -n -d $m
tune gemm -p "" -n -d $m

echo "# sizes"
for size in 0 -1 x 1.5 1e3 "" 2147483648 99999999999999999999 4:1 1:4:0 1:4:-1; do
	tune tile -p "M=$size,N=64,K=64" -n -d $m
done
tune gemm -p M=64,N=64,K=64,dtype=bf16,lda=8 -n -d $m
tune gemm -p M=64,N=64,K=64,dtype=fp8_e4m3,b_layout=kn -n -d $m

echo "# configurations"
tune tile -p M=64,N=64,K=64 -w "BM == 999" -n -d $m
tune tile -p M=64,N=64,K=64 -w "BMM == 64" -n -d $m
tune tile -p M=64,N=64,K=64 -w "BM == " -n -d $m
tune tile -p M=64,N=64,K=8 -f split -n -d $m
try "$TILETUNE" explain tile -p M=64,N=64,K=64 --config BM=64,BQ=64 -d $m -f direct
try "$TILETUNE" explain tile -p M=64,N=64,K=64 --config BM=64,BN=two -d $m -f direct
try "$TILETUNE" explain tile -p M=64,N=64,K=64 --config BM=256,BN=256 -d $m -f direct

echo "# options"
tune tile -p M=64,N=64,K=64 --budget soon -n -d $m
tune tile -p M=64,N=64,K=64 --workers many -n -d $m
tune tile -p M=64,N=64,K=64 --effort -n -d $m
tune tile extra -p M=64,N=64,K=64 -n -d $m

echo "# a recording that does not have the problem"
tune tile -p M=64,N=64,K=64 -d "$recording" --no-journal -o x.json
ls
echo "# a folder that is not there; one that a file's operation is not in"
try "$TILETUNE" families --path mny | sed 2q
echo '{"format": "tiletune.tuned/1", "device": {"name": "x", "compute_capability": 90, "sm_count": 1}, "runs": [], "entries": []}' >empty.json
try "$TILETUNE" lookup empty.json softmax -p rows=1 | grep hint
echo "# a problem whose amounts need more than 64 bits is the one that is named"
try "$TILETUNE" explain gemm -p M=2147483647,N=2147483647,K=2147483647,dtype=bf16 --device model:h200-sxm 2>&1 |
	sed 's/,b_layout=[^:]*:/,...:/; s,: [^ ]*/templates/,: templates/,'
