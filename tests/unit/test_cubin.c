/* SPDX-License-Identifier: MIT
 *
 * Reading cubins and reports of ptxas: names, parameters and figures of real outputs
 * (tests/data/compile, NVRTC 13.0), and every kind of damage.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"
#include "base/file.h"
#include "compile/cubin.h"
#include "compile/ptxas_report.h"
#include "faults/fake_cubin.h"

static struct text read_data(const char *name)
{
	char *path = path_join(TEST_DATA "/compile", name);
	struct text content = {0};
	struct error err;

	if (file_read(path, &content, &err) != STATUS_OK)
		fail_msg("%s", err.message);
	free(path);
	return content;
}

TEST(resources_of_a_built_cubin_are_read)
{
	static const struct fake_kernel kernels[] = {
		{"first", 40, 16, 3, 512}, {"second", 255, 0, 0, 0}};
	unsigned char data[FAKE_CUBIN_SIZE];
	size_t size = fake_cubin_build(data, kernels, 2);
	struct cubin cubin;
	struct cubin_kernel kernel;
	struct error err;

	assert_int_equal(cubin_open(&cubin, data, size, &err), STATUS_OK);
	assert_true(cubin_kernel_find(&cubin, "first", &kernel));
	assert_true(cubin_kernel_find(&cubin, "second", &kernel));
	assert_false(cubin_kernel_find(&cubin, "third", &kernel));
	assert_string_equal(cubin_kernel_name(&cubin, 1), "second");
	assert_null(cubin_kernel_name(&cubin, 2));
}

static void check_real(const char *file)
{
	struct text content = read_data(file);
	struct cubin cubin;
	struct cubin_kernel kernel;
	struct error err;

	assert_int_equal(cubin_open(&cubin, content.data, content.length, &err), STATUS_OK);
	assert_true(cubin_kernel_find(&cubin, "with_smem", &kernel));
	assert_int_equal(kernel.param_count, 2);
	assert_int_equal(kernel.param_bytes[0], 8);
	assert_int_equal(kernel.param_bytes[1], 4);
	assert_true(cubin_kernel_find(&cubin, "plain", &kernel));
	assert_int_equal(kernel.param_count, 1);
	text_release(&content);
}

TEST(resources_of_real_cubins_are_read)
{
	check_real("kernels_sm_90a.cubin");
	check_real("kernels_sm_80.cubin");
}

/* Reads every prefix, and the file with every byte set to 0xff, from an exact heap copy, so that
 * sanitizers detect reads outside. The reader must invent nothing. */
TEST(damaged_cubins_are_read_within_bounds)
{
	struct text content = read_data("kernels_sm_80.cubin");
	size_t opened = 0;

	for (size_t size = 0; size < content.length; size += size < 128 ? 1 : 61) {
		unsigned char *copy = malloc(size + 1);
		struct cubin cubin;
		struct error err;

		memcpy(copy, content.data, size);
		/* a cubin may lack only data after its section headers (the program headers) */
		opened += cubin_open(&cubin, copy, size, &err) == STATUS_OK;
		free(copy);
	}
	assert_true(opened < content.length / 61 / 4);
	opened = 0;
	for (size_t at = 0; at < content.length; at++) {
		unsigned char *copy = malloc(content.length);
		struct cubin cubin;
		struct cubin_kernel kernel;
		struct error err;

		memcpy(copy, content.data, content.length);
		copy[at] = 0xff;
		if (cubin_open(&cubin, copy, content.length, &err) == STATUS_OK) {
			opened++;
			if (cubin_kernel_find(&cubin, "with_smem", &kernel))
				assert_in_range(kernel.param_count + 1, 0, CUBIN_PARAMS_MAX + 1);
			assert_false(cubin_kernel_find(&cubin, "absent", &kernel));
		}
		free(copy);
	}
	assert_true(opened > 0 && opened < content.length);
	text_release(&content);
}

TEST(other_content_is_refused)
{
	struct text content = {0};
	struct cubin cubin;
	struct error err;

	assert_int_equal(cubin_open(&cubin, "", 0, &err), STATUS_FAILED);
	for (int i = 0; i < 100; i++)
		text_append(&content, "no ELF ");
	assert_int_equal(cubin_open(&cubin, content.data, content.length, &err), STATUS_FAILED);
	assert_non_null(strstr(err.message, "not a 64-bit ELF file for CUDA"));
	text_release(&content);
}

static struct compiler_entry entries[3];

