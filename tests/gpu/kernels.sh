#!/bin/sh
# Kernels that were changed, on a GPU, from the folder that `make dist TESTS=1` makes, in less than nine
# minutes:
#
#	sh tests/gpu/kernels.sh OUT [BEFORE]
#
#	batch       products of a batch that end inside of a tile: right fifty times over
#	control     the same with the kernels of BEFORE: were they wrong, this test would find it
#	decode, attention, chain    kernels of BEFORE and of today in turn, as ratios (before_after.py)
#	odd         sizes beside every tile, of the families that TMA feeds
#
# BEFORE: a folder made by tests/gpu/before.sh; without it only batch and odd. OUT gets summary.txt, which is
# printed last, a JSON of each comparison and logs.tar.gz. From the environment: DEVICE (cuda:0), CACHE
# (session-cache), TOTAL (530 seconds), PHASES.
set -u
[ $# -gt 0 ] || {
	sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//'
	exit 2
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
before=${2:-}
here=$(dirname "$0")
device=${DEVICE:-cuda:0}
cache=${CACHE:-session-cache}
ends=$(($(date +%s) + ${TOTAL:-530}))
work=kernels-work
table=$out/summary.txt
worst=0
mkdir -p "$work"
[ -d lib ] && export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
{
	./tiletune --version
	date -u +%Y-%m-%dT%H:%M:%SZ
	./tiletune devices --path . 2>/dev/null | grep -E 'cuda:0|NVRTC'
} >"$table"
families="attention/decode attention/flash_wgmma gemm_chain/fused_wgmma gemm/wgmma gemm/wgmma_repack gemm/wgmma_skinny gemm_grouped/wgmma"

# Entries of a tuned file of one family, at most so many.
entries() { # tuned file, family, count, output
	python3 - "$@" <<'PYTHON'
import json, sys
path, family, count, output = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    tuned = json.load(file)
found = [e for e in tuned["entries"] if e["winner"]["family"] == family]
step = max(1, -(-len(found) // int(count)))
tuned["entries"] = found[::step]
with open(output, "w", encoding="utf-8") as file:
    json.dump(tuned, file)
PYTHON
}
in_turn() { # name, tuned file, limit
	WORK=$work/$1 LIMIT=$(($3 - 5)) python3 "$here/before_after.py" "$before" "$2" "$out/$1.json" \
		--device "$device" --cache-dir "$cache"
}
phase_batch() { # limit
	TEST_DEVICE=$device TEST_CACHE=$cache TEST_LIMIT=$(($1 / 2)) sh "$here/run.sh" . batch
}
phase_control() { # exit code 0: wrong results were found
	mkdir -p "$work/control" && ln -sfn "$PWD/tiletune" "$work/control/tiletune"
	TEST_PATH=$before TEST_DEVICE=$device TEST_CACHE=$cache TEST_LIMIT=$(($1 / 2)) TEST_SEEDS="1 2" TEST_TIMES=1 \
		sh "$here/run.sh" "$work/control" batch
	grep -qsE '"outcome":"(wrong_result|nondeterministic)"' "$work/control/test-gpu/journals"/batch-*.journal.jsonl &&
		echo "the kernels of before are wrong, and it is seen" && return 0
	echo "the kernels of before were never seen to be wrong: a race that was won each time, or no test"
	return 1
}
phase_decode() {
	entries "${DECODE:-results/nvidia-h200/decode.json}" attention/decode "${MOST:-24}" "$work/decode.json" &&
		in_turn decode "$work/decode.json" "$1"
}
phase_attention() {
	entries "${ATTENTION:-results/nvidia-h200/attention.json}" attention/flash_wgmma "${MOST:-10}" "$work/attention.json" &&
		in_turn attention "$work/attention.json" "$1"
}
phase_chain() {
	./tiletune tune gemm_chain -p m=131072,k=16,n=512,p=16,dtype=bf16 -p m=24576,k=96,n=768,p=96,dtype=bf16 \
		-p m=8192,k=64,n=2048,p=64,dtype=bf16 -p m=65536,k=128,n=512,p=128,dtype=bf16 --family fused_wgmma --budget 5s \
		--path "$before" --device "$device" --cache-dir "$cache" --fresh --no-journal -o "$work/chain.json" &&
		in_turn chain "$work/chain.json" "$(($1 - 25))"
}
phase_odd() { # limit: each family gets its share of what is left, half of it at most for one suite
	odd_ends=$(($(date +%s) + $1))
	odd_code=0
	# shellcheck disable=SC2086
	set -- ${FAMILIES:-$families}
	for family; do
		left=$(((odd_ends - $(date +%s) - 3) / $# / 2))
		shift
		[ $left -ge 5 ] || {
			echo "-     $family: no time left"
			odd_code=1
			continue
		}
		TEST_DEVICE=$device TEST_CACHE=$cache TEST_FAMILIES=$family TEST_EVALUATIONS=${EVALUATIONS:-2} TEST_LIMIT=$left \
			sh "$here/run.sh" . odd || odd_code=1
	done
	return $odd_code
}
for phase in ${PHASES:-batch control decode attention chain odd}; do
	case $phase in
	batch) limit=100 lines=2 ;;
	control) limit=40 lines=2 ;;
	decode) limit=120 lines=30 ;;
	attention) limit=70 lines=16 ;;
	chain) limit=70 lines=8 ;;
	odd) limit=400 lines=30 ;;
	*) echo "$phase: expected batch, control, decode, attention, chain or odd" && exit 2 ;;
	esac
	left=$((ends - $(date +%s)))
	[ $left -ge $limit ] || limit=$left
	if { [ -z "$before" ] && ! echo "batch odd" | grep -qw "$phase"; } || [ $limit -lt 20 ]; then
		echo "== $phase: left out, $left s left" >>"$table"
		continue
	fi
	begin=$(date +%s)
	"phase_$phase" $limit >"$work/$phase.log" 2>&1
	code=$?
	[ $code -eq 0 ] || [ "$phase" = control ] || worst=1
	{
		echo "== $phase: exit $code, $(($(date +%s) - begin)) s"
		tail -n $lines "$work/$phase.log" | cut -c1-200
	} >>"$table"
	tar -czf "$out/logs.tar.gz.new" --exclude='*cubins*' "$work" $([ -d test-gpu ] && echo test-gpu/logs test-gpu/journals) &&
		mv "$out/logs.tar.gz.new" "$out/logs.tar.gz"
done
cat "$table"
exit $worst
