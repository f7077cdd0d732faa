#!/bin/sh
# Compiles what tests/gpu/experiments.sh will measure, in the folder of `make dist TESTS=1` and without a
# GPU: the same commands on a device model, whose cubins are those of the real GPU wherever the
# NVRTC is the same build. Also asks `lookup` for its answers, which take no GPU.
#
#	sh tests/gpu/precompile.sh [lookup|odd|unfused|racecheck]...
#
# Leaves session-cache/ and lookup-work/lookups.json; then the folder travels, as one file:
#
#	tar --exclude='*.journal.jsonl.gz' -cJf bundle.tar.xz -C build dist
#
# What a search tries depends on what it measures: of quick tunings the cache holds most, not all.
# Kernels that spin (check) are compiled there. MODEL: h200-sxm.
set -u
[ $# -gt 0 ] || set -- unfused odd lookup racecheck
here=$(dirname "$0")
export DEVICE="model:${MODEL:-h200-sxm}" CACHE="${CACHE:-session-cache}"
work=precompile-work
mkdir -p "$work"
failed=0
[ -x ./tiletune ] || {
	echo "expected the tuner at ./tiletune: this runs in the folder of make dist TESTS=1"
	exit 2
}
quietly() { # name, command
	name=$1
	shift
	begin=$(date +%s)
	"$@" >"$work/$name.log" 2>&1
	code=$?
	[ $code -eq 0 ] || {
		failed=1
		echo "$name: exit $code"
		tail -n 5 "$work/$name.log"
	}
	echo "$name: $(($(date +%s) - begin)) s, $(find "$CACHE" -type f | wc -l) files in the cache"
}
for phase in "$@"; do
	case $phase in
	lookup)
		quietly lookup env ONLY_LOOKUP=1 sh "$here/lookup.sh"
		python3 "$here/lookup.py" suite lookup-work/problems >"$work/suite.json"
		# shellcheck disable=SC2086
		quietly lookup-tune ./tiletune tune --suite "$work/suite.json" --effort quick --fresh --no-journal \
			--path . --device "$DEVICE" --cache-dir "$CACHE" -o "$work/lookup.json" ${TUNE:-}
		;;
	odd) # the search is random: the same kernels, all of them
		quietly odd env TOTAL=100000 ODD_LIMIT=100000 sh "$here/experiments.sh" "$work" odd=90000
		rm -rf test-gpu experiment-logs
		;;
	unfused) quietly unfused env WORK="$work/unfused" TUNE_LIMIT=90000 sh "$here/unfused.sh" none ;;
	racecheck) # exit 1: without a GPU nothing runs under the sanitizer, so no case is clean
		quietly racecheck env CASES='^(attention|gemm_chain)' CONTROL=0 EVALUATIONS=2 LIMIT=90000 OUT="$work" \
			sh -c 'sh "$0" racecheck || [ $? = 1 ]' "$here/sanitizer.sh"
		;;
	*)
		echo "$phase: expected lookup, odd, unfused or racecheck"
		exit 2
		;;
	esac
done
exit $failed
