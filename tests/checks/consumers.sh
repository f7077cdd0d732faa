#!/bin/sh
# Other builds use what export writes: four of them, each built for real, and all of one opinion.
set -u
out=$1
root=$(pwd)
case $out in /*) ;; *) out=$root/$out ;; esac
tiletune=$out/tiletune
work=$out/consumers
rm -rf "$work"
mkdir -p "$work"
cp -R tests/consumers/. "$work"
fail() { echo "consumers: $*"; exit 1; }

"$tiletune" tune row_softmax -p rows=256,512,cols=512 --path tests/toy --device model:toy \
	--effort estimate --evaluations 20 --cache-dir "$work/cache" -o "$work/tuned.json" \
	>"$work/talk" 2>&1 || { cat "$work/talk"; fail "tune"; }
cp "$work/tuned.json" "$work/cmake/tuned.json"
"$tiletune" export "$work/tuned.json" --format c-header -o "$work/c/tuned.h" || fail "c-header"
"$tiletune" export "$work/tuned.json" --format make -o "$work/make/tuned.mk" || fail "make"
"$tiletune" export "$work/tuned.json" --format cmake -o "$work/cmake/tuned.cmake" || fail "cmake"

expected=$(/usr/bin/python3 "$work/python/consumer.py" "$work/tuned.json") || fail "python"

make -s -C "$work/make" program || fail "GNU make"
[ "$("$work/make/program")" = "$expected" ] || fail "make says $("$work/make/program"), JSON $expected"

cmake -S "$work/cmake" -B "$work/cmake/build" >"$work/talk" 2>&1 || { cat "$work/talk"; fail "cmake"; }
cmake --build "$work/cmake/build" >"$work/talk" 2>&1 || { cat "$work/talk"; fail "cmake --build"; }
[ "$("$work/cmake/build/program")" = "$expected" ] || fail "cmake says $("$work/cmake/build/program"), JSON $expected"

# the header prints every parameter: the ones that the others print must be among them
strict="-Wall -Wextra -Wconversion -Wshadow -Werror -pedantic -I $work/c"
warnings="$strict -Wno-unused-parameter"
${CC:-gcc} -std=c99 $warnings -o "$work/c/program" "$work/c/main.c" || fail "the header as C"
g++ -std=c++11 $warnings -x c++ -o "$work/c/program++" "$work/c/main.c" || fail "the header as C++"
said=$("$work/c/program" row_softmax rows=256,cols=512) || fail "C: $said"
[ "$("$work/c/program++" row_softmax cols=512,rows=256)" = "$said" ] || fail "C and C++ differ"
[ "$(echo "$said" | sed 's/,TURNS=[0-9]*}/}/')" = "$expected" ] || fail "C says $said, JSON $expected"
for none in "row_softmax rows=257" "row_softmax cols=512" "gemm rows=256" "row_softmax rows=256,x=1"; do
	# shellcheck disable=SC2086
	"$work/c/program" $none >"$work/talk" && fail "C found $none"
done

# the committed file of a real GPU
for language in c c++; do
	"$tiletune" export results/nvidia-h200/tuned.json --format c-header -o - |
		${CC:-gcc} -x $language -Wall -Wextra -Werror -fsyntax-only - || fail "the H200's header as $language"
done
"$tiletune" export results/nvidia-h200/tuned.json --format make -o "$work/h200.mk" || fail "make"
printf 'include %s/h200.mk\nall:\n\t@echo $(words $(TILETUNE_ENTRIES))\n' "$work" >"$work/h200.make"
entries=$(grep -c '"operation":' results/nvidia-h200/tuned.json)
[ "$(make -s -f "$work/h200.make")" -gt 0 ] || fail "no entries of $entries in the H200's fragment"
echo "$expected"
