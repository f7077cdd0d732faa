# The size of a space and what each constraint removes; counts sum up.
"$TILETUNE" tune row_softmax -p rows=1000,cols=777,dtype=fp32 -n --path "$ROOT/tests/toy" \
	--device model:toy >space.txt 2>&1
awk '/raw product/ { product = $3 } /removed/ { removed += $2 } /legal/ { legal = $2 }
	END { print (product == removed + legal && legal > 0) ? "sums up" : "does not sum up" }' space.txt
"$TILETUNE" tune gemm -p M=4096,N=4096,K=4096,dtype=bf16 -f mma -n --device model:h200-sxm >space.txt 2>&1
awk '/raw product/ { product = $3 } /removed/ { removed += $2 } /legal/ { legal = $2 }
	END { print (product == removed + legal && legal > 10000) ? "sums up" : "does not sum up" }' space.txt
