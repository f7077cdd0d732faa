#!/bin/sh
# Tests on a real GPU; the last line is: N passed, N failed. Needs only a driver and NVRTC: the programs are
# already built (`make test-gpu`), or are in a folder made by `make dist TESTS=1`.
#
#	tests/gpu/run.sh BUILD [odd|batch|own|launch|occupancy|device|bad|timing|resume]...
#
# From the environment:
#	TEST_DEVICE       cuda:0
#	TEST_EVALUATIONS  4    configurations per odd problem and family
#	TEST_SEED         1    seed of the search, of the inputs and of the selection of tiles
#	TEST_FAMILIES          only these, "gemm/mma gemm/simt"
#	TEST_SLICE             an expression that restricts the family's space, if TEST_FAMILIES is one family
#	TEST_BAD_PROBLEM  rows=4096,columns=4096
#	TEST_LIMIT        240  seconds for one invocation of the tuner
#	TEST_CACHE             compiled kernels; default: BUILD/test-gpu/cache
#	TEST_PATH         .    where templates/ and configs/ are
set -u
build=$1
shift
[ $# -gt 0 ] || set -- odd batch own launch occupancy device bad timing resume
device=${TEST_DEVICE:-cuda:0}
evaluations=${TEST_EVALUATIONS:-4}
seed=${TEST_SEED:-1}
limit=${TEST_LIMIT:-240}
templates=${TEST_PATH:-.}
here=$(dirname "$0")
tool=$build/tiletune
work=$build/test-gpu
cache=${TEST_CACHE:-$work/cache}
passed=0 failed=0
mkdir -p "$work/logs" "$work/journals"

pass() {
	passed=$((passed + 1))
	echo "ok    $1"
}
fail() { # name, log to show the end of
	failed=$((failed + 1))
	echo "FAIL  $1"
	[ -z "${2:-}" ] || tail -n "${3:-15}" "$2" | sed 's/^/      /'
}
# Prints the path of a test program in a build folder or a dist folder.
program() {
	for folder in "$build/release/gpu" "$build/gpu"; do
		[ -x "$folder/$1" ] && echo "$folder/$1" && return
	done
	return 1
}
# Runs a test program and counts its lines "ok NAME" and "FAIL NAME", or else its exit code.
run_program() { # name, arguments
	name=$1
	shift
	log=$work/logs/$name.log
	path=$(program "$name") || {
		fail "$name: not built"
		return
	}
	timeout "$limit" "$path" "$@" >"$log" 2>&1
	code=$?
	good=$(grep -c '^ok ' "$log")
	bad=$(grep -c '^FAIL ' "$log")
	if [ $code -ne 0 ] && [ "$bad" = 0 ]; then bad=1; fi
	# a program without output has tested nothing
	if [ "$good" = 0 ] && [ "$bad" = 0 ]; then bad=1; fi
	passed=$((passed + good)) failed=$((failed + bad))
	if [ "$bad" = 0 ]; then
		echo "ok    $name ($good)"
		grep '^note ' "$log" | sed 's/^/      /'
	else
		echo "FAIL  $name (exit $code)"
		grep '^FAIL ' "$log" | head -n 20 | sed 's/^/      /'
		tail -n 12 "$log" | sed 's/^/      /'
	fi
}
tune() { # output's name, arguments
	name=$1
	shift
	timeout "$limit" "$tool" tune --device "$device" --path "$templates" --cache-dir "$cache" --wait 30s \
		--seed "$seed" -o "$work/journals/$name.json" "$@" >"$work/logs/$name.log" 2>&1
}
# Counts the outcomes of a journal: "ok 41 wrong_result 1".
outcomes() {
	grep -h '^{"event":"evaluation"' "$@" 2>/dev/null |
		sed 's/.*"outcome":"\([a-z_]*\)".*/\1/' | sort | uniq -c | awk '{ printf "%s %s ", $2, $1 }'
}
bad_outcomes='wrong_result|out_of_bounds|nondeterministic|crashed|timed_out|launch_failed|compile_failed|compile_crashed|compile_timeout|device_lost'

families_of() { # operation
	"$tool" families "$1" --path . | sed -n "s|^  \($1/[A-Za-z0-9_]*\) .*|\1|p"
}

# Every family over sizes that do not fit tiles. The seed selects a slice of the tiles, so that the spaces
# stay small.
odd_family() { # suite's file, family
	name=$(basename "$1" .json)-$(echo "$2" | tr / -)
	slice=$(odd_slice "$2")
	rm -f "$work/journals/$name".*
	tune "$name" --suite "$1" --family "$2" --strategy random --evaluations "$evaluations" \
		--fresh ${slice:+--where "$slice"}
	code=$?
	journal=$work/journals/$name.journal.jsonl
	count=$(outcomes "$journal")
	if grep -q 'no toolkit for CUDA Tile C++' "$work/logs/$name.log"; then
		echo "-     $name: no compiler of tile kernels"
	elif [ $code -eq 124 ]; then
		fail "$name: not done after $limit s: $count" "$work/logs/$name.log"
	elif [ -z "$count" ]; then
		if grep -q 'does not apply' "$work/logs/$name.log"; then
			echo "-     $name: applies to no problem of the suite on this GPU"
		else
			fail "$name: nothing was tried" "$work/logs/$name.log"
		fi
	elif echo "$count" | grep -qE "$bad_outcomes"; then
		fail "$name: $count"
		awk -v bad="\"outcome\":\"($bad_outcomes)\"" '
			/^{"event":"problem"/ { problem = $0; sub(/.*"text":"/, "", problem); sub(/".*/, "", problem) }
			/^{"event":"evaluation"/ && $0 ~ bad { sub(/"flags".*"verification"/, "\"verification\""); sub(/"score":.*/, "")
				print problem ": " substr($0, 22, 700) }' "$journal" >"$work/logs/$name.bad"
		head -n 6 "$work/logs/$name.bad" | sed 's/^/      /'
	elif ! echo "$count" | grep -q '^ok \| ok '; then
		fail "$name: none was right and timed: $count" "$work/logs/$name.log"
	else
		pass "$name: $count"
	fi
}
odd_slice() { # family: which of its tiles are tried, as an expression; empty: all
	case $1 in
	gemm/*) echo "(BM//16 + BN//8 + BK//16 + STAGES + $seed) % 37 == 0" ;;
	"${TEST_FAMILIES:-}") echo "${TEST_SLICE:-}" ;;
	esac
}
# Every odd problem must have a correct configuration.
odd_coverage() { # suite's file
	name=$(basename "$1" .json)
	total=$(sed -n 's/^\[[0-9]*\/\([0-9]*\)\].*/\1/p' "$work/logs/$name"-*.log | sort -n | tail -n 1)
	served=$(awk '/^{"event":"problem"/ { problem = $0; sub(/.*"text":"/, "", problem); sub(/".*/, "", problem) }
		/^{"event":"evaluation"/ && /"outcome":"ok"/ { print problem }' "$work/journals/$name"-*.journal.jsonl | sort -u | wc -l)
	if [ "${total:-0}" -gt 0 ] && [ "$served" -ge "$total" ]; then
		pass "$name: $served of $total problems served"
	else
		fail "$name: $served of ${total:-no} problems served"
	fi
}
phase_odd() {
	for suite in "$here"/odd_*.json; do
		operation=$(sed -n 's/.*"operation": *"\([a-z_]*\)".*/\1/p' "$suite")
		named=$(sed -n 's/.*"families": *\[\(.*\)\].*/\1/p' "$suite" | tr -d '",')
		for family in $(families_of "$operation"); do
			[ -z "$named" ] || echo " $named " | grep -q " ${family#*/} " || continue
			[ -z "${TEST_FAMILIES:-}" ] || echo " $TEST_FAMILIES " | grep -q " $family " || continue
			odd_family "$suite" "$family"
		done
		[ -n "${TEST_FAMILIES:-}" ] || odd_coverage "$suite"
	done
}

# Products of a batch that end inside a tile, within a fragment of 64 rows or more, stored by TMA: the memory
# behind a product belongs to the next one. Two blocks of one wave would write there, in random order, so each
# kernel is verified about fifty times, with different inputs and tile orders.
phase_batch() {
	rm -f "$work/journals"/batch-*
	code=0
	for batch_seed in ${TEST_SEEDS:-1 2 3 4 5 6}; do
		seed=$batch_seed
		tune "batch-$batch_seed" gemm -p batch=3,M=192,320,N=256,K=256,dtype=bf16 --family wgmma \
			--strategy exhaustive --effort exhaustive --fresh --where "BM >= 128 and BN == 128 and BK == 64 and STAGES == 4 and STORE == 1 and STORE_DEPTH == 2 and STREAM_K == 0 and BLOCKS_PER_SM == 1 and CLUSTER_N == 1 and CLUSTER_M <= 2" ||
			code=$?
	done
	seed=${TEST_SEED:-1}
	set -- "$work/journals"/batch-*.journal.jsonl
	count=$(outcomes "$@")
	# counts how often each kernel was right on each problem
	least=$(awk '/^{"event":"problem"/ { problem = $0; sub(/.*"text":"/, "", problem); sub(/,.*/, "", problem) }
		/^{"event":"evaluation"/ { hash = $0; sub(/.*"kernel_hash":"/, "", hash); sub(/".*/, "", hash)
			count[problem " " hash] += /"outcome":"ok"/ }
		END { for (each in count) if (!seen++ || count[each] < least) least = count[each]; print least }' "$@" 2>/dev/null)
	if [ $code -eq 0 ] && [ "${least:-0}" -ge "${TEST_TIMES:-50}" ] && ! echo "$count" | grep -qE "$bad_outcomes"; then
		pass "batch: $count, each kernel $least times or more"
	else
		fail "batch: exit $code, ${count:-nothing}, some kernel right ${least:-0} times" "$work/logs/batch-1.log" 6
	fi
}

# Kernels as users bring them (tests/own): every tried configuration must run and agree with the default one.
# `types` runs in all of its types, with its own reference.
phase_own() {
	for file in "$here"/../own/*.json; do
		# programs select their own device, T1 files are converted first
		grep -q '"program"\|KernelSpecification' "$file" && continue
		if grep -q '"language": "tile"' "$file" && ! "$tool" devices 2>/dev/null | grep -q 'tile kernels: NVRTC'; then
			echo "-     $(basename "$file" .json): no compiler of tile kernels"
			continue
		fi
		name=own-$(basename "$file" .json)
		rm -f "$work/journals/$name".*
		set --
		[ "$name" != own-types ] ||
			set -- -p type=fp64,fp32,tf32,fp16,bf16,fp8_e4m3,fp8_e5m2,i8,i16,i32,i64,u8,u16,u32,u64,bool
		tune "$name" "$file" "$@" --strategy random --evaluations "$((2 * evaluations))"
		code=$?
		found=$(outcomes "$work/journals/$name.journal.jsonl")
		if [ $code -eq 0 ] && ! echo "$found" | grep -qE "$bad_outcomes"; then
			pass "$name: $found"
		else
			fail "$name: exit $code, ${found:-nothing}" "$work/logs/$name.log"
		fi
	done
}

# Launches the winners of phase own for every type, from a bundle and by a C program, and compares with numpy.
phase_launch() {
	log=$work/logs/launch.log
	if ! python3 -c 'import numpy' 2>/dev/null; then
		echo "-     launch: needs numpy"
		return
	fi
	[ -e "$work/journals/own-types.json" ] || phase_own
	if "$tool" export "$work/journals/own-types.json" --format bundle --path "$here/../own/types.json" --cache-dir "$cache" \
		-o "$work/types.bundle" >"$log" 2>&1 && python3 "$here/launch_own.py" "$(program launch_bundle)" "$work/types.bundle" >>"$log" 2>&1; then
		pass "launch: $(grep -c '^ok' "$log") types"
	else
		fail "launch" "$log"
	fi
}

# Compares the computed occupancy, from the compiler's report, with the driver's for every loaded kernel of a
# shipped operation. The test program cannot read the journals of phase own, because their operations are
# defined in tests/own.
phase_occupancy() {
	set --
	for journal in "$work"/journals/*.journal.jsonl; do
		case ${journal##*/} in
		own-*) ;;
		*) [ -e "$journal" ] && set -- "$@" "$journal" ;;
		esac
	done
	[ $# -gt 0 ] || {
		tune occupancy gemm -p M=512,N=512,K=512,dtype=fp16,fp32 --strategy random --evaluations 8 --fresh
		set -- "$work/journals/occupancy.journal.jsonl"
	}
	run_program test_occupancy_gpu --device "$device" --path . --cache-dir "$cache" "$@"
}

# Kernels known to be wrong, to crash or to hang.
phase_device() {
	run_program test_device_gpu . "$device"
}

# Judges the same kernels by `tiletune judge`, a line each, in turn with the correct kernel that they should
# beat. An accepted kernel must not be faster than that one. Only `good`, which needs no long chain, may be.
phase_bad() {
	folder=$work/bad
	mkdir -p "$folder/task" "$folder/submitted"
	cp "$here/bad_kernels.cu" "$folder/task"
	cp "$here/bad_kernels.cu" "$folder/submitted"
	sed 's/"good"/"works"/' "$here/bad.json" >"$folder/task/works.json"
	for kernel in $(sed -n 's/^KERNEL(\(.*\))/\1/p' "$here/bad_kernels.cu"); do
		sed "s/\"good\"/\"$kernel\"/" "$here/bad.json" >"$folder/submitted/$kernel.json"
		log=$work/logs/bad-$kernel.log
		TILETUNE_KERNEL_TIMEOUT=3 timeout "$limit" "$tool" judge "$folder/submitted/$kernel.json" --baseline "$folder/task/works.json" \
			-p "${TEST_BAD_PROBLEM:-rows=4096,columns=4096}" --device "$device" --path "$templates" --cache-dir "$cache" --wait 30s >"$log" 2>/dev/null
		code=$?
		line="bad $kernel: exit $code, $(sed -E '/works.json/d; /^ *compared/d' "$log" | tr -s ' \n' '  ' | cut -c1-240)"
		percent=$(sed -n 's/^ *\([+-][0-9.]*\)%.*against the baseline$/\1/p' "$log")
		case $kernel in
		good | works) expected='[04]' ;;
		# accepted, but timed correctly; a kernel whose tricks make times vary is unstable
		knows_buffers | knows_checksum | skips_written | writes_one | computes_ahead)
			expected='[034]'
			grep -q unstable "$log" || awk "BEGIN { exit !(${percent:--100} > -20) }" || expected=slower ;;
		nondeterministic) expected=4 ;;
		*) expected=1 ;;
		esac
		if echo $code | grep -q "^$expected\$"; then pass "$line"; else fail "$line"; fi
	done
}

