/* SPDX-License-Identifier: MIT */
#include "compile/headers.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "source/directive.h"

struct header {
	char *name; /* as includes say it, once rewritten */
	char *text; /* rewritten; NULL: there is no such file */
	size_t *includes;
	size_t include_count, include_capacity;
	bool is_scanned;
};

/* A source that was asked for. */
struct known {
	uint64_t hash;
	struct header_set set;
};

struct headers {
	char **folders;
	struct header *items;
	size_t count, capacity;
	size_t *table; /* open addressing on the name: index + 1, 0 is empty */
	size_t table_size;
	struct known **known;
	size_t known_count, known_capacity;
};

/* ---- what NVRTC has no files for ---- */
/* The types and the wording of libcu++ for NVRTC, which may be included beside it. */
static const char integers[] =
	"typedef signed char int8_t; typedef short int16_t; typedef int int32_t;\n"
	"typedef long long int64_t; typedef unsigned char uint8_t;\n"
	"typedef unsigned short uint16_t; typedef unsigned int uint32_t;\n"
	"typedef unsigned long long uint64_t; typedef long long intptr_t;\n"
	"typedef unsigned long long uintptr_t;\n";
static const char limits[] =
	"#ifndef CHAR_BIT\n#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n"
	"#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n#define SHRT_MIN (-SHRT_MAX - 1)\n"
	"#define SHRT_MAX 0x7fff\n#define USHRT_MAX 0xffff\n#define INT_MIN (-INT_MAX - 1)\n"
	"#define INT_MAX 0x7fffffff\n#define UINT_MAX 0xffffffff\n"
	"#define LONG_MIN (-LONG_MAX - 1)\n#define LONG_MAX LLONG_MAX\n"
	"#define ULONG_MAX ULLONG_MAX\n#define LLONG_MIN (-LLONG_MAX - 1)\n"
	"#define LLONG_MAX 0x7fffffffffffffffLL\n#define ULLONG_MAX 0xffffffffffffffffUL\n"
	"#endif\n";
static const char floats[] =
	"#ifndef FLT_MAX\n#define FLT_MAX 3.402823466e+38F\n#define FLT_MIN 1.175494351e-38F\n"
	"#define FLT_EPSILON 1.192092896e-07F\n#define FLT_DIG 6\n#define FLT_MANT_DIG 24\n"
	"#define DBL_MAX 1.7976931348623158e+308\n#define DBL_MIN 2.2250738585072014e-308\n"
	"#define DBL_EPSILON 2.2204460492503131e-16\n#define DBL_DIG 15\n"
	"#define DBL_MANT_DIG 53\n#endif\n";
static const char math[] = "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"
			   "#ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n"
			   "#ifndef M_PI\n#define M_PI 3.14159265358979323846\n#endif\n";
static const char ends[] = "#ifndef EXIT_FAILURE\n#define EXIT_SUCCESS 0\n#define EXIT_FAILURE 1\n"
			   "static __device__ inline void exit(int) { __trap(); }\n#endif\n"
			   "#if !defined uint && !defined ushort && !defined ulong\n"
			   "typedef unsigned int uint; typedef unsigned short ushort;\n"
			   "typedef unsigned long ulong;\n#endif\n";
static const char asserts[] = "#undef assert\n#define assert(condition) ((void)0)\n";

static const struct {
	const char *name, *text; /* what kernels can use of it is built in where it is empty */
} answered[] = {
	{"cuda_runtime.h", ""},
	{"cuda_runtime_api.h", ""},
	{"device_launch_parameters.h", ""},
	{"cuda.h", ""},
	{"stdio.h", ""},
	{"cstdio", ""},
	{"stdlib.h", ends},
	{"cstdlib", ends},
	{"string.h", ""},
	{"cstring", ""},
	{"stddef.h", ""},
	{"cstddef", ""},
	{"stdbool.h", ""},
	{"assert.h", asserts},
	{"cassert", asserts},
	{"math.h", math},
	{"cmath", math},
	{"stdint.h", integers},
	{"cstdint", integers},
	{"inttypes.h", integers},
	{"limits.h", limits},
	{"climits", limits},
	{"float.h", floats},
	{"cfloat", floats},
	/* what only the host's functions use, which lose their bodies (source/host_code.h) */
	{"cublas_v2.h", ""},
	{"cublasLt.h", ""},
	{"algorithm", ""},
	{"chrono", ""},
	{"fstream", ""},
	{"iostream", ""},
	{"random", ""},
	{"string", ""},
	{"vector", ""},
};

