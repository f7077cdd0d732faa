/* SPDX-License-Identifier: MIT
 *
 * The compiler and its library: messages where the library is missing or broken, and the real
 * NVRTC's answers if the toolkit has it. This program is its own worker.
 */
#include "unit/unit.h"
#include <unistd.h>

#include "base/memory.h"
#include "compile/worker.h"
#include "unit/compile_units.h"

static void expect_no_compiler(
	const struct compiler_options *options, enum status status, const char *message)
{
	struct compiler *compiler;
	struct error err = {0};
	enum status found = compiler_open(options, &compiler, &err);

	if (found != status || !strstr(err.message, message))
		fail_msg("expected %d with \"%s\", found %d with \"%s\"", (int)status, message,
			(int)found, err.message);
	assert_null(compiler);
}

TEST(a_broken_compiler_is_refused_with_its_reason)
{
	static const char *const faults[][2] = {
		{"crash_on_load", "(" /* the path of the worker follows */},
		{"no_version", "nvrtcVersion() failed"},
		{"broken", "cannot compile an empty kernel: NVRTC_ERROR_INTERNAL_ERROR"},
	};
	char *folder = folder_new();
	char *no_elf = folder_put(folder, "libnvrtc.so.13", "not a library");
	struct compiler_options options = {.workers = 1, .nvrtc_path = "/does/not/exist"};

	expect_no_compiler(&options, STATUS_NO_DEVICE,
		"/does/not/exist (from --nvrtc or TILETUNE_NVRTC): there is no such file");
	options.nvrtc_path = folder;
	expect_no_compiler(&options, STATUS_NO_DEVICE, "libnvrtc.so.13");
	options.nvrtc_path = "libc.so.6";
	expect_no_compiler(&options, STATUS_NO_DEVICE, "the library lacks these functions");
	options.nvrtc_path = FAKE_NVRTC;
	for (size_t i = 0; i < ARRAY_COUNT(faults); i++) {
		setenv("FAKE_NVRTC", faults[i][0], 1);
		expect_no_compiler(&options, STATUS_NO_DEVICE, faults[i][1]);
	}
	unsetenv("FAKE_NVRTC");
	options.driver_cuda_version = 12080;
	expect_no_compiler(&options, STATUS_NO_DEVICE, "newer than the driver");
	options.driver_cuda_version = 0;
	options.worker_path = "/does/not/exist/either";
	expect_no_compiler(&options, STATUS_FAILED, "/does/not/exist/either");
	options.worker_path = "/bin/true";
	expect_no_compiler(&options, STATUS_NO_DEVICE, "/bin/true worker-compile");
	options.worker_path = NULL;
	options.cache_folder = no_elf;
	expect_no_compiler(&options, STATUS_BAD_INPUT, "kernel cache: ");
	free(no_elf);
	folder_remove(folder);
}

/* The builtins library is found next to the first one, wherever the loader searches. */
TEST(builtins_are_found_next_to_the_library)
{
	char *folder = folder_new();
	char *alone = path_join(folder, "libnvrtc.so.13");
	char *target = realpath(FAKE_NVRTC, NULL);
	struct compiler_options options = {.workers = 1, .nvrtc_path = FAKE_NVRTC};
	struct compiler *compiler;
	struct error err = {0};

	setenv("FAKE_NVRTC", "builtins", 1);
	assert_int_equal(compiler_open(&options, &compiler, &err), STATUS_OK);
	compiler_close(compiler);
	assert_non_null(target);
	assert_int_equal(symlink(target, alone), 0);
	options.nvrtc_path = alone;
	expect_no_compiler(&options, STATUS_NO_DEVICE, "NVRTC_ERROR_INTERNAL_ERROR");
	unsetenv("FAKE_NVRTC");
	free(target);
	free(alone);
	folder_remove(folder);
}

/* A worker that is killed while it loads, e.g. for lack of memory, is started once more. */
TEST(a_worker_killed_during_its_start_is_started_again)
{
	char *folder = folder_new(), *mark = path_join(folder, "mark");
	const struct compiler_options options = {.workers = 1, .nvrtc_path = FAKE_NVRTC};
	struct compiler *compiler;
	struct error err = {0};

	setenv("FAKE_NVRTC_KILLED_ONCE", mark, 1);
	assert_int_equal(compiler_open(&options, &compiler, &err), STATUS_OK);
	assert_true(file_exists(mark));
	compiler_close(compiler);
	unsetenv("FAKE_NVRTC_KILLED_ONCE");
	free(mark);
	folder_remove(folder);
}

static struct compiler *open_real(void)
{
	const struct compiler_options options = {.workers = 2};
	struct compiler *compiler;
	struct error err;

	if (compiler_open(&options, &compiler, &err) == STATUS_OK)
		return compiler;
	print_message("no NVRTC here: %s\n", err.message);
	skip();
	return NULL;
}

/* Expects the symbol of an entry without C linkage. */
static void expect_symbol(
	struct compiler *compiler, const char *source, const char *entry, const char *symbol)
{
	struct compile_result result;

