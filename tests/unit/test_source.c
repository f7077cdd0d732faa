/* SPDX-License-Identifier: MIT
 *
 * Sources with their includes: which are expanded, left to the toolkit, or refused.
 */
#include "unit/unit.h"
#include <ctype.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "source/kernel_source.h"
#include "source/scan.h"
#include "source/definitions.h"
#include "source/host_code.h"
#include "source/source.h"
#include "unit/kernel_fixture.h"

TEST(bad_includes_are_refused)
{
	static const struct {
		const char *source, *message;
	} cases[] = {
		{"\n#include </etc/passwd>\n", "\n#error the include"},
		{"#include <cub/../../passwd>\n", "\n#error the include"},
		{"#include \"cuda/../../passwd\"\n",
			"\"cuda/../../passwd\"; add its folder to the JSON"},
		{"#include <x> y\n", "op/bad.cu:1: expected #include \"file\" or #include <file>"},
		{"# include NAME\n", "op/bad.cu:1: expected #include \"file\""},
		{"#include \"\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"#include \"none.cuh\"\n", "\n#include <none.cuh>\n"},
		/* a file above the folder: the compiler sees no file of this name */
		{"#include \"../../nobody/has.h\"\n", "\n#include <nobody/has.h>\n"},
		{"#include \"/etc/passwd\"\n", "\"/etc/passwd\"; add its folder to the JSON"},
		{"#include \"..\"\n", "\"..\"; add its folder to the JSON"},
		{"#include \"../../out.h\"\n", "\"include_paths\": [\"../..\"]\n"},
		/* any spelling of an include that a compiler accepts */
		{"%:include \"/etc/passwd\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"#incl\\\nude \"/etc/passwd\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"\n\\\n#include \"/etc/passwd\"\n", "\n#error the include"},
		{"#include \\\n\"/etc/passwd\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"/**/ #include \"/etc/passwd\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"/* \n */ #include \"/etc/passwd\"\n", "op/bad.cu:2: expected #include \"file\""},
		{"# /* */ include \"/etc/passwd\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"#include_next \"x\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"#import \"x\"\n", "op/bad.cu:1: expected #include \"file\""},
		{"#include \"b.cuh\" /* and\n */\n", "op/bad.cu:1: expected #include \"file\""},
		/* only "#if 0" itself makes a branch that no compiler reads */
		{"#if 0 || 1\n#include \"/x\"\n#endif\n", "\n#error the include"},
		{"#if 0\n#if 1\n#endif\n#else\n#include \"/x\"\n#endif\n", "\n#error the include"},
		{"#if 0\n#endif\n#include \"/x\"\n", "\n#error the include"},
		{"R\"x(/*)x\"\n#include \"/x\"\n", "\n#error the include"},
		{"R\"x()\\\nx\" /*)x\"\n#include \"/x\"\n", "\n#error the include"},
		{"int a = 1'0; // '/*\n#include \"/x\"\n", "\n#error the include"},
		{"char a = '\"'; /* \"*/\n#include \"/x\"\n", "\n#error the include"},
		{"?\?=include <x>\n", "op/bad.cu:1: trigraphs are not supported"},
	};
	char *root = string_format("%s/test-includes", TEST_BUILD);
	const char *folders[] = {root, NULL};
	CLEANUP(memory_free) char *mine = path_join(root, "op/mine");
	const char *const include_paths[] = {mine, NULL};
	struct error err = {0};
	char *source = NULL;

	free(scratch_file(root, "../out.h", ""));
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		free(scratch_file(root, "op/bad.cu", cases[i].source));
		if (string_starts_with(cases[i].message, "op/bad.cu")) {
			assert_fails(source_expand(root, "op/bad.cu", folders, NULL, &source, &err),
				STATUS_BAD_INPUT, cases[i].message);
			assert_null(source);
			continue;
		}
		/* reaching the line is an error, unless the toolkit has the header */
		assert_ok(source_expand(root, "op/bad.cu", folders, NULL, &source, &err));
		assert_non_null(strstr(source, cases[i].message));
		assert_null(strstr(source, "#include \""));
		free(source);
		source = NULL;
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
		"int one = 1'000;\n"
		"#if 0\n#include \"c.cuh\"\n#endif\n#include \"c.cuh\"\n"));
	free(scratch_file(root, "op/c.cuh", "const int c;\n"));
	free(scratch_file(root, "op/mine/inc/own.h", "const int own;\n"));
	free(scratch_file(root, "op/b.cuh", "const int b;\n"));
	assert_ok(source_expand(root, "op/good.cu", folders, include_paths, &source, &err));
	assert_non_null(strstr(source, "\n#include <cub/cub.cuh>\n"));
	assert_non_null(strstr(source, "\n#include <cuda_fp16.h>\n"));
	assert_non_null(strstr(source, "const int own;"));
	assert_non_null(strstr(source, "const int b;"));
	assert_non_null(strstr(source, "#endif\n#line 1 \"op/c.cuh\"\nconst int c;"));
	assert_null(strstr(strstr(source, "const int b;") + 1, "const int b;"));
	assert_non_null(strstr(source, "#include <ignored>"));
	free(source);
	/* the file does not end with a newline */
	free(scratch_file(root, "op/last.cu", "const int a;"));
	assert_ok(source_expand(root, "op/last.cu", folders, NULL, &source, &err));
	assert_string_equal(source, "#line 1 \"op/last.cu\"\nconst int a;\n");
	free(source);
	free(root);
}

/* Host code becomes blanks (shown as `@`); line numbers stay. */
TEST(host_code_becomes_blanks)
{
	static const struct {
		const char *source, *expanded; /* expanded is NULL if the whole text stays */
	} cases[] = {
		{"void f() { k<<<1, 2>>>(a); }", "@@@@@@@@@@@@@@@@@@@@@@@@@@@@"},
		{"int main() {\n\texit(1);\n}", "@@@@@@@@@@@@\n@@@@@@@@@\n@"},
		{"namespace n { int f() { } }", "namespace n { @@@@@@@@@@@ }"},
		{"extern \"C\" { int f() { } }", "extern \"C\" { @@@@@@@@@@@ }"},
		{"int x[] = {1, 2}, y; struct a *b(int c);",
			"@@@@@@@@@@@@@@@@@@@@ @@@@@@@@@@@@@@@@@@@"},
		{"template <class T> std::vector<T> f(T x) { return {x}; } int y;",
			"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ @@@@@@"},
		{"struct option o[] = {{\"a\", 1}}; enum e f() { return A; }",
			"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ @@@@@@@@@@@@@@@@@@@@@@@@"},
		{"void f()\n{\n#pragma omp parallel\n\tg();\n}",
			"@@@@@@@@\n@\n@@@@@@@@@@@@@@@@@@@@\n@@@@@\n@"},
		{"const std::string s = \"x\"; const dim3 b(1, 2);",
			"@@@@@@@@@@@@@@@@@@@@@@@@@@ @@@@@@@@@@@@@@@@@@@"},
		/* in a class, only function bodies and initializers of containers are removed */
		{"class c { const std::map<a, b> m = {{A, 1}}; static constexpr std::size_t n = 2; "
		 "};",
			"class c { const std::map<a, b> m @@@@@@@@@@; static constexpr std::size_t "
			"n = 2; };"},
		{"struct s { s() : a(1), b{2} { f(); } ~s(); int a, b; } t;",
			"struct s { @@@@@@@@@@@@@@@@@@@@@@@@@ ~s(); int a, b; } t;"},
		{"class c : d<1> { public: bool operator<(c o) const { return 1; } c() = default; "
		 "};",
			"class c : d<1> { public: @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ c() = "
			"default; };"},
		{"template <int N> __global__ void k(int *) {} template __global__ void k<8>(int "
		 "*);",
			"template <int N> __global__ void k(int *) {} "
			"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"},
		{"#define MAKE(n) \\\n template __global__ void k<n>(int *)\n#define T(n) template "
		 "<n>\n",
			"#define MAKE(n) \\\n @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n#define T(n) "
			"template <n>\n"},
		/* one body has two heads, of which a compiler sees one */
		{"#ifdef S\nvoid f(int a, int s) {\n#else\nvoid f(int a) "
		 "{\n#endif\n\tg(a);\n}\n__global__ void k() {}",
			"#ifdef "
			"S\n@@@@@@@@@@@@@@@@@@@@@@\n#else\n@@@@@@@@@@@@@@@\n#endif\n@@@@@@\n@\n__"
			"global__ void k() {}"},
		{"#ifdef S\n__global__ void f(int a)\n#else\nvoid f(int a)\n#endif\n{ g(a); }",
			"#ifdef S\n__global__ void f(int a)\n#else\n@@@@@@@@@@@@@\n#endif\n{ g(a); "
			"}"},
		{"int f() {\n#if A\n\tg(1);\n#else\n\tg(2);\n#endif\n}\n",
			"@@@@@@@@@\n#if A\n@@@@@@\n#else\n@@@@@@\n#endif\n@\n"},
		{"#if 0\n{ {\n#endif\nint main() { return 1; }",
			"#if 0\n{ {\n#endif\n@@@@@@@@@@@@@@@@@@@@@@@@"},
		{"char a = '{'; char b = '\\''; int f() { return '}'; }",
			"@@@@@@@@@@@@@ @@@@@@@@@@@@@@ @@@@@@@@@@@@@@@@@@@@@@@"},
		/* unchanged */
		{"const char *s = R\"x(\nint main() {\n)\" )x\";\n__global__ void k() {}", NULL},
		{"const char *s = \"int main() {\"; const int n = 1'0; /* main() { */", NULL},
		{"__host__ __device__ int f() { return 1; } constexpr int g() { return 1; }", NULL},
		{"__global__ void k() { if (main) { f<<<1, 2>>>(); } int a; }", NULL},
		{"#define API __host__ HD\n#define HD __device__\nAPI int f() { return 1; } HD int "
		 "x;",
			NULL},
		{"#define KERNEL(name) __global__ void name()\nKERNEL(a) { x = 1; }", NULL},
		{"typedef struct { int a; } s, *p; using namespace n; namespace m = n; enum e { A "
		 "};",
			NULL},
		{"struct __align__(8) s { int a; void (*f)(int); __device__ s() : a{1} { g(); } };",
			NULL},
		{"template <> struct s<int> { __device__ operator int *() { return 0; } };", NULL},
		{"static_assert(sizeof(int) == 4, \"\"); template <class T> struct u; typedef int "
		 "f(int);",
			NULL},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const char *expanded = cases[i].expanded ? cases[i].expanded : cases[i].source;
		CLEANUP(memory_free) char *wanted = string_copy(expanded);
		CLEANUP(memory_free) char *made = host_code_removed(cases[i].source);

		for (char *c = wanted; *c; c++)
			*c = *c == '@' ? ' ' : *c;
		assert_string_equal(made, wanted);
	}
}

/* Definitions of BM, macros or constants, are removed; text that only resembles one stays. */
TEST(definitions_of_parameters_are_removed)
{
	static const struct {
		const char *source, *rest; /* rest is NULL if the whole text stays */
	} cases[] = {
		{"#define BM 64\nint a[BM];", "@@@@@@@@@@@@@\nint a[BM];"},
		{"#ifndef BM\n#define BM \\\n 64\n#endif\n",
			"#ifndef BM\n@@@@@@@@@@@@\n@@@\n#endif\n"},
		{"constexpr int BM = 64; int b;", "@@@@@@@@@@@@@@@@@@@@@@ int b;"},
		{"{ static const unsigned int BM = 1 << 4; }",
			"{ @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ }"},
		{"#if A\nconst int BM = 1;\n#else\nconst int BM = 2;\n#endif\n",
			"#if A\n@@@@@@@@@@@@@@@@@\n#else\n@@@@@@@@@@@@@@@@@\n#endif\n"},
		{"#define BM(x) x\n#define BN 64\n", NULL},
		{"const int BM = 1, BN = 2; int BM = 3; const float BM = 1; const int BM[] = {1};",
			NULL},
		{"void f(const int BM = 1); const int x = BM; // const int BM = 1;", NULL},
	};
	CLEANUP(name_set_release) struct name_set names = {0};

	name_set_add(&names, "BM", 2);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		CLEANUP(memory_free)
		char *wanted = string_copy(cases[i].rest ? cases[i].rest : cases[i].source);
		CLEANUP(text_release) struct text made = {0};

		for (char *c = wanted; *c; c++)
			*c = *c == '@' ? ' ' : *c;
		text_append(&made, cases[i].source);
		definitions_blank(&made, &names);
		assert_string_equal(made.data, wanted);
	}
}

/* A link may point into the searched folders; all other links are refused. */
TEST(links_out_of_the_folders_are_refused)
{
	char *root = string_format("%s/test-links", TEST_BUILD);
	CLEANUP(memory_free) char *linked = path_join(root, "op/linked.h");
	CLEANUP(memory_free) char *fifo = path_join(root, "op/fifo.h");
	CLEANUP(memory_free) char *mine = path_join(root, "mine");
	CLEANUP(memory_free)
	char *other = string_format("%s/test-links-other/secret.h", TEST_BUILD);
	CLEANUP(memory_free) char *secret = NULL, *top = NULL, *source = NULL;
	const char *folders[] = {root, NULL}, *paths[] = {mine, NULL};
	struct error err = {0};

	unlink(linked);
	unlink(fifo);
	free(scratch_file(root, "op/link.cu", "#include \"linked.h\"\n"));
	free(scratch_file(root, "op/fifo.cu", "#include \"fifo.h\"\n"));
	free(scratch_file(root, "mine/own.h", "const int own;\n"));
	free(scratch_file(TEST_BUILD "/test-links-other", "secret.h", "int secret;\n"));
	secret = realpath(other, NULL);
	assert_int_equal(symlink(secret, linked), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_fails(source_expand(root, "op/link.cu", folders, paths, &source, &err),
		STATUS_BAD_INPUT, "op/link.cu:1: the include leads out of ");
	assert_non_null(strstr(err.message, "through the link \"op/linked.h\""));
	assert_null(source);
	assert_ok(source_expand(root, "op/fifo.cu", folders, paths, &source, &err));
	assert_string_equal(source, "#line 1 \"op/fifo.cu\"\n#include <fifo.h>\n");
	free(source);
	source = NULL;
	/* links to a folder of include_paths, then stays within the folder */
	unlink(linked);
	top = realpath(mine, NULL);
	free(secret);
	secret = path_join(top, "own.h");
	assert_int_equal(symlink(secret, linked), 0);
	assert_ok(source_expand(root, "op/link.cu", folders, paths, &source, &err));
	assert_non_null(strstr(source, "const int own;"));
	free(source);
	assert_ok(source_expand(root, "op/link.cu", folders, NULL, &source, &err));
	free(root);
}

/* The scanner replaces each comment by a blank, drops the contents of literals, and joins
 * spliced lines. */
TEST(the_scanner_removes_comments_and_literals)
{
	static const struct {
		const char *source, *text;
	} cases[] = {
		{"a /* b */ c // d\ne", "a   c  \ne"},
		{"a/**/b", "a b"},
		{"/* a", " "},
		{"a\\\nb \\\r\nc", "ab c"},
		{"// a\\\nb\nc", " \nc"},
		{"\"a\\\"b\" 'c' '\"'", "\"\" '' ''"},
		{"\"a\nb\"", "\"\"\nb\"\""},
		{"R\"x(a)\" // )x\" b", "R\"\" b"},
		{"u8R\"(\n)\" LR\"()\" xR\"(\"", "u8R\"\" LR\"\" xR\"\""},
		{"1'000'0 0x1'f", "1'000'0 0x1'f"},
		{"#error don't\nx", "#error don''\nx"},
		{"\\", "\\"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const size_t size = strlen(cases[i].source);
		struct code code;

		code_read(cases[i].source, size, &code);
		assert_string_equal(code.text, cases[i].text);
		assert_int_equal(code.at[code.length], size);
		for (size_t k = 0; k < code.length; k++)
			assert_true(code.at[k] <= code.at[k + 1]);
		code_release(&code);
	}
}

/* Each branch of each #if occurs in some view, together with all enclosing lines. */
TEST(each_branch_occurs_in_some_view)
{
	static const char source[] = "a\n#if X\nb\n#if Y\nc\n#else\nd\n#endif\n#elif Z\ne\n"
				     "#if Y\nf\n#else\ng\n#endif\n#else\nh\n#endif\ni\n"
				     "#if 0\nj\n#else\nk\n#endif\n#endif\n#else\nl";
	static const char *const views[] = {"abcikl", "abdikl", "aefikl", "aegikl", "ahikl"};
	struct branches branches = {0};
	struct view none;
	struct code code;

	code_read(source, strlen(source), &code);
	for (size_t branch = 0; branch < ARRAY_COUNT(views); branch++) {
		struct view view;
		char letters[32] = "";
		size_t count = 0;

		assert_true(code_view(&code, &branches, &view));
		for (size_t i = 0; i < view.length; i++) {
			assert_int_equal(view.text[i], code.text[view.at[i]]);
			if (isalpha((unsigned char)view.text[i]))
				letters[count++] = view.text[i];
		}
		assert_string_equal(letters, views[branch]);
		view_release(&view);
	}
	assert_false(code_view(&code, &branches, &none));
	branches_release(&branches);
	code_release(&code);
}

/* Two #if that are not nested take their second branches in the same view. */
TEST(branches_that_are_not_nested_share_views)
{
	static const char source[] = "#if X\na\n#else\nb\n#endif\n#ifdef Y\nc\n#else\nd\n#endif\n";
	static const char *const views[] = {"ac", "bd"};
	struct branches branches = {0};
	struct view view;
	struct code code;

	code_read(source, strlen(source), &code);
	for (size_t i = 0; i < ARRAY_COUNT(views); i++) {
		assert_true(code_view(&code, &branches, &view));
		assert_non_null(strchr(view.text, views[i][0]));
		assert_non_null(strchr(view.text, views[i][1]));
		view_release(&view);
	}
	assert_false(code_view(&code, &branches, &view));
	branches_release(&branches);
	code_release(&code);
}

/* Repeats each text 32,000 times, with its number in place of every %d, and `rest` equally
 * often. */
TEST(long_sources_are_read_in_linear_time)
{
	static const struct {
		const char *repeated, *rest;
	} forms[] = {
		{"#if A\n", "#endif\n"},
		{"#if A%d\nint x;\n#endif\n", ""},
		{"#if 0\n#elif A%d\nint x;\n", "#endif\n"},
		{"#ifndef M%d\n#define M%d 1\n#endif\n", ""},
		{"#define D%d __device__\n", ""},
		{"__constant__ float c%d[2];\n", ""},
		{"template <int T> __global__ void k%d(float *p) { p[0] = 1; }\n", ""},
	};
	const clock_t start = clock();

	for (size_t f = 0; f < ARRAY_COUNT(forms); f++) {
		CLEANUP(text_release) struct text text = {0};
		struct kernel_source source;

		for (int i = 0; i < 32000; i++)
			for (const char *c = forms[f].repeated; *c; c++) {
				if (c[0] == '%')
					text_appendf(&text, "%d", i);
				else
					text_append_char(&text, *c);
				c += *c == '%';
			}
		for (int i = 0; i < 32000; i++)
			text_append(&text, forms[f].rest);
		kernel_source_read(text.data, NULL, &source);
		kernel_source_release(&source);
	}
	/* processor time; quadratic algorithms need more than 25 s */
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
}

/* Tests the input of the kernel hash and of the cache key. Changing any included file, in any
 * branch, changes them; other files do not. */
TEST(included_files_change_the_hash)
{
	static const struct {
		const char *file;
		bool counts;
	} changes[] = {{"op/b.cuh", true}, {"op/sub/c.cuh", true}, {"mine/d.h", true},
		{"op/other.cuh", false}};
	char *root = string_format("%s/test-contents", TEST_BUILD);
	CLEANUP(memory_free) char *mine = path_join(root, "mine"), *before = NULL;
	const char *folders[] = {root, NULL}, *paths[] = {mine, NULL};
	struct error err = {0};
	char *source;

	free(scratch_file(root, "op/all.cu", "#include \"b.cuh\"\n#include \"other2.cuh\"\n"));
	free(scratch_file(root, "op/b.cuh", "#ifdef NEVER\n#include \"sub/c.cuh\"\n#endif\n"));
	free(scratch_file(root, "op/other2.cuh", "#include <d.h>\n"));
	free(scratch_file(root, "op/sub/c.cuh", "int c;\n"));
	free(scratch_file(root, "mine/d.h", "int d;\n"));
	free(scratch_file(root, "op/other.cuh", "int other;\n"));
	assert_ok(source_expand(root, "op/all.cu", folders, paths, &before, &err));
	for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
		CLEANUP(memory_free) char *path = path_join(root, changes[i].file);
		CLEANUP(text_release) struct text content = {0};

		assert_ok(file_read(path, &content, &err));
		text_append(&content, "int changed;\n");
		free(scratch_file(root, changes[i].file, text_string(&content)));
		assert_ok(source_expand(root, "op/all.cu", folders, paths, &source, &err));
		assert_int_equal(strcmp(source, before) != 0, changes[i].counts);
		free(before);
		before = source;
	}
	free(root);
}
