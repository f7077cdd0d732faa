# A kernel and what it computes in one file: tuned, explained, looked up and checked without a folder
# of templates, on the device model.
cp "$ROOT"/tests/own/vector_add.* .
tiletune() { try "$TILETUNE" "$@"; }
tiletune validate vector_add.json
tiletune tune vector_add.json -d model:h200-sxm --effort estimate | sed -E '/^ |evaluated/d; s/in [0-9.]+ m?s/in N/'
tiletune lookup tuned.json vector_add.json -p n=1000000 | sed -E 's/[0-9.]+ us/N us/g'
tiletune check tuned.json --path vector_add.json -d model:h200-sxm | tail -n 1
tiletune check tuned.json -d model:h200-sxm | tail -n 2 | sed 's|looked in [^;]*;|looked in FOLDERS;|'
tiletune families --path vector_add.json vector_add
# the same kernel is the same kernel in whatever folder it lies
mkdir sub && cp vector_add.* sub
"$TILETUNE" tune sub/vector_add.json -d model:h200-sxm --effort estimate -o sub.json >/dev/null
for file in tuned.json sub.json; do grep kernel_hash $file | sort >$file.hashes; done
cmp tuned.json.hashes sub.json.hashes
tiletune tune vector_add.json -p n=1024 -f vector_add -w 'block_size_x == 64' -d model:h200-sxm --dry-run
printf '\357\273\277' | cat - vector_add.cu >2nd.kernel.cu
sed 's/vector_add.cu/2nd.kernel.cu/' vector_add.json >2nd.json
tiletune tune 2nd.json -d model:h200-sxm --effort estimate -o 2nd.tuned.json | grep -o '_2nd.*legal'

echo "# what is wrong is said with its place in the file"
bad() { sed "$1" vector_add.json >bad.json && tiletune validate bad.json; }
bad 's/"n": {"default": 1000000}/"n": {"default": "?"}/; s/\["n"\]/["?"]/'
bad 's/"keys"/"keyz"/'
bad 's/"default"/"defualt"/'
bad 's/\["block_size_x"\]/["block_size_y"]/'
bad 's/vector_add.cu/vector_sub.cu/'
bad 's/own_kernel/own_kernels/'
bad 's/"dtype": "fp32"/"dtype": "float"/'
bad 's/"dtype": "fp32", "role": "in"/"dtype": "u8", "role": "in", "contents": "normal", "fill": [20, 10]/'
bad 's/"parameters": {"block_size_x"/"parameters": {"warp_size"/'
tiletune tune missing.json
sed 's/"source"/"name": "vector_add", "source"/' vector_add.json >other.json
tiletune families --path vector_add.json --path other.json

echo "# blocks_per_sm and its like may be names of a kernel's macros"
sed 's/"parameters": {/&"blocks_per_sm": [2], "smem_bytes": [0], /; s/"args": \["c"/"smem_bytes": "smem_bytes", &/' vector_add.json >named.json
tiletune tune named.json -d model:h200-sxm --effort estimate -o named.tuned.json | grep -o 'winner.*{.*\|wrote.*' | sed 's/winner.*{/{/'

echo "# a grid beyond the GPU's limits is removed, and counted"
sed 's/"grid": \["ceil_div/"grid": ["1", "ceil_div/' vector_add.json >grid.json
tiletune tune grid.json -p n=4000000 --dry-run

echo "# what only a compiled kernel tells: registers of all threads, shared memory that it declares"
cat >heavy.cu <<'END'
__global__ void heavy(const float *x, float *y, int n)
{
	__shared__ float s[SHARED];
	float v[DEPTH];
	for (int k = threadIdx.x; k < SHARED; k += THREADS) s[k] = x[k];
	__syncthreads();
	#pragma unroll
	for (int k = 0; k < DEPTH; k++) v[k] = x[k * n + threadIdx.x];
	#pragma unroll
	for (int k = 0; k < 2 * DEPTH; k++) v[k % DEPTH] = v[k % DEPTH] * v[(k * 7 + 3) % DEPTH] + v[(k * 5 + 1) % DEPTH];
	#pragma unroll
	for (int k = 0; k < DEPTH; k++) y[k * n + threadIdx.x] = v[k] + s[threadIdx.x % SHARED];
}
END
cat >heavy.json <<'END'
{
	"format": "tiletune.own_kernel/1", "source": "heavy.cu", "keys": {"n": {"default": 1024}},
	"tensors": {"x": {"shape": [200, "n"], "dtype": "fp32", "role": "in"}, "y": {"shape": [200, "n"], "dtype": "fp32", "role": "out"}},
	"parameters": {"DEPTH": [4, 128], "THREADS": [128, 1024], "SHARED": [32, 20000]},
	"launches": [{"entry": "heavy", "grid": [1], "block": ["THREADS"], "args": ["x", "y", "n"]}]
}
END
tiletune tune heavy.json -d model:a100-sxm4 --effort exhaustive -o heavy.tuned.json | grep -oE '[0-9]+ ok.*|removed.*' | sort
tiletune tune heavy.json -d model:a100-sxm4 --dry-run --compile-only 2>&1 | grep "removed" | sort
tiletune explain heavy.json -d model:a100-sxm4 -c DEPTH=128,THREADS=1024,SHARED=32 | sed -E 's/[0-9]+ registers/R registers/'

echo "# options go where defines go: into what other builds read"
sed 's/"source"/"options": ["--std=c++20", "-DX=a;b"], &/' vector_add.json >options.json
tiletune tune options.json -d model:h200-sxm --effort estimate -o options.tuned.json | grep wrote
"$TILETUNE" export options.tuned.json --format c-header | grep -o ' --std.*'
"$TILETUNE" export options.tuned.json --format make | grep -o ' --std.*'
"$TILETUNE" export options.tuned.json --format cmake | sed -nE '/sources|set_target|"options"/p'

echo "# a macro that a header of the compiler's uses as a name"
sed 's/block_size_x/T/g' vector_add.cu >T.cu
sed 's/vector_add.cu/T.cu/; s/block_size_x/T/g' vector_add.json >T.json
tiletune validate T.json | grep hint

echo "# sums by atomics differ from run to run: refused, unless the author says that they may"
case $TEST_OUT in /*) out=$TEST_OUT ;; *) out=$ROOT/$TEST_OUT ;; esac
mkdir lib && ln -s "$out/faults/libcuda.so.1" lib/libcuda.so.1
export LD_LIBRARY_PATH="$PWD/lib" TILETUNE_STANDIN="$PWD/script" TILETUNE_LOCK_FOLDER="$PWD"
echo 'kernel vector_add nondeterministic' >script
sed 's/"keys"/"deterministic": false, &/' vector_add.json >varies.json
for file in vector_add varies; do
	tiletune tune $file.json -p n=1000 -d cuda:0 --budget 10m --evaluations 2 --strategy random -o $file.tuned.json | grep -oE 'none of 2.*|2 ok|verified: self'
done
