# Kernels whose author wrote no reference: outputs are compared with a trusted configuration, with a
# file, or with the default configuration, and every file says so. On the stand-in driver.
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
ln -s "$out/faults/libcuda.so.1" lib/libnvidia-ml.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD"
gpu() { printf '%s\n' "$@" >script; }
# operation NAME TENSORS MORE
operation() {
	mkdir -p "templates/$1"
	cat >"templates/$1/operation.json" <<END
{"format": "tiletune.operation/1", "name": "$1", "summary": "", "keys": {"n": {"type": "int", "min": 1}},
 "tensors": {$2}$3}
END
}
# family OPERATION ENTRY ARGS
family() {
	cat >"templates/$1/plain.json" <<END
{"format": "tiletune.family/1", "operation": "$1", "summary": "", "source": "plain.cu",
 "parameters": {"THREADS": {"values": [64, 128, 256]}}, "defaults": {"THREADS": 64},
 "launches": [{"entry": "$2", "grid": ["ceil_div(n, THREADS)", 1, 1], "block": ["THREADS", 1, 1], "args": $3}]}
END
}
tune() {
	operation=$1
	shift
	rm -f "$operation.journal.jsonl"
	"$TILETUNE" tune "$operation" -p n=1000 --path . --device cuda:0 --effort exhaustive --fresh -o "$operation.json" "$@" >talk.txt 2>&1
	code=$?
	grep -oE 'verified: .*|[0-9] ok.*|expected .*' talk.txt
	echo "[exit $code]"
}
verified() { grep -hoE '"verified":[^,}]*' "$@" | tr -d '\t ' | sort | uniq -c | sed 's/^ *//'; }
outcomes() { grep -o '"event":"evaluation".*' "$1.journal.jsonl" | sed -E 's/.*"configuration":"([^"]*)".*"outcome":"([^"]*)"(,"detail":"[^"]*")?.*/\1 \2\3/' | sort; }

tensors='"X": {"shape": ["n"], "dtype": "fp32", "role": "in"}, "Y": {"shape": ["n"], "dtype": "fp32", "role": "out"}'
two="$tensors, \"I\": {\"shape\": [2, \"n\"], \"dtype\": \"i32\", \"role\": \"out\"}"
operation two "$two" ""
family two fill_two '["X", "Y", "I", "n"]'
cat >templates/two/plain.cu <<'END'
extern "C" __global__ void fill_two(const float *x, float *y, int *i, int n)
{
	int at = blockIdx.x * THREADS + threadIdx.x;
	if (at < n) { y[at] = x[at]; i[at] = i[n + at] = at; }
}
END
echo "# two outputs, nobody said what is right: beside the default configuration"
gpu 'kernel fill_two us=20'
tune two
verified two.json | grep -v true
verified two.journal.jsonl | sed 's/^[0-9]*/N/' | grep self
"$TILETUNE" export two.json --format csv | tail -n 1 | grep -o ',self'
"$TILETUNE" export two.json --format cmake | grep -c '"verified":	"self"'
"$TILETUNE" export two.json --format c-header | grep verified
"$TILETUNE" report two.json | grep verified
"$TILETUNE" report two.json -o two.html && grep -o 'verified: self' two.html
echo "# another is wrong in the first output; the default itself in nothing, and so it is with it"
gpu 'kernel fill_two block_x=128 us=20 wrong' 'kernel fill_two us=20'
tune two
outcomes two
echo "# a configuration that the author trusts: now the default is the wrong one"
gpu 'kernel fill_two block_x=64 us=20 wrong' 'kernel fill_two us=20'
operation two "$two" ', "reference": {"configuration": {"THREADS": 256}}'
tune two
verified two.json | grep -v true
outcomes two
echo "# it dies, is unwritten, is not legal"
gpu 'kernel fill_two block_x=256 us=20 crash' 'kernel fill_two us=20'
tune two
gpu 'kernel fill_two block_x=256 us=20 unwritten' 'kernel fill_two us=20'
tune two
operation two "$two" ', "reference": {"configuration": {"THREADS": 100}}'
tune two
operation two "$two" ', "reference": {"configuration": {"THREAD": 256}}'
tune two
gpu 'kernel fill_two us=20'

