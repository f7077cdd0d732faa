/* layer: family */
/* SPDX-License-Identifier: MIT
 *
 * Sources with their includes: what is expanded, what stays for the toolkit, what is refused.
 */
#include "source/source.h"
#include "unit/kernel_fixture.h"

static void test_bad_includes(void **state)
{
	static const struct {
		const char *source, *message;
	} cases[] = {
		{"\n#include </etc/passwd>\n", "op/bad.cu:2: expected an include that is there"},
		{"#include <cub/../../passwd>\n", "op/bad.cu:1: expected an include that is there"},
		{"#include \"cuda/../../passwd\"\n", "found \"cuda/../../passwd\""},
		{"#include <x> y\n", "op/bad.cu:1: expected #include \"file\" or #include <file>"},
		{"# include NAME\n", "op/bad.cu:1: expected #include \"file\""},
		{"#include \"\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"#include \"none.cuh\"\n", "op/bad.cu:1: expected an include that is there, "
					    "found \"none.cuh\" (looked beside the file, "},
		{"#include \"../../../../etc/passwd\"\n", "found \"../../../../etc/passwd\""},
		{"#include \"/etc/passwd\"\n", "found \"/etc/passwd\""},
		{"#include \"..\"\n", "found \"..\""},
		/* however a compiler may come to see it */
		{"%:include \"/etc/passwd\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"#incl\\\nude \"/etc/passwd\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"\n\\\n#include \"/etc/passwd\"\n", "op/bad.cu:3: expected an include"},
		{"#include \\\n\"/etc/passwd\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"/**/ #include \"/etc/passwd\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"/* \n */ #include \"/etc/passwd\"\n", "op/bad.cu:2: expected #include \"file\""},
		{"# /* */ include \"/etc/passwd\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"#include_next \"x\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"#import \"x\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"#include \"b.cuh\" /* and\n */\n", "op/bad.cu:1: expected #include \"file\""},
		{"R\"x(/*)x\"\n#include \"/x\"\n",
			"op/bad.cu:2: expected an include that is there"},
		{"R\"x()\\\nx\" /*)x\"\n#include \"/x\"\n",
			"op/bad.cu:3: expected an include that is there"},
		{"int a = 1'0; // '/*\n#include \"/x\"\n",
			"op/bad.cu:2: expected an include that is there"},
		{"char a = '\"'; /* \"*/\n#include \"/x\"\n",
			"op/bad.cu:2: expected an include that is there"},
		{"int a; // \\ \n#include \"/x\"\n",
			"op/bad.cu:1: expected nothing behind the backslash"},
		{"?\?=include <x>\n", "op/bad.cu:1: expected no trigraph"},
	};
	char *root = string_format("%s/test-includes", TEST_BUILD);
	const char *folders[] = {root, NULL};
	CLEANUP(memory_free) char *mine = path_join(root, "op/mine");
	const char *const include_paths[] = {mine, NULL};
	struct error err = {0};
	char *source = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		free(scratch_file(root, "op/bad.cu", cases[i].source));
		assert_fails(source_expand(root, "op/bad.cu", folders, NULL, &source, &err),
			STATUS_BAD_INPUT, cases[i].message);
		assert_null(source);
	}
	free(scratch_file(root, "op/good.cu",
		"  #\tinclude\t\"a/../b.cuh\" // yes\n"
		"const char *s = \"/* no comment\";\n"
		"#include \"b.cuh\"\nint x; /* one */ /* two\n"
		"#include <ignored>\n*/\n"
		"const char *raw = R\"(\n#include <raw>\n)\", c = '\\'', d = '\"';\n"
		"// goes on \\\n#include <spliced>\n"
		"#define x #include <macro>\n"
		"# include  <cub/block/../cub.cuh> // a header of the toolkit\n"
		"#include \"cuda_fp16.h\"\n#include <inc/own.h>\n"
		"int one = 1'000;\n"));
	free(scratch_file(root, "op/mine/inc/own.h", "int own;\n"));
	free(scratch_file(root, "op/b.cuh", "int b;\n"));
	assert_ok(source_expand(root, "op/good.cu", folders, include_paths, &source, &err));
	assert_non_null(strstr(source, "\n#include <cub/cub.cuh>\n"));
	assert_non_null(strstr(source, "\n#include <cuda_fp16.h>\n"));
	assert_non_null(strstr(source, "int own;"));
	assert_non_null(strstr(source, "int b;"));
	assert_null(strstr(strstr(source, "int b;") + 1, "int b;"));
	assert_non_null(strstr(source, "#include <ignored>"));
	free(source);
	/* without a newline at the end of the file */
	free(scratch_file(root, "op/last.cu", "int a;"));
	assert_ok(source_expand(root, "op/last.cu", folders, NULL, &source, &err));
	assert_string_equal(source, "#line 1 \"op/last.cu\"\nint a;\n");
	free(source);
	free(root);
}

/* Functions of the host keep their lines and lose what device code cannot say. */
static void test_host_code(void **state)
{
	static const struct {
		const char *source, *expanded;
	} cases[] = {
		{"void f() { k<<<1, 2>>>(a); }", "void f() {for (;;);        }"},
		{"int main() {\n\texit(1);\n}", "            \n         \n "},
		{"namespace n { int f() { k<<<1, 2>>>(a); } }",
			"namespace n { int f() {for (;;);        } }"},
		{"extern \"C\" { int f() { k<<<1, 2>>>(a); } }",
			"extern \"C\" { int f() {for (;;);        } }"},
		{"__host__ int f() { return 1; }", "                              "},
		{"char a = '{'; char b = '\\''; int main() { return 12345678; }",
			"char a = '{'; char b = '\\'';                                "},
		/* as they are */
		{"__host__ __device__ int f() { return 1; }", NULL},
		{"__global__ void k() { if (main) { f<<<1, 2>>>(); } }", NULL},
		{"// main() { k<<<1, 2>>>(); }\nint f() { return 1; }", NULL},
		{"struct main { int x() { return 1; } };", NULL},
		{"int domain() { return 1 << 2; } int x[] = {1, 2};", NULL},
	};
	char *root = string_format("%s/test-host", TEST_BUILD);
	const char *folders[] = {root, NULL};
	struct error err = {0};
	char *source = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const char *expanded = cases[i].expanded ? cases[i].expanded : cases[i].source;
		CLEANUP(memory_free)
		char *wanted = string_format("#line 1 \"op/host.cu\"\n%s\n", expanded);

		free(scratch_file(root, "op/host.cu", cases[i].source));
		assert_int_equal(
			source_expand(root, "op/host.cu", folders, NULL, &source, &err), STATUS_OK);
		assert_string_equal(source, wanted);
		free(source);
	}
	free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_includes),
		cmocka_unit_test(test_host_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
