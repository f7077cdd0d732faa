#!/bin/sh
# Builds with the output of export in four ways, each for real, which must agree.
set -u
out=$1
root=$(pwd)
case $out in /*) ;; *) out=$root/$out ;; esac
tiletune=$out/tiletune
export TILETUNE_PATH="$root"
unset MAKEFLAGS MFLAGS
work=$out/consumers
rm -rf "$work"
mkdir -p "$work"
cp -R tests/consumers/. "$work"
fail() { echo "consumers: $*"; exit 1; }

"$tiletune" tune row_softmax -p rows=256,512,cols=512 --path tests/toy --device model:toy \
	--effort estimate --budget 10m --evaluations 20 --cache-dir "$work/cache" -o "$work/tuned.json" \
	>"$work/talk" 2>&1 || { cat "$work/talk"; fail "tune"; }
cp "$work/tuned.json" "$work/cmake/tuned.json"
"$tiletune" export "$work/tuned.json" --format c-header -o "$work/c/tuned.h" || fail "c-header"
# one build includes both files
for part in tuned=256 other=512; do
	for tool in make=mk cmake=cmake; do
		"$tiletune" export "$work/tuned.json" row_softmax -p "rows=${part#*=},cols=512" --path tests/toy \
			--format "${tool%=*}" -o "$work/${tool%=*}/${part%=*}.${tool#*=}" || fail "${tool%=*}"
	done
done

expected=$(PYTHONPATH=src/python PYTHONDONTWRITEBYTECODE=1 TILETUNE_PATH=tests/toy /usr/bin/python3 "$work/python/consumer.py" "$work/tuned.json") || fail "python"

make -s -C "$work/make" program || fail "GNU make"
[ "$("$work/make/program")" = "$expected" ] || fail "make says $("$work/make/program"), JSON $expected"

cmake -S "$work/cmake" -B "$work/cmake/build" >"$work/talk" 2>&1 || { cat "$work/talk"; fail "cmake"; }
cmake --build "$work/cmake/build" >"$work/talk" 2>&1 || { cat "$work/talk"; fail "cmake --build"; }
[ "$("$work/cmake/build/program")" = "$expected" ] || fail "cmake says $("$work/cmake/build/program"), JSON $expected"

# the header's program prints every parameter, including those that the others print
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

# this file was committed from a real GPU
h200=results/nvidia-h200/tuned.json
entries=$(/usr/bin/python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["entries"]))' $h200)
problem="M=4096,N=4096,K=4096,dtype=bf16"
"$tiletune" export $h200 --format c-header -o - | cc -x c -fsyntax-only - || fail "README's command"
cp "$work/c/tuned.h" "$work/c/first.h"
"$tiletune" export $h200 --format c-header -o "$work/c/tuned.h" || fail "c-header"
# including one header twice is allowed; another one next to it is an error
printf '#include "first.h"\n#include "first.h"\n' >"$work/c/twice.c"
${CC:-gcc} -std=c99 -fsyntax-only "$work/c/twice.c" || fail "a header twice"
printf '#include "first.h"\n#include "tuned.h"\n' >"$work/c/two.c"
${CC:-gcc} -std=c99 -fsyntax-only "$work/c/two.c" 2>"$work/talk" && fail "two headers in one file"
grep -q "two different headers of tiletune export" "$work/talk" || fail "two headers are not said"
${CC:-gcc} -std=c99 $warnings -o "$work/c/program" "$work/c/main.c" || fail "the H200's header as C"
g++ -std=c++11 $warnings -x c++ -o "$work/c/program++" "$work/c/main.c" || fail "the H200's header as C++"
said=$("$work/c/program" gemm "$problem") || fail "C does not find $problem"
[ "$("$work/c/program++" gemm "$problem")" = "$said" ] || fail "C and C++ differ"
[ "$(grep -c '^	{"gemm", ' "$work/c/tuned.h")" = "$entries" ] || fail "the H200's header has not $entries entries"

"$tiletune" export $h200 --format make -o "$work/h200.mk" || fail "make"
cat >"$work/h200.make" <<'MAKE'
include $(FRAGMENT)
E := $(call tiletune_find,gemm,M=4096 N=4096 K=4096 dtype=bf16)
all:
	@echo '$(words $(TILETUNE_ENTRIES)) $(TILETUNE_$(E)_FAMILY) grid $(TILETUNE_$(E)_0_GRID)'
MAKE
made=$(make -s -f "$work/h200.make" FRAGMENT="$work/h200.mk") || fail "the H200's fragment"
[ "${made%% *}" = "$entries" ] || fail "the H200's fragment: expected $entries entries: $made"
family=${said%% *} grid=$(echo "$said" | sed 's/.* grid/grid/;s/ block.*//')
[ "${made#* }" = "$family $grid" ] || fail "make says $made, C says $said"

