#!/bin/sh
# Compares `lookup` for thirty GEMMs that are not in the committed file, drawn with a fixed seed, with the
# winners of a fresh quick tuning, timed in turn. In the folder of `make dist TESTS=1`:
#
#	sh results/gpu/lookup.sh OUTPUT.json
#
# Existing files in WORK are reused: answers of `lookup` (ONLY_LOOKUP=1 makes only these, which needs no GPU),
# and all finished problems of an interrupted tuning. If the time for the tuning ends early, only the tuned
# problems are compared; OUTPUT.json has their number.
#
# From the environment: DEVICE (cuda:0), WORK (lookup-work), CACHE (session-cache), TUNE_LIMIT (240 s),
# COMPARE_LIMIT (120 s), SEED (20261125), TUNED (files for the lookup; several are merged first), and for
# tests TUNE, additional arguments of tune.
set -u
output=${1:-}
device=${DEVICE:-cuda:0}
here=$(dirname "$0")
work=${WORK:-lookup-work}
cache=${CACHE:-session-cache}
results=results/nvidia-h200
all=
for name in tuned llm spread spread_more few_rows drawn drawn_again drawn_third \
	drawn_fourth; do
	for path in "$results/$name".json*; do
		all="$all $path"
	done
done
export TUNED="${TUNED:-${all# }}"
mkdir -p "$work"
[ -e "$work/lookups.json" ] || {
	tuned=$work/tuned.json
	# shellcheck disable=SC2086
	case $TUNED in
	*' '*) ./tiletune merge $TUNED -o "$tuned" >"$work/merge.log" 2>&1 ;;
	*) cp "$TUNED" "$tuned" ;;
	esac || {
		cat "$work/merge.log"
		exit 1
	}
	python3 "$here/lookup.py" problems "$tuned" >"$work/problems" || exit 1
	# shellcheck disable=SC2046
	./tiletune lookup "$tuned" gemm $(sed 's/^/-p /' "$work/problems") --path . --json \
		>"$work/lookups.new" 2>"$work/lookup.log"
	[ -s "$work/lookups.new" ] || {
		cat "$work/lookup.log"
		exit 1
	}
	mv "$work/lookups.new" "$work/lookups.json"
}
[ -z "${ONLY_LOOKUP:-}" ] || exit 0
python3 "$here/lookup.py" suite "$work/problems" >"$work/suite.json" || exit 1
# shellcheck disable=SC2086
timeout -k 5 "${TUNE_LIMIT:-240}" ./tiletune tune --suite "$work/suite.json" --effort quick --path . --wait 30s \
	--device "$device" --cache-dir "$cache" -o "$work/fresh.json" ${TUNE:-} >"$work/tune.log" 2>&1 ||
	tail -n 20 "$work/tune.log"
[ -s "$work/fresh.json" ] || exit 1
python3 "$here/lookup.py" comparisons "$work/lookups.json" "$work/fresh.json" >"$work/comparisons.json" || exit 1
# when stopped it prints the results so far
timeout -k 5 "${COMPARE_LIMIT:-120}" ./gpu/compare_rows "$work/comparisons.json" --device "$device" \
	--cache-dir "$cache" >"$work/result.json" || echo "compare_rows: exit $?"
[ -s "$work/result.json" ] || exit 1
python3 "$here/lookup.py" summary "$work/lookups.json" "$work/fresh.json" "$work/result.json" \
	>"$output.new" || exit 1
mv "$output.new" "$output"
exec python3 "$here/lookup.py" show "$output"