static void name_entries(const char *first, const char *second, const char *third)
{
	const char *names[] = {first, second, third};

	for (int i = 0; i < 3; i++)
		entries[i] = (struct compiler_entry){.symbol = (char *)(uintptr_t)names[i]};
}

TEST(the_report_of_ptxas_is_read)
{
	struct text log = read_data("report_sm_90a.txt"), rest = {0};

	name_entries("k", "sp", "other");
	ptxas_report_read(log.data, entries, 3, &rest);
	assert_int_equal(entries[0].resources.regs_per_thread, 48);
	assert_int_equal(entries[0].resources.smem_static_bytes, 1200);
	assert_int_equal(entries[0].resources.barriers, 1);
	assert_int_equal(entries[0].resources.spill_store_bytes, 0);
	assert_int_equal(entries[1].resources.regs_per_thread, 64);
	assert_int_equal(entries[1].resources.stack_bytes, 1128);
	assert_int_equal(entries[1].resources.spill_store_bytes, 1772);
	assert_int_equal(entries[1].resources.spill_load_bytes, 1804);
	assert_int_equal(entries[2].resources.regs_per_thread, 10);
	assert_int_equal(entries[2].resources.blocks_per_sm, -1);
	/* C7508 names no function and therefore applies to all of them */
	assert_int_equal(entries[0].resources.flags, FLAG_MASK(SETMAXNREG_IGNORED));
	assert_int_equal(
		entries[1].resources.flags, FLAG_MASK(SETMAXNREG_IGNORED) | FLAG_MASK(SPILLS));
	assert_string_equal(rest.data, "ptxas info    : (C7508) Potential Performance Loss: "
				       "'setmaxnreg' ignored; unable to "
				       "determine register count at entry.\n");
	text_release(&rest);
	text_release(&log);
}

TEST(an_older_report_of_ptxas_is_read)
{
	struct text rest = {0};

	name_entries("a", "b", "c");
	ptxas_report_read("ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
			  "ptxas info    : Used 33 registers, 384 bytes smem, 364 bytes cmem[0]\n"
			  "ptxas info    : Function properties for helper\n"
			  "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
			  "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes "
			  "spill loads",
		entries, 3, &rest);
	assert_int_equal(entries[0].resources.regs_per_thread, 33);
	assert_int_equal(entries[0].resources.smem_static_bytes, 384);
	assert_int_equal(entries[0].resources.barriers, 0);
	assert_int_equal(entries[0].resources.stack_bytes,
		-1); /* the stack of a called function does not count */
	assert_int_equal(entries[0].resources.spill_load_bytes, 12);
	assert_int_equal(entries[1].resources.regs_per_thread, -1); /* not reported */
	text_release(&rest);
}

TEST(remarks_of_ptxas_become_flags)
{
	static const char *const remarks[] = {
		"(C7510) Potential Performance Loss: something in function 'b'",
		"(C7511) something in the function 'b'",
		"(C7515) something in function 'b'",
		"(C7599) wgmma.mma_async instructions are serialized due to ... in function 'b'",
	};

	for (size_t i = 0; i < sizeof(remarks) / sizeof(*remarks); i++) {
		char *log = string_format("ptxas info    : %s\n", remarks[i]);
		struct text rest = {0};

		name_entries("a", "b", "bb");
		ptxas_report_read(log, entries, 3, &rest);
		assert_int_equal(entries[0].resources.flags, 0);
		assert_int_equal(entries[1].resources.flags, FLAG_MASK(WGMMA_SERIALIZED));
		assert_int_equal(entries[2].resources.flags, 0);
		assert_string_equal(rest.data, log);
		text_release(&rest);
		free(log);
	}
}

TEST(logs_are_reduced_to_useful_lines)
{
	struct text log = {0}, useful = {0};

	text_append(&log, "x.cu(1): warning: unused\n\n");
	for (int i = 0; i < 20; i++)
		text_appendf(&log, "x.cu(%d): error: bad %d\n", i, i);
	ptxas_report_shorten(log.data, &useful);
	assert_true(string_starts_with(useful.data, "x.cu(0): error: bad 0\n"));
	assert_true(string_ends_with(useful.data,
		"bad 11\n(8 more lines; set TILETUNE_COMPILER_LOG to a file to get all of "
		"them)\n"));
	text_clear(&useful);
	ptxas_report_shorten("only words\n\nmore\n", &useful);
	assert_string_equal(useful.data, "only words\nmore\n");
	text_release(&useful);
	text_release(&log);
}
