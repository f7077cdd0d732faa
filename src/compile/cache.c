/* SPDX-License-Identifier: MIT */
#include "compile/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

/* limit that exceeds any kernel */
static const off_t entry_size_max = (off_t)256 << 20;
/* interval of updates of a file's time, which records its last use */
static const time_t touch_interval_s = 3600;
static const double temporary_age_s = 3600;
/* The folder is scanned at this interval and after this many bytes. */
static const double upkeep_interval_s = 86400;
static const uint64_t upkeep_bytes = CACHE_BYTES_MAX / 8;
#define TEMPORARY ".new-"

struct cache {
	char *folder;       /* FOLDER/kernels */
	uid_t owner;        /* owner of valid entries */
	struct cache *seed; /* may be NULL */
	char *temporary;    /* folder to remove on close, or NULL */
	uint64_t written_bytes;
};

static const char seed_variable[] = "TILETUNE_CACHE_SEED";

static enum status open_seed(const char *folder, struct cache **opened, struct error *err)
{
	struct cache *seed;
	struct stat info;

	if (!folder)
		folder = getenv(seed_variable);
	if (!folder || !*folder)
		return STATUS_OK;
	*opened = seed = memory_zeroed(1, sizeof(*seed));
	seed->folder = path_join(folder, "kernels");
	if (lstat(seed->folder, &info) != 0 || !S_ISDIR(info.st_mode) ||
		(info.st_mode & (S_IWGRP | S_IWOTH)))
		return error_set(err, STATUS_BAD_INPUT,
			"--cache-seed (or %s): %s holds no kernel cache, or other users can write "
			"to it",
			seed_variable, folder);
	seed->owner = info.st_uid;
	return STATUS_OK;
}

static enum status open_own(struct cache *cache, const char *folder, struct error *err)
{
	struct stat info;

	cache->folder = path_join(folder, "kernels");
	cache->owner = geteuid();
	TRY(directory_make_own(cache->folder, err));
	if (access(cache->folder, R_OK | W_OK | X_OK) != 0)
		return error_set(err, STATUS_BAD_INPUT, "%s: the folder cannot be written: %s",
			cache->folder, strerror(errno));
	if (stat(folder, &info) == 0 && (info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: every user can write to this folder, so its kernels cannot be trusted",
			folder);
	return STATUS_OK;
}

/* If a scan is due, records its time in a file. */
static bool is_due(const struct cache *cache)
{
	CLEANUP(memory_free) char *mark = path_join(cache->folder, "swept");
	struct stat info;
	int fd;

	if (lstat(mark, &info) == 0 && difftime(time(NULL), info.st_mtime) < upkeep_interval_s)
		return false;
	unlink(mark);
	fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return true;
}

enum status cache_open(
	const char *folder, const char *seed, struct cache **cache, struct error *err)
{
	struct cache *opened = memory_zeroed(1, sizeof(*opened));
	enum status status = open_own(opened, folder, err);

	*cache = NULL;
	if (status == STATUS_OK)
		status = open_seed(seed, &opened->seed, err);
	if (status != STATUS_OK) {
		cache_close(opened);
		return error_context(err, "kernel cache");
	}
	if (is_due(opened))
		cache_trim(opened, CACHE_BYTES_MAX);
	*cache = opened;
	return STATUS_OK;
}

enum status cache_open_temporary(struct cache **cache, struct error *err)
{
	const char *parent = getenv("TMPDIR");
	char *folder = path_join(parent && *parent ? parent : "/tmp", "tiletune-kernels-XXXXXX");
	enum status status = STATUS_OK;

