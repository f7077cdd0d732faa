#!/bin/sh
# Tests gemm/tile, attention/tile and gemm_chain/tile on a GPU: correctness on odd sizes, and speed compared
# with cuBLASLt and PyTorch. Takes about two minutes, from a folder made by `make dist TESTS=1`.
#
#	tests/gpu/tile.sh OUT [odd|attention|gemm]...
#
# From the environment:
#	TEST_DEVICE  cuda:0     model:h100-sxm only compiles the kernels into the cache, without a GPU
#	TEST_CACHE   OUT/cache  compiled kernels; if complete, tileiras is not needed
#	TEST_BUDGET  1500ms     for a timed product
set -u
out=$1
shift
[ $# -gt 0 ] || set -- odd attention gemm
device=${TEST_DEVICE:-cuda:0}
cache=${TEST_CACHE:-$out/cache}
failed=0
mkdir -p "$out"

# Tunes the configurations for which an expression holds and prints a line for each problem. A result that
# differs from the reference is a failure.
tune() { # name, expression, arguments
	name=$1 where=$2
	shift 2
	set -- tune "$@" --family tile --where "$where" --effort exhaustive --device "$device" --cache-dir "$cache" \
		--fresh -o "$out/$name.json"
	case $device in model:*) set -- "$@" --compile-only ;; esac
	timeout 300 ./tiletune "$@" >"$out/$name.log" 2>&1
	code=$?
	echo "== $name: exit $code"
	grep -E 'TFLOP|wrong|differ|failed|crashed|expected|compiled' "$out/$name.log" | cut -c1-200 | head -40
	[ $code -eq 0 ] || failed=1
}
gpu() {
	case $device in model:*) false ;; esac
}

plain='CLUSTER == 0 and OCCUPANCY == 0 and WARPS == 8'
odd() {
	tune odd_gemm "$plain and BM == 128 and BN in [128, 256] and BK == 64 and BAND in [1, 2] and SPLIT_K in [1, 2, 4, 6, 10]" gemm \
		-p M=129,N=4097,K=7169,dtype=bf16 -p M=33,N=35,K=37,dtype=fp16,b_layout=kn,act=silu \
		-p M=200,N=264,K=520,dtype=fp8_e4m3 -p M=200,N=264,K=4096,dtype=bf16,act=gelu_tanh,out_dtype=fp32 \
		-p M=2000,N=3000,K=1000,dtype=fp16 -p M=1921,N=2311,K=4097,dtype=bf16,b_layout=kn
	tune odd_attention "$plain and BM == 128 and BN in [64, 128]" attention \
		-p batch=2,heads=8,seq_q=1023,seq_k=1500,head_dim=72,dtype=fp16,kv_heads=2,causal=1 \
		-p batch=1,heads=3,seq_q=130,seq_k=77,head_dim=40,dtype=bf16,causal=1,head_dim_v=24 \
		-p batch=1,heads=2,seq_q=500,seq_k=17,head_dim=64,dtype=bf16,causal=1 \
		-p batch=2,heads=3,seq_q=1,seq_k=777,head_dim=64,dtype=fp16,causal=0,1 \
		-p batch=1,heads=2,seq_q=257,seq_k=1000,head_dim=128,dtype=bf16,causal=0,1
	tune odd_chain "$plain and BM == 128 and BN == 128 and BK == 64" gemm_chain \
		-p m=16384,k=64,n=1024,p=64,dtype=bf16 -p m=1000,k=72,n=328,p=40,dtype=fp16,act=gelu_tanh -p m=257,k=40,n=77,p=72,dtype=bf16
}

# Measures the figures of results/nvidia-h100/tile.md.
gemm() {
	tiles='BM == 128 and BN in [128, 256] or BM == 64 and BN in [64, 128, 256]'
	tune gemm "$plain and ($tiles) and BK in [64, 128]" --suite bf16_aligned --strategy guided --budget "${TEST_BUDGET:-1500ms}"
	gpu && gpu/gemm_vs_cublaslt --seconds 0.25 --cache-dir "$cache" -o "$out/gemm.vs.json" "$out/gemm.json" | tail -45
}

attention() {
	tune attention "$plain and BM in [64, 128] and BN in [64, 128] and (BM == 128 or BN == 128)" attention \
		-p batch=4,heads=16,seq_q=2048,seq_k=2048,head_dim=64,128,dtype=bf16,causal=0,1
	gpu && python3 results/bench/attention_vs_torch.py --tiletune ./tiletune --cache-dir "$cache" -o "$out/attention.vs.json" "$out/attention.json" | tail -15
}

for part in "$@"; do
	"$part"
done
exit $failed
