#!/bin/sh
# One suite with one GPU and with all of the machine's, cold caches, and with one whose measuring workers are
# killed again and again: times and winners. In the folder of `make dist TESTS=1`:
#
#	sh tests/gpu/gpus.sh FOLDER
#
# Leaves FOLDER/{many,one,warm,killed}.json with their journals, FOLDER/compared.json (compare_rows over
# winners that differ) and FOLDER/gpus.json. What LIMIT leaves no time for is left out.
#
# From the environment: SUITE (llm), DEVICES (cuda:all), RUNS ("many one warm killed"), EVERY (10, seconds between
# two kills), LIMIT (600 s), TUNE, more arguments of tune.
set -u
folder=${1:?a folder}
here=$(dirname "$0")
begin=$(date +%s)
mkdir -p "$folder"
left() { echo $((${LIMIT:-600} - $(date +%s) + begin)); }
run() { # NAME DEVICE CACHE
	[ "$(left)" -gt 5 ] || return 0
	# shellcheck disable=SC2086
	timeout -k 5 "$(left)" ./tiletune tune --suite "${SUITE:-llm}" --fresh --path . --device "$2" --cache-dir "$3" \
		-o "$folder/$1.json" ${TUNE:-} >"$folder/$1.log" 2>&1 &
	tuner=$!
	while kill -0 $tuner 2>/dev/null; do
		# processor time of the tuner itself: user and system, in hundredths of a second
		child=$(pgrep -P $tuner -x tiletune | head -n 1)
		cut -d' ' -f14,15 "/proc/${child:-$tuner}/stat" >"$folder/$1.cpu.new" 2>/dev/null &&
			mv "$folder/$1.cpu.new" "$folder/$1.cpu"
		if [ "$1" = killed ] && [ $(($(date +%s) % ${EVERY:-10})) = 0 ]; then
			pid=$(pgrep -P "${child:-$tuner}" -f 'worker-measure$' | shuf -n 1)
			[ -n "$pid" ] && kill -9 "$pid" && echo "$(date +%s) $pid" >>"$folder/kills"
		fi
		sleep 1
	done
	wait $tuner || tail -n 5 "$folder/$1.log"
	echo "$1: $(($(date +%s) - begin)) s since the beginning"
}
for name in ${RUNS:-many one warm killed}; do
	case $name in
	one) run one cuda:0 "$folder/../cold-one" ;;
	many) run many "${DEVICES:-cuda:all}" "$folder/../cold-many" ;;
	*) run $name "${DEVICES:-cuda:all}" "$folder/../cold-one" ;;
	esac
done
python3 "$here/gpus.py" pairs "$folder" >"$folder/pairs.json" && [ "$(left)" -gt 8 ] &&
	timeout "$(left)" gpu/compare_rows "$folder/pairs.json" --device cuda:0 --path . --cache-dir "$folder/../cold-one" \
		>"$folder/compared.json"
python3 "$here/gpus.py" table "$folder" | tee "$folder/table.txt"
