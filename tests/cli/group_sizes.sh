# Group sizes from a file: named by a hash, kept in the entry, found by lookup, check and export, measured as the mean over
# the draws beside the worst. On the stand-in driver a run takes 100 us and 1 us for each row of the first group.
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
problem=groups=3,tokens=64,N=64,K=64,dtype=bf16
printf '%s\n' '# tokens of three experts' '60 4 0' '0,30,34 # none' '' '3	1 60' >draws.txt
printf '060 04 0\n0 30 34\n3 1 60\n' >same.txt
printf '60 4\n' >few.txt
printf '60 5 0\n' >more.txt
printf '1 2 x\n' >word.txt
printf '# nothing\n' >empty.txt
for file in few more word empty missing; do
	try "$TILETUNE" explain gemm_grouped -p $problem,spread=$file.txt --device model:h200-sxm
done
try "$TILETUNE" explain gemm_grouped -p $problem,layout=masked,room=50,spread=draws.txt --device model:h200-sxm
for layout in contiguous masked; do
	echo 'kernel gemm_grouped_mma us=100 argument='$([ $layout = masked ] && echo 3 value_us=2 || echo 2 value_us=1)' ok' >script
	LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD" "$TILETUNE" tune gemm_grouped \
		-p $problem,layout=$layout,spread=draws.txt -f mma --device cuda:0 --evaluations 1 -o $layout.json >talk.txt 2>&1 || cat talk.txt
	grep -oE '^gemm_grouped .* on|the slowest of .*' talk.txt
	# means over 16 sets of 3 draws
	grep -E '"(spread|SPREAD_[a-z]*|worst_draw_ratio|draws|median)":' $layout.json | sed -E "s/([0-9]+\.[0-9]{2})[0-9]*/\1/" | sort -u | tr -d "\t"
	"$TILETUNE" validate $layout.json $layout.journal.jsonl
done
"$TILETUNE" lookup contiguous.json gemm_grouped -p $problem,spread=same.txt --device model:h200-sxm | sed -n 2p
"$TILETUNE" check contiguous.json --device model:h200-sxm | tail -n 1
"$TILETUNE" export contiguous.json --format csv | grep -o 'spread=[^,]*' | sort -u
