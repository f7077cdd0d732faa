#!/bin/sh
# When is it worth fusing two products? On the GPU, from the folder that `make dist TESTS=1` makes
# (or from a checkout: BUILD=build):
#
#	sh tests/gpu/chain_map.sh [map] [counters]
#
#	map       the problems of configs/suites/chain_map.json: what fuses, our two products and two
#	          calls of cuBLASLt side by side -> chain_map.json; about 4 minutes
#	counters  the kernels of tests/gpu/chain_counted.json, once each under ncu: what the hardware
#	          moved beside what the facts count -> chain_counters.json; about a minute
#
# From the environment: OUT (out), where the files go. CHOICES: what chain_vs_cublaslt --choose made
# before (it needs no GPU); without it that is done here. CACHE: of compiled kernels. LIMIT (400): seconds.
# What follows from the map (rule, table, figure): tests/gpu/chain_map.py.
set -u
build=${BUILD:-.}
out=${OUT:-out}
here=$(dirname "$0")
cache=${CACHE:-$build/session-cache}
choices=${CHOICES:-$out/choices.json}
limit=${LIMIT:-400}
mkdir -p "$out"
for program in "$build/gpu/chain_vs_cublaslt" "$build/release/gpu/chain_vs_cublaslt"; do
	[ -x "$program" ] && break
done
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${CUDA_HOME:-/usr/local/cuda}/lib64
[ -d "$build/lib" ] && LD_LIBRARY_PATH=$build/lib:$LD_LIBRARY_PATH
export LD_LIBRARY_PATH

map() {
	[ -s "$choices" ] || "$program" --choose --path . --cache-dir "$cache" configs/suites/chain_map.json \
		-o "$choices" || return
	timeout -k 5 "$limit" "$program" --path . --cache-dir "$cache" --limit "$((limit - 20))" "$choices" \
		-o "$out/chain_map.json"
}
# DRAM and L2; the last two are what SMs and L2 send each other, before L2 merges requests
metrics=dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_bytes.sum,l1tex__m_xbar2l1tex_read_bytes.sum,l1tex__m_l1tex2xbar_write_bytes.sum
counters() {
	ncu=$(command -v ncu || echo "${CUDA_HOME:-/usr/local/cuda}/bin/ncu")
	set -- --once --path . --cache-dir "$cache" "$here/chain_counted.json" -o "$out/chain_counted.json"
	"$program" "$@" || return # compiles; under ncu everything is there
	timeout -k 5 "$limit" "$ncu" --clock-control none --cache-control all --csv --print-units base \
		-k 'regex:^(gemm|fused|splitk)' --metrics "$metrics" "$program" "$@" >"$out/ncu.csv" 2>"$out/ncu.err"
	code=$?
	[ $code -eq 0 ] || tail -n 5 "$out/ncu.csv" "$out/ncu.err"
	python3 "$here/chain_counters.py" "$out/chain_counted.json" "$out/ncu.csv" \
		"ncu --clock-control none --cache-control all --metrics $metrics" >"$out/chain_counters.json" || code=1
	return $code
}

failed=0
for phase in "${@:-map}"; do
	case $phase in
	map | counters) "$phase" || failed=1 ;;
	*)
		echo "$phase: expected map or counters"
		exit 2
		;;
	esac
done
exit $failed