"$tiletune" export $h200 --format cmake -o "$work/h200.cmake" || fail "cmake"
cat >"$work/h200-script.cmake" <<'CMAKE'
include(${CMAKE_CURRENT_LIST_DIR}/h200.cmake)
tiletune_find(E gemm M=4096 N=4096 K=4096 dtype=bf16)
list(JOIN E_GRID " " grid)
message("${E_FAMILY} grid ${grid}")
CMAKE
made=$(cmake -P "$work/h200-script.cmake" 2>&1) || fail "the H200's module: $made"
[ "$made" = "$family $grid" ] || fail "cmake says $made, C says $said"
# runs the recipe that the module prints, unchanged
nvcc=$(command -v nvcc || ls "${CUDA_INCLUDE:-/usr/local/cuda/include}"/../bin/nvcc 2>/dev/null)
if [ -n "$nvcc" ]; then
	mkdir -p "$work/recipe"
	{
		echo 'cmake_minimum_required(VERSION 3.19)'
		echo 'project(recipe CUDA)'
		sed -n "/^function/q;s/^#	//p" "$work/h200.cmake" |
			sed "s|(tuned.cmake)|($work/h200.cmake)|;s|/usr/local/share/tiletune|$root|"
	} >"$work/recipe/CMakeLists.txt"
	cmake -S "$work/recipe" -B "$work/recipe/build" -DCMAKE_CUDA_COMPILER="$nvcc" >"$work/talk" 2>&1 &&
		cmake --build "$work/recipe/build" >>"$work/talk" 2>&1 || { tail -n 20 "$work/talk"; fail "the recipe of the module"; }
	grep -q '\.cu\.o' "$work/talk" || fail "the recipe compiled nothing"
else
	echo "not tried: nvcc is not here"
fi
# formats of services that track benchmarks
if command -v jq >"$work/talk"; then
	sed 's/"timing":/"objective": "energy", &/' $h200 >"$work/energy.json"
	for file in $h200 "$work/tuned.json" "$work/energy.json"; do
		for format in bencher github-benchmark; do
			jq -f configs/ci/$format.jq "$file" >"$work/$format.json" || fail "$format"
		done
		/usr/bin/python3 "$work/python/benchmarks.py" "$file" "$work/bencher.json" "$work/github-benchmark.json" || fail "benchmarks"
	done
else
	echo "skipped: jq is not here: configs/ci/*.jq are not tried"
fi

# the kernel by itself: its source needs no other file, and makes the same binary
library=$("$tiletune" devices --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["compiler"]["path"])')
for kind in source cubin; do
	"$tiletune" export $h200 gemm -p "$problem" --format $kind -o "$work/$kind" --cache-dir "$work/cache" \
		2>"$work/talk" || { cat "$work/talk"; fail "$kind"; }
done
# NVRTC opens libnvrtc-builtins by its name
LD_LIBRARY_PATH=$(dirname "$library") /usr/bin/python3 "$work/python/compile.py" "$library" "$work/source.cu.json" "$work/cubin.cubin.json" ||
	fail "the exported source"
echo "$expected"
