# Tuned for time and for energy: two entries of one problem, each found, exported and merged by its objective. The stand-in
# driver's blocks of 256 threads are 10% slower and take 40% less power.
toy="$ROOT/tests/toy"
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
ln -s "$out/faults/libcuda.so.1" lib/libnvidia-ml.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD"
gpu() { printf '%s\n' "$@" 'kernel row_softmax_online block_x=128 us=200 watts=600 ok' 'kernel row_softmax_online block_x=256 us=220 watts=360 ok' \
	'kernel row_softmax_online us=400 ok' >script; }
tune() {
	"$TILETUNE" tune row_softmax -p rows=64,cols=512 --path "$toy" --device cuda:0 --where "ROW_THREADS in [128, 256] and ROWS == 1 and UNROLL == 1 and TURNS == 1" \
		-e exhaustive --fresh -o tuned.json "$@" >talk.txt 2>&1 || { cat talk.txt; echo "[exit]"; }
	grep -oE 'ROW_THREADS=[0-9]+|[0-9.]+ mJ a run, [0-9]+ W' talk.txt | head -2 | sed -E 's/([0-9]+)\.[0-9]+ mJ/\1 mJ/'
}
gpu
tune
tune --objective energy
echo "# both stand in the file; time is not named"
grep -cE '"operation"' tuned.json
grep -E '"objective"' tuned.json | tr -d '\t'
"$TILETUNE" validate tuned.json tuned.journal.jsonl
echo "# an answer for each"
for objective in time energy; do
	"$TILETUNE" lookup tuned.json row_softmax -p rows=64,cols=512 --path "$toy" --objective $objective | grep -oE 'ROW_THREADS=[0-9]+'
	"$TILETUNE" export tuned.json --format csv --objective $objective | grep -oE 'ROW_THREADS=[0-9]+' | sort -u
	"$TILETUNE" export tuned.json --format bencher --objective $objective | grep -o '"row_softmax.*"'
	"$TILETUNE" export tuned.json --format github-benchmark --objective $objective | grep -o '"row_softmax.*"' | head -1
done
"$TILETUNE" report tuned.json --path "$toy" | grep '^row_softmax'
"$TILETUNE" merge tuned.json tuned.json -o merged.json >/dev/null && cmp tuned.json merged.json && echo "merged with itself"
echo "# a card without a counter tells its power; one that says nothing of it, a model that predicts"
gpu 'energy_step_mj 0'
tune --objective energy
try "$TILETUNE" tune row_softmax -p rows=64,cols=512 --path "$toy" --device model:toy -o model.json --objective energy
try "$TILETUNE" tune row_softmax -p rows=64,cols=512 --path "$toy" --device model:toy -o model.json --objective enrgy
