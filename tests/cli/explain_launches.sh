# Several launches are told apart; one launch is not.
export TILETUNE_PATH="$ROOT" TILETUNE_NVRTC=/nonexistent
for split in 1 4; do
	echo "SPLIT_K=$split: $("$TILETUNE" explain gemm -p M=128,N=4096,K=7168,dtype=bf16 --device model:h200-sxm -f mma \
		-c BM=128,BN=128,BK=64,WM=64,WN=64,STAGES=3,SPLIT_K=$split | sed -n 's/^ *\(launch [0-9]\): predicted .* us$/\1/p' | paste -sd, -)"
done
