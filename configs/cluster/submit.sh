#!/bin/sh
# A suite over a Slurm cluster: an array that compiles (where MODEL is set), one that tunes, one job that merges.
#
#	SUITE=llm SHARDS=8 FOLDER=/shared/llm MODEL=h200-sxm sh submit.sh [OPTION OF SBATCH FOR THE GPU TASKS...]
#
# FOLDER is on a file system that all nodes see. Also from the environment: TILETUNE (the program), DEVICE
# (cuda:all: the GPUs that Slurm gives a task), TUNE (more options of tune), COMPILE (options of sbatch for the
# compiling tasks, as --partition=cpu).
set -eu
: "${SUITE:?a suite}" "${FOLDER:?a folder that all nodes see}"
here=$(cd "$(dirname "$0")" && pwd)
export SUITE FOLDER SHARDS="${SHARDS:-8}"
mkdir -p "$FOLDER"
after=
if [ -n "${MODEL:-}" ]; then
	export MODEL
	# shellcheck disable=SC2086
	after=--dependency=afterany:$(sbatch --parsable --array="1-$SHARDS" ${COMPILE:-} "$here/compile.sbatch")
fi
# shellcheck disable=SC2086
tuned=$(sbatch --parsable --array="1-$SHARDS" $after "$@" "$here/tune.sbatch")
sbatch --parsable --dependency="afterany:$tuned" "$here/merge.sbatch"
