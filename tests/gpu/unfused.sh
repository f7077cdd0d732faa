#!/bin/sh
# What fusing attention is worth where both sides had their chance: `unfused` searched exhaustively,
# 256 to 16384 keys, then timed in turn with the `flash_mma` of BASE, or where that is empty, of a
# quick tuning. In the folder of `make dist TESTS=1`, on the GPU model of BASE:
#
#	sh tests/gpu/unfused.sh OUTPUT.json
#
# Leaves OUTPUT.json (tiletune.compared_rows/1: unfused first) and, in WORK (unfused-work), the tuned file and
# its journal. If the time is over, the lengths that were finished are compared.
#
# From the environment: BASE (results/nvidia-h200/attention_unfused.json), DEVICE (cuda:0), CACHE
# (session-cache), WORK, TUNE_LIMIT (60 s), COMPARE_LIMIT (30 s), LENGTHS, SHAPE; for tests TUNE, more
# arguments of tune. On a model device: unfused alone, no comparison; the kernels are compiled.
set -u
output=$1
device=${DEVICE:-cuda:0}
cache=${CACHE:-session-cache}
work=${WORK:-unfused-work}
base=${BASE-results/nvidia-h200/attention_unfused.json}
shape=${SHAPE:-batch=1,heads=16,head_dim=64,dtype=bf16}
lengths=${LENGTHS:-256 512 1024 2048 4096 8192 16384}
finished=
ends=$(($(date +%s) + ${TUNE_LIMIT:-60}))
mkdir -p "$work"
case $device in model:*) base= ;; esac
[ -z "$base" ] || [ -e "$work/unfused.json" ] || cat "$base" >"$work/unfused.json"
tune() { # length, family, effort
	left=$((ends - $(date +%s)))
	[ $left -gt 0 ] || return 1
	# shellcheck disable=SC2086
	timeout -k 5 "$left" ./tiletune tune attention -p "$shape,seq_q=$1,seq_k=$1" --family "$2" --effort "$3" \
		--path . --device "$device" --cache-dir "$cache" --wait 30s -o "$work/unfused.json" ${TUNE:-} \
		>>"$work/tune.log" 2>&1 || {
		tail -n 3 "$work/tune.log"
		return 1
	}
}
for length in $lengths; do
	tune "$length" unfused exhaustive || break
	case $device in model:*) continue ;; esac
	if [ -z "$base" ]; then tune "$length" flash_mma quick || break; fi
	finished="$finished $length"
done
case $device in model:*) exit ;; esac
# shellcheck disable=SC2086
python3 - "$work/unfused.json" $finished >"$work/comparisons.json" <<'PYTHON' || exit 1
import json
import sys

comparisons = []
for entry in json.load(open(sys.argv[1], encoding="utf-8"))["entries"]:
    best = {row["family"]: row for row in [entry["winner"]] + entry["families"]}
    names = ["attention/unfused", "attention/flash_mma"]
    length = str(entry["problem"]["seq_q"])
    if length in sys.argv[2:] and all(name in best for name in names):
        rows = [
            {"name": name, "family": name, "configuration": best[name]["configuration"]} for name in names
        ]
        comparisons.append({"operation": "attention", "problem": entry["problem"], "rows": rows})
json.dump({"seconds": 0.5, "loads": 2, "comparisons": comparisons}, sys.stdout)
PYTHON
timeout -k 5 "${COMPARE_LIMIT:-30}" ./gpu/compare_rows "$work/comparisons.json" --device "$device" --cache-dir "$cache" \
	>"$output.new" || echo "compare_rows: exit $?"
[ -s "$output.new" ] || exit 1
mv "$output.new" "$output"
# shellcheck disable=SC2086
exec python3 - "$output" $lengths <<'PYTHON'
import json
import sys

comparisons = json.load(open(sys.argv[1], encoding="utf-8"))["comparisons"]
good = [
    comparison
    for comparison in comparisons
    if "rows" in comparison and not any("wrong" in row for row in comparison["rows"])
]
for comparison in good:
    unfused, fused = comparison["rows"]
    over = fused["over_first"]
    print(
        f"{comparison['problem'].split(',head_dim')[0]}: unfused {unfused['time_us']:.2f} us {{{unfused['configuration']}}}, "
        f"flash_mma {fused['time_us']:.2f} us, factor {1 / over['value']:.3f}"
    )
wanted = len(sys.argv) - 2
print(f"{len(good)} of {wanted} lengths")
sys.exit(0 if len(good) == wanted else 1)
PYTHON
