/* SPDX-License-Identifier: MIT */
#include "compile/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "compile/cache_entry.h"

/* Longer than any kernel; keeps a damaged folder from filling the memory. */
static const off_t entry_size_max = (off_t)256 << 20;
/* Use is noted in the file's time, but not more often than this. */
static const time_t touch_interval_s = 3600;

/* A temporary file this old belongs to nobody any more. */
static const double temporary_age_s = 3600;
static const double sweep_interval_s = 86400;

struct cache {
	char *folder;       /* FOLDER/kernels */
	uid_t owner;        /* whose entries are taken */
	int group;          /* or of this group, whose members share it; GROUP_NONE */
	struct cache *seed; /* where else to look; NULL */
};

enum cache_found {
	CACHE_GOOD,
	CACHE_ABSENT,
	CACHE_DAMAGED,
};

static void sweep(struct cache *cache);

static const char group_variable[] = "TILETUNE_CACHE_GROUP",
		  seed_variable[] = "TILETUNE_CACHE_SEED";

/* The group that shares this folder: it is named, and the folder is its own. */
static enum status find_group(const char *folder, int *group, struct error *err)
{
	const char *name = getenv(group_variable);
	const struct group *named;
	struct stat info;

	*group = GROUP_NONE;
	if (!name || !*name)
		return STATUS_OK;
	named = getgrnam(name);
	if (!named)
		return error_set(err, STATUS_BAD_INPUT, "%s: expected a group, found \"%s\"",
			group_variable, name);
	if (stat(folder, &info) == 0 && info.st_gid == named->gr_gid && (info.st_mode & S_IWGRP))
		*group = (int)named->gr_gid;
	return STATUS_OK;
}

static enum status expect_closed(const char *folder, struct error *err)
{
	struct stat info;

	if (stat(folder, &info) != 0 || !(info.st_mode & S_IWOTH) || (info.st_mode & S_ISVTX))
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected a folder that not everybody can write to", folder);
}

/* Whoever names it trusts its owner. */
static enum status open_seed(struct cache **opened, struct error *err)
{
	const char *folder = getenv(seed_variable);
	struct cache *seed;
	struct stat info;

	if (!folder || !*folder)
		return STATUS_OK;
	*opened = seed = memory_zeroed(1, sizeof(*seed));
	seed->folder = path_join(folder, "kernels");
	TRY(find_group(folder, &seed->group, err));
	TRY(expect_closed(folder, err));
	if (lstat(seed->folder, &info) != 0 || !S_ISDIR(info.st_mode) || (info.st_mode & S_IWOTH) ||
		((info.st_mode & S_IWGRP) && (int)info.st_gid != seed->group))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a cache that its owner alone can write to, found none in %s",
			seed_variable, folder);
	seed->owner = info.st_uid;
	return STATUS_OK;
}

static enum status open_own(struct cache *cache, const char *folder, struct error *err)
{
	cache->folder = path_join(folder, "kernels");
	cache->owner = geteuid();
	TRY(find_group(folder, &cache->group, err));
	if (directory_make_own(cache->folder, cache->group, err) != STATUS_OK)
		return directory_exists(cache->folder)
			       ? error_hint(err,
					 "chmod go-w %s, if it is yours; %s names a group that may "
					 "share it (`tiletune help`)",
					 cache->folder, group_variable)
			       : STATUS_BAD_INPUT;
	if (access(cache->folder, R_OK | W_OK | X_OK) != 0)
		return error_set(err, STATUS_BAD_INPUT, "%s: expected a folder to write to: %s",
			cache->folder, strerror(errno));
	return expect_closed(folder, err);
}

enum status cache_open(const char *folder, struct cache **cache, struct error *err)
{
	struct cache *opened = memory_zeroed(1, sizeof(*opened));
	enum status status = open_own(opened, folder, err);

	*cache = NULL;
	if (status == STATUS_OK)
		status = open_seed(&opened->seed, err);
	if (status != STATUS_OK) {
		cache_close(opened);
		return error_context(err, "kernel cache");
	}
	sweep(opened);
	*cache = opened;
	return STATUS_OK;
}

void cache_close(struct cache *cache)
{
	if (!cache)
		return;
	cache_close(cache->seed);
	free(cache->folder);
	free(cache);
}

const char *cache_folder(const struct cache *cache)
{
	return cache->folder;
}

char *cache_entry_path(const struct cache *cache, const char key[HASH_SIZE])
{
	return string_format("%s/%.2s/%s", cache->folder, key, key);
}

