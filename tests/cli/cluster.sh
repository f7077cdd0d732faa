# The scripts of configs/cluster, with an sbatch that runs each task here and now: parts that compile, parts that
# tune, one merge.
mkdir bin root
cat >bin/sbatch <<'SBATCH'
#!/bin/sh
tasks= script=
for argument; do
	case $argument in
	--array=1-*) tasks=$(seq "${argument#--array=1-}") ;;
	--parsable) ;;
	--*) echo "$argument" | sed 's/:[0-9]*$/:JOB/' >>options ;;
	*) script=$argument ;;
	esac
done
echo "sbatch $(basename "$script") $(echo $tasks)" >>options
for task in ${tasks:-none}; do
	SLURM_ARRAY_TASK_ID=$task sh "$script" >>"$(basename "$script").log" 2>&1 || echo "$script: task $task: exit $?" >>options
done
echo $$
SBATCH
chmod +x bin/sbatch
export PATH="$PWD/bin:$PATH" TILETUNE_NVRTC="$PWD/none" SUITE=decode SHARDS=3 FOLDER="$PWD/shared"
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
# kernels of a stand-in for the compiler
cp -r "$ROOT/tests/data/replay/templates" root/
for kernel in tile_direct tile_split tile_add; do
	echo "//fake: kernel $kernel 40 0 1 0 0" >>root/templates/tile/tile.cu
done
cat >tile.json <<'JSON'
{"format": "tiletune.suite/1", "name": "tile", "operation": "tile", "effort": "estimate",
 "problems": ["M=128:768:128,N=512,K=512"]}
JSON
SUITE="$PWD/tile.json" FOLDER="$PWD/tiles" MODEL=h200-sxm DEVICE=model:h200-sxm TILETUNE_NVRTC="$out/faults/libnvrtc.so.13" \
	TUNE="--path root" COMPILE=--partition=cpu sh "$ROOT/configs/cluster/submit.sh" --partition=gpu >/dev/null
cat options
rm options
sed 's/ in [0-9.]* s of compilers//' compile.sbatch.log
cut -d' ' -f1-4 merge.sbatch.log | sed 's|.*/||'
grep -ho '"compile_s":[0-9.]*' tiles/*.jsonl
# what one machine would have written, from a recording
export TILETUNE_PATH="$ROOT" DEVICE="replay:$ROOT/results/nvidia-h200/decode.journal.jsonl.gz"
unset TILETUNE_NVRTC
sh "$ROOT/configs/cluster/submit.sh" >/dev/null
"$TILETUNE" tune --suite decode -d "$DEVICE" -o whole.json >/dev/null
"$TILETUNE" export whole.json --format csv | sort >whole.csv
"$TILETUNE" export shared/tuned.json --format csv | sort | cmp - whole.csv && wc -l <whole.csv