static const char *answer_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_COUNT(answered); i++)
		if (strcmp(answered[i].name, name) == 0)
			return answered[i].text;
	return NULL;
}

/* ---- files ---- */
struct headers *headers_new(char *const *folders)
{
	struct headers *headers = memory_zeroed(1, sizeof(*headers));
	size_t count = 0;

	while (folders[count])
		count++;
	headers->folders = memory_zeroed(count + 1, sizeof(*headers->folders));
	for (size_t i = 0; i < count; i++)
		headers->folders[i] = string_copy(folders[i]);
	headers->table_size = 4096;
	headers->table = memory_zeroed(headers->table_size, sizeof(*headers->table));
	return headers;
}

static void set_release(struct header_set *set)
{
	free(set->names);
	free(set->texts);
	free(set->source);
}

void headers_free(struct headers *headers)
{
	if (!headers)
		return;
	for (size_t i = 0; headers->folders[i]; i++)
		free(headers->folders[i]);
	for (size_t i = 0; i < headers->count; i++) {
		free(headers->items[i].name);
		free(headers->items[i].text);
		free(headers->items[i].includes);
	}
	for (size_t i = 0; i < headers->known_count; i++) {
		set_release(&headers->known[i]->set);
		free(headers->known[i]);
	}
	free(headers->known);
	free(headers->items);
	free(headers->table);
	free(headers->folders);
	free(headers);
}

static size_t *table_place(struct headers *headers, const char *name)
{
	size_t at = (size_t)hash_bytes(name, strlen(name), 0) & (headers->table_size - 1);

	while (headers->table[at] && strcmp(headers->items[headers->table[at] - 1].name, name) != 0)
		at = (at + 1) & (headers->table_size - 1);
	return &headers->table[at];
}

static void table_grow(struct headers *headers)
{
	free(headers->table);
	headers->table_size *= 2;
	headers->table = memory_zeroed(headers->table_size, sizeof(*headers->table));
	for (size_t i = 0; i < headers->count; i++)
		*table_place(headers, headers->items[i].name) = i + 1;
}

static char *text_of(const struct headers *headers, const char *name)
{
	const char *answer = answer_find(name);
	struct text content = {0};

	if (answer)
		return string_copy(answer);
	for (size_t i = 0; headers->folders[i]; i++) {
		CLEANUP(memory_free) char *path = path_join(headers->folders[i], name);

		if (file_exists(path) && file_read(path, &content, NULL) == STATUS_OK) {
			text_append(&content, "");
			return text_detach(&content);
		}
		text_release(&content);
	}
	return NULL;
}

/* The index of the header of this name, which is normalized; read if it is new. */
static size_t header_find(struct headers *headers, const char *name)
{
	size_t *place = table_place(headers, name);

	if (*place)
		return *place - 1;
	ARRAY_GROW(headers->items, headers->count, headers->capacity);
	headers->items[headers->count] =
		(struct header){.name = string_copy(name), .text = text_of(headers, name)};
	*place = ++headers->count;
	if (2 * headers->count > headers->table_size)
		table_grow(headers);
	return headers->count - 1;
}

/* The header that a line of the index-th one includes; SIZE_MAX: a name that cannot be one's. */
static size_t include_find(
	struct headers *headers, const char *from, const char *include, bool is_system)
{
	const char *slash = strrchr(from, '/');
	CLEANUP(memory_free)
	char *folder = string_copy_bytes(from, slash ? (size_t)(slash - from) : 0);
	CLEANUP(memory_free) char *beside = is_system ? NULL : include_normalized(folder, include);
	CLEANUP(memory_free) char *inside = include_normalized("", include);
	size_t found = SIZE_MAX;

	if (beside)
		found = header_find(headers, beside);
	if ((found == SIZE_MAX || !headers->items[found].text) && inside)
		found = header_find(headers, inside);
	return found;
}

