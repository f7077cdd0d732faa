#!/bin/sh
# configs/cluster on a real Slurm of two nodes on this machine: an array of eight parts on the stand-in GPU,
# of which one is killed and requeued while a node is drained, then the merge. Nothing is lost or duplicated.
# A kernel that hangs holds the killed part, so that it cannot end before.
set -u
out=$1
skip() {
	echo "skipped: $*"
	exit 77
}
for program in munged slurmctld slurmd sbatch scontrol squeue; do
	command -v $program >/dev/null || skip "no $program (packages slurmctld, slurmd, slurm-client, munge)"
done
[ "$(id -u)" = 0 ] || skip "Slurm's daemons are started by root alone"
case $out in /*) ;; *) out=$PWD/$out ;; esac
root=$PWD
d=$(mktemp -d)
chmod 755 "$d"
node=$(hostname -s)
first=$((20000 + $$ % 20000))
cleanup() {
	for file in "$d"/*.pid; do
		[ -s "$file" ] || continue
		pid=$(cat "$file")
		kill "$pid" 2>/dev/null
		while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
	done
	rm -rf "$d"
}
trap cleanup EXIT
mkdir "$d/state" "$d/lib" "$d/locks" "$d/spool-a" "$d/spool-b" "$d/shared"
dd if=/dev/urandom of="$d/munge.key" bs=1024 count=1 2>/dev/null
chmod 600 "$d/munge.key"
munged --force --key-file="$d/munge.key" --socket="$d/munge.socket" --pid-file="$d/munged.pid" --log-file="$d/munged.log" \
	--seed-file="$d/munge.seed" 2>"$d/munged.err" || skip "munged does not start: $(tail -n 1 "$d/munged.err")"
cat >"$d/slurm.conf" <<CONF
ClusterName=tiletune
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$first
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$d/munge.socket
CredType=cred/munge
StateSaveLocation=$d/state
SlurmdSpoolDir=$d/spool-%n
SlurmctldPidFile=$d/slurmctld.pid
SlurmdPidFile=$d/slurmd-%n.pid
SlurmctldLogFile=$d/slurmctld.log
SlurmdLogFile=$d/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
GresTypes=gpu
ReturnToService=2
MpiDefault=none
KillWait=2
NodeName=a NodeHostname=$node NodeAddr=127.0.0.1 Port=$((first + 1)) CPUs=32 Gres=gpu:1
NodeName=b NodeHostname=$node NodeAddr=127.0.0.1 Port=$((first + 2)) CPUs=32 Gres=gpu:1
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
echo "Name=gpu File=/dev/null" >"$d/gres.conf"
export SLURM_CONF="$d/slurm.conf"
slurmctld -f "$SLURM_CONF" 2>"$d/start.err" && slurmd -N a 2>>"$d/start.err" && slurmd -N b 2>>"$d/start.err" ||
	skip "Slurm does not start: $(tail -n 1 "$d/start.err")"
tries=0
until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ]; do
	tries=$((tries + 1))
	[ $tries -lt 60 ] || skip "Slurm's nodes do not come up: $(sinfo -h -N -o '%N %T %E' | tr '\n' ' ') $(tail -n 1 "$d/slurmctld.log")"
	sleep 0.5
done
ln -s "$out/faults/libcuda.so.1" "$d/lib/libcuda.so.1"
cat >"$d/script" <<SCRIPT
devices 4
kernel row_softmax_online grid_x=528 once=$d/held hang
kernel row_softmax_online us=20 noise=0.01
SCRIPT
cat >"$d/suite.json" <<'JSON'
{"format": "tiletune.suite/1", "name": "softmax", "operation": "row_softmax", "effort": "quick",
 "problems": ["rows=16:1024:16,cols=64"], "families": ["online"], "where": "ROW_THREADS == 64"}
JSON
export LD_LIBRARY_PATH="$d/lib" TILETUNE_STANDIN="$d/script" TILETUNE_LOCK_FOLDER="$d/locks" TILETUNE="$out/tiletune"
export TILETUNE_KERNEL_TIMEOUT=600
export SUITE="$d/suite.json" FOLDER="$d/shared" SHARDS=8 DEVICE=cuda:0 TUNE="--path $root/tests/toy --wait 10m --workers 1"
merge=$(cd "$d" && sh "$root/configs/cluster/submit.sh" 2>"$d/submit.err") || {
	cat "$d/submit.err"
	exit 1
}
array=$((merge - 1))
until [ -e "$d/held" ] || [ -z "$(squeue -h -j "$array" 2>/dev/null)" ]; do sleep 0.1; done
# the part that has concluded a problem and has more to do: all wait for one GPU
for task in 1 2 3 4 5 6 7 8; do
	case $(grep -cs '"event":"entry"' "$d/shared/shard-$task.shard-$task-of-8.journal.jsonl") in
	[1-7]) running=${array}_$task ;;
	esac
done
scontrol requeue "$running"
scontrol update nodename=b state=drain reason=test
while [ -n "$(squeue -h -j "$merge" 2>/dev/null)" ]; do
	scontrol update jobid="$running" starttime=now 2>/dev/null # it waits for two minutes otherwise
	sleep 0.5
done
/usr/bin/python3 - "$d/shared" <<'PYTHON' || { tail -n 3 "$d"/*.log; exit 1; }
import collections, glob, json, sys
tuned = json.load(open(sys.argv[1] + "/tuned.json"))
lines = [json.loads(line) for path in glob.glob(sys.argv[1] + "/*.jsonl") for line in open(path)]
texts = {(line["run"], line["number"]): line["text"] for line in lines if line["event"] == "problem"}
concluded = collections.Counter(texts[line["run"], line["problem"]] for line in lines if line["event"] == "entry")
resumed = [line for line in lines if line["event"] == "run" and line["resumes"]]
print(f"{len(tuned['entries'])} entries; {len(concluded)} problems, concluded {max(concluded.values())} times at most; "
      f"{len(resumed)} run went on with an interrupted one")
sys.exit(not (len(tuned["entries"]) == len(concluded) == 64 and max(concluded.values()) == 1 and resumed))
PYTHON
