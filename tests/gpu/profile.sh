#!/bin/sh
# Hardware counters (Nsight Compute) of our winners beside the kernels that cuBLASLt runs for the
# same problem, in one process each: why a ratio is what it is. From the folder that
# `make dist TESTS=1` makes (or from a checkout: BUILD=build).
#
#	sh tests/gpu/profile.sh
#
# From the environment: OUT (./out) for profile.txt and the raw pages; NCU (ncu); LAUNCHES (24) that
# are profiled per case, LIMIT (60) seconds a case. The card's clocks are left alone
# (--clock-control none). CASES: a file with other cases, as below. Each launch is replayed with cold caches, so times are no benchmark.
set -u
build=${BUILD:-.}
out=${OUT:-out}
ncu=${NCU:-ncu}
launches=${LAUNCHES:-24}
limit=${LIMIT:-60}
here=$(dirname "$0")
results=results/nvidia-h200
mkdir -p "$out/profile"
out=$(cd "$out" && pwd)
[ -d "$build/lib" ] && export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
for program in "$build/gpu/gemm_vs_cublaslt" "$build/release/gpu/gemm_vs_cublaslt"; do
	[ -x "$program" ] && versus=$program
done
[ -n "${versus:-}" ] || {
	echo "gemm_vs_cublaslt: not built"
	exit 2
}

# name | tuned files | only problems with this text | family, or the winner
cases() {
	[ -z "${CASES:-}" ] || {
		cat "$CASES"
		return
	}
	cat <<END
mma-4096|$results/mma.json|M=4096,N=4096,K=4096|
fp32-4096|$results/tuned.json|M=4096,N=4096,K=4096,dtype=fp32|
bf16-short-k|$results/tuned.json|M=4096,N=24576,K=1536,dtype=bf16|
fp8-4096|$results/tuned.json|M=4096,N=4096,K=4096,dtype=fp8_e4m3,b_layout=nk,lda=4096,ldb=4096,ldc=4096,out_dtype=bf16,act=none,accum=fast|
END
}

table=$out/profile.txt
{
	"$ncu" --version | tail -n 1
	"$build/tiletune" --version
	date -u +%Y-%m-%dT%H:%M:%SZ
	"$build/tiletune" devices --path . 2>/dev/null | grep 'cuda:0'
	echo "sh tests/gpu/profile.sh (LAUNCHES=$launches): ncu --clock-control none --launch-count $launches, sections"
	echo "SpeedOfLight, ComputeWorkloadAnalysis, MemoryWorkloadAnalysis, SchedulerStats, WarpStateStats, Occupancy,"
	echo "over gemm_vs_cublaslt --rounds 2 --only PROBLEM TUNED.json; medians over a kernel's profiled launches"
} >"$table"
cases | while IFS='|' read -r name files only family; do
	# shellcheck disable=SC2086
	timeout -k 5 "$limit" "$ncu" --clock-control none --launch-count "$launches" \
		--kernel-name 'regex:^(gemm_(simt|mma|wgmma|wgmma_skinny)|.*(nvjet|cutlass|sgemm|xmma|gemmSN|cublas).*)$' \
		--section SpeedOfLight --section ComputeWorkloadAnalysis --section MemoryWorkloadAnalysis \
		--section SchedulerStats --section WarpStateStats --section Occupancy --section LaunchStats \
		--csv --page raw --log-file "$out/profile/$name.csv" \
		"$versus" --path . --cache-dir "$out/profile/cache" --rounds 2 --seconds 0.01 \
		${family:+--family "$family"} --only "$only" $files >"$out/profile/$name.log" 2>&1
	echo "$name: ncu ended with $?" >>"$out/profile/ends"
	python3 "$here/profile.py" "$name: $only" "$out/profile/$name.csv" >>"$table" 2>&1
done
cat "$out/profile/ends"
cat "$table"
! grep -q 'no kernel' "$table"
