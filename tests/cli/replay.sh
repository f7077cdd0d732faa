# A recorded journal as a device: the same table, every outcome, nothing compiled.
export TILETUNE_PATH="$ROOT:$ROOT/tests/data/replay" TILETUNE_NVRTC=/nonexistent
recording=replay:$ROOT/tests/data/replay/measured.jsonl.gz
tune() { try "$TILETUNE" tune tile -d "$recording" "$@" | sed -E 's/evaluated in .*: /evaluated: /; s/ in [0-9.]+ m?s//'; }
# (what the model thinks of it is not what this is about)
tune -p M=1000,N=1000,K=512 -e exhaustive -o a.json | grep -v -E "tiles on|per SM|bound by|the model|picked|rule"
tune -p M=1000,N=1000,K=512 -e exhaustive -o b.json --seed 7 >b.txt
# two runs and two seeds write the same winner
for file in a b; do
	"$TILETUNE" validate $file.json $file.journal.jsonl
	sed -n '/"winner"/,/"defines"/p' $file.json >$file.winner
done
cmp a.winner b.winner && echo "the same winner"
# our own journal is a recording too
recording=replay:a.journal.jsonl
tune -p M=1000,N=1000,K=512 -e exhaustive -o c.json | grep -E "winner|evaluated"
echo "# families are merged into one entry; the file of the same device is added to"
recording=replay:$ROOT/tests/data/replay/measured.jsonl.gz
tune -p M=4096,N=256,K=2048 -e exhaustive -f split -o a.json | grep -E "winner|wrote"
tune -p M=4096,N=256,K=2048 -e exhaustive -f direct -o a.json | grep -E "winner|wrote"
tune -p M=4096,N=256,K=2048 -e exhaustive -f split -o a.json | grep -E "winner|wrote|kept"
grep -E '"(M|family)":' a.json | tr -d '\t'
echo "# the final: the model's list of eight kernels at least"
"$TILETUNE" tune gemm -p M=4344,N=1080,K=3976,dtype=bf16 -f wgmma -e exhaustive -o final.json \
	-d replay:"$ROOT/results/nvidia-h200/exhaustive_drawn.journal.jsonl.gz" >talk.txt 2>&1 || cat talk.txt
sed -n 's/^{"event":"final".*"kernel_hash":"\([0-9a-f]*\)".*/\1/p' final.journal.jsonl | sort | uniq -c |
	awk 'END { print(NR >= 8 ? "as it should be" : NR " kernels") }'
echo "# the compact form of a journal replays to the same winner"
for form in long compact; do
	journal=$ROOT/tests/data/replay/measured.jsonl.gz
	[ $form = long ] || { "$TILETUNE" export "$journal" --format journal -o compact.jsonl && journal=compact.jsonl; }
	"$TILETUNE" tune tile -p M=1000,N=1000,K=512 -e exhaustive -d "replay:$journal" -o $form.json >/dev/null 2>&1
	sed -n '/"configuration"/,/}/p' $form.json | head -12 >$form.winner
done
cmp long.winner compact.winner && grep -q '"BM"' long.winner && echo "the same winner"
echo "# a problem that cannot be served does not end the others"
"$TILETUNE" tune tile -p M=1000,77,78,N=1000,K=512 -f direct -d "replay:$ROOT/tests/data/replay/measured.jsonl.gz" \
	-e exhaustive --no-journal -o some.json 2>&1 | grep -E "winner|not tuned" | sed 's/; the first.*//'
