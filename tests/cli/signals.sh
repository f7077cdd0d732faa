# The first Ctrl-C or TERM ends what does not search: it waits for a pipe that says nothing.
mkfifo pipe
exec 9<>pipe # open for writing: reading it waits
# ended SIGNAL FILE COMMAND...: signalled once it has the file open
ended() {
	signal=$1 file=$2
	shift 2
	code=$(/usr/bin/python3 - "$signal" "$file" "$TILETUNE" "$@" 9>&- <<'PYTHON'
import glob, os, signal, subprocess, sys, time
name, file, *command = sys.argv[1:]
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while process.poll() is None and not any(os.path.lexists(fd) and os.path.realpath(fd) == os.path.realpath(file)
        for fd in glob.glob(f"/proc/{process.pid}/fd/*")):
    time.sleep(0.01)
process.send_signal(getattr(signal, "SIG" + name))
code = process.wait()
print(code if code >= 0 else 128 - code)
PYTHON
)
	echo "$signal: $*: exit $code" | sed "s|$ROOT/||g"
}
for signal in INT TERM; do
	ended $signal pipe validate pipe
	ended $signal pipe report pipe
	ended $signal pipe export pipe --format csv
	ended $signal pipe merge pipe -o x.json
	ended $signal pipe lookup pipe gemm -p M=1,N=1,K=1
	ended $signal pipe tune --suite pipe -n
	ended $signal pipe check pipe
done
# and waiting for a GPU that another tuner holds
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib locks && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
ln -s "$out/faults/libcuda.so.1" lib/libnvidia-ml.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD/locks"
: >script
uuid=$("$TILETUNE" devices --json | sed -n 's/.*"uuid":[[:space:]]*"\([^"]*\)".*/\1/p')
exec 8>"locks/$uuid.lock"
flock -n 8
ended INT "locks/$uuid.lock" tune row_softmax -p rows=64,cols=64 --path "$ROOT/tests/toy" -d cuda:0 --wait 10m
ended TERM "locks/$uuid.lock" tune row_softmax -p rows=64,cols=64 --path "$ROOT/tests/toy" -d cuda:0 --wait 10m
exec 8>&-
# a folder for locks that is none
TILETUNE_LOCK_FOLDER="$PWD/script" "$TILETUNE" tune row_softmax -p rows=64,cols=64 --path "$ROOT/tests/toy" -d cuda:0 2>&1 |
	grep -E "hint|tiletune:" | sed "s/$uuid/UUID/"
