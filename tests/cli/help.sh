# Every command explains itself; a typing error gets the nearest name.
try "$TILETUNE" help
try "$TILETUNE" tnue
try "$TILETUNE" tune --dvice model:h200-sxm
try "$TILETUNE" tune gemm -p M=1 --effort sloppy
try "$TILETUNE" help explain
try "$TILETUNE" help --format pdf
try "$TILETUNE" tune gemm -p
try "$TILETUNE" help tune --format man
"$TILETUNE" help --format man | sed -n '/^\.SS.*families/,/^\.SS/p'
