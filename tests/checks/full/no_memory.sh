#!/bin/sh
# Makes allocations fail from the n-th on, for n throughout loading templates, sheets, tuned files and
# journals. The program reports that memory is short (or the failed operation), never crashes in another way,
# and leaves no partially written file.
set -u
out=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0
case $out in
*san-*)
	echo "skipped: sanitizers have their own allocator"
	exit 77
	;;
esac
cc -O1 -shared -fPIC -o "$scratch/no_memory.so" tests/checks/full/no_memory.c || exit 1
export TILETUNE_PATH=. TILETUNE_NVRTC=/nonexistent
try() { # try COMMAND...: with 60 places where memory ends
	total=$(FAIL_AT=0 LD_PRELOAD=$scratch/no_memory.so "$@" 2>&1 >/dev/null | sed -n 's/^allocations //p')
	[ "${total:-0}" -gt 100 ] || {
		echo "$*: $total allocations; expected more"
		bad=1
		return
	}
	step=$((total / 60 + 1)) at=1
	while [ $at -le "$total" ]; do
		FAIL_AT=$at LD_PRELOAD=$scratch/no_memory.so "$@" >"$scratch/said" 2>&1
		code=$?
		# 134 is the exit code after abort(), which follows the message
		if [ $code -gt 5 ] && { [ $code -ne 134 ] || ! grep -q "out of memory" "$scratch/said"; }; then
			echo "$*: allocation $at of $total fails: exit $code"
			tail -n 3 "$scratch/said"
			bad=1
		fi
		at=$((at + step))
	done
}
tiletune=$out/tiletune
try "$tiletune" families
try "$tiletune" validate tests/data/report/small.json tests/data/report/small.journal.jsonl configs/devices/h200-sxm.json
try "$tiletune" report tests/data/report/small.json tests/data/report/small.journal.jsonl -o "$scratch/page.html"
try "$tiletune" explain attention -p batch=1,heads=2,seq_q=64,seq_k=64,head_dim=64,dtype=bf16 --device model:a100-sxm4
try "$tiletune" lookup tests/data/report/small.json gemm -p M=100,N=100,K=100,dtype=bf16
[ ! -e "$scratch/page.html" ] || tail -c 20 "$scratch/page.html" | grep -q '</html>' || {
	echo "half a report was left"
	bad=1
}
exit $bad
