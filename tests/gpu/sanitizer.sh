#!/bin/sh
# Runs NVIDIA's compute-sanitizer over every family on small problems, from the folder that `make dist
# TESTS=1` makes (or from a checkout: BUILD=build). The tuner runs as usual, and only its measuring worker
# runs under the sanitizer, so the checked kernels are the measured ones.
#
#	sh tests/gpu/sanitizer.sh [TOOL...]        memcheck racecheck synccheck
#
# Prints one line per tool and case. Exits with 1 if a case has errors or ran nothing, or if the control,
# kernels known to be wrong, has no error. Inputs and outputs are in one allocation with guard zones. The
# tuner detects writes beyond a buffer (outcome out_of_bounds); memcheck detects accesses beyond the
# allocation or shared memory, and misaligned ones.
#
# From the environment: OUT (./out), for the logs and sanitizer.txt; SANITIZER (compute-sanitizer);
# EVALUATIONS (3) per case; JOBS (6) in parallel; LIMIT (100) seconds per case; DEVICE (cuda:0); CASES, a grep
# -E pattern for names of cases; CONTROL=0: no control; CACHE (in OUT), compiled kernels;
# TILETUNE_KERNEL_TIMEOUT (60), seconds for a kernel that takes milliseconds without the sanitizer. REPORT=1:
# runs nothing and makes the table again from the logs in OUT. memcheck takes 20 s for all cases on an H200
# with 16 cores, racecheck two to three minutes.
set -u
build=${BUILD:-.}
out=${OUT:-out}
sanitizer=${SANITIZER:-compute-sanitizer}
evaluations=${EVALUATIONS:-3}
jobs=${JOBS:-6}
limit=${LIMIT:-100}
device=${DEVICE:-cuda:0}
export TILETUNE_KERNEL_TIMEOUT="${TILETUNE_KERNEL_TIMEOUT:-60}"
[ $# -gt 0 ] || set -- memcheck racecheck synccheck
[ -x "$build/tiletune" ] || {
	echo "expected the tuner at $build/tiletune"
	exit 2
}
mkdir -p "$out/sanitizer"
out=$(cd "$out" && pwd)
logs=$out/sanitizer
tool=$(cd "$build" && pwd)/tiletune
[ -d "$build/lib" ] && export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# name | operation, problem and family | restriction of the space
cases() {
	cat <<'END'
simt|gemm -p M=200,N=265,K=137,dtype=fp32 -f simt|BM <= 64 and BN <= 64 and STAGES <= 2
simt split-K|gemm -p M=65,N=72,K=1000,dtype=fp32 -f simt|BM <= 64 and BN <= 64 and SPLIT_K == 4
mma|gemm -p M=200,N=264,K=328,dtype=bf16 -f mma|BM <= 64 and BN <= 64 and SPLIT_K == 1
mma odd kn|gemm -p M=129,N=127,K=131,dtype=fp16,b_layout=kn -f mma|BM <= 64 and BN <= 64
mma tf32 split-K|gemm -p M=64,N=72,K=1000,dtype=tf32 -f mma|BM <= 64 and BN <= 64 and SPLIT_K == 4
wgmma|gemm -p M=200,N=264,K=328,dtype=bf16 -f wgmma|PINGPONG == 0 and STREAM_K == 0 and CLUSTER_M*CLUSTER_N == 1
wgmma cluster|gemm -p M=300,N=520,K=328,dtype=bf16 -f wgmma|STREAM_K == 0 and CLUSTER_M*CLUSTER_N >= 2
wgmma cluster of four|gemm -p M=600,N=520,K=328,dtype=bf16 -f wgmma|CLUSTER_M == 4 and BN <= 128
wgmma cluster of eight|gemm -p M=500,N=1032,K=336,dtype=fp8_e4m3,scale=row -f wgmma|CLUSTER_M*CLUSTER_N == 8 and BN <= 128
wgmma_skinny all rows|gemm -p M=201,N=520,K=1032,dtype=bf16 -f wgmma_skinny|BM > 128
wgmma ping-pong|gemm -p M=300,N=520,K=328,dtype=fp16 -f wgmma|PINGPONG == 1
wgmma stream-K|gemm -p M=300,N=264,K=1032,dtype=bf16 -f wgmma|STREAM_K == 1
wgmma kn, odd C|gemm -p M=200,N=264,K=328,ldc=267,dtype=fp16,b_layout=kn -f wgmma|BN <= 128
wgmma fp8 promoted|gemm -p M=200,N=264,K=528,dtype=fp8_e4m3,accum=promoted -f wgmma|BN <= 128
wgmma row scales|gemm -p M=200,N=263,K=528,dtype=fp8_e4m3,scale=row,bias=row,residual=1 -f wgmma|BN <= 128
wgmma block scales|gemm -p M=203,N=264,K=528,dtype=fp8_e4m3,scale=block,bias=row_fp32,beta=0.5 -f wgmma|BN <= 128
wgmma_skinny block scales|gemm -p M=61,N=264,K=2064,dtype=fp8_e4m3,scale=block,out_dtype=fp8_e4m3 -f wgmma_skinny|BN <= 128
mma epilogue|gemm -p M=129,N=127,K=264,dtype=bf16,scale=row,bias=row,beta=0.5,residual=1 -f mma|BM <= 64 and BN <= 64
simt batch|gemm -p batch=3,M=65,N=71,K=137,dtype=fp32,rows_a=66,beta=0.5 -f simt|BM <= 64 and BN <= 64 and STAGES <= 2
mma batch|gemm -p batch=3,M=65,N=127,K=136,dtype=bf16,rows_a=70,residual=1 -f mma|BM <= 64 and BN <= 64
wgmma batch|gemm -p batch=3,M=100,N=200,K=264,dtype=bf16,rows_b=0,bias=row -f wgmma|BN <= 128
wgmma batch fp8|gemm -p batch=3,M=77,N=136,K=272,dtype=fp8_e4m3,scale=tensor,rows_a=80 -f wgmma|BN <= 128
wgmma_repack|gemm -p M=200,N=265,K=331,dtype=bf16 -f wgmma_repack|STREAM_K == 0
wgmma_skinny|gemm -p M=16,N=264,K=1032,dtype=bf16 -f wgmma_skinny|CLUSTER_K*CLUSTER_N == 1
wgmma_skinny cluster|gemm -p M=60,N=264,K=2048,dtype=bf16 -f wgmma_skinny|CLUSTER_K*CLUSTER_N >= 2
wgmma_skinny sums in the ring|gemm -p M=203,N=392,K=2064,dtype=bf16 -f wgmma_skinny|EXCHANGE_IN_RING == 1
wgmma_splitk|gemm -p M=300,N=264,K=2056,dtype=bf16 -f wgmma_splitk|CLUSTER_M*CLUSTER_N == 4
wgmma_repack of one|gemm -p M=4097,N=1032,K=2008,dtype=bf16 -f wgmma_repack|STREAM_K == 0 and BM >= 128 and BN >= 128
attention unfused|attention -p batch=1,heads=2,seq_q=70,seq_k=100,head_dim=64,dtype=bf16,causal=1 -f unfused|
attention tiled_simt|attention -p batch=1,heads=2,seq_q=70,seq_k=100,head_dim=64,dtype=bf16,causal=1 -f tiled_simt|
attention tiled_wmma|attention -p batch=1,heads=2,seq_q=70,seq_k=100,head_dim=64,dtype=fp16,causal=1 -f tiled_wmma|
attention flash_mma|attention -p batch=1,heads=2,seq_q=130,seq_k=190,head_dim=64,dtype=bf16,causal=1 -f flash_mma|
attention decode|attention -p batch=2,heads=6,kv_heads=2,seq_q=3,seq_k=700,head_dim=72,dtype=bf16,causal=1 -f decode|CLUSTER == 1 and SPLIT in [0, 3]
attention decode cluster|attention -p batch=1,heads=8,kv_heads=2,seq_q=1,seq_k=1100,head_dim=128,dtype=fp16 -f decode|CLUSTER > 1
attention decode clusters|attention -p batch=1,heads=8,kv_heads=2,seq_q=1,seq_k=3100,head_dim=128,dtype=fp16 -f decode|CLUSTER > 1 and SPLIT > CLUSTER
attention decode pages|attention -p batch=2,heads=6,kv_heads=2,seq_q=3,seq_k=700,head_dim=72,dtype=bf16,causal=1,page=16 -f decode|CLUSTER == 1 and KEYS >= 32
attention decode wide V|attention -p batch=1,heads=8,kv_heads=2,seq_q=2,seq_k=1100,head_dim=40,head_dim_v=72,dtype=bf16,page=64 -f decode|CLUSTER > 1
attention flash_wgmma packed|attention -p batch=1,heads=8,kv_heads=2,seq_q=77,seq_k=390,head_dim=96,head_dim_v=64,dtype=bf16,causal=1 -f flash_wgmma|PACK == 1 and BM == 128
attention flash_wgmma|attention -p batch=1,heads=2,seq_q=330,seq_k=390,head_dim=64,dtype=bf16,causal=1 -f flash_wgmma|CLUSTER == 1 and BM >= 128 and P_SMEM == 0 and PERSISTENT == 2 and Q_BUFFERS == 2
attention flash_wgmma overlap|attention -p batch=1,heads=2,seq_q=330,seq_k=390,head_dim=64,dtype=bf16,causal=1 -f flash_wgmma|OVERLAP >= 2 and BM == 192 and BARRIER > 0
attention flash_wgmma cluster|attention -p batch=1,heads=2,seq_q=330,seq_k=390,head_dim=64,dtype=bf16 -f flash_wgmma|CLUSTER == 2 and BARRIER == 1
attention flash_wgmma fp8|attention -p batch=1,heads=2,seq_q=330,seq_k=390,head_dim=128,dtype=fp8_e4m3,causal=1 -f flash_wgmma|BM == 192 and BN == 96 and STAGES == 2 and OVERLAP in [1, 3] and EXP_FMA < 4
attention flash_wgmma weights in smem|attention -p batch=1,heads=2,seq_q=330,seq_k=390,head_dim=128,dtype=fp16 -f flash_wgmma|P_SMEM == 1 and BM == 192
grouped mma|gemm_grouped -p groups=5,tokens=300,N=45,K=136,dtype=bf16,spread=steep -f mma|BM <= 64 and BN <= 64
grouped mma fp8|gemm_grouped -p groups=5,tokens=300,N=45,K=132,dtype=fp8_e4m3,spread=steep,scale=row -f mma|BM <= 64 and BN <= 64
grouped mma rooms|gemm_grouped -p groups=9,tokens=300,N=72,K=64,dtype=bf16,spread=zipf,layout=masked -f mma|BM <= 64 and BN <= 64
grouped wgmma|gemm_grouped -p groups=5,tokens=300,N=45,K=136,dtype=bf16,spread=steep -f wgmma|BN <= 64
grouped wgmma cluster|gemm_grouped -p groups=3,tokens=600,N=200,K=272,dtype=fp8_e4m3,spread=zipf,scale=row -f wgmma|CLUSTER_M == 2
grouped wgmma ping-pong|gemm_grouped -p groups=5,tokens=300,N=264,K=136,dtype=bf16,spread=zipf -f wgmma|PINGPONG == 1 and STORE == 1
grouped wgmma swapped|gemm_grouped -p groups=9,tokens=70,N=200,K=272,dtype=fp8_e4m3,spread=zipf,scale=block -f wgmma|SWAP == 1
grouped wgmma large|gemm_grouped -p groups=5,tokens=400,N=200,K=272,dtype=fp8_e4m3,spread=zipf,scale=row -f wgmma|SWAP == 1 and BM >= 64 and STORE == 1
grouped wgmma ends|gemm_grouped -p groups=40,tokens=1500,N=264,K=136,dtype=bf16,spread=zipf -f wgmma|PART_ROWS == 1 and PINGPONG == 1 and BN <= 128
grouped wgmma ends cluster|gemm_grouped -p groups=7,tokens=1500,N=264,K=272,dtype=fp8_e4m3,spread=zipf,scale=row -f wgmma|PART_ROWS == 1 and CLUSTER_M == 2 and BN <= 128
grouped wgmma rooms|gemm_grouped -p groups=6,tokens=131,N=200,K=272,dtype=fp8_e4m3,spread=steep,scale=block,layout=masked -f wgmma|BN <= 128
gemm_chain fused|gemm_chain -p m=129,k=64,n=96,p=72,dtype=bf16 -f fused|
gemm_chain separate|gemm_chain -p m=129,k=63,n=96,p=71,dtype=bf16,act=relu -f separate|
gemm_chain separate_wgmma|gemm_chain -p m=200,k=72,n=200,p=72,dtype=bf16,act=silu -f separate_wgmma|
gemm_chain fused_resident|gemm_chain -p m=129,k=64,n=64,p=72,dtype=bf16 -f fused_resident|
gemm_chain fused_wgmma|gemm_chain -p m=200,k=72,n=200,p=72,dtype=bf16 -f fused_wgmma|SPLIT_N == 1
gemm_chain fused_wgmma cluster|gemm_chain -p m=200,k=72,n=520,p=72,dtype=bf16 -f fused_wgmma|SPLIT_N > 1
END
}

# Starts the workers; compilers run unchanged.
wrapper=$logs/worker
cat >"$wrapper" <<'END'
#!/bin/sh
[ "$1" = worker-measure ] || exec "$TOOL_PATH" "$@"
# At its end the tuner kills its worker, which is this script. The real worker then reads the end of its input
# and exits, and the sanitizer has time for its summary.
exec 3<&0
setsid "$SANITIZER_PATH" --tool "$SANITIZER_TOOL" --log-file "$SANITIZER_LOG.%p" --print-limit 20 \
	"$TOOL_PATH" "$@" <&3 3<&- &
exec 3<&- <&-
wait
END
chmod +x "$wrapper"
export TOOL_PATH="$tool" SANITIZER_PATH="$sanitizer" SANITIZER_TOOL SANITIZER_LOG TILETUNE_LOCK_FOLDER

run_case() { # sanitizer's tool, number, arguments, where: leaves $logs/TOOL-NUMBER.*
	SANITIZER_TOOL=$1
	SANITIZER_LOG=$logs/$1-$2.sanitizer
	# a lock folder of its own lets the checks use the GPU concurrently
	TILETUNE_LOCK_FOLDER=$logs/lock-$1-$2
	rm -f "$SANITIZER_LOG".*
	# shellcheck disable=SC2086
	TILETUNE_WORKER=$wrapper timeout -k 5 "$limit" "$tool" tune $3 ${4:+--where "$4"} --device "$device" --path . \
		--strategy random --evaluations "$evaluations" --fresh --cache-dir "${CACHE:-$logs/cache}" \
		--workers 2 -o "$logs/$1-$2.json" >"$logs/$1-$2.log" 2>&1
	echo $? >"$logs/$1-$2.code"
}
outcomes() { # journal: "ok 3"
	sed -n 's/^{"event":"evaluation".*"outcome":"\([a-z_]*\)".*/\1/p' "$1" 2>/dev/null |
		sort | uniq -c | awk '{ printf "%s%s %s", sep, $2, $1; sep = ", " }'
}
# prints the number of errors in the sanitizer's logs, or "?" if a log has no summary
errors_of() { # logs
	cat "$@" 2>/dev/null | awk '
		/^=* *(Error|Warning|Invalid)/ { reports++ }
		/ERROR SUMMARY: / { sub(/.*SUMMARY: /, ""); found = 1; errors += $1 }
		/RACECHECK SUMMARY: / { sub(/.*SUMMARY: /, ""); found = 1; errors += $1 }
		END { print found ? errors + 0 : "?" (reports ? "+" reports : "") }'
}

table=$out/sanitizer.txt
bad=0
header() {
	if [ -n "${REPORT:-}" ]; then
		sed '/^$/q' "$table"
		printf '%-10s %-26s %7s  %-18s %s\n' tool case errors outcomes 'problem | slice'
		return
	fi
	"$sanitizer" --version 2>/dev/null | tail -n 2
	"$tool" --version
	date -u +%Y-%m-%dT%H:%M:%SZ
	"$tool" devices --path . 2>/dev/null | grep 'cuda:0'
	echo "sh tests/gpu/sanitizer.sh $* (EVALUATIONS=$evaluations)"
	echo "each: $(basename "$sanitizer") --tool TOOL tiletune worker-measure, started by"
	echo "tiletune tune CASE --where SLICE --strategy random --evaluations $evaluations --fresh"
	echo
	printf '%-10s %-26s %7s  %-18s %s\n' tool case errors outcomes 'problem | slice'
}
header "$@" >"$table.new"
mv "$table.new" "$table"
for checker in "$@"; do
	number=0
	[ -n "${REPORT:-}" ] || cases | grep -E "${CASES:-.}" >"$logs/cases"
	[ -n "${REPORT:-}" ] || while IFS='|' read -r name arguments where; do
		number=$((number + 1))
		run_case "$checker" $number "$arguments" "$where" &
		[ $((number % jobs)) -ne 0 ] || wait
	done <"$logs/cases"
	wait
	waited=0
	while pgrep -f "$logs/$checker-" >/dev/null 2>&1 && [ $waited -lt 50 ]; do
		sleep 0.2
		waited=$((waited + 1))
	done
	number=0
	while IFS='|' read -r name arguments where; do
		number=$((number + 1))
		files=$logs/$checker-$number
		count=$(errors_of "$files".sanitizer.*)
		ran=$(outcomes "$files.journal.jsonl")
		# A hundredfold slowdown may make times noisy, which does not matter here.
		[ "$count" = 0 ] && echo "$ran" | grep -qE '(ok|too_noisy) [0-9]' &&
			! echo "$ran" | grep -qvE "^((ok|too_noisy|pruned_by_model) [0-9]+(, )?)+$" ||
			bad=$((bad + 1))
		printf '%-10s %-26s %7s  %-18s %s\n' "$checker" "$name" "$count" "$ran" \
			"$(echo "$arguments" | sed 's/.*-p \([^ ]*\) .*/\1/')${where:+ | $where}"
	done <"$logs/cases" >>"$table"
done
# The control: memcheck must find the planted errors.
[ "${CONTROL:-1}" = 0 ] || for program in "$build/gpu/test_device_gpu" "$build/release/gpu/test_device_gpu"; do
	[ -x "$program" ] && [ -z "${REPORT:-}" ] || continue
	TILETUNE_LOCK_FOLDER=$logs/lock-control
	timeout -k 5 "$limit" "$sanitizer" --tool memcheck --target-processes all \
		--log-file "$logs/control.sanitizer.%p" "$program" . "$device" >"$logs/control.log" 2>&1
	break
done
[ "${CONTROL:-1}" = 0 ] || {
	count=$(errors_of "$logs"/control.sanitizer.*)
	case $count in 0 | '?'*) bad=$((bad + 1)) ;; esac
	printf '%-10s %-26s %7s  %s\n' memcheck 'control: bad kernels' "$count" \
		'(expected: more than 0; tests/gpu/bad_kernels.cu)' >>"$table"
}
# Prints a tool's messages about unsupported features.
grep -hiE 'not supported|unsupported|internal error|warning' "$logs"/*.sanitizer.* 2>/dev/null | grep -v SUMMARY |
	sed 's/^=* *//' | sort | uniq -c | sort -rn | head -n 12 >"$logs/notes"
[ -s "$logs/notes" ] && {
	echo
	echo "said by the tools:"
	cat "$logs/notes"
} >>"$table"
echo "$bad cases not clean" >>"$table"
cat "$table"
[ "$bad" = 0 ]
