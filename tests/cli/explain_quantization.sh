# Tile and wave quantization on an A100 with 256x128 tiles: 1792 fits one wave, 1793 takes two.
field() { grep -m 1 "\"$1\":" answer.json | tr -d '\t ,'; }
for size in 1792 1793; do
	try "$TILETUNE" explain gemm -p M=$size,N=$size,K=$size,dtype=fp16 --family mma \
		--config BM=256,BN=128 --device model:a100-sxm4 --json >answer.json
	for name in tiles slots_per_wave waves tile_efficiency_ratio wave_efficiency_ratio; do
		field $name
	done
done
