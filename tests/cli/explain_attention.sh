# The shared-memory formula of the tiled design and what follows from it, on an A100.
for tile in BM=120,BN=120 BM=45,BN=90; do
	"$TILETUNE" explain attention \
		-p batch=1,heads=16,seq_q=1024,seq_k=1024,head_dim=32,dtype=fp16 \
		--family tiled_simt --config $tile --device model:a100-sxm4 |
		grep -E "tiles on|blocks? per SM|formula|query tiles|key iter|of these full|cache lines|modulo" |
		sed -E 's/, limited.*//; s/ +/ /g'
done