phase_timing() {
	run_program test_timing_gpu --device "$device" --path . --cache-dir "$cache"
}

# A killed tuner resumes where it stopped and measures nothing twice.
phase_resume() {
	name=resume
	journal=$work/journals/$name.journal.jsonl
	rm -f "$work/journals/$name".*
	resume_arguments="gemm -p M=640,N=768,K=512,dtype=fp16 --family mma --strategy random --evaluations 40"
	where="BM*BN <= 8192 and STAGES == 3 and SPLIT_K == 1"
	# exec, so that the killed process is the tuner
	# shellcheck disable=SC2086
	(exec "$tool" tune $resume_arguments --where "$where" --device "$device" --path . --seed "$seed" \
		--cache-dir "$cache" -o "$work/journals/$name.json" >"$work/logs/$name-killed.log" 2>&1) &
	killed=$!
	waited=0
	while kill -0 $killed 2>/dev/null && [ $waited -lt 600 ]; do
		[ "$(grep -cs '^{"event":"evaluation"' "$journal")" -ge 8 ] 2>/dev/null && break
		sleep 0.1
		waited=$((waited + 1))
	done
	kill -9 $killed 2>/dev/null
	wait $killed 2>/dev/null
	before=$(grep -cs '^{"event":"evaluation"' "$journal")
	finished=$(grep -cs '^{"event":"finish"' "$journal")
	if [ "${before:-0}" -lt 8 ] || [ "$finished" != 0 ]; then
		fail "resume: killed after $before evaluations, finished $finished times" "$work/logs/$name-killed.log"
		return
	fi
	# shellcheck disable=SC2086
	tune "$name" $resume_arguments --where "$where"
	code=$?
	after=$(grep -c '^{"event":"evaluation"' "$journal")
	twice=$(grep '^{"event":"evaluation"' "$journal" |
		sed 's/.*"family":"\([^"]*\)","configuration":"\([^"]*\)".*/\1 \2/' | sort | uniq -d | wc -l)
	if [ $code -eq 0 ] && [ "$twice" = 0 ] && [ "$after" -gt "$before" ]; then
		pass "resume: $before evaluations before the kill, $((after - before)) after it, none twice"
	else
		fail "resume: exit $code, $before then $after evaluations, $twice twice" "$work/logs/$name.log"
	fi
}

if ! "$tool" devices --path . >"$work/logs/devices.log" 2>&1 ||
	{ [ "${device#cuda}" != "$device" ] && grep -q '^GPUs: none' "$work/logs/devices.log"; }; then
	echo "expected a GPU and the tuner at $tool:"
	cat "$work/logs/devices.log"
	exit 5
fi
for phase in "$@"; do
	"phase_$phase"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
