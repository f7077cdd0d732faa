# The first Ctrl-C or TERM ends what does not search: it waits for a pipe that says nothing.
mkfifo pipe
exec 9<>pipe # open for writing: reading it waits
# ended SIGNAL COMMAND...
ended() {
	signal=$1
	shift
	timeout -k 3 --preserve-status -s "$signal" 0.4 "$TILETUNE" "$@" >/dev/null 2>&1 9>&-
	echo "$signal: $*: exit $?" | sed "s|$ROOT/||g"
}
for signal in INT TERM; do
	ended $signal validate pipe
	ended $signal report pipe
	ended $signal export pipe --format csv
	ended $signal merge pipe -o x.json
	ended $signal lookup pipe gemm -p M=1,N=1,K=1
	ended $signal tune --suite pipe -n
	ended $signal check pipe
done
# and waiting for a GPU that another tuner holds
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib locks && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
ln -s "$out/faults/libcuda.so.1" lib/libnvidia-ml.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD/locks"
: >script
uuid=$("$TILETUNE" devices --json | sed -n 's/.*"uuid":[[:space:]]*"\([^"]*\)".*/\1/p')
flock "locks/$uuid.lock" sleep 3 &
sleep 0.1
ended INT tune row_softmax -p rows=64,cols=64 --path "$ROOT/tests/toy" -d cuda:0 --wait 2s
ended TERM tune row_softmax -p rows=64,cols=64 --path "$ROOT/tests/toy" -d cuda:0 --wait 2s
kill $!
# a folder for locks that is none
TILETUNE_LOCK_FOLDER="$PWD/script" "$TILETUNE" tune row_softmax -p rows=64,cols=64 --path "$ROOT/tests/toy" -d cuda:0 2>&1 |
	grep -E "hint|tiletune:" | sed "s/$uuid/UUID/"