/* Reads a file as it is, which file_read() would not (a cubin may look like gzip). */
static bool read_raw(int fd, size_t size, struct text *content)
{
	char *bytes = memory_zeroed(size + 1, 1);
	size_t got = 0;

	while (got < size) {
		ssize_t n = read(fd, bytes + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	*content = (struct text){.data = bytes, .length = got, .capacity = size + 1};
	return got == size;
}

static void note_use(int fd, const struct stat *info)
{
	const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

	if (time(NULL) - info->st_mtime > touch_interval_s)
		(void)!futimens(fd, now);
}

static bool is_trusted(const struct cache *cache, const struct stat *info)
{
	return !(info->st_mode & S_IWOTH) &&
	       ((info->st_uid == cache->owner && !(info->st_mode & S_IWGRP)) ||
		       (cache->group != GROUP_NONE && info->st_gid == (gid_t)cache->group));
}

/* use: note that it was used. The entry is filled only for CACHE_GOOD. */
static enum cache_found entry_read(const struct cache *cache, const char *path, bool use,
	const char key[HASH_SIZE], struct cache_entry *entry)
{
	CLEANUP(text_release) struct text content = {0};
	enum cache_found found = CACHE_DAMAGED;
	struct stat info;
	/* a pipe must not make us wait */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return CACHE_ABSENT;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		found = CACHE_ABSENT;
	else if (is_trusted(cache, &info) && info.st_size <= entry_size_max &&
		 read_raw(fd, (size_t)info.st_size, &content) &&
		 cache_entry_unpack(content.data, content.length, key, entry))
		found = CACHE_GOOD;
	if (found == CACHE_GOOD && use)
		note_use(fd, &info);
	close(fd);
	return found;
}

bool cache_get(struct cache *cache, const char key[HASH_SIZE], struct compile_result *result)
{
	for (const struct cache *at = cache; at; at = at->seed) {
		CLEANUP(memory_free) char *path = cache_entry_path(at, key);
		struct cache_entry entry;
		const enum cache_found found = entry_read(at, path, at == cache, key, &entry);

		if (found == CACHE_GOOD) {
			*result = entry.result;
			entry.result = (struct compile_result){0};
			cache_entry_release(&entry);
			return true;
		}
		if (found == CACHE_DAMAGED && at == cache)
			unlink(path);
	}
	return false;
}

/* No fsync: a file that a power cut left incomplete fails its checksum. */
static enum status write_replacing(
	const char *path, int group, const struct text *content, struct error *err)
{
	CLEANUP(memory_free)
	char *temporary = string_format("%s" CACHE_TEMPORARY "XXXXXX", path);
	enum status status;
	int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return error_set(err, STATUS_FAILED, "%s: creating it: %s", path, strerror(errno));
	status = file_write_all(fd, content->data, content->length, err);
	if (group != GROUP_NONE && fchown(fd, (uid_t)-1, (gid_t)group) == 0)
		(void)!fchmod(fd, 0660);
	if (close(fd) != 0 && status == STATUS_OK)
		status = error_set(err, STATUS_FAILED, "writing: %s", strerror(errno));
	if (status == STATUS_OK && rename(temporary, path) != 0)
		status = error_set(err, STATUS_FAILED, "renaming: %s", strerror(errno));
	if (status != STATUS_OK) {
		unlink(temporary);
		error_context(err, "%s", path);
	}
	return status;
}

enum status cache_put(struct cache *cache, const char key[HASH_SIZE],
	const struct cache_label *label, const struct compile_result *result, struct error *err)
{
	CLEANUP(memory_free) char *path = cache_entry_path(cache, key);
	CLEANUP(memory_free) char *folder = path_parent(path);
	CLEANUP(text_release) struct text content = {0};

	cache_entry_pack(key, &(struct cache_entry){*label, *result}, &content);
	if (directory_make_own(folder, cache->group, err) == STATUS_OK &&
		write_replacing(path, cache->group, &content, err) == STATUS_OK)
		return STATUS_OK;
	return error_context(err, "kernel cache");
}

/* ---- looking after it: files may come and go meanwhile; what has gone is passed over ---- */
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

static bool is_hexadecimal(const char *name, size_t length)
{
	return strlen(name) == length && strspn(name, "0123456789abcdef") == length;
}

static enum status add_file(const char *name, void *context, struct error *err)
{
	struct listing *listing = context;
	const bool entry = is_hexadecimal(name, HASH_SIZE - 1);
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
	const char *folder = listing->folder;
	CLEANUP(memory_free) char *inner = path_join(folder, name);

	(void)err;
	if (!is_hexadecimal(name, 2))
		return STATUS_OK;
	listing->folder = inner;
	(void)directory_list(inner, add_file, listing, NULL); /* gone meanwhile: nothing to list */
	listing->folder = folder;
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
	*listing = (struct listing){.folder = cache->folder};
	return directory_list(listing->folder, add_folder, listing, err);
}

/* Once a day: temporary files of tuners that were killed. */
static void sweep(struct cache *cache)
{
	CLEANUP(memory_free) char *mark = path_join(cache->folder, "swept");
	struct listing listing = {0};
	struct stat info;
	int fd;

	if (lstat(mark, &info) == 0 && difftime(time(NULL), info.st_mtime) < sweep_interval_s)
		return;
	unlink(mark);
	fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	(void)listing_make(cache, &listing, NULL);
	for (size_t i = 0; i < listing.count; i++)
		if (!listing.files[i].entry && listing.files[i].age_s >= temporary_age_s)
			unlink(listing.files[i].path);
	listing_release(&listing);
}

enum status cache_list(struct cache *cache, cache_visit *visit, void *context, struct error *err)
{
	struct listing listing;
	enum status status = listing_make(cache, &listing, err);

	for (size_t i = 0; i < listing.count; i++) {
		const struct file *file = &listing.files[i];
		const char *key = path_name(file->path);
		struct cache_item item = {.size_bytes = file->size_bytes, .age_s = file->age_s};
		struct cache_entry entry;

		if (!file->entry || entry_read(cache, file->path, false, key, &entry) != CACHE_GOOD)
			continue;
		string_put(item.key, sizeof(item.key), key);
		item.label = entry.label;
		item.failed = entry.result.outcome != OUTCOME_OK;
		visit(&item, context);
		cache_entry_release(&entry);
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
		struct cache_entry entry;
		enum cache_found found = CACHE_DAMAGED;

		if (file->entry)
			found = entry_read(cache, file->path, false, path_name(file->path), &entry);
		else if (file->age_s < temporary_age_s)
			found = CACHE_ABSENT; /* somebody is writing it */
		if (found == CACHE_GOOD)
			cache_entry_release(&entry);
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
