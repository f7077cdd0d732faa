/* SPDX-License-Identifier: MIT */
#include "compile/toolkit.h"

#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"

/* ---- stand-ins for files that NVRTC lacks ---- */
const char *toolkit_prelude(void)
{
	const char *const *text = toolkit_stand_in_texts;

	while (!strstr(*text, TOOLKIT_PRELUDE))
		text++;
	return *text;
}

static bool has_file(const struct toolkit *toolkit, const char *name)
{
	for (size_t i = 0; toolkit && i < toolkit->folder_count; i++) {
		CLEANUP(memory_free) char *path = path_join(toolkit->folders[i], name);

		if (file_exists(path))
			return true;
	}
	return false;
}

void stand_ins_add(struct stand_ins *all, const char *name, const char *text)
{
	all->names = memory_resize(all->names, all->count + 1, sizeof(*all->names));
	all->texts = memory_resize(all->texts, all->count + 1, sizeof(*all->texts));
	all->names[all->count] = string_copy(name);
	all->texts[all->count++] = string_copy(text);
}

/* Each stand-in begins with a comment that lists its names, "a.h b.h ?c.h". A name with a question
 * mark is used only if the toolkit lacks the file. `@` in the text becomes the name. */
struct stand_ins toolkit_stand_ins(const struct toolkit *toolkit)
{
	struct stand_ins all = {0};

	for (const char *const *file = toolkit_stand_in_texts; *file; file++) {
		const char *end = strstr(*file, "*/"), *c = *file + strlen("/*");

		for (size_t length; c += strspn(c, " \n"), c < end; c += length) {
			const bool is_optional = *c == '?';
			CLEANUP(text_release) struct text text = {0};
			CLEANUP(memory_free) char *name = NULL;

			c += is_optional;
			length = strcspn(c, " \n");
			name = string_copy_bytes(c, length);
			if (is_optional && has_file(toolkit, name))
				continue;
			for (const char *from = end + strlen("*/"); *from; from++)
				if (*from == '@')
					text_append(&text, name);
				else
					text_append_char(&text, *from);
			stand_ins_add(&all, name, text_string(&text));
		}
	}
	return all;
}

void stand_ins_release(struct stand_ins *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->names[i]);
		free(all->texts[i]);
	}
	free(all->names);
	free(all->texts);
	*all = (struct stand_ins){0};
}

/* nvcc includes these headers before every source. They take time to compile, so only sources that
 * use one of their names include them. */
const char *toolkit_implied(const char *source, size_t index)
{
	static const struct {
		const char *name, *header;
	} implied[] = {
		{"std::numeric_limits", "limits"},
		{"std::is_", "type_traits"},
		{"std::enable_if", "type_traits"},
		{"std::conditional", "type_traits"},
		{"std::remove_", "type_traits"},
		{"std::decay", "type_traits"},
		{"std::integral_constant", "type_traits"},
		{"std::pair", "utility"},
		{"std::move", "utility"},
		{"std::forward", "utility"},
		{"std::declval", "utility"},
		{"std::index_sequence", "utility"},
		{"std::initializer_list", "initializer_list"},
		{"#include <cub/", "utility"},
		{"#include <thrust/", "utility"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(implied); i++)
		if (strstr(source, implied[i].name) && index-- == 0)
			return implied[i].header;
	return NULL;
}

bool toolkit_is_included(const char *source)
{
	return strstr(source, "#include <") || toolkit_implied(source, 0);
}

static bool add_folder(struct toolkit *toolkit, const char *base, const char *below)
{
	static const char *const marks[] = {"cuda_fp16.h", "cub/cub.cuh", "curand_kernel.h"};
	CLEANUP(memory_free) char *folder = base ? string_format("%s%s", base, below) : NULL;
	bool is_one = false;

	for (size_t i = 0; folder && i < ARRAY_COUNT(marks); i++) {
		CLEANUP(memory_free) char *file = path_join(folder, marks[i]);

		is_one |= file_exists(file);
	}
	if (is_one)
		toolkit->folders[toolkit->folder_count++] = realpath(folder, NULL);
	return is_one;
}

void toolkit_find(const char *library_path, struct toolkit *toolkit)
{
	CLEANUP(memory_free) char *real = realpath(library_path, NULL);
	CLEANUP(memory_free) char *folder = real ? path_parent(real) : NULL;
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

	*toolkit = (struct toolkit){0};
	for (size_t i = 0; i < ARRAY_COUNT(places) && !toolkit->folder_count; i++) {
		CLEANUP(memory_free) char *cccl = string_format("%s/cccl", places[i].below);

		if (add_folder(toolkit, places[i].base, places[i].below))
			add_folder(toolkit, places[i].base, cccl);
	}
	if (toolkit->folder_count == 1)
		add_folder(toolkit, folder, "/../../cuda_cccl/include");
	if (!has_file(toolkit, "curand_kernel.h"))
		add_folder(toolkit, folder, "/../../curand/include");
}

void toolkit_release(struct toolkit *toolkit)
{
	for (size_t i = 0; i < toolkit->folder_count; i++)
		free(toolkit->folders[i]);
	*toolkit = (struct toolkit){0};
}

/* ---- identity of the toolkit ---- */
static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_contents(struct hash *hash, const char *path)
{
	CLEANUP(text_release) struct text content = {0};

	if (file_exists(path) && file_read(path, &content, NULL) == STATUS_OK)
		hash_add(hash, content.data, content.length);
}

/* Hashes names and sizes of all files, and contents of files that state a version or are CUDA's
 * own, of which at least one changes with every release. */
static void add_folder_files(struct hash *hash, char *folder)
{
	CLEANUP(memory_free) char *versions = path_join(folder, "../version.json");
	char *const folders[] = {folder, NULL};
	FTS *tree = fts_open(folders, FTS_LOGICAL | FTS_NOCHDIR, compare_names);

	add_contents(hash, versions);
	for (FTSENT *file; tree && (file = fts_read(tree)) != NULL;) {
		if (file->fts_info != FTS_F)
			continue;
		hash_add_string(hash, file->fts_path + strlen(folder));
		hash_add(hash, &(uint64_t){(uint64_t)file->fts_statp->st_size}, sizeof(uint64_t));
		if (string_starts_with(file->fts_name, "cuda") ||
			string_starts_with(file->fts_name, "version"))
			add_contents(hash, file->fts_path);
	}
	if (tree)
		fts_close(tree);
}

const char *toolkit_hash(struct toolkit *toolkit)
{
	struct hash *hash;

	if (toolkit->hash[0])
		return toolkit->hash;
	hash = hash_new();
	for (const char *const *text = toolkit_stand_in_texts; *text; text++)
		hash_add_string(hash, *text);
	for (size_t i = 0; i < toolkit->folder_count; i++)
		add_folder_files(hash, toolkit->folders[i]);
	hash_finish(hash, toolkit->hash);
	return toolkit->hash;
}
