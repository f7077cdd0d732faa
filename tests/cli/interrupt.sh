# Ctrl-C in the middle of a run: exit code 130, the journal intact, and the next run goes on.
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
export TILETUNE_NVRTC="$out/faults/libnvrtc.so.13"
mkdir root
cp -r "$ROOT/tests/data/replay/templates" root/
# a compilation takes a file of this folder: a run is stopped when there are no more of them, however
# fast or slow the machine is
mkdir allowed
cat >>root/templates/tile/tile.cu <<CU
//fake: take $PWD/allowed
//fake: kernel tile_direct 40 0 1 0 0
//fake: kernel tile_split 40 0 1 0 0
//fake: kernel tile_add 24 0 0 0 0
CU
set -- tune tile -p M=1000,N=1000,K=512 -p M=512,N=512,K=512 --path root -d model:h200-sxm -e exhaustive \
	-w "BK == 32" -j 2 --no-cache -o x.json
lines() { cat x.journal.jsonl 2>/dev/null | grep -c '"event":"evaluation"'; }
# stop SIGNAL PID: once ten more are evaluated
stop() {
	pid=$2
	while [ "$(lines)" -lt $((before + 10)) ] && kill -0 "$pid"; do
		sleep 0.05
	done
	kill -"$1" $pid
	wait $pid
	echo "exit $?"
	grep tiletune: talk.txt
	"$TILETUNE" validate --path "$ROOT" x.journal.jsonl
	grep -c '"event":"finish"' x.journal.jsonl
	echo "$(grep -c '"winner"' x.json) entry"
}
for signal in INT TERM KILL; do
	before=$(lines)
	for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do : >"allowed/$signal$number"; done
	"$TILETUNE" "$@" >talk.txt 2>&1 &
	stop $signal $!
done 2>/dev/null
rm -r allowed
"$TILETUNE" "$@" >talk.txt 2>&1
echo "exit $?"
grep -o "from an earlier run" talk.txt | head -n 1
# nothing twice, nothing missing
grep '"event":"evaluation"' x.journal.jsonl | sed -E 's/.*"family":"([^"]*)","configuration":"([^"]*)".*"problem":([0-9]*).*/\1 \2 \3/' | sort >all.txt
[ "$(sort -u all.txt | wc -l)" = "$(wc -l <all.txt)" ] && echo "nothing was evaluated twice"
cp x.json resumed.json
rm x.json x.journal.jsonl
"$TILETUNE" "$@" >talk.txt 2>&1
grep '"event":"evaluation"' x.journal.jsonl | sed -E 's/.*"family":"([^"]*)","configuration":"([^"]*)".*"problem":([0-9]*).*/\1 \2 \3/' | sort | cmp - all.txt && echo "nothing is missing"
for file in resumed x; do sed -n '/"winner"/,/"defines"/p' $file.json >$file.winner; done
cmp resumed.winner x.winner && echo "the same winners"
# compilers that do not come back in time: the budget's end is the end, with what came
mkdir allowed
for number in 1 2 3; do : >"allowed/$number"; done
"$TILETUNE" tune tile -p M=1000,N=1000,K=512 --path root -d model:h200-sxm -e quick --budget 0.5s -j 2 --no-cache \
	-o late.json >talk.txt 2>&1
echo "exit $?"
grep -o 'stopped because.*' talk.txt
# three launches of each kernel, alike for the model: as many kernels are compiled at once as there are compilers
mkdir -p many/templates
cp -r "$ROOT/templates/attention" "$ROOT/templates/common" many/templates/
printf '%s\n' "//fake: count $PWD/begun" "//fake: take $PWD/allowed" >>many/templates/attention/flash_wgmma.cu
rm -f allowed/*
"$TILETUNE" tune attention -p batch=4,heads=16,seq_q=2048,seq_k=2048,head_dim=128,dtype=bf16 --path many \
	-d model:h200-sxm -e exhaustive --family flash_wgmma -j 8 --no-cache -w "BM == 128 and STAGES == 2 and \
	CLUSTER == 1 and PERSISTENT == 0 and MIN_BLOCKS == 1 and EXP_FMA == 0 and P_SMEM == 0" -o many.json >talk.txt 2>&1 &
tries=0
while [ "$(cat begun 2>/dev/null | wc -c)" -lt 8 ] && [ $tries -lt 200 ]; do
	sleep 0.05
	tries=$((tries + 1))
done
echo "$(cat begun | wc -c) at once"
kill $!
wait $! 2>/dev/null
