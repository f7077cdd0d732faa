#!/bin/sh
# One suite with one GPU and with all of the machine's, and with all of them while measuring workers are killed: times,
# what limits them, winners. In the folder of `make dist TESTS=1`:
#
#	sh tests/gpu/gpus.sh FOLDER
#
# RUNS, in this order and each with all GPUs but `one`:
#	many	cold cache		one	cold cache, one GPU
#	ahead	after --compile-only on the device model with the same cores
#	warm	with the cache that `one` filled
#	killed	the same, while one worker is killed every EVERY seconds
# Leaves FOLDER/{many,one,ahead,warm,killed}.json with their journals, FOLDER/compared.json (compare_rows on one GPU
# over winners that differ), FOLDER/several_gpus.json and, in words, table.txt. What LIMIT leaves no time for is left out,
# and said.
#
# From the environment: SUITE (llm), SHARD (1/5: a fifth of it, as all of it takes one GPU five minutes; 1/1),
# DEVICES (cuda:all), MODEL (h200-sxm), RUNS, EVERY (10 s), LIMIT (600 s), TUNE, more arguments of tune.
set -u
folder=${1:?a folder}
here=$(dirname "$0")
begin=$(date +%s)
mkdir -p "$folder"
caches=$(mktemp -d)
trap 'rm -rf "$caches"' EXIT
left() { echo $((${LIMIT:-600} - $(date +%s) + begin)); }
tune() { # OPTION...
	# shellcheck disable=SC2086
	exec timeout -k 5 "$(left)" ./tiletune tune --suite "${SUITE:-llm}" --shard "${SHARD:-1/5}" --path . "$@" ${TUNE:-}
}
run() { # NAME DEVICE CACHE
	if [ "$(left)" -le 5 ]; then
		echo "$1: no time was left"
		return
	fi
	(tune --fresh --device "$2" --cache-dir "$caches/$3" -o "$folder/$1.json" --journal "$folder/$1.journal.jsonl") \
		>"$folder/$1.log" 2>&1 &
	tuner=$!
	killed=$(date +%s)
	while kill -0 $tuner 2>/dev/null; do
		# processor time of the tuner itself: user and system, in hundredths of a second
		child=$(pgrep -P $tuner -x tiletune | head -n 1)
		cut -d' ' -f14,15 "/proc/${child:-$tuner}/stat" >"$folder/$1.cpu.new" 2>/dev/null &&
			mv "$folder/$1.cpu.new" "$folder/$1.cpu"
		if [ "$1" = killed ] && [ $(($(date +%s) - killed)) -ge "${EVERY:-10}" ]; then
			killed=$(date +%s)
			# with several GPUs each has a process of its own between the two
			of=${child:-$tuner}
			of=$of$(pgrep -P "$of" -x tiletune | sed 's/^/,/' | tr -d '\n')
			pid=$(pgrep -P "$of" -f 'worker-measure$' | shuf -n 1)
			[ -n "$pid" ] && kill -9 "$pid" && echo "$killed $pid" >>"$folder/kills"
		fi
		sleep 0.5
	done
	wait $tuner || {
		echo "$1: exit $?"
		tail -n 5 "$folder/$1.log"
	}
	echo "$1: $(($(date +%s) - begin)) s since the beginning"
}
for name in ${RUNS:-many one ahead warm killed}; do
	case $name in
	one) run one cuda:0 one ;;
	many) run many "${DEVICES:-cuda:all}" many ;;
	ahead)
		(tune --device "model:${MODEL:-h200-sxm}" --cache-dir "$caches/ahead" --compile-only) >"$folder/compiled.log" 2>&1
		echo "--compile-only: $(tail -n 1 "$folder/compiled.log"), $(($(date +%s) - begin)) s since the beginning"
		run ahead "${DEVICES:-cuda:all}" ahead
		;;
	*) run "$name" "${DEVICES:-cuda:all}" one ;;
	esac
done
python3 "$here/gpus.py" pairs "$folder" >"$folder/pairs.json" && [ "$(left)" -gt 8 ] &&
	timeout -s TERM "$(left)" gpu/compare_rows "$folder/pairs.json" --device cuda:0 --path . --cache-dir "$caches/one" \
		>"$folder/compared.json"
python3 "$here/gpus.py" summary "$folder" >"$folder/several_gpus.json" &&
	python3 "$here/gpus.py" table "$folder/several_gpus.json" | tee "$folder/table.txt"
grep -h '^notice' "$folder"/*.log
exit 0
