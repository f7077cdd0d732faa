"""Reads a tuned file: what a build script or a launcher in Python needs of it."""
import json
import sys


def find(path, operation, **keys):
    """The one entry whose problem has all of these keys."""
    with open(path, encoding="utf-8") as file:
        tuned = json.load(file)
    assert tuned["format"] == "tiletune.tuned/1"
    found = [entry for entry in tuned["entries"] if entry["operation"] == operation
        and all(entry["problem"].get(key) == value for key, value in keys.items())]
    if len(found) != 1:
        raise LookupError(f"{len(found)} entries of {operation} {keys}")
    return found[0]


winner = find(sys.argv[1], "row_softmax", rows=256, cols=512)["winner"]
launch = winner["launches"][0]
defines = winner["defines"]
print(winner["family"], "{" + ",".join(f"{name}={defines[name]}" for name in ("ROW_THREADS", "ROWS", "UNROLL")) + "}",
    launch["entry"], "grid", *launch["grid"], "block", *launch["block"], "smem", launch["smem_dynamic_bytes"])
