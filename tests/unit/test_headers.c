/* layer: compile */
/* SPDX-License-Identifier: MIT
 *
 * Headers that NVRTC gets: what a source reaches, by which names, and what becomes of the rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compile/headers.h"
#include "unit/compile_folder.h"

static const char *text_in(const struct header_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->names[i], name) == 0)
			return set->texts[i];
	return "(none)";
}

static struct headers *open_folder(const char *folder)
{
	char *folders[] = {(char *)(uintptr_t)folder, NULL};

	return headers_new(folders);
}

static void test_sets(void **state)
{
	char *folder = folder_new(), *expected;
	struct headers *headers;
	const struct header_set *set, *again;

	(void)state;
	free(folder_put(folder, "a.h",
		"#pragma once\n#if X\n  #include \"sub/b.h\" // b\n#endif\n#include <gone.h>\n"));
	free(folder_put(folder, "sub/b.h", "#include \"c.h\"\n#include \"d.h\"\n#include <a.h>\n"));
	free(folder_put(folder, "sub/c.h", "int beside;\n"));
	free(folder_put(folder, "c.h", "int other;\n"));
	free(folder_put(folder, "d.h",
		"#include \"/etc/passwd\"\n#include MACRO\n#include "
		"\\\n\"c.h\"\nint last;\n"));
	free(folder_put(folder, "thrust.h",
		"#define TAG <__THRUST_DEVICE_SYSTEM_ROOT/detail/t.h>\n#include TAG\n"));
	free(folder_put(folder, "thrust/system/cuda/detail/t.h", "int t;\n"));
	free(folder_put(folder, "unrelated.h", "int u;\n"));
	headers = open_folder(folder);
	assert_int_equal(headers_of(headers, "int none;")->count, 0);
	assert_null(headers_of(headers, "int none;")->source);
	set = headers_of(headers, "#include <a.h>\n#include <stdint.h>\nint x;\n#include <no.h>");
	assert_int_equal(set->count, 5);
	expected = string_format("#pragma once\n#if X\n  #include <sub/b.h>\n#endif\n"
				 "#error \"gone.h: no header of the toolkit's in %s\"\n",
		folder);
	assert_string_equal(text_in(set, "a.h"), expected);
	free(expected);
	assert_string_equal(
		text_in(set, "sub/b.h"), "#include <sub/c.h>\n#include <d.h>\n#include <a.h>\n");
	assert_string_equal(text_in(set, "sub/c.h"), "int beside;\n");
	assert_null(strstr(text_in(set, "d.h"), "#include"));
	assert_null(strstr(text_in(set, "d.h"), "MACRO"));
	assert_non_null(strstr(text_in(set, "d.h"), "\n\nint last;\n"));
	assert_non_null(strstr(text_in(set, "stdint.h"), "uint64_t"));
	assert_non_null(strstr(set->source, "#include <a.h>\n#include <stdint.h>\nint x;\n#error"));
	assert_ptr_equal(
		headers_of(headers, "#include <a.h>\n#include <stdint.h>\nint x;\n#include <no.h>"),
		set);
	assert_string_equal(text_in(headers_of(headers, "#include <thrust.h>\n"), "thrust.h"),
		"#define TAG <__THRUST_DEVICE_SYSTEM_ROOT/detail/t.h>\n"
		"#include <thrust/system/cuda/detail/t.h>\n");
	assert_non_null(strstr(headers_of(headers, "#define TAG <__THRUST_DEVICE_SYSTEM_ROOT/a.h>\n"
						   "#include TAG\n#include <c.h>\n")
				       ->source,
		"#error"));
	/* the key is that of the contents: one of them changes */
	free(folder_put(folder, "sub/c.h", "int changed;\n"));
	{
		struct headers *later = open_folder(folder);

		again = headers_of(
			later, "#include <a.h>\n#include <stdint.h>\nint x;\n#include <no.h>");
		assert_string_not_equal(again->hash, set->hash);
		assert_string_equal(headers_of(later, "#include <c.h>\n")->hash,
			headers_of(headers, "#include <c.h>\n")->hash);
		headers_free(later);
	}
	headers_free(headers);
	folder_remove(folder);
}

static void test_find(void **state)
{
	char *folder = folder_new(), *library = folder_put(folder, "lib64/libnvrtc.so.13", "x"),
	     **found;

	(void)state;
	free(folder_put(folder, "include/cuda_fp16.h", ""));
	free(folder_put(folder, "include/cccl/cub/cub.cuh", ""));
	found = headers_find(library);
	assert_true(string_starts_with(found[0], folder));
	assert_true(string_ends_with(found[0], "/include"));
	assert_true(string_ends_with(found[1], "/include/cccl"));
	assert_null(found[2]);
	for (size_t i = 0; found[i]; i++)
		free(found[i]);
	free(found);
	free(library);
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
