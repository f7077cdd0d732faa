# What timings teach: from a journal, from runs; shown, dropped, not used where it must not be.
unset TILETUNE_LEARNED
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
TILETUNE_PATH="$ROOT/tests/data/replay:$ROOT/tests/toy"
XDG_CACHE_HOME=$PWD/cache
export TILETUNE_PATH XDG_CACHE_HOME
zcat "$ROOT/tests/data/replay/measured.jsonl.gz" | sed 's/"sheet":null/"sheet":"toy"/' >toy.jsonl
"$TILETUNE" learn toy.jsonl -o file.json | sed -E 's/[01]\.[0-9]{4}/S/g'
"$TILETUNE" validate file.json
"$TILETUNE" learn toy.jsonl -o again.json --json >shown.json
cmp file.json again.json
try "$TILETUNE" learn
sed 's/"name":"Test GPU 100"/"name":"another"/; s/"sheet":"toy"/"sheet":null/' toy.jsonl >other.jsonl
try "$TILETUNE" learn toy.jsonl other.jsonl
# on this machine
explain() {
	"$TILETUNE" explain tile -p M=999,N=1100,K=512 --device model:toy "$@" 2>&1 | sed -n 's/.*learned (\(.*\)).*/\1/p'
	echo "[$*]"
}
explain
"$TILETUNE" learn toy.jsonl >/dev/null || echo "failed: $?"
ls cache/tiletune/learned
"$TILETUNE" devices | grep -A1 '^learned'
"$TILETUNE" devices --json | tr -d ' \t\n' | grep -o '"learned":[^]]*'
explain
"$TILETUNE" explain tile -p M=999,N=1100,K=512 --device model:toy --json | grep -A1 "\"source\":"
"$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d replay:toy.jsonl --no-journal -o tuned.json >/dev/null 2>&1
"$TILETUNE" lookup tuned.json tile -p M=1000,N=1000,K=512 --any-device --device model:toy | grep -o '(learned [^)]*)'
explain --no-learned
TILETUNE_LEARNED=none explain
TILETUNE_LEARNED=shipped explain
explain --no-cache
cp -r cache kept
# a damaged file is as good as none, and made again
echo '{' >cache/tiletune/learned/toy.json
explain
"$TILETUNE" learn toy.jsonl >/dev/null
explain
try "$TILETUNE" learn --drop toy
try "$TILETUNE" learn --drop toy
explain
# every run adds what it measured: here two at once, on the stand-in driver
mkdir lib && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
ln -s "$out/faults/libcuda.so.1" lib/libnvidia-ml.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD"
echo 'kernel row_softmax_online us=20 noise=0.01' >script
tune() { # COLS OPTION...
	columns=$1
	shift
	"$TILETUNE" tune row_softmax -p "rows=64,cols=$columns" --device cuda:0 --wait 60s --evaluations 2 --no-journal \
		-o "$columns.json" "$@" >"talk.$columns" 2>&1 || cat "talk.$columns"
	grep '^notice' "talk.$columns" | sed 's/toy-.*//'
}
tune 64 &
tune 128 &
wait
cat cache/tiletune/learned/*.jsonl | grep -o '"problem":"[^"]*"' | sort
tune 64 --no-learned
cat cache/tiletune/learned/*.jsonl | wc -l
# where it cannot be written: said, and tuned all the same
rm -r cache/tiletune/learned
echo >cache/tiletune/learned
tune 192
ls 192.json