	*cache = NULL;
	if (!mkdtemp(folder))
		status = error_set(
			err, STATUS_FAILED, "%s: cannot be created: %s", folder, strerror(errno));
	if (status == STATUS_OK)
		status = cache_open(folder, "", cache, err);
	if (status == STATUS_OK)
		(*cache)->temporary = folder;
	else
		free(folder);
	return status;
}

static void remove_tree(char *folder)
{
	char *const folders[] = {folder, NULL};
	FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	for (FTSENT *at; tree && (at = fts_read(tree)) != NULL;)
		if (at->fts_info != FTS_D)
			remove(at->fts_path);
	if (tree)
		fts_close(tree);
}

void cache_close(struct cache *cache)
{
	if (!cache)
		return;
	if (cache->temporary)
		remove_tree(cache->temporary);
	free(cache->temporary);
	cache_close(cache->seed);
	free(cache->folder);
	free(cache);
}

static char *entry_path(const struct cache *cache, const char key[HASH_SIZE])
{
	return string_format("%s/%.2s/%s", cache->folder, key, key);
}

/* Reads a file unchanged. file_read() would unpack a cubin that looks like gzip. */
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

/* Reads an entry. Removes a damaged one if the cache is our own. */
static bool entry_read(const struct cache *cache, const char *path, bool is_own,
	const char key[HASH_SIZE], struct cache_entry *entry)
{
	CLEANUP(text_release) struct text content = {0};
	struct stat info;
	bool is_file, is_good;
	/* opening a pipe must not block */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return false;
	is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
	is_good = is_file && info.st_uid == cache->owner && !(info.st_mode & (S_IWGRP | S_IWOTH)) &&
		  info.st_size <= entry_size_max && read_raw(fd, (size_t)info.st_size, &content) &&
		  cache_entry_unpack(&content, key, entry);
	if (is_good && is_own)
		note_use(fd, &info);
	else if (is_file && is_own)
		unlink(path);
	close(fd);
	return is_good;
}

bool cache_get(struct cache *cache, const char key[HASH_SIZE], struct compile_result *result)
{
	for (const struct cache *at = cache; at; at = at->seed) {
		CLEANUP(memory_free) char *path = entry_path(at, key);
		struct cache_entry entry;

		if (!entry_read(at, path, at == cache, key, &entry))
			continue;
		*result = entry.result;
		entry.result = (struct compile_result){0};
		cache_entry_release(&entry);
		result->path = path;
		path = NULL;
		return true;
	}
	return false;
}

enum status kernel_code_read(const char *path, struct text *code, struct error *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct text content = {0};
	struct cache_entry entry;
	struct stat info;
	const bool is_read = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
			     info.st_size <= entry_size_max &&
			     read_raw(fd, (size_t)info.st_size, &content);

	if (fd >= 0)
		close(fd);
	if (!is_read) {
		text_release(&content);
		return error_set(
			err, STATUS_FAILED, "%s: expected a kernel's file, found none", path);
	}
	if (!cache_entry_begins(&content)) {
		*code = content;
		return STATUS_OK;
	}
	if (!cache_entry_unpack(&content, path_name(path), &entry)) {
		text_release(&content);
		return error_set(err, STATUS_FAILED, "%s: damaged", path);
	}
	text_release(&content);
	*code = entry.result.cubin;
	entry.result.cubin = (struct text){0};
	cache_entry_release(&entry);
	return STATUS_OK;
}

/* Replaces a file without fsync, because an incomplete file fails its checksum. */
static enum status write_replacing(const char *path, const struct text *content, struct error *err)
{
	CLEANUP(memory_free)
	char *temporary = string_format("%s" TEMPORARY "XXXXXX", path);
	enum status status;
	int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return error_set(
			err, STATUS_FAILED, "%s: cannot be created: %s", path, strerror(errno));
	status = file_write_all(fd, content->data, content->length, err);
	if (close(fd) != 0 && status == STATUS_OK)
		status = error_set(err, STATUS_FAILED, "cannot be written: %s", strerror(errno));
	if (status == STATUS_OK && rename(temporary, path) != 0)
		status = error_set(err, STATUS_FAILED, "cannot be renamed: %s", strerror(errno));
	if (status != STATUS_OK) {
		unlink(temporary);
		error_context(err, "%s", path);
	}
	return status;
}

enum status cache_put(struct cache *cache, const char key[HASH_SIZE],
	const struct cache_entry *entry, char **path, struct error *err)
{
	CLEANUP(memory_free) char *file = entry_path(cache, key);
	CLEANUP(memory_free) char *folder = path_parent(file);
	CLEANUP(text_release) struct text content = {0};

	cache_entry_pack(key, entry, &content);
	if (directory_make_own(folder, err) != STATUS_OK ||
		write_replacing(file, &content, err) != STATUS_OK)
		return error_context(err, "kernel cache");
	*path = file;
	file = NULL;
	cache->written_bytes += content.length;
	if (cache->written_bytes > upkeep_bytes) {
		cache->written_bytes = 0;
		cache_trim(cache, CACHE_BYTES_MAX);
	}
	return STATUS_OK;
}

struct file {
	char *path;
	uint64_t size_bytes;
	double age_s;
	bool is_entry; /* if false, a temporary file */
};

struct listing {
	struct file *files;
	size_t count, capacity;
};

static bool is_key(const char *name)
{
	return strlen(name) == HASH_SIZE - 1 && strspn(name, "0123456789abcdef") == HASH_SIZE - 1;
}

static struct listing listing_make(char *folder)
{
	char *const folders[] = {folder, NULL};
	FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	struct listing listing = {0};

	for (FTSENT *at; tree && (at = fts_read(tree)) != NULL;) {
		const bool is_entry = is_key(at->fts_name);

		/* do not remove files of other programs */
		if (at->fts_info != FTS_F || at->fts_level != 2 ||
			strlen(at->fts_parent->fts_name) != 2 ||
			(!is_entry && !strstr(at->fts_name, TEMPORARY)))
			continue;
		ARRAY_GROW(listing.files, listing.count, listing.capacity);
		listing.files[listing.count++] = (struct file){.path = string_copy(at->fts_path),
			.size_bytes = (uint64_t)at->fts_statp->st_size,
			.age_s = difftime(time(NULL), at->fts_statp->st_mtime),
			.is_entry = is_entry};
	}
	if (tree)
		fts_close(tree);
	return listing;
}

static void listing_release(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		free(listing->files[i].path);
	free(listing->files);
}

static int compare_age(const void *a, const void *b)
{
	const struct file *one = a, *other = b;

	if (one->age_s != other->age_s)
		return one->age_s < other->age_s ? -1 : 1;
	return strcmp(one->path, other->path);
}

void cache_trim(struct cache *cache, uint64_t max_bytes)
{
	struct listing listing = listing_make(cache->folder);
	uint64_t kept_bytes = 0;

	if (listing.count)
		qsort(listing.files, listing.count, sizeof(*listing.files), compare_age);
	for (size_t i = 0; i < listing.count; i++) {
		const struct file *file = &listing.files[i];

		if (file->is_entry)
			kept_bytes += file->size_bytes;
		if (file->is_entry ? kept_bytes > max_bytes : file->age_s >= temporary_age_s)
			unlink(file->path);
	}
	listing_release(&listing);
}

struct cache_size cache_measure(const char *folder)
{
	CLEANUP(memory_free) char *kernels = path_join(folder, "kernels");
	struct listing listing = listing_make(kernels);
	struct cache_size size = {0};

	for (size_t i = 0; i < listing.count; i++) {
		size.kernels += listing.files[i].is_entry;
		size.bytes += listing.files[i].size_bytes;
	}
	listing_release(&listing);
	return size;
}
