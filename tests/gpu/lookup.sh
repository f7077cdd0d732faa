#!/bin/sh
# Thirty GEMMs that are not in the committed file, drawn with a fixed seed: what `lookup` finds for
# them, timed in turn with the winner of a fresh quick tuning. In the folder of `make dist TESTS=1`:
#
#	sh tests/gpu/lookup.sh OUTPUT.json
#
# From the environment: DEVICE (cuda:0), WORK (lookup-work): answers of `lookup` that lie there
# already are taken.
set -u
output=$1
device=${DEVICE:-cuda:0}
here=$(dirname "$0")
work=${WORK:-lookup-work}
tuned=results/nvidia-h200/tuned.json
mkdir -p "$work"
[ -e "$work/lookups.json" ] || {
	python3 "$here/lookup.py" problems $tuned >"$work/problems" || exit 1
	# shellcheck disable=SC2046
	./tiletune lookup $tuned gemm $(sed 's/^/-p /' "$work/problems") --path . --json \
		>"$work/lookups.json" 2>"$work/lookup.log"
	[ -s "$work/lookups.json" ] || {
		cat "$work/lookup.log"
		exit 1
	}
}
[ -z "${ONLY_LOOKUP:-}" ] || exit 0
python3 "$here/lookup.py" suite "$work/problems" >"$work/suite.json" || exit 1
timeout 240 ./tiletune tune --suite "$work/suite.json" --effort quick --fresh --no-journal --path . \
	--device "$device" --cache-dir session-cache -o "$work/fresh.json" >"$work/tune.log" 2>&1 || {
	tail -n 20 "$work/tune.log"
	exit 1
}
python3 "$here/lookup.py" races "$work/lookups.json" "$work/fresh.json" >"$work/races.json" || exit 1
timeout 120 ./gpu/race_rows "$work/races.json" --device "$device" --cache-dir session-cache \
	>"$work/result.json" || exit 1
python3 "$here/lookup.py" summary "$work/lookups.json" "$work/result.json" >"$output" || exit 1
python3 - "$output" <<'PYTHON'
import json
import sys

answer = json.load(open(sys.argv[1], encoding="utf-8"))
for item in sorted(answer["rows"], key=lambda item: item.get("reached_ratio", 0))[:8]:
    print(f"{item.get('reached_ratio', 0):.3f}  {item['problem'].split(',b_')[0]}  {item['grade']}")
print(
    f"{answer['answered']} of {answer['problems']} answered; mean {answer['reached_mean']:.4f}, "
    f"worst {answer['reached_worst']:.4f}"
)
sys.exit(0 if answer["reached_mean"] >= 0.95 and answer["never_predicted_worse_than_default"] else 1)
PYTHON
