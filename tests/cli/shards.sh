# A suite in parts, each by a process of its own: together what one process would have written. A recorded
# journal is replayed, so that times are the same.
recording=$ROOT/results/nvidia-h200/decode.journal.jsonl.gz
export TILETUNE_PATH="$ROOT"
# tune FILE OPTION...
tune() {
	file=$1
	shift
	"$TILETUNE" tune --suite decode -d "replay:$recording" --budget 10m -o "$file" "$@" >>talk.txt 2>&1 || tail -n 3 talk.txt
}
# what runs are called is not compared
same() { # same ONE OTHER
	/usr/bin/python3 - "$@" <<'PYTHON'
import json, sys
def entries(path):
    tuned = json.load(open(path))
    runs = {run["id"] for run in tuned["runs"]}
    assert all(entry["run"] in runs for entry in tuned["entries"])
    texts = sorted(json.dumps({**entry, "run": ""}) for entry in tuned["entries"])
    return texts, runs
(one, _), (other, runs) = entries(sys.argv[1]), entries(sys.argv[2])
print(f"{sys.argv[2]}: {len(other)} entries, {'the same' if one == other else 'others'}; {len(runs)} runs")
PYTHON
}
tune whole.json
for part in 1 2 3; do
	tune shared.json --shard $part/3 &
	tune part-$part.json --shard $part/3 &
done
wait
same whole.json shared.json
try "$TILETUNE" merge part-1.json part-2.json part-3.json -o merged.json
same whole.json merged.json
ls ./*.jsonl
# parts are of about the same size, and which problem is where follows from the list
for part in 1 2 3; do
	"$TILETUNE" export part-$part.json --format csv | wc -l
done
# killed while it writes its second problem: it goes on with its own lines, another part with none of them
lines=$(grep -n '"event":"entry"' part-1.shard-1-of-3.journal.jsonl | sed -n 2p | cut -d: -f1)
head -n "$((lines + 3))" part-1.shard-1-of-3.journal.jsonl >killed.jsonl
cp killed.jsonl again.jsonl
: >talk.txt
tune killed.json --shard 1/3 --journal killed.jsonl
grep -c 'from an interrupted run' talk.txt
: >talk.txt
tune other.json --shard 2/3 --journal again.jsonl
grep -c 'from an interrupted run' talk.txt
same part-1.json killed.json
same part-2.json other.json
# more parts than problems: the last are empty, and merge like the others
tune empty.json --shard 100/100
"$TILETUNE" merge empty.json whole.json -o more.json
for shard in 4/3 1/3x -1/3; do
	try "$TILETUNE" tune --suite decode -d "replay:$recording" -n --shard $shard
done
# a network file system that locks no folders
cat >nfs.c <<'C'
#include <dlfcn.h>
#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
int flock(int fd, int operation)
{
	struct stat info;
	int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");

	if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
		errno = EBADF;
		return -1;
	}
	return real(fd, operation);
}
C
gcc -D_GNU_SOURCE -shared -fPIC -o nfs.so nfs.c -ldl
export LD_PRELOAD="$PWD/nfs.so"
for part in 1 2 3; do
	tune nfs.json --shard $part/3 &
done
wait
unset LD_PRELOAD
same whole.json nfs.json
ls -A | grep lock
