# Kernels as their authors wrote them, each with its difficulty (a template, constant memory, outputs in
# place or several, bytes, headers, names), and T1 files of both dialects: tuned on the stand-in driver.
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD"
printf "" >script
for file in "$ROOT"/tests/own/*.json; do
	name=$(basename "$file" .json)
	"$TILETUNE" tune "$file" --device cuda:0 --strategy random --budget 10m --evaluations 2 -o "$name.tuned.json" >talk.txt 2>&1 || cat talk.txt
	echo "$name: $(grep -oE 'evaluated in .*' talk.txt | sed 's/.*: //'), $(grep -o 'verified: self' talk.txt | head -n 1)"
done
