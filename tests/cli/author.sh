# A kernel as its author wrote it: headers, options, macros, templates, symbols; what is found out before it runs.
export TILETUNE_PATH="$PWD/mine:$ROOT" XDG_CACHE_HOME="$PWD/cache"
mkdir -p mine/templates/blur/include
cd mine/templates/blur || exit 1
cat >operation.json <<'JSON'
{"format": "tiletune.operation/1", "name": "blur", "summary": "a filter along rows",
 "keys": {"n": {"type": "int", "max": 16777216}},
 "tensors": {"X": {"shape": ["n"], "dtype": "fp32", "role": "in"}, "F": {"shape": [17], "dtype": "fp32", "role": "in"},
  "Y": {"shape": ["n"], "dtype": "fp32", "role": "out"}},
 "reference": {"source": "reference.cu", "entry": "blur_reference", "unit": "element", "units_per_block": 128, "block": 128,
  "args": ["X", "F", "n", "units", "unit_count", "expected"]},
 "tolerance": {"abs": "1e-4", "rel": "1e-4"}}
JSON
cat >reference.cu <<'CUDA'
extern "C" __global__ void blur_reference(const float *x, const float *f, int n, const long long *units, int count, double *expected)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0;

	for (int k = 0; i < count && k < 17; k++)
		sum += units[i] + k < n ? (double)x[units[i] + k] * f[k] : 0.0;
	if (i < count)
		expected[i] = sum;
}
CUDA
cat >filter.json <<'JSON'
{"format": "tiletune.family/1", "operation": "blur", "summary": "one thread an element", "source": "filter.cu",
 "options": ["--use_fast_math", "-std=c++20"], "include_paths": ["include"],
 "parameters": {"BLOCK": [64, 128, 2048], "UNROLL": {"values": [1, 2], "as": "macro TILE_X"}, "SMEM": [0, 300000]},
 "constants": {"TYPE": {"value": "'float'", "as": "macro REAL"}},
 "symbols": {"d_filter": "F"},
 "launches": [{"entry": "{'blur'}<{BLOCK}>", "grid": ["ceil_div(n, BLOCK*UNROLL)"], "block": ["BLOCK"], "smem_bytes": "SMEM",
  "args": ["X", "Y", "n"]}],
 "examples": {"legal": [{"problem": "n=4096", "config": {}}]}}
JSON
cat >include/taps.h <<'CUDA'
#define TAPS 17
CUDA
cat >filter.cu <<'CUDA'
#include <vector_types.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <taps.h>
__constant__ float d_filter[TAPS + 3];
template <int BLOCK> __global__ void blur(const REAL *x, REAL *y, int32_t n)
{
	const int32_t first = (int32_t)blockIdx.x * BLOCK * TILE_X + threadIdx.x;

	for (int32_t i = first; i < first + BLOCK * TILE_X && i < n; i += BLOCK) {
		REAL sum = 0;

		for (int k = 0; k < TAPS; k++)
			sum += i + k < n ? x[i + k] * d_filter[k] : 0;
		y[i] = sum;
	}
}
CUDA
cd ../../.. || exit 1
tune() { "$TILETUNE" tune blur -p n=100000 --device model:h200-sxm --budget 10m -o "$@"; }
try "$TILETUNE" validate mine/templates/blur/*.json
tune tuned.json --dry-run
tune tuned.json | grep evaluated | sed 's/ in .*:/:/'
grep -A 8 '"defines"' tuned.json | head -n 8
grep -m 1 '"entry"' tuned.json

change() { sed "$1" mine/templates/blur/filter.$2 >changed && mv changed mine/templates/blur/filter.$2; }
failed() { tune "$@" 2>&1 | grep -v "^blur\|^  blur"; }
echo "# a macro of ours that the source defines"
change 's/^#include <taps.h>/&\n#define TILE_X 4/' cu
failed redefined.json | sed "s,-DTILE_X=.*,-DTILE_X=,"
change 's/^#define TILE_X 4/int unused_here() { int nobody; return 1; }/' cu
echo "# a warning is kept"
"$TILETUNE" explain blur -p n=100000 --device model:h200-sxm --config BLOCK=64,UNROLL=1,SMEM=0 | grep -A 1 "compiler says"
tune warned.json >/dev/null
grep -c 'was declared but never referenced' warned.journal.jsonl
echo "# an argument too few"
change 's/"X", "Y", "n"/"X", "Y"/' json
failed few.json
try "$TILETUNE" validate mine/templates/blur/filter.json
echo "# a reference that does not compile"
sed -i 's/__global__/__global__ nothing/' mine/templates/blur/reference.cu
"$TILETUNE" validate mine/templates/blur/operation.json 2>&1 | sed 's/compile_failed.*/compile_failed/' | head -n 1
sed -i 's/ nothing//' mine/templates/blur/reference.cu
echo "# a header that is not there, an option that is not safe"
change 's/^#include <taps.h>/#include <tapes.h>/' cu
failed header.json | sed 's/toolkit.s in.*/toolkit/' | head -n 1
change 's/"-std=c++20"/"-I\/etc"/' json
failed option.json
