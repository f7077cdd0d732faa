#!/bin/sh
# No shape left behind: plain bf16 products drawn with a seed, tuned quickly, timed side by side with
# cuBLASLt's best pick, and counters of the worst. In the folder of `make dist TESTS=1`:
#
#	sh tests/gpu/plain.sh OUT KIND...          aligned (60 shapes), odd (20), few (10): plain.py
#
# OUT gets KIND.json, KIND.journal.jsonl and versus_KIND.json, one kind after the other, then profile.txt. A shape takes 4 s to
# tune, a third of a second to compare. KNOWN: tuned files of other parts, which are compared in the same runs.
#
# From the environment: SEED, PART (1/1; plain.py); DEVICE (cuda:0), CACHE (session-cache), TUNE_LIMIT (250 s, until the last
# kind's tuning must have ended), WORST (3), how many are profiled, NCU_LIMIT (25) seconds each; TUNE, more arguments of tune.
set -u
[ $# -ge 2 ] || {
	sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//'
	exit 2
}
mkdir -p "$1"
out=$1
shift
here=$(dirname "$0")
cache=${CACHE:-session-cache}
device=${DEVICE:-cuda:0}
ends=$(($(date +%s) + ${TUNE_LIMIT:-250}))
[ -d lib ] && export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
files=
compared=
for kind; do
	left=$((ends - $(date +%s)))
	[ $left -gt 2 ] || break
	python3 "$here/plain.py" suite "$kind" >"$out/$kind.suite.json" || exit 1
	# shellcheck disable=SC2086
	timeout -k 5 $left ./tiletune tune --suite "$out/$kind.suite.json" --path . --device "$device" --wait 30s \
		--cache-dir "$cache" -o "$out/$kind.json" ${TUNE:-} >"$out/$kind.log" 2>&1 || tail -n 5 "$out/$kind.log"
	[ -s "$out/$kind.json" ] || continue
	# shellcheck disable=SC2086
	./gpu/gemm_vs_cublaslt --path . --cache-dir "$cache" --seconds 0.3 -o "$out/versus_$kind.json" "$out/$kind.json" ${KNOWN:-} \
		>"$out/versus_$kind.log" 2>&1
	[ -s "$out/versus_$kind.json" ] || {
		tail -n 20 "$out/versus_$kind.log"
		continue
	}
	files="$files $out/$kind.json"
	compared="$compared $out/versus_$kind.json"
done
[ -n "$compared" ] || exit 1
# shellcheck disable=SC2086
if [ "${WORST:-3}" -gt 0 ]; then
	# where each stands, the program looks in all files
	python3 "$here/plain.py" cases "${WORST:-3}" $compared | sed "s#|[^|]*|#|$files ${KNOWN:-}|#" >"$out/cases"
	CASES="$out/cases" OUT="$out" LIMIT="${NCU_LIMIT:-25}" sh "$here/profile.sh" >"$out/profile.log" 2>&1
fi
# shellcheck disable=SC2086
python3 "$here/plain.py" summary $compared
