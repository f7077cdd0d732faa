#!/bin/sh
# A run on the model under valgrind: no leak, and no read of uninitialised memory. (Compilers are separate
# processes and run without it.)
set -u
out=$1
command -v valgrind >/dev/null 2>&1 || {
	echo "skipped: valgrind is not here"
	exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
under() {
	valgrind -q --leak-check=full --show-leak-kinds=definite,indirect,possible \
		--errors-for-leak-kinds=definite,indirect,possible --error-exitcode=99 "$@" >"$scratch/talk" 2>&1 && return
	echo "valgrind $*:"
	tail -n 40 "$scratch/talk"
	exit 1
}
export TILETUNE_PATH=.
cache=${TEST_BUILD:-build}/test-cache
under "$out/tiletune" tune gemm -p M=256,N=256,K=256,dtype=bf16 -f mma --device model:h200-sxm -e estimate \
	--where "BM == 64 and BN == 64 and BK == 32 and GROUP_M == 1 and SPLIT_K == 1" --cache-dir "$cache" -o "$scratch/a.json"
under "$out/tiletune" report "$scratch/a.json" "$scratch/a.journal.jsonl" -o "$scratch/a.html"
under "$out/tiletune" export "$scratch/a.json" --format c-header
under "$out/tiletune" lookup "$scratch/a.json" gemm -p M=200,N=256,K=256,dtype=bf16
under "$out/tiletune" check "$scratch/a.json" --device model:h200-sxm --cache-dir "$cache"
