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
TILETUNE_NVRTC=/nonexistent try "$TILETUNE" explain $problem -d model:h200-sxm -f direct | grep -o "both estimated: not compiled"
try "$TILETUNE" explain $problem -d model:h200-sxm -f direct --nvrtc /nonexistent/libnvrtc.so
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

echo "# the notice is of what is understood: typing errors come alone"
quiet() { "$TILETUNE" "$@" 2>&1 | sed 's/one of those in .*/one of those in FOLDERS/' | cut -c 1-60; }
quiet tune til -p M=64
quiet tune tile -p M=64,N=64,Q=64
quiet tune tile -p M=64,N=64,K=64 --no-journal -o z.json --where 'BM =='
quiet tune tile -p M=64,N=64,K=64 --no-journal -o z.json --effort fast
quiet tune tile -p M=64,N=64,K=64 --no-journal -o z.json --strategy lucky
quiet tune tile -p M=64,N=64,K=64 -n --where 'BM =='
quiet explain tile -p M=64,N=64,Q=64
quiet explain tile -p M=64,N=64,K=64 -f strait
quiet advise gemm -p M=64,N=64,Q=64
quiet advise tile -p M=64,N=64,K=64 --sweep 'Q=64:128:64'
# once per run, before its first line, and with every answer
"$TILETUNE" tune tile -p M=64,128,N=64,K=64 --no-journal -o y.json --effort estimate --budget 10m --evaluations 1 2>&1 |
	grep -E '^notice|^.1/2|^.2/2' | cut -c 1-60
answers() { "$TILETUNE" "$@" 2>&1 >answer.txt | cut -c 1-60; grep -c predicted answer.txt | sed 's/[1-9][0-9]*/some/'; }
answers explain tile -p M=64,N=64,K=64
answers advise gemm -p M=64,N=64,K=64,dtype=fp32 -f simt
