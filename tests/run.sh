#!/bin/sh
# Runs the tests three at a time and ends with one line: N passed, N failed.
#
#	tests/run.sh OUT BUILD quick|full
set -u
out=$1 build=$2 size=$3
logs=$out/tests/logs
rm -rf "$logs"
mkdir -p "$logs"
export TEST_OUT="$out" TEST_BUILD="$build" TEST_SIZE="$size"

list=$logs/list
for program in "$out"/tests/test_*; do
	case $program in *.o | *.d) continue ;; esac
	[ -x "$program" ] && echo "unit $program"
done >"$list"
case $out in
*san-thread*) others=no ;; # a few unit tests (tests.mk)
*) others=yes ;;
esac
for program in "$out"/tests/fuzz_*; do
	[ $others = yes ] || continue
	case $program in *.o | *.d) continue ;; esac
	name=${program##*/fuzz_}
	[ -x "$program" ] && echo "fuzz $program tests/fuzz/corpus/$name"
done >>"$list"
for script in tests/cli/*.sh; do
	[ $others = yes ] || continue
	[ -e "$script" ] && echo "cli $script"
done >>"$list"
for script in tests/checks/*.sh tests/checks/*.py; do
	[ $others = yes ] || continue
	[ -e "$script" ] && echo "check $script"
done >>"$list"

if [ "$size" = full ]; then
	for script in tests/checks/full/*.sh; do
		echo "check $script"
	done >>"$list"
fi

# the slow ones first, so that the lanes end together; more lanes than two cores, for some tests wait
slow='families|gpu_scripts|slurm|readme|schemas|kernels\.py|report_browser|test_check$|launch\.py|explain_chain|chain_versus|baseline|test_device_faults|advise'
grep -E "$slow" "$list" | awk -v order="$slow" 'BEGIN { n = split(order, name, "|") }
	{ for (i = 1; i <= n; i++) if ($0 ~ name[i]) { print i "\t" $0; next } }' | sort -sn | cut -f2- >"$list.sorted"
grep -vE "$slow" "$list" >>"$list.sorted"
xargs -P 3 -n 1 -d '\n' sh tests/run_one.sh "$logs" <"$list.sorted"

passed=$(cat "$logs"/*.count 2>/dev/null | awk '{ p += $1 } END { print p + 0 }')
failed=$(cat "$logs"/*.count 2>/dev/null | awk '{ f += $2 } END { print f + 0 }')
cat "$logs"/*.skip 2>/dev/null
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