	submit(compiler, source, entry, NULL, &result);
	wait_for(compiler, &result);
	if (result.outcome != OUTCOME_OK)
		fail_msg("%s: %s", entry, result.log);
	assert_string_equal(result.entries[0].name, entry);
	assert_string_equal(result.entries[0].symbol, symbol);
	assert_true(result.entries[0].resources.regs_per_thread > 0);
	compile_result_release(&result);
}

TEST(the_real_compiler_makes_a_cubin)
{
	struct compiler *compiler = open_real();
	struct compile_result result;

	assert_true(string_starts_with(compiler_identity(compiler), "NVRTC "));
	assert_non_null(strstr(compiler_identity(compiler), "(V1"));
	assert_true(compiler_path(compiler)[0] == '/');
	result = expect(compiler,
		"extern \"C\" __global__ void k(float *a, int n) { __shared__ float s[256];\n"
		"s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); a[n] = s[n]; }",
		OUTCOME_OK, "");
	assert_in_range(result.entries[0].resources.regs_per_thread, 4, 64);
	assert_int_equal(result.entries[0].resources.smem_static_bytes, 1024);
	assert_int_equal(result.entries[0].resources.barriers, 1);
	assert_int_equal(result.entries[0].resources.flags, 0);
	assert_true(result.seconds > 0);
	assert_string_equal(result.log, "");
	compile_result_release(&result);
	/* the kernel has 120 live values in 64 registers */
	result = expect(compiler,
		"extern \"C\" __global__ void __launch_bounds__(1024) k(float *a, int n) {\n"
		"float v[120];\n#pragma unroll\nfor (int i = 0; i < 120; i++) v[i] = a[i * n];\n"
		"__syncthreads();\n#pragma unroll\n"
		"for (int i = 0; i < 120; i++) a[i * n * 3] = v[i] * v[(i * 7) % 120]; }",
		OUTCOME_OK, "");
	assert_int_equal(result.entries[0].resources.regs_per_thread, 64);
	assert_true(result.entries[0].resources.spill_store_bytes > 0);
	assert_true(result.entries[0].resources.stack_bytes > 0);
	assert_int_equal(result.entries[0].resources.flags, FLAG_MASK(SPILLS));
	compile_result_release(&result);
	expect_only(compiler, "extern \"C\" __global__ void k(float *a) { a[0] = x; }",
		OUTCOME_COMPILE_FAILED, "unit.cu(1): error: identifier \"x\" is undefined");
	expect_symbol(compiler, "__global__ void k(float *) {}", "k", "_Z1kPf");
	expect_symbol(compiler, "extern \"C\" __device__ int g(); __global__ void k(int *) {}", "k",
		"_Z1kPi");
	expect_symbol(compiler, "template <int BM, class T> __global__ void k(T *p) { *p = BM; }",
		"k<128, float>", "_Z1kILi128EfEvPT0_");
	expect_only(compiler, "extern \"C\" __global__ void other() {}", OUTCOME_COMPILE_FAILED,
		"there is no kernel named \"k\"; the source has: other");
	result = expect(compiler,
		"extern \"C\" __global__ void k() { asm volatile(\"setmaxnreg.inc.sync.aligned.u32 "
		"240;\"); }",
		OUTCOME_OK, "C7508");
	assert_int_equal(result.entries[0].resources.flags, FLAG_MASK(SETMAXNREG_IGNORED));
	compile_result_release(&result);
	compiler_close(compiler);
}

/* A source that redefines a requested macro fails; its own macros are fine. */
TEST(redefining_a_requested_macro_fails)
{
	static const struct {
		const char *source;
		enum outcome outcome;
		const char *log;
	} cases[] = {
		{"\n#define BM 64\nextern \"C\" __global__ void k(int *p) { *p = BM; }",
			OUTCOME_COMPILE_FAILED,
			"unit.cu(2): error: the source defines BM, which is also set with "
			"-DBM=128"},
		{"#ifndef BM\n#define BM 64\n#endif\nextern \"C\" __global__ void k(int *p) { *p = "
		 "BM; "
		 "}",
			OUTCOME_OK, ""},
		{"#define BN 1\n#define BN 2\nextern \"C\" __global__ void k(int *p) { *p = BN; }",
			OUTCOME_OK, "unit.cu(2): warning #47-D"},
	};
	struct compiler *compiler = open_real();

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct compile_result result;

		submit(compiler, cases[i].source, "k", "-DBM=128", &result);
		wait_for(compiler, &result);
		if (result.outcome != cases[i].outcome || !strstr(result.log, cases[i].log))
			fail_msg("case %zu: %d %s", i, (int)result.outcome, result.log);
		compile_result_release(&result);
	}
	compiler_close(compiler);
}

