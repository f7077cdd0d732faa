# Kernels that go wrong with a later launch than those that are verified first: they do not win, and a check finds them.
# The stand-in driver's blocks of 128 threads are twice as fast, and wrong from the third launch of a load on.
toy="$ROOT/tests/toy"
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
ln -s "$out/faults/libcuda.so.1" lib/libnvidia-ml.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD"
tune() {
	"$TILETUNE" tune row_softmax -p rows=64,cols=512 --path "$toy" --device cuda:0 --fresh -o tuned.json -e exhaustive \
		--where "ROW_THREADS in [128, 256] and ROWS == 1 and UNROLL == 1 and TURNS == 1" >talk.txt 2>&1 || cat talk.txt
	tr -d '\n\t' <tuned.json | grep -o '"winner":{"family":"[a-z_/]*","configuration":{"ROW_THREADS":[0-9]*' | grep -o '[0-9]*$'
	grep -oE '"outcome":"[a-z_]*"' tuned.journal.jsonl | sort | uniq -c | tr -s ' '
}
for fault in ok wrong out_of_bounds nondeterministic input; do
	echo "# $fault"
	rm -f tuned.journal.jsonl
	printf '%s\n' "kernel row_softmax_online block_x=128 skip=2 us=200 $fault" 'kernel row_softmax_online us=400' >script
	tune
done
# a check of what won
printf '%s\n' 'kernel row_softmax_online us=200' >script
tune >/dev/null
printf '%s\n' 'kernel row_softmax_online us=200 skip=2 wrong' >script
"$TILETUNE" check tuned.json --path "$toy" --device cuda:0 >out.txt 2>&1
echo "[exit $?]"
grep -oE '^failed|wrong_result' out.txt
# a reference that dies fails its problem, by name, and no candidate
printf '%s\n' 'kernel row_softmax_reference crash' >script
"$TILETUNE" tune row_softmax -p rows=64,cols=512 --path "$toy" --device cuda:0 --fresh -o none.json 2>&1 |
	grep -o 'row_softmax rows=.*found crashed'
"$TILETUNE" check tuned.json --path "$toy" --device cuda:0 2>&1 | grep -oE '^failed|row_softmax rows=64,cols=512.*: expected its reference to run, found crashed'
# a GPU that is lost says nothing of the kernels
printf '%s\n' 'kernel row_softmax_online us=200 lost' >script
"$TILETUNE" check tuned.json --path "$toy" --device cuda:0 >out.txt 2>&1
echo "[exit $?]"
grep -oE '^failed|the device was lost' out.txt
# a GPU that the compiler knows nothing of
echo 'compute_capability 35' >script
"$TILETUNE" tune row_softmax -p rows=64,cols=512 --path "$toy" --device cuda:0 --fresh -o none.json 2>&1 |
	sed -E 's/NVRTC [^)]*\)/NVRTC/'