echo "# a file for one output; the other beside the default configuration"
python3 - <<'END'
import struct
def npy(name, descr, shape, data, order="False"):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    open("templates/two/" + name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
right = struct.pack("<1000f", *[0.75] * 1000) # what the stand-in writes
npy("right.npy", "<f4", "(1000,)", right)
npy("wrong.npy", "<f4", "(1000,)", right[:-4] + struct.pack("<f", 0.76))
npy("short.npy", "<f4", "(999,)", right[:-4])
npy("double.npy", "<f8", "(1000,)", right * 2)
npy("fortran.npy", "<f4", "(1000,)", right, "True")
open("templates/two/right.bin", "wb").write(right)
END
for file in right.npy right.bin wrong.npy short.npy double.npy fortran.npy none.npy; do
	operation two "$two" ", \"reference\": {\"output\": \"Y\", \"file\": \"$file\"}"
	echo "$file"
	tune two
done
operation two "$two" ', "reference": [{"output": "Y", "file": "right.npy"}, {"output": "I", "configuration": {}}]'
tune two
verified two.json | grep -v true

echo "# in place: every run begins with what the tensor held"
mkdir -p templates/add
operation add '"X": {"shape": ["n"], "dtype": "fp32", "role": "inout"}' ''
family add standin_accumulate '["X", "n"]'
cat >templates/add/plain.cu <<'END'
extern "C" __global__ void standin_accumulate(float *x, int n)
{
	int at = blockIdx.x * THREADS + threadIdx.x;
	if (at < n) x[at] += 1;
}
END
gpu 'kernel standin_accumulate us=20'
tune add
gpu 'kernel standin_accumulate block_x=128 us=20 wrong' 'kernel standin_accumulate us=20'
tune add

echo "# every element type, what tensors hold, tolerances: inside and outside"
mkdir -p templates/copy templates/types
printf '123456' >templates/types/six.bin
cp templates/types/six.bin templates/copy
cat >templates/copy/plain.cu <<'END'
extern "C" __global__ void copy(const void *x, void *y, int n) {}
END
family copy copy '["X", "Y", "n"]'
copy() { # DTYPE CONTENTS MORE
	operation copy "\"X\": {\"shape\": [2, 3], \"ld\": 5, \"dtype\": \"$1\", \"role\": \"in\"${2:-}},
 \"Y\": {\"shape\": [1000], \"dtype\": \"$1\", \"role\": \"out\"}" "${3:-}"
	tune copy --evaluations 1 | grep -vE '^verified|exit 0' | sed "s/^/$1 /"
}
python3 - <<'END'
types = "fp64 fp32 tf32 fp16 bf16 fp8_e4m3 fp8_e5m2 i8 i16 i32 i64 u8 u16 u32 u64 bool".split()
contents = ['"zero"', '"one"', '"iota"', '"normal"', '{"expression": "index*n // 7"}', '{"file": "six.bin"}']
lines, names = [], []
def tensor(name, dtype, role, more=""):
    names.append(name)
    lines.append('"%s": {"shape": [2, 3], "ld": 5, "dtype": "%s", "role": "%s"%s}' % (name, dtype, role, more))
for dtype in types:
    tensor("in_" + dtype, dtype, "in")
    tensor("out_" + dtype, dtype, "out")
for i, each in enumerate(contents):
    tensor("x%d" % i, "u8", "in", ', "contents": ' + each)
tensor("shuffled", "i64", "in", ', "contents": "permutation"')
open("tensors", "w").write(", ".join(lines))
open("args", "w").write("[%s]" % ", ".join('"%s"' % name for name in names))
open("templates/types/plain.cu", "w").write('extern "C" __global__ void copy(%s) {}' % ", ".join("void *" + name for name in names))
END
gpu 'kernel copy us=20'
family types copy "$(cat args)"
operation types "$(cat tensors)" ""
tune types --evaluations 1
copy i16 ', "contents": "permutation"'
copy fp32 ', "contents": "normal", "fill": [0, 0]'
copy fp32 ', "contents": "zero", "fill": [0, 1]'
copy fp32 ', "contents": {"expression": "index*m"}'
copy i32 ', "contents": {"expression": "index/7"}'
copy u16 ', "contents": {"file": "six.bin"}'
echo "# the first element is off by so much: just inside, just outside"
right='"reference": {"file": "right.npy"}'
cp templates/two/right.npy templates/copy
off() {
	gpu "kernel copy us=20 off_by=$1"
	copy fp32 "" ", $right$2"
}
for by in 0.125 0.1251; do
	off $by ', "tolerance": {"abs": 0.125}'
	off $by ', "tolerance": {"rel": "1/6"}'
done
off 0.0000001 ', "tolerance": "exact"'
off 0 ', "tolerance": "exact"'
off 9 ', "tolerance": {"differ": 0.001}'
off 9 ', "tolerance": {"differ": 0.0009}'
off 0.00009 '' # 2^-13 of 0.75, and a sixteenth of that
off 0.0001 ''
off 0 ', "tolerance": {"abs": "-n"}'
