#!/bin/sh
# Measurements of the tool itself in one GPU session, from the folder of `make dist TESTS=1`:
#
#	sh tests/gpu/experiments.sh OUT [PHASE[=SECONDS]...]
#
#	check       240 s  checks of kernels unchanged, slowed by 5%, by 3%         check_rates.json
#	lookup      160 s  what lookup finds for thirty GEMMs, beside fresh tunings lookup_rates.json
#	odd         240 s  every odd size, of mma, attention and gemm_chain          odd.txt
#	unfused      90 s  attention's three kernels, exhaustively, beside flash_mma  unfused.json
#	racecheck   150 s  compute-sanitizer on attention and gemm_chain            racecheck.txt
#
# OUT gets these, summary.txt, which is also printed last, and experiments.tar.gz with journals and logs:
# at most seven files. All are there after each phase, so that a session that ends early keeps what it
# had. TOTAL (570) seconds are spent at most: a phase gets what is left, and none begins with less than
# 20. Where a command is limited to ten minutes, two calls: `check=390 lookup`, then `odd=310 unfused
# racecheck`.
#
# Compilers would take most of the time: tests/gpu/precompile.sh fills session-cache/ and
# lookup-work/ without a GPU, in this folder, which then travels as it is. DEVICE (cuda:0).
set -u
[ $# -gt 0 ] || {
	sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//'
	exit 2
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- check lookup odd unfused racecheck
export DEVICE="${DEVICE:-cuda:0}" CACHE="${CACHE:-session-cache}"
here=$(dirname "$0")
logs=experiment-logs
table=$out/summary.txt
ends=$(($(date +%s) + ${TOTAL:-570}))
worst=0
mkdir -p "$logs"
[ -d lib ] && export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
{
	./tiletune --version
	date -u +%Y-%m-%dT%H:%M:%SZ
	./tiletune devices --path . 2>/dev/null | grep -E 'cuda:0|NVRTC'
	echo "sh tests/gpu/experiments.sh OUT $*"
} >"$table"

[ "${DEVICE#cuda}" = "$DEVICE" ] || ./tiletune devices --path . 2>/dev/null | grep -q '^ *cuda:0' || {
	echo "expected a GPU and the tuner at ./tiletune:"
	./tiletune devices --path . 2>&1 | head -n 5
	exit 5
}

# What has no file of its own in OUT: journals, tuned files, logs.
pack() {
	set -- "$logs"
	for folder in check-work/base.json lookup-work unfused-work test-gpu/journals test-gpu/logs \
		racecheck/sanitizer; do
		[ -e "$folder" ] && set -- "$@" "$folder"
	done
	tar -czf "$out/experiments.tar.gz.new" --exclude='*/cache' --exclude='*/worker' "$@" &&
		mv "$out/experiments.tar.gz.new" "$out/experiments.tar.gz"
}
families="attention/tiled_wmma attention/unfused attention/flash_mma gemm/mma gemm_chain/fused
	gemm_chain/fused_resident gemm_chain/separate"
phase_odd() { # seconds: at most three tenths of them for each, as long as there are any
	share=${ODD_LIMIT:-$(($1 * 3 / 10))}
	odd_ends=$(($(date +%s) + $1))
	odd_code=0
	: >"$out/odd.txt"
	for family in $families; do
		left=$((odd_ends - $(date +%s) - 2))
		[ $left -ge 5 ] || {
			echo "-     $family: no time left" >>"$out/odd.txt"
			odd_code=1
			continue
		}
		[ $left -le "$share" ] || left=$share
		TEST_DEVICE=$DEVICE TEST_CACHE=$CACHE TEST_FAMILIES=$family TEST_LIMIT=$left \
			sh "$here/run.sh" . odd >>"$out/odd.txt" 2>&1 || odd_code=1
	done
	cat "$out/odd.txt"
	return $odd_code
}
phase_racecheck() { # seconds
	CASES='^(attention|gemm_chain)' CONTROL=0 EVALUATIONS=2 LIMIT=$(($1 - 10)) OUT=racecheck \
		TILETUNE_KERNEL_TIMEOUT=$(($1 - 20)) sh "$here/sanitizer.sh" racecheck
	code=$?
	cp racecheck/sanitizer.txt "$out/racecheck.txt"
	return $code
}
run_phase() { # name, seconds
	case $1 in
	check) LIMIT=$(($2 - 10)) timeout -k 5 "$2" sh "$here/check.sh" "$out/check_rates.json" ;;
	lookup) TUNE_LIMIT=$(($2 * 3 / 4)) COMPARE_LIMIT=$(($2 / 4 - 5)) sh "$here/lookup.sh" "$out/lookup_rates.json" ;;
	odd) phase_odd "$2" ;;
	unfused) TUNE_LIMIT=$(($2 - 20)) COMPARE_LIMIT=15 sh "$here/unfused.sh" "$out/unfused.json" ;;
	racecheck) phase_racecheck "$2" ;;
	esac
}
for phase in "$@"; do
	case ${phase%%=*} in
	check | odd) limit=240 lines=2 ;;
	lookup) limit=160 lines=2 ;;
	unfused) limit=90 lines=8 ;;
	racecheck) limit=150 lines=14 ;;
	*)
		echo "$phase: expected check, lookup, odd, unfused or racecheck"
		exit 2
		;;
	esac
	[ "${phase%%=*}" = odd ] && lines=9
	[ "$phase" = "${phase%%=*}" ] || limit=${phase#*=}
	name=${phase%%=*}
	begin=$(date +%s)
	left=$((ends - begin))
	[ $left -ge "$limit" ] || limit=$left
	[ "$limit" -ge 20 ] || {
		echo "== $name: not begun, $left s left" >>"$table"
		worst=1
		continue
	}
	run_phase "$name" "$limit" >"$logs/$name.log" 2>&1
	code=$?
	[ $code -eq 0 ] || worst=1
	{
		echo "== $name: exit $code, $(($(date +%s) - begin)) s"
		tail -n "$lines" "$logs/$name.log" | cut -c1-200
	} >>"$table"
	pack
done
cat "$table"
exit $worst
