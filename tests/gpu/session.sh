#!/bin/sh
# One GPU session, from the folder that `make dist TESTS=1` makes (or from a checkout: BUILD=build):
# runs phases with a time limit each, keeps their logs, prints a short table last.
#
#	sh tests/gpu/session.sh PHASE...
#
#	smoke        what is there, known bad kernels, timing self-tests, one quick tuning
#	odd          every family over odd sizes, our occupancy, resume after a kill
#	exhaustive   the committed sub-spaces, all of them, cold cache
#	quick        one problem over the whole space, cold cache
#	bench        what is promised, against cuBLASLt
#	suite:NAME   tunes configs/suites/NAME.json, then times it against cuBLASLt
#	run:COMMAND  any other command
#
# From the environment: OUT (./out), where the logs go: summary.txt, session.tar.gz. PHASE_LIMIT,
# seconds for any phase, instead of its own limit. DEVICE (cuda:0). EFFORT of suite:NAME.
set -u
build=${BUILD:-.}
out=${OUT:-out}
device=${DEVICE:-cuda:0}
here=$(dirname "$0")
tool=$build/tiletune
logs=$build/session
mkdir -p "$out" "$logs"
out=$(cd "$out" && pwd)
table=$out/summary.txt
: >"$table"

# cuBLASLt: the toolkit's, or the one that PyTorch's wheels bring
for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/local/cuda*/lib64 \
	/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib \
	/usr/local/lib/python3*/*-packages/nvidia/*/lib /usr/lib/python3/dist-packages/nvidia/*/lib; do
	if ls "$folder"/libcublasLt.so.1[0-9] >/dev/null 2>&1; then
		LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
		break
	fi
done
# programs without a run path of their own
[ -d "$build/lib" ] && LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

now() { date +%s.%N; }
took() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }

# Runs one step with a limit; its output goes to a log, the last lines of it to the table.
step() { # name, limit in seconds, lines to show, command...
	name=$1 seconds=${PHASE_LIMIT:-$2} lines=$3
	shift 3
	start=$(now)
	# shellcheck disable=SC2046
	timeout -k 5 "$seconds" "$@" >"$logs/$name.log" 2>&1
	code=$?
	verdict=ok
	[ $code -eq 0 ] || verdict="exit $code"
	[ $code -ne 124 ] || verdict="stopped after $seconds s"
	printf '%-24s %8s s  %s\n' "$name" "$(took "$start")" "$verdict" >>"$table"
	{
		echo "== $name: $verdict"
		if [ $code -eq 0 ]; then tail -n "$lines" "$logs/$name.log"; else tail -n 30 "$logs/$name.log"; fi
	} | cut -c1-240
	return $code
}
tune() { # name, arguments: with the session's shared cache
	name=$1
	shift
	step "tune-$name" 240 14 "$tool" tune --device "$device" --path . --cache-dir "$build/session-cache" \
		-o "$logs/$name.json" "$@"
}
cold() { # name, arguments: with a cache of its own that is empty
	name=$1
	shift
	rm -rf "$build/session-cold"
	step "tune-$name" 300 14 "$tool" tune --device "$device" --path . --cache-dir "$build/session-cold" \
		--fresh -o "$logs/$name.json" "$@"
}
versus() { # name, tuned files
	name=$1
	shift
	for program in "$build/gpu/gemm_vs_cublaslt" "$build/release/gpu/gemm_vs_cublaslt"; do
		[ -x "$program" ] || continue
		step "versus-$name" 180 60 "$program" --path . --cache-dir "$build/session-cache" \
			-o "$logs/versus-$name.json" "$@"
		return
	done
}

for phase in "$@"; do
	case $phase in
	smoke)
		step devices 30 20 "$tool" devices --path .
		step known-bad-kernels 120 80 sh "$here/run.sh" "$build" device
		step timing 60 20 sh "$here/run.sh" "$build" timing
		tune smoke gemm -p M=2048,N=2048,K=2048,dtype=bf16 --family mma --evaluations 48 --fresh
		;;
	odd)
		step odd 420 60 sh "$here/run.sh" "$build" odd occupancy resume
		;;
	exhaustive)
		for suite in configs/suites/mma_*.json configs/suites/simt_*.json; do
			cold "exhaustive-$(basename "$suite" .json)" --suite "$suite"
		done
		;;
	quick)
		cold quick gemm -p M=4096,N=4096,K=4096,dtype=bf16
		;;
	bench)
		step bench 900 80 sh tests/bench/run.sh "$build/release" "$build"
		;;
	suite:*)
		suite=${phase#suite:}
		tune "$suite" --suite "$suite" ${EFFORT:+--effort "$EFFORT"}
		versus "$suite" "$logs/$suite.json"
		;;
	run:*)
		step "command" 300 80 sh -c "${phase#run:}"
		;;
	*)
		echo "$phase: expected smoke, odd, exhaustive, quick, bench, suite:NAME or run:COMMAND"
		exit 2
		;;
	esac
done

# journals are large and compress well
[ -d "$build/test-gpu" ] && cp -R "$build/test-gpu/logs" "$logs/test-gpu-logs" 2>/dev/null
[ -d "$build/test-gpu/journals" ] && cp -R "$build/test-gpu/journals" "$logs/test-gpu-journals" 2>/dev/null
tar -C "$build" -czf "$out/session.tar.gz" session
echo "== summary"
cat "$table"
! grep -qv ' s  ok$' "$table"
