# Several processes in one folder: every entry is there and right, and what was interrupted goes on with
# its own lines.
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
export TILETUNE_NVRTC="$out/faults/libnvrtc.so.13" XDG_CACHE_HOME="$PWD/cache"
mkdir root
cp -r "$ROOT/tests/data/replay/templates" root/
cat >>root/templates/tile/tile.cu <<CU
//fake: kernel tile_direct 40 0 1 0 0
//fake: kernel tile_split 40 0 1 0 0
//fake: kernel tile_add 24 0 0 0 0
CU
# tune NUMBER OPTION...: two problems of its own and one that all have
tune() {
	number=$1
	shift
	"$TILETUNE" tune tile -p "M=$((number * 128)),N=512,1024,K=512" -p M=768,N=768,K=256 --path root \
		-d model:h200-sxm -e estimate -j 1 --no-cache "$@" 2>talk.$number
}
table() { "$TILETUNE" export "$1" --format csv | sort; }
for number in 1 2 3 4 5 6; do
	tune $number -o alone.json --no-journal >/dev/null
	tune $number -o - --no-journal >own.json
	table own.json >own.$number
done
table alone.json >alone.csv
wc -l <alone.csv
start() { # OPTION...
	pids=
	for number in 1 2 3 4 5 6; do
		tune $number "$@" >out.$number &
		pids="$pids $!"
	done
}
# together ROUND OPTION...: every other round they are killed at some time, and begin again
together() {
	round=$1
	shift
	start "$@"
	if [ $((round % 2)) = 0 ]; then
		sleep 0.0$round
		# shellcheck disable=SC2086
		kill -9 $pids
		wait
		start "$@"
	fi
	wait
}
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
	rm -f tuned.json tuned.journal.jsonl
	together $round
	table tuned.json | cmp - alone.csv || cat talk.*
	"$TILETUNE" validate --path "$ROOT" tuned.json tuned.journal.jsonl | grep -v ': ok'
done 2>/dev/null
echo "12 rounds on one file"
for round in 1 2 3 4; do
	together $round -o -
	for number in 1 2 3 4 5 6; do
		table out.$number | cmp - own.$number || cat talk.$number
	done
done 2>/dev/null
echo "4 rounds on standard output"
ls cache/tiletune/journals
# A run that only waits, here in its compiler, is not resumed by the next one with the same problems.
mkdir permits
echo "//fake: take $PWD/permits" >>root/templates/tile/tile.cu
both() {
	"$TILETUNE" tune tile -p M=128:384:128,N=512,K=512 --path root -d model:h200-sxm -e quick --evaluations 3 -j 1 \
		--no-cache -o both.json >"talk.$1" 2>&1
}
both first &
until grep -qs '"event":"entry"' both.journal.jsonl; do touch permits/one && sleep 0.01; done
both second &
until [ "$(grep -cs '"event":"run"' both.journal.jsonl)" = 2 ]; do sleep 0.01; done
rm -r permits
wait
grep -c 'interrupted run' talk.second
grep -oE '"event":"(run|entry|finish)"' both.journal.jsonl | sort | uniq -c | sed 's/^ *//'
"$TILETUNE" validate both.json both.journal.jsonl
table both.json | wc -l
# Who is killed leaves the best so far; the next run goes on with it.
mkdir permits
one() {
	exec "$TILETUNE" tune tile -p M=128,N=512,K=512 --path root -d model:h200-sxm -e quick --evaluations 3 -j 1 --no-cache -o one.json "$@"
}
(one >talk.one 2>&1) &
touch permits/one
until [ -s one.json ]; do sleep 0.01; done
kill -9 $!
wait $! 2>/dev/null
"$TILETUNE" export one.json --format csv --path root | wc -l
exact() { "$TILETUNE" lookup one.json tile -p M=128,N=512,K=512 --path root -d model:h200-sxm | grep exact; }
exact
rm -r permits
(one) 2>/dev/null | grep -E 'evaluated in|wrote' | sed 's/ in .* (/ (/'
exact
# what stands there already stays until the next run is at its end
cp one.json before.json
mkdir permits
(one --fresh >talk.one 2>&1) &
touch permits/one
until [ "$(grep -c '"event":"evaluation"' one.journal.jsonl)" = 4 ]; do sleep 0.01; done
sleep 1.2
kill -9 $!
wait $! 2>/dev/null
rm -r permits
cmp before.json one.json && echo "as before"
# Two tune a family each of one problem: the file gets what each of them ends with, not what it says before.
rows() { # FILE...
	/usr/bin/python3 -c 'import json, sys
for file in sys.argv[1:]:
    for row in json.load(open(file))["entries"][0]["families"]:
        print(row["family"], row["configuration"], row["time_us"])' "$@" | sort
}
some() { one --strategy random --evaluations 8 --family "$@"; }
for family in direct split; do
	(some $family -o $family.json >talk.$family 2>&1)
done
rows direct.json split.json >ends.txt
mkdir permits
(some direct -o joined.json >talk.direct 2>&1) &
touch permits/one
until [ -s joined.json ]; do sleep 0.01; done
cp joined.json early.json
(some split -o joined.json >talk.split 2>&1) &
until [ "$(grep -c '"event":"run"' joined.journal.jsonl)" = 2 ]; do sleep 0.01; done
rm -r permits
wait
rows early.json | grep -cF -f - ends.txt
rows joined.json | cmp - ends.txt && wc -l <ends.txt
# What is concluded and could not be saved is saved by the run that goes on.
sed -i '/"event":"finish"/d' joined.journal.jsonl
cp early.json joined.json
(some direct -o joined.json 2>&1) | grep -o 'from an interrupted run'
rows joined.json | grep -cF -f - ends.txt
