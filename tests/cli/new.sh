# The JSON of a kernel of one's own, begun from its source, and a T1 file as it is read.
cp "$ROOT"/tests/own/* .
tiletune() { try "$TILETUNE" "$@"; }
tiletune new vector_add.cu -o draft.json
cat draft.json
echo "# the marks are refused; once they are filled in the rest is right"
tiletune validate draft.json
sed 's/"shape": \["?"\]/"shape": ["n"]/; s/"grid": \["?"\]/"grid": ["ceil_div(n, block_size_x)"]/' draft.json >filled.json
tiletune validate filled.json
echo "# headers, constant memory, conditions, defaults, a template"
tiletune new convolution.cu
tiletune new dedispersion.cu
tiletune new reduction.cu
tiletune new pnpoly.cu
tiletune new sgemm.cu | sed '/^notice/d'
echo "# what sounds like threads, also of a template; conditions that are a switch, and one that may not be"
printf '#include <stdlib.h>\n#if UNROLL\n#endif\n#if STRIDE == 0\n#endif\n#if VECTOR == 4\n#endif\n__shared__ int s[BLOCKS];\ntemplate <int THREADS, typename T, int STEP>\n__global__ void k(int *a) { uint i = BLOCK_Y * threadIdx.x; a[i] = STEP; }\n' >named.cu
tiletune new named.cu | sed -n '/parameters/,$p'
echo "# several kernels, one in another folder, one that no compiler likes"
printf '/* __global__ void no(int) */ __global__ void first(int *a) { a[0]++; }\n__global__ void second(float4 *__restrict__ b, const short c[], double d) { f(b); }\n__global__ void third(float *in, int range) { in[range] = 0; }\n' >two.cu
tiletune new two.cu | sed 's/ compiler: .*/ compiler: .../'
mkdir elsewhere
tiletune new two.cu -e second -o elsewhere/second.json | sed 's/ compiler: .*/ compiler: .../'
sed 's|"source": "/.*/|"source": "/.../|' elsewhere/second.json
printf '#if N == 1\n#define int long long\n#endif\n__global__ void k(float *a,\n#if N == 1\n\tint n, int m\n#else\n\tint n\n#endif\n) { a[n] = 0; }\n__global__ void widened(float *a, int n) { a[n] = 0; }\n' >sizes.cu
tiletune new sizes.cu
tiletune new sizes.cu -e widened 2>&1 | grep -E 'notice|args'
tiletune new two.cu -e third | sed '/notice/d'
tiletune new two.cu -e frist
tiletune new missing.cu
echo 'int x;' >none.cu
tiletune new none.cu

echo "# T1 of Kernel Tuner and of KTT"
tiletune new vector_add.t1.json
tiletune new scale.t1.json
sed 's/"Values": "\(\[[^"]*\)"/"Values": \1/' scale.t1.json >list.t1.json
"$TILETUNE" new list.t1.json | grep WORK_GROUP_SIZE_X
echo "# a default that is none of the values says nothing"
sed 's/"Default": 128/"Default": 96.5/' vector_add.t1.json >default.t1.json
"$TILETUNE" new default.t1.json | grep -A 1 '"defaults"'
sed -i 's/"Values": "\[32\] [^"]*"/"Values": [32, 64, 128]/' default.t1.json
"$TILETUNE" new default.t1.json | grep -A 1 '"defaults"'
bad() { sed "$1" "${2:-vector_add.t1.json}" >bad.t1.json && tiletune validate bad.t1.json | grep '^bad\|hint'; }
bad 's/"Language": "CUDA"/"Language": "OpenCL"/'
bad 's/vector_add.cu/vector_sub.cu/'
bad 's/"WriteOnly"/"ReadOnly"/'
bad 's/"Type": "int32"/"Type": "complex"/'
bad 's/"Values": "\[2/"Value": "[2/'
bad 's/"ProblemSize": \[100000\]/"ProblemSize": ["n"]/'
bad 's/"Generator", "DataSource": "1/"Script", "DataSource": "1/' scale.t1.json
bad 's/"MemoryType": "Vector"}/"MemoryType": "Local"}/' scale.t1.json
bad 's/"GlobalSize"/"GlobalSizes"/' scale.t1.json
sed 's/"-use_fast_math"/"-Iinclude", "-DX=1", "-use_fast_math"/' scale.t1.json >options.t1.json
tiletune new options.t1.json | grep -E 'options|include'