/* ---- what a text includes ---- */
static void add_include(struct header *header, size_t include)
{
	for (size_t i = 0; i < header->include_count; i++)
		if (header->includes[i] == include)
			return;
	ARRAY_GROW(header->includes, header->include_count, header->include_capacity);
	header->includes[header->include_count++] = include;
}

/* Thrust says `#define WORD <ROOT/file.h>` and `#include WORD` on the next line. The file is said
 * in its place, so that nobody's macro decides which file that is. */
static char *computed_include(const char *text, const char *line)
{
	static const struct {
		const char *word, *folder;
	} roots[] = {{"<__THRUST_DEVICE_SYSTEM_ROOT/", "thrust/system/cuda/"},
		{"<__THRUST_HOST_SYSTEM_ROOT/", "thrust/system/cpp/"}};
	const char *before = line, *open, *close;

	if (before == text)
		return NULL;
	for (before--; before > text && before[-1] != '\n';)
		before--;
	open = memchr(before, '<', (size_t)(line - before));
	close = open ? memchr(open, '>', (size_t)(line - open)) : NULL;
	for (size_t i = 0; close && i < ARRAY_COUNT(roots); i++)
		if (string_starts_with(open, roots[i].word)) {
			const char *file = open + strlen(roots[i].word);

			return string_format("%s%.*s", roots[i].folder, (int)(close - file), file);
		}
	return NULL;
}

static void rewrite_line(struct headers *headers, const char *from, const char *text,
	const char *line, const char *end, struct header *found, struct text *rewritten)
{
	bool is_system = false;
	CLEANUP(memory_free) char *plain = directive_include(line, end, &is_system);
	CLEANUP(memory_free)
	char *include = plain ? string_copy(plain) : *from ? computed_include(text, line) : NULL;
	const size_t index = include ? include_find(headers, from, include, is_system) : SIZE_MAX;

	if (index == SIZE_MAX || !headers->items[index].text) {
		text_appendf(rewritten, "#error \"%s: no header of the toolkit's in",
			include ? include : "this include");
		for (size_t i = 0; headers->folders[i]; i++)
			text_appendf(rewritten, " %s", headers->folders[i]);
		text_appendf(rewritten, "%s\"", headers->folders[0] ? "" : " (none was found)");
		return;
	}
	add_include(found, index);
	text_appendf(rewritten, "#include <%s>", headers->items[index].name);
}

/* Fills found's includes and the text with every include by its header's name; lines keep their
 * numbers. */
static void scan(struct headers *headers, const char *from, const char *text, struct header *found,
	struct text *rewritten)
{
	struct directive_scan scan = {.text = text, .size = strlen(text)};
	const char *copied = text;
	size_t hash;
	bool includes;

	while (directive_next(&scan, &hash, &includes)) {
		const char *line = text + hash, *end;

		if (!includes)
			continue;
		end = strchrnul(line, '\n');
		/* spliced: the rest is the compiler's, and cannot be plain */
		while (end[0] && end > line && end[-1] == '\\')
			end = strchrnul(end + 1, '\n');
		text_append_bytes(rewritten, copied, (size_t)(line - copied));
		rewrite_line(headers, from, text, line, end, found, rewritten);
		for (const char *c = line; c < end; c++)
			if (*c == '\n')
				text_append(rewritten, "\n");
		copied = end;
	}
	text_append(rewritten, copied);
}

static void header_scan(struct headers *headers, size_t index)
{
	struct header found = headers->items[index];
	struct text rewritten = {0};

	scan(headers, found.name, found.text, &found, &rewritten);
	free(found.text);
	found.text = text_detach(&rewritten);
	found.is_scanned = true;
	headers->items[index] = found;
}

