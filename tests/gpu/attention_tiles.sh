#!/bin/sh
# Must tiles be powers of two? Per family of attention the tile shape alone varies, at head_dim 32,
# 64, 128 and 1024 and 4096 keys (16 heads, fp16): at most 98 tiles each, multiples of 8 and odd
# sizes. From a checkout, or from the folder that `make dist TESTS=1` makes:
#
#	sh tests/gpu/attention_tiles.sh OUT [FAMILY...]
#
# OUT gets attention_tiles_FAMILY.json and its journal. `--effort quick` samples a tile beyond 1.4
# times the best twice and no more; `--strategy exhaustive` leaves none out. flash_mma has tiles of
# multiples of 16 and other parameters: they stay as below, and of several WARPS the best counts.
#
# From the environment: BUILD (.), where tiletune is; DEVICE (cuda:0); CACHE, of compiled kernels;
# HEAD_DIMS (32,64,128), SEQS ("1024 4096"), LIMIT (300), seconds for one family.
set -u
build=${BUILD:-.}
out=$1
shift
[ $# -gt 0 ] || set -- tiled_simt tiled_wmma flash_mma
mkdir -p "$out"

# A grid; squares, among them what two published rules pick; a prime row.
tiled='(BM in [16,24,32,37,45,48,64,96] and BN in [32,48,64,90,96,97,112,128,176,192])'
tiled="$tiled or (BM == BN and BM in [37,40,45,53,56,72,80,88,90,97,104,112,120,128])"
tiled="$tiled or (BM == 53 and BN in [64,96,97,128])"
flash='MIN_BLOCKS == 1 and HEAD_GROUP == 8 and SWIZZLE == 1 and STAGES == 2 and Q_REGS == (1 if head_dim <= 64 else 0)'

failed=0
for family in "$@"; do
	where=$tiled
	[ "$family" != flash_mma ] || where=$flash
	problems=
	for seq in ${SEQS:-1024 4096}; do
		problems="$problems -p batch=1,heads=16,seq_q=$seq,seq_k=$seq,head_dim=${HEAD_DIMS:-32,64,128},dtype=fp16"
	done
	# shellcheck disable=SC2086
	timeout -k 5 "${LIMIT:-300}" "$build/tiletune" tune attention $problems --family "$family" --where "$where" \
		--effort quick --strategy exhaustive --budget 120s --fresh --device "${DEVICE:-cuda:0}" --path . \
		${CACHE:+--cache-dir "$CACHE"} -o "$out/attention_tiles_$family.json" >"$out/attention_tiles_$family.log" 2>&1 ||
		failed=1
	grep -E 'winner|evaluated in|error|expected' "$out/attention_tiles_$family.log" | cut -c1-160
done
exit $failed
