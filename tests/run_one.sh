#!/bin/sh
# Runs one line of the list of tests/run.sh: its output goes to a log, which is shown on failure;
# the counts of what passed and failed go to a file.
set -u
logs=$1
set -- $2
kind=$1
name=$(basename "$2")
log=$logs/$kind-$name.log
start=$(date +%s)
# predictions are those of the physics, whatever was learned on this machine or is shipped
export TILETUNE_LEARNED="${TILETUNE_LEARNED-none}"
limit=${TEST_TIMEOUT:-600}
case $kind in
unit) timeout "$limit" "$2" >"$log" 2>&1 ;;
fuzz) timeout "$limit" "$2" "$3" >"$log" 2>&1 ;;
cli) timeout "$limit" sh tests/cli/run_case "$2" >"$log" 2>&1 ;;
check)
	case $2 in
	*.py) timeout "$limit" /usr/bin/python3 "$2" "$TEST_OUT" >"$log" 2>&1 ;;
	*) timeout "$limit" sh "$2" "$TEST_OUT" >"$log" 2>&1 ;;
	esac
	;;
esac
code=$?
passed=0 failed=0 skipped=
if [ "$kind" = unit ]; then
	passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s).*/\1/p' "$log" | awk '{ s += $1 } END { print s + 0 }')
	failed=$(sed -n 's/^\[  FAILED  \] .*: \([0-9]*\) test(s).*/\1/p;s/^\[  FAILED  \] \([0-9]*\) test(s).*/\1/p' "$log" | awk '{ s += $1 } END { print s + 0 }')
	skipped=$(sed -n 's/^\[  SKIPPED \] \([a-z_0-9]*\)$/\1/p' "$log" | sort -u | paste -sd' ')
	# a program that died, or ran nothing, failed whatever it counted
	if [ $code -ne 0 ] && [ "$failed" = 0 ]; then failed=1; fi
	if [ "$passed" = 0 ] && [ "$failed" = 0 ] && [ -z "$skipped" ]; then failed=1; fi
elif [ $code -eq 0 ]; then
	passed=1
	skipped=$(sed -n 's/^skipped: //p' "$log" | tail -n 1)
elif [ "$kind" = check ] && [ $code -eq 77 ]; then
	# what it needs is not to be had here: said aloud, and again at the end
	reason=$(sed -n 's/^skipped: //p' "$log" | tail -n 1)
	echo "SKIP  $kind $name: ${reason:-no reason given}" | tee "$logs/$kind-$name.skip"
	echo "0 0" >"$logs/$kind-$name.count"
	exit 0
else failed=1; fi
# what was left out is said aloud, and again at the end
[ -z "$skipped" ] || echo "SKIP  $kind $name: of it: $skipped" | tee "$logs/$kind-$name.skip"
echo "$passed $failed" >"$logs/$kind-$name.count"
took=$(($(date +%s) - start))
if [ "$failed" = 0 ]; then
	echo "ok    $kind $name ($passed, ${took}s)"
else
	echo "FAIL  $kind $name (exit $code, ${took}s)"
	tail -n 40 "$log" | sed 's/^/      /'
fi
exit 0
