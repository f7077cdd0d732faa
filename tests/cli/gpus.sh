# Several GPUs in one run: the stand-in driver has four, of which one hangs, one is lost, one is slow.
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
ln -s "$out/faults/libcuda.so.1" lib/libnvidia-ml.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD" TILETUNE_KERNEL_TIMEOUT=0.5
# tune FILE DEVICE OPTION...: twelve problems
tune() {
	file=$1 device=$2
	shift 2
	"$TILETUNE" tune row_softmax -p rows=64:768:64,cols=64 -f online --path "$ROOT/tests/toy" \
		--where 'UNROLL == 1 and ROW_THREADS == 64' --evaluations 4 --budget 10m -o "$file.json" -d "$device" "$@" >talk.txt 2>&1
	echo "$file: exit $?"
	grep -E '^(notice|tiletune|hint):' talk.txt | sed 's/GPU-1\([0-9]\)[0-9a-f-]*/GPU \1/g'
}
look() { # look FILE: what the files say
	/usr/bin/python3 - "$1" <<'PYTHON'
import collections, json, sys
tuned = json.load(open(sys.argv[1] + ".json"))
lines = [json.loads(line) for line in open(sys.argv[1] + ".journal.jsonl")]
runs = [line for line in lines if line["event"] == "run"]
entries = collections.Counter(entry["problem"]["rows"] for entry in tuned["entries"])
concluded = collections.Counter()
where = {}
for line in lines:  # each problem's number is that of the queue, in all runs
    if line["event"] == "entry":
        concluded[line["problem"]] += 1
        where[line["problem"]] = line["entry"]["run"]
finals = collections.defaultdict(set)
for line in lines:
    if line["event"] == "final":
        finals[line["problem"], line["run"]].add(line["configuration"])
# the longest expected first: as they begin, give or take those that begin at once
begun = [int(line["text"].split("=")[1].split(",")[0]) for line in lines if line["event"] == "problem"]
order = list(dict.fromkeys(begun))
late = max(abs(place - order.index(rows)) for place, rows in enumerate(sorted(order, reverse=True)))
print(f"  the longest first: {late < 4}")
chain = all(b["resumes"] == a["id"] for a, b in zip(runs, runs[1:]))
gpus = {run["uuid"] for run in runs if run["id"] in set(where.values())}
print(f"  {len(entries)} problems in the tuned file, {max(entries.values())} entry of each;",
      f"{len(concluded)} concluded, {max(concluded.values())} times at most;",
      f"re-measured by the GPU that concluded: {all(finals[p, r] for p, r in where.items())};",
      f"runs are one chain: {chain}; by several GPUs: {len(gpus) > 1};",
      f"known runs: {all(e['run'] in {r['id'] for r in tuned['runs']} for e in tuned['entries'])}")
PYTHON
}
cat >script <<'SCRIPT'
devices 3
on 1 name NVIDIA A100-SXM4-80GB
SCRIPT
for device in cuda:all cuda:0,cuda:2,cuda:0 cuda:0,cuda:7 cuda:0,gpu cuda:0,; do
	tune none "$device"
done
try "$TILETUNE" explain row_softmax -p rows=64,cols=64 --path "$ROOT/tests/toy" -d cuda:all
ls ./*.json 2>/dev/null
cat >script <<'SCRIPT'
devices 2
on 0 context 46
SCRIPT
tune none cuda:0,cuda:1 # the first is the one that all are compared with
cat >script <<'SCRIPT'
devices 4
kernel row_softmax_online us=20 noise=0.01
on 1 kernel row_softmax_online skip=30 once=hung hang
on 2 kernel row_softmax_online skip=40 once=dead lost
on 2 lost_while dead
on 3 pace 1.5
SCRIPT
tune all cuda:all
look all
"$TILETUNE" validate all.json all.journal.jsonl
ls hung dead
# the same winners as of one GPU alone
tune replayed replay:all.journal.jsonl
for file in all replayed; do
	"$TILETUNE" export $file.json --format csv | cut -d, -f1-9 | sort >$file.csv
done
cmp all.csv replayed.csv && wc -l <all.csv
# stopped and killed: it ends at once; nothing lost, nothing twice
cat >script <<'SCRIPT'
devices 2
kernel row_softmax_online us=20 noise=0.01
SCRIPT
end() { # end SIGNAL ENTRIES: of `tune killed`, when the journal has so many
	tune killed cuda:0,cuda:1 >"$1.txt" &
	until [ "$(grep -cs '"event":"entry"' killed.journal.jsonl)" -gt "$2" ] 2>/dev/null; do
		sleep 0.05
		jobs %1 >/dev/null 2>&1 || break
	done
	kill "-$1" "$(cat ./GPU-10*.lock)"
	wait
}
end INT 1
cat INT.txt
end KILL 3
tune killed cuda:0,cuda:1
look killed
[ "$(grep -c 'from an interrupted run' talk.txt)" -gt 3 ] && echo "taken over"
# compiled beforehand, without the GPU: what runs on it then compiles nothing, be it a reference
compile() {
	"$TILETUNE" tune row_softmax -p rows=64:256:64,cols=64 -f online --path "$ROOT/tests/toy" --where 'UNROLL == 1' \
		--cache-dir cache "$@" 2>&1 | sed 's/ in [0-9.]* s of compilers//'
}
compile -d model:h200-sxm --compile-only
compile -d model:h200-sxm --compile-only --shard 1/2
compile -d cuda:0 --compile-only
compile -d cuda:all -o compiled.json | tail -n 1
grep -o '"compile_s":[0-9.]*' compiled.journal.jsonl