/* Everything that is reached from roots, in order of names' first mention. */
static void set_fill(struct headers *headers, const struct header *roots, struct header_set *set)
{
	size_t *order = NULL, count = 0, capacity = 0;
	CLEANUP(memory_free) bool *seen = NULL;
	size_t seen_count = 0;
	struct hash *hash = hash_new();

	for (size_t at = 0, root = 0; at < count || root < roots->include_count;) {
		const struct header *header = roots;

		if (at < count) {
			if (!headers->items[order[at]].is_scanned)
				header_scan(headers, order[at]);
			header = &headers->items[order[at++]];
		} else {
			root = roots->include_count;
		}
		if (headers->count > seen_count) {
			seen = memory_resize(seen, headers->count, sizeof(*seen));
			memset(seen + seen_count, 0, headers->count - seen_count);
			seen_count = headers->count;
		}
		for (size_t i = 0; i < header->include_count; i++) {
			const size_t include = header->includes[i];

			if (seen[include])
				continue;
			seen[include] = true;
			ARRAY_GROW(order, count, capacity);
			order[count++] = include;
		}
	}
	set->names = memory_zeroed(count + 1, sizeof(*set->names));
	set->texts = memory_zeroed(count + 1, sizeof(*set->texts));
	set->count = count;
	for (size_t i = 0; i < count; i++) {
		set->names[i] = headers->items[order[i]].name;
		set->texts[i] = headers->items[order[i]].text;
		hash_add_string(hash, set->names[i]);
		hash_add_string(hash, set->texts[i]);
	}
	hash_finish(hash, set->hash);
	if (!count)
		set->hash[0] = '\0';
	free(order);
}

const struct header_set *headers_of(struct headers *headers, const char *source)
{
	static const struct header_set nothing;
	const uint64_t hash = hash_bytes(source, strlen(source), 0);
	struct header roots = {0};
	struct text rewritten = {0};
	struct known *known;

	/* what sources include is written so by their expansion (source/source.h) */
	if (!strstr(source, "#include <"))
		return &nothing;
	for (size_t i = 0; i < headers->known_count; i++)
		if (headers->known[i]->hash == hash)
			return &headers->known[i]->set;
	scan(headers, "", source, &roots, &rewritten);
	known = memory_zeroed(1, sizeof(*known));
	known->hash = hash;
	known->set.source = text_detach(&rewritten);
	set_fill(headers, &roots, &known->set);
	free(roots.includes);
	ARRAY_GROW(headers->known, headers->known_count, headers->known_capacity);
	headers->known[headers->known_count++] = known;
	return &known->set;
}

/* ---- where they are ---- */
static bool add_folder(char **folders, size_t *count, const char *base, const char *below)
{
	static const char *const marks[] = {"cuda_fp16.h", "cub/cub.cuh"};
	CLEANUP(memory_free) char *folder = base ? string_format("%s%s", base, below) : NULL;
	bool is_one = false;

	for (size_t i = 0; folder && i < ARRAY_COUNT(marks); i++) {
		CLEANUP(memory_free) char *file = path_join(folder, marks[i]);

		is_one |= file_exists(file);
	}
	if (is_one)
		folders[(*count)++] = string_copy(folder);
	return is_one;
}

/* The toolkit's folder, and that of CCCL, which CUDA 13 keeps apart. */
static bool add_toolkit(char **folders, size_t *count, const char *base, const char *below)
{
	CLEANUP(memory_free) char *cccl = string_format("%s/cccl", below);

	if (!add_folder(folders, count, base, below))
		return false;
	add_folder(folders, count, base, cccl);
	return true;
}

char **headers_find(const char *library_path)
{
	CLEANUP(memory_free) char *real = realpath(library_path, NULL);
	CLEANUP(memory_free) char *folder = real ? path_parent(real) : NULL;
	char **folders = memory_zeroed(4, sizeof(*folders));
	const struct {
		const char *base, *below;
	} places[] = {
		{folder, "/../include"},
		{folder, "/../../include"},
		{folder, "/../../../include"},
		{folder, "/../../cuda_runtime/include"},
		{getenv("CUDA_HOME"), "/include"},
		{getenv("CUDA_PATH"), "/include"},
		{"/usr/local/cuda", "/include"},
		{"/opt/cuda", "/include"},
		{"/usr/local", "/include"},
		{"/usr", "/include"},
	};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_COUNT(places) && !count; i++)
		add_toolkit(folders, &count, places[i].base, places[i].below);
	if (count == 1)
		add_folder(folders, &count, folder, "/../../cuda_cccl/include");
	return folders;
}
