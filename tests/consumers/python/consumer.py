"""Reads a tuned file like a build script or a launcher in Python."""
import sys

import tiletune

answer = tiletune.load(sys.argv[1]).lookup("row_softmax", rows=256, cols=512)
launch, defines = answer.launches[0], answer.row["defines"]
print(answer.family, "{" + ",".join(f"{name}={defines[name]}" for name in ("ROW_THREADS", "ROWS", "UNROLL")) + "}",
    launch["entry"], "grid", *launch["grid"], "block", *launch["block"], "smem", launch["smem_dynamic_bytes"])
