#!/bin/sh
# Every family compiles over a sample of its space, for each compute capability that the device
# sheets have: up to 4 configurations per problem for 8.0 and 9.0, 2 for the others (a sheet of a new
# capability joins them). With TEST_SIZE=full every sheet, and up to 400.
set -u
out=$1
sample() { # sample LIMIT DEVICE...
	limit=$1
	shift
	"$out/tests/sample_families" . "${TEST_BUILD:-build}/test-cache" "$out/tiletune" "$limit" "$@"
}
capability() { sed -n 's/.*"compute_capability": *\([0-9]*\).*/\1/p' "configs/devices/$1.json"; }

# shellcheck disable=SC2012
sheets=$(ls configs/devices/*.json | sed 's|.*/||; s|\.json$||')
if [ "${TEST_SIZE:-quick}" = full ]; then
	# shellcheck disable=SC2046,SC2086
	sample 400 $(printf 'model:%s ' $sheets)
	exit
fi
seen=" 80 90 "
others=
for sheet in $sheets; do
	number=$(capability "$sheet")
	case $seen in *" $number "*) continue ;; esac
	seen="$seen$number "
	others="$others model:$sheet"
done
# shellcheck disable=SC2046,SC2086
sample 4 model:h200-sxm model:a100-sxm4 && sample 2 $others
