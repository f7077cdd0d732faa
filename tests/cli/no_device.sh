# No compiler, no driver, no GPU: what was looked for and where, exit code 5; what works without goes on.
export TILETUNE_PATH="$ROOT:$ROOT/tests/data/replay"
problem="tile -p M=64,N=64,K=64"
tune() { try "$TILETUNE" tune $problem --no-journal -o - "$@" 2>&1; }

echo "# no NVRTC"
TILETUNE_NVRTC=/nonexistent tune -d model:h200-sxm
tune -d model:h200-sxm --nvrtc /nonexistent/libnvrtc.so
echo text >libnvrtc.so
tune -d model:h200-sxm --nvrtc ./libnvrtc.so | sed -E 's/(libnvrtc.so): .*/\1: .../'
TILETUNE_NVRTC=/nonexistent try "$TILETUNE" tune $problem -n -d model:h200-sxm | grep -c legal
TILETUNE_NVRTC=/nonexistent try "$TILETUNE" explain $problem -d model:h200-sxm -f direct | grep -o "registers (estimated)"
# a recording needs none
TILETUNE_NVRTC=/nonexistent try "$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d "replay:$ROOT/tests/data/replay/measured.jsonl.gz" \
	--no-journal -o x.json | grep -E "winner|exit"

echo "# no driver"
mkdir none
printf 'not a library' >none/libcuda.so.1
export LD_LIBRARY_PATH="$PWD/none"
tune -d cuda:0
tune -d cuda:GPU-0123
tune -d cuda:
try "$TILETUNE" tune $problem -n -d auto 2>&1 | grep -E "notice|legal" | head -n 1
ls
