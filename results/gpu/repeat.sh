#!/bin/sh
# Tunes the same problems several times from scratch, and reports how often the tile and schedule, and how
# often the whole configuration, are the same. In the folder of `make dist TESTS=1`:
#
#	sh results/gpu/repeat.sh FOLDER
#
# Writes FOLDER/run-N.json, their journals and FOLDER/rates.json (tiletune.repeat_rates/1). A first tuning
# fills the kernel cache and does not count. Rounds for which LIMIT leaves no time are skipped.
#
# From the environment: DEVICE (cuda:0), CACHE (session-cache), ROUNDS (5), BUDGET (2s, a problem), WARM (5s,
# of the first tuning), LIMIT (280 s), SUITE (results/gpu/repeat.json), TUNE (additional arguments of tune).
set -u
folder=${1:?a folder}
here=$(dirname "$0")
begin=$(date +%s)
mkdir -p "$folder"
tune() { # NAME BUDGET
	# shellcheck disable=SC2086
	./tiletune tune --suite "${SUITE:-$here/repeat.json}" --effort quick --fresh --budget "$2" --path . \
		--device "${DEVICE:-cuda:0}" --cache-dir "${CACHE:-session-cache}" -o "$folder/$1.json" ${TUNE:-} \
		>"$folder/$1.log" 2>&1 || {
		tail -n 5 "$folder/$1.log"
		return 1
	}
}
took=0
tune warm "${WARM:-5s}" || exit 1
echo "filling the cache: $(($(date +%s) - begin)) s"
round=1
while [ "$round" -le "${ROUNDS:-5}" ]; do
	now=$(date +%s)
	[ $((now - begin + took)) -lt "${LIMIT:-280}" ] || {
		echo "round $round is left out: $((now - begin)) s are over"
		break
	}
	tune "run-$round" "${BUDGET:-2s}" || exit 1
	took=$(($(date +%s) - now))
	echo "round $round: $took s"
	round=$((round + 1))
done
python3 "$here/repeat.py" rates "$folder"
