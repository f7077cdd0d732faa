#!/bin/sh
# Every header compiles by itself.
set -u
bad=0
include=${CUDA_INCLUDE:-/usr/local/cuda/include}
for header in $(find src tests/faults -path src/compile/headers -prune -o -name '*.h' -print | sort); do
	if ! ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -Wall -Werror -Isrc -Itests -isystem "$include" \
		-fsyntax-only -x c -include "$header" /dev/null; then
		echo "$header: does not compile on its own"
		bad=1
	fi
done
# every kernel header can be included twice, as other compilers do
for header in $(grep -L '^#pragma once' templates/*/*.cuh); do
	echo "$header: expected #pragma once, found none"
	bad=1
done
exit $bad
