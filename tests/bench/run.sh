#!/bin/sh
# Compares measured speeds with their goals: one line per goal, exit code 1 if one is missed.
#
#	tests/bench/run.sh OUT BUILD [NAME...]
#
# OUT: the folder of the programs (build/release: OUT/tests, OUT/gpu; a dist folder has them in BUILD/gpu).
# NAMEs: the benchmarks without a GPU; default: all that exist. On a GPU the kernels follow, and the tables of
# results/ are measured again: results/*/tuned.json and fp16_kn.json of this GPU model against cuBLASLt (or,
# without these files, a fresh tuning of suites of configs/suites), gemm/mma by itself (mma.json), fused
# products against two calls (tuned afresh; 5 minutes), and if python3 has torch, attention and decoding
# against PyTorch. The other tuned files of results/ promise nothing about winners: they restrict spaces or
# are experiments.
#
# From the environment: BENCH_SUITES ("bf16_aligned bf16_misaligned fp8 fp32", the suites to tune),
# BENCH_FRESH=1 (tune even if results exist), BENCH_EFFORT (quick).
set -u
out=$1 build=$2
shift 2
here=$(dirname "$0")
tool=$build/tiletune
work=$build/bench
missed=0
mkdir -p "$work"
[ -d "$build/lib" ] && export LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

program() {
	for folder in "$out/tests" "$out/gpu" "$build/gpu"; do
		[ -x "$folder/$1" ] && echo "$folder/$1" && return
	done
	return 1
}
if [ $# = 0 ]; then
	for source in "$here"/bench_*.c; do
		set -- "$@" "$(basename "$source" .c)"
	done
fi
for name in "$@"; do
	path=$(program "$name") || {
		echo "$name: not built"
		missed=1
		continue
	}
	"$path" || missed=1
done

# measures a program in place of a kernel: all 60 blockings of a matrix product on the CPU
if [ -f "$here/../own/matmul.c" ]; then
	cc -O3 -o "$work/matmul" "$here/../own/matmul.c" -lm && cp "$here/../own/matmul.json" "$work" &&
		"$tool" tune "$work/matmul.json" -e exhaustive --fresh -o "$work/matmul.tuned.json" || missed=1
fi

if ! "$tool" devices --path . >"$work/devices.log" 2>&1 || grep -q '^GPUs: none' "$work/devices.log"; then
	said=kept
	[ $missed = 0 ] || said=missed
	echo "the promises that need no GPU are $said; there is no GPU here, so that kernels are not measured"
	exit $missed
fi
versus=$(program gemm_vs_cublaslt) || {
	echo "gemm_vs_cublaslt: not built"
	exit 1
}
# prints the GPU model of this machine, e.g. "NVIDIA H200", and of a tuned file
gpu=$(sed -n 's/^  cuda:0 *\([^,]*\),.*/\1/p' "$work/devices.log")
tuned_here() { # names of files
	for name in "$@"; do ls results/*/"$name" 2>/dev/null; done | while read -r file; do
		[ "$(sed -n 's/^[[:space:]]*"name":[[:space:]]*"\([^"]*\)".*/\1/p;/"runs"/q' "$file" | head -n 1)" = "$gpu" ] &&
			echo "$file"
	done
}
files=$(tuned_here tuned.json fp16_kn.json)
portable=$(tuned_here mma.json)
if [ -z "$files" ] || [ -n "${BENCH_FRESH:-}" ]; then
	files=
	for suite in ${BENCH_SUITES:-bf16_aligned bf16_misaligned fp8 fp32}; do
		"$tool" tune --suite "$suite" --device cuda:0 --path . --cache-dir "$work/cache" \
			--effort "${BENCH_EFFORT:-quick}" -o "$work/$suite.json" >"$work/$suite.log" 2>&1 ||
			tail -n 3 "$work/$suite.log"
		[ -s "$work/$suite.json" ] && files="$files $work/$suite.json"
	done
fi
# shellcheck disable=SC2086
"$versus" --path . --cache-dir "$work/cache" -o "$work/gemm_vs_cublaslt.json" $files || missed=1
# measures the portable family by itself
[ -z "$portable" ] || "$versus" --path . --cache-dir "$work/cache" --family gemm/mma \
	-o "$work/gemm_mma_vs_cublaslt.json" $portable || missed=1
# measures chains for which fusing two products pays
"$tool" tune --suite chain_map -f fused -f fused_resident -f fused_wgmma --budget 1s --device cuda:0 --path . \
	--cache-dir "$work/cache" -o "$work/chain_map.json" >"$work/chain_map.log" 2>&1 || tail -n 3 "$work/chain_map.log"
"$versus" --path . --cache-dir "$work/cache" --seconds 0.15 -o "$work/chain_vs_cublaslt.json" "$work/chain_map.json" || missed=1
# cost of a launch through src/launch, with a kernel that is shorter than a hundred launches of it
launch=$(program launch_overhead) || {
	echo "launch_overhead: not built"
	exit 1
}
problem=M=64,N=7168,K=4096,dtype=bf16
for file in $(tuned_here tuned.json); do
	"$tool" export "$file" --format bundle --path . --cache-dir "$work/cache" -o "$work/tuned.bundle" &&
		"$launch" "$work/tuned.bundle" gemm "$problem" || missed=1
done
# attention compared with PyTorch, if it is installed
library=$(program libtiletune_launch.so) && python3 -c 'import torch' 2>/dev/null || {
	echo "no PyTorch here: attention is not measured"
	exit $missed
}
for file in $(tuned_here attention.json attention_drawn.json decode.json decode_paged.json); do
	python3 "$here/../../results/bench/attention_vs_torch.py" --tiletune "$tool" --library "$library" --cache-dir "$work/cache" \
		--work "$work/attention" -o "$work/versus_$(basename "$file")" "$file" || missed=1
done
exit $missed
