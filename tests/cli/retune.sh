# A run that looks at few candidates does not undo what an earlier one found, as long as that still
# holds. The stand-in driver's kernels take as long as the script says.
cp -R "$ROOT/tests/toy" toy
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
ln -s "$out/faults/libcuda.so.1" lib/libnvidia-ml.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD"
tune() { # tune MICROSECONDS OPTION...
	echo "kernel row_softmax_online us=$1 noise=0.01" >script
	shift
	"$TILETUNE" tune row_softmax -p rows=64,cols=64 -f online --path toy --device cuda:0 --evaluations 2 --budget 10m --no-journal \
		-o tuned.json "$@" >talk.txt 2>&1 || cat talk.txt
	grep -o 'the winner stays.*' talk.txt
	/usr/bin/python3 - <<'PYTHON'
import json
tuned = json.load(open("tuned.json"))
runs = [run["id"] for run in tuned["runs"]]
for row in [tuned["entries"][0]["winner"], *tuned["entries"][0]["families"]]:
    run = row.get("run", tuned["entries"][0]["run"])
    print(f"{row['configuration']['ROW_THREADS']} threads, {row['time_us']['median']:.0f} us, run {runs.index(run) + 1} of {len(runs)}")
PYTHON
}
tune 20 --where 'ROW_THREADS == 32'
# slower, but of another configuration: the first one was not tried
tune 25 --where 'ROW_THREADS == 64'
# faster: it comes
tune 15 --where 'ROW_THREADS == 64'
tune 25 --where 'ROW_THREADS == 32'
# tried again and slower now: this is what it takes
tune 25 --where 'ROW_THREADS == 64'
tune 15 --where 'ROW_THREADS == 32'
# other sources: what the old ones took says nothing
echo '// changed' >>toy/templates/row_softmax/online.cu
tune 25 --where 'ROW_THREADS == 64'
"$TILETUNE" validate tuned.json