/* Headers of the toolkit, host headers that provide nothing, and conditions. */
TEST(headers_of_the_toolkit_compile)
{
	/* nvcc accepts these, too */
	static const char *const accepted[] = {
		"__global__ void k(float *a, uint n) {\n"
		"a[n] = INFINITY + INT_MAX + M_PI + FLT_MAX + NAN + std::max(a[0], std::sqrt(a[1]))"
		" + std::fmax(a[1], std::erf(a[2])) + std::numeric_limits<float>::lowest()"
		" + std::is_same<int, uint>::value + std::pair<int, int>(1, 2).first; }",
		"__global__ void k(uint32_t *a, ssize_t n, uint8_t c) { a[n] = UINT32_MAX + c;\n"
		"constexpr int high = std::max(1, 2); __shared__ int s[high]; a[1] = s[1]; }",
		"__global__ void k(int *a) { __extension__ typedef int t; a[0] = (t)a[1];\n"
		"unsigned __int128 p = (unsigned __int128)a[0] * a[1]; a[2] = (int)(p >> 64); }",
		"__global__ void k(int *a) { cudaGridDependencySynchronize(); a[0] = 1;\n"
		"cudaTriggerProgrammaticLaunchCompletion(); }",
		"#include <iostream>\n#include <vector>\n#include <tuple>\n#include <string>\n"
		"#include <algorithm>\n#include <random>\n#include <bitset>\n#include <fstream>\n"
		"struct s { std::vector<std::string> n; std::tuple<int, int> t; std::ofstream f; "
		"};\n"
		"std::ostream &print(std::ostream &, const std::string &);\n"
		"__global__ void k(uint32_t *a) { std::swap(a[0], a[1]); }",
		"#include <cub/cub.cuh>\n__global__ void k(float *a) {\n"
		"using reduce = cub::BlockReduce<float, 128>;\n"
		"__shared__ typename reduce::TempStorage t; a[0] = reduce(t).Sum(a[1]); }",
		"#include <thrust/complex.h>\n__global__ void k(thrust::complex<float> *a) {\n"
		"a[0] = thrust::exp(a[1] * a[2]); }",
		"#include <curand.h>\n#if __has_include(<curand_kernel.h>)\n"
		"#include <curand_kernel.h>\n__global__ void k(float *a, curandState *s) {\n"
		"a[0] = curand_uniform(s); }\n#else\n__global__ void k() {}\n#endif\n",
	};
	struct compiler *compiler = open_real();

	expect_only(compiler,
		"#include <cuda_fp16.h>\n#include <cooperative_groups/reduce.h>\n"
		"#include <cuda/std/array>\n#include <cub/block/block_reduce.cuh>\n"
		"#include <stdio.h>\n#include <stdint.h>\n#include <cuda_runtime.h>\n"
		"#include <limits.h>\n#include <float.h>\n"
		"#ifndef __CUDACC_RTC__\n#include <thread>\n#endif\n"
		"extern \"C\" __global__ void k(float *a, uint32_t n) {\n"
		"__shared__ cub::BlockReduce<float, 128>::TempStorage t;\n"
		"cuda::std::array<float, 2> two{a[n], FLT_MAX};\n"
		"auto warp = cooperative_groups::tiled_partition<32>("
		"cooperative_groups::this_thread_block());\n"
		"two[0] = cooperative_groups::reduce(warp, two[0], "
		"cooperative_groups::plus<float>());\n"
		"a[0] = cub::BlockReduce<float, 128>(t).Sum(two[0] + two[1])"
		" + __half2float(__float2half(a[1])); }",
		OUTCOME_OK, "");
	for (size_t i = 0; i < ARRAY_COUNT(accepted); i++) {
		struct compile_result result;

		submit(compiler, accepted[i], "k", "-default-device", &result);
		wait_for(compiler, &result);
		if (result.outcome != OUTCOME_OK)
			fail_msg("%s\n%s", accepted[i], result.log);
		compile_result_release(&result);
	}
	/* A missing header is empty; if compilation fails without it, the message names it. */
	expect_only(compiler, "#include <nobody/types.h>\nextern \"C\" __global__ void k() {}",
		OUTCOME_OK, COMPILER_MISSING "nobody/types.h\n");
	expect_only(compiler,
		"#include <nobody/types.h>\nextern \"C\" __global__ void k(nobody::type *) {}",
		OUTCOME_COMPILE_FAILED, "hint: " COMPILER_MISSING "nobody/types.h; ");
	compiler_close(compiler);
}

TEST(the_real_compiler_makes_ptx)
{
	struct compiler *compiler = open_real();
	struct build_unit unit = {.name = (char[]){"u.cu"},
		.source = (char[]){"extern \"C\" __global__ void k() {}"}};
	struct compile_result result;
	struct error err;

	assert_int_equal(compiler_submit(compiler, &unit, "compute_80", &result, &err), STATUS_OK);
	wait_for(compiler, &result);
	assert_int_equal(result.outcome, OUTCOME_OK);
	assert_non_null(strstr(result.cubin.data, ".target sm_80"));
	compile_result_release(&result);
	compiler_close(compiler);
}

static int before(int count, char **arguments)
{
	if (count == 2 && strcmp(arguments[1], "worker-compile") == 0)
		return compile_worker_main();
	return RUN_TESTS;
}
BEFORE_TESTS(before)
