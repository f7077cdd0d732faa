# Keys of gemm that came later: files from before have their defaults, in lookup, tune, merge and check; which
# families take which values; what a wrong one is told.
device=model:h200-sxm
problem=M=96,N=64,K=256,dtype=bf16
for keys in dtype=bf16,scale=block dtype=fp8_e4m3,scale=block,accum=fast dtype=bf16,out_dtype=fp8_e4m3 dtype=bf16,alpha=one dtype=bf16,scale=row,batch=2 dtype=bf16,batch=2,rows_a=95; do
	"$TILETUNE" explain gemm -p M=96,N=64,K=256,$keys --device $device 2>&1 | sed 's/, found M=.*//'
done
# no compiler there: nothing is compiled
for keys in dtype=fp8_e4m3,scale=block dtype=fp8_e4m3,out_dtype=fp8_e4m3,scale=row dtype=bf16,scale=row,bias=row,beta=0.5,residual=1 dtype=fp32,alpha=2 dtype=bf16,batch=3,rows_b=0; do
	TILETUNE_NVRTC=/dev/null "$TILETUNE" explain gemm -p M=96,N=64,K=256,$keys --device $device --json 2>/dev/null |
		grep -oE '"family":[[:space:]]*"[^"]*"' | sort -u | tr -s '\n\t ' ' '
	echo "for $keys"
done
tune() { # FILE: two configurations
	"$TILETUNE" tune gemm -p $problem -f mma --device $device --evaluations 2 --budget 10m --no-journal -o "$1" >talk.txt 2>&1 || cat talk.txt
}
tune new.json
sed -Ez 's/,[[:space:]]*"scale":[[:space:]]*"none",[[:space:]]*"bias":[[:space:]]*"none",[[:space:]]*"alpha":[[:space:]]*1,[[:space:]]*"beta":[[:space:]]*0,[[:space:]]*"residual":[[:space:]]*0,[[:space:]]*"batch":[[:space:]]*1,[[:space:]]*"rows_a":[[:space:]]*96,[[:space:]]*"rows_b":[[:space:]]*64//g' new.json >old.json
"$TILETUNE" lookup new.json gemm -p $problem --device $device >found 2>&1 || cat found
for keys in '' ,scale=none ,beta=0.0,alpha=1; do
	"$TILETUNE" lookup old.json gemm -p $problem$keys --device $device >"found$keys" 2>&1 || cat "found$keys"
	cmp found "found$keys"
done
"$TILETUNE" lookup old.json gemm -p $problem,beta=0.5 --device $device 2>&1 | sed -n '2s/;.*//p' | cut -c1-100
# merged, tuned again: one entry
"$TILETUNE" merge old.json new.json -o merged.json 2>&1 | sed 's/;.*//'
"$TILETUNE" merge new.json old.json -o merged.json 2>&1 | sed 's/;.*//'
"$TILETUNE" check old.json --device $device 2>&1 | tail -n 1
tune old.json
grep -cE '"operation":' old.json
