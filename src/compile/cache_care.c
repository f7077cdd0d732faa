/* SPDX-License-Identifier: MIT
 *
 * Looking after the cache: list, check, trim. Files may come and go meanwhile; what has gone is
 * passed over.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "compile/cache_entry.h"

/* A temporary file this old belongs to nobody any more. */
static const double temporary_age_s = 3600;

struct file {
	char *path;
	uint64_t size_bytes;
	double age_s;
	bool entry; /* named like one; else a temporary file */
};

struct listing {
	const char *folder;
	struct file *files;
	size_t count, capacity;
};

static bool is_key(const char *name)
{
	return strlen(name) == HASH_SIZE - 1 && strspn(name, "0123456789abcdef") == HASH_SIZE - 1;
}

static enum status add_file(const char *name, void *context, struct error *err)
{
	struct listing *listing = context;
	bool entry = is_key(name);
	struct stat info;
	char *path;

	(void)err;
	if (!entry && !strstr(name, CACHE_TEMPORARY))
		return STATUS_OK; /* not ours */
	path = path_join(listing->folder, name);
	if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
		free(path);
		return STATUS_OK;
	}
	ARRAY_GROW(listing->files, listing->count, listing->capacity);
	listing->files[listing->count++] = (struct file){.path = path,
		.size_bytes = (uint64_t)info.st_size,
		.age_s = difftime(time(NULL), info.st_mtime),
		.entry = entry};
	return STATUS_OK;
}

static enum status add_folder(const char *name, void *context, struct error *err)
{
	struct listing *listing = context;
	struct listing inner = *listing;
	char *folder;

	(void)err;
	if (strlen(name) != 2 || strspn(name, "0123456789abcdef") != 2)
		return STATUS_OK;
	folder = path_join(listing->folder, name);
	inner.folder = folder;
	(void)directory_list(folder, add_file, &inner, NULL); /* gone meanwhile: nothing to list */
	inner.folder = listing->folder;
	*listing = inner;
	free(folder);
	return STATUS_OK;
}

static void listing_release(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		free(listing->files[i].path);
	free(listing->files);
}

static enum status listing_make(struct cache *cache, struct listing *listing, struct error *err)
{
	*listing = (struct listing){.folder = cache_folder(cache)};
	return directory_list(listing->folder, add_folder, listing, err);
}

static enum cache_found read_entry(
	const struct file *file, struct cache_label *label, struct compile_result *result)
{
	return cache_entry_read(file->path, false, path_name(file->path), label, result);
}

enum status cache_list(struct cache *cache, cache_visit *visit, void *context, struct error *err)
{
	struct listing listing;
	enum status status = listing_make(cache, &listing, err);

	for (size_t i = 0; i < listing.count; i++) {
		const struct file *file = &listing.files[i];
		struct cache_item item = {.size_bytes = file->size_bytes, .age_s = file->age_s};
		struct compile_result result;

		if (!file->entry || read_entry(file, &item.label, &result) != CACHE_GOOD)
			continue;
		string_put(item.key, sizeof(item.key), path_name(file->path));
		item.failed = result.outcome != OUTCOME_OK;
		visit(&item, context);
		cache_label_release(&item.label);
		compile_result_release(&result);
	}
	listing_release(&listing);
	return status;
}

static void account(struct cache_summary *summary, const struct file *file, bool keep)
{
	if (keep) {
		summary->kept_count++;
		summary->kept_bytes += file->size_bytes;
	} else if (unlink(file->path) == 0) {
		summary->removed_count++;
		summary->removed_bytes += file->size_bytes;
	}
}

enum status cache_check(struct cache *cache, struct cache_summary *summary, struct error *err)
{
	struct listing listing;
	enum status status = listing_make(cache, &listing, err);

	*summary = (struct cache_summary){0};
	for (size_t i = 0; i < listing.count; i++) {
		const struct file *file = &listing.files[i];
		struct cache_label label;
		struct compile_result result;
		enum cache_found found = CACHE_DAMAGED;

		if (file->entry)
			found = read_entry(file, &label, &result);
		else if (file->age_s < temporary_age_s)
			found = CACHE_ABSENT; /* somebody is writing it */
		if (found == CACHE_GOOD) {
			cache_label_release(&label);
			compile_result_release(&result);
		}
		if (found != CACHE_ABSENT)
			account(summary, file, found == CACHE_GOOD);
	}
	listing_release(&listing);
	return status;
}

static int compare_age(const void *a, const void *b)
{
	const struct file *one = a, *other = b;

	if (one->age_s != other->age_s)
		return one->age_s < other->age_s ? -1 : 1;
	return strcmp(one->path, other->path);
}

enum status cache_trim(struct cache *cache, uint64_t max_bytes, double max_age_s,
	struct cache_summary *summary, struct error *err)
{
	struct listing listing;
	enum status status = listing_make(cache, &listing, err);
	bool full = false;

	*summary = (struct cache_summary){0};
	if (listing.count) /* youngest first: these stay */
		qsort(listing.files, listing.count, sizeof(*listing.files), compare_age);
	for (size_t i = 0; i < listing.count; i++) {
		const struct file *file = &listing.files[i];
		bool young = max_age_s < 0 || file->age_s <= max_age_s;

		if (!file->entry && file->age_s < temporary_age_s)
			continue;
		full = full || summary->kept_bytes + file->size_bytes > max_bytes;
		account(summary, file, file->entry && young && !full);
	}
	listing_release(&listing);
	return status;
}
