# Outputs that cannot be written: found out before anything is measured, files that stand are left as
# they are, and what was measured is in the journal.
export TILETUNE_PATH="$ROOT:$ROOT/tests/data/replay"
recording=replay:$ROOT/tests/data/replay/measured.jsonl.gz
tune() { try "$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d "$recording" "$@"; }
short() { grep -E '^[$]|tiletune:|hint:|exit|wrote' | sed -E 's/journal .*tuned.journal/journal CACHE\/tuned.journal/'; }

echo "# folders"
mkdir folder
echo text >file
tune -o missing/x.json
tune -o folder
tune -o file/x.json
tune -o x.json --journal folder
tune -o x.json --journal file/x.jsonl
ls

echo "# files of another kind, of another GPU"
tune -o file
cat file
echo '{"format": "tiletune.tuned/1", "device": {"name": "NVIDIA X", "compute_capability": 90, "sm_count": 1}, "runs": [], "entries": []}' >other.json
tune -o other.json
cat other.json
echo '{"format": "tiletune.tuned/1", "device": {' >broken.json
tune -o broken.json
echo '{"event":"run"}' >bad.jsonl
tune -o x.json --journal bad.jsonl
tune -o x.json --journal "$ROOT/tests/data/replay/measured.jsonl.gz"
cmp "$ROOT/tests/data/replay/measured.jsonl.gz" "$ROOT/tests/data/replay/measured.jsonl.gz" && ls

echo "# full disks"
tune -o /dev/full --journal full.jsonl | short
tune -o x.json --journal /dev/full | short
"$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d "$recording" -o - --no-journal 2>err >/dev/full
echo "exit $?"
grep tiletune: err
tune -o keep.json | short
cp keep.json before.json
(ulimit -f 8 && tune -o keep.json --no-journal -w "BM == 64" | short)
cmp keep.json before.json && echo "the tuned file is intact"
(ulimit -f 64 && tune -o keep.json --journal small.jsonl -w "BM == 64" | short)
cmp keep.json before.json && echo "the tuned file is intact"
grep -c evaluation small.jsonl >kept
grep finish small.jsonl
echo "# and with room again it goes on"
tune -o keep.json --journal small.jsonl -w "BM == 64" | grep -E "wrote|earlier run" | sed "s/$(cat kept) from/as many as were kept from/; s/ in .* s:.*(/ (/; s/evaluated.*(/evaluated (/"
tail -n 1 small.jsonl | cut -c1-17
ls

echo "# devices are written through"
tune -o /dev/null --no-journal | short
"$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d "$recording" -o /dev/stdout --no-journal 2>/dev/null | grep -c tiletune.tuned
"$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d "$recording" -o - --no-journal 2>/dev/null | grep -c tiletune.tuned

echo "# standard descriptors that are closed: what is said does not go into the journal"
"$TILETUNE" tune tile -p M=1000,N=1000,K=512 -d "$recording" -o closed.json --journal closed.jsonl >&- 2>&-
echo "exit $?"
"$TILETUNE" validate closed.json closed.jsonl
grep -vc '^{' closed.jsonl
"$TILETUNE" lookup closed.json tile -p M=1000,N=1000,K=512 --path "$ROOT/tests/data/replay" >&-
echo "exit $?"
