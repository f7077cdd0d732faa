/* SPDX-License-Identifier: MIT */
#include "compile/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/record_wire.h"
#include "compile/cubin.h"
#include "compile/worker.h"

enum {
	HEADER_SIZE = 96, /* "tiletune.kernel/2 KEY SIZE CHECKSUM", blanks, newline */
	CHECKSUM_SEED = 1,
};

/* Longer than any kernel; keeps a damaged folder from filling the memory. */
static const off_t entry_size_max = (off_t)256 << 20;
/* Use is noted in the file's time, but not more often than this. */
static const time_t touch_interval_s = 3600;

/* A temporary file this old belongs to nobody any more. */
static const double temporary_age_s = 3600;
static const double sweep_interval_s = 86400;

struct cache {
	char *folder; /* FOLDER/kernels */
};

enum cache_found {
	CACHE_GOOD,
	CACHE_ABSENT,
	CACHE_DAMAGED,
};

static const struct record_member entry_members[] = {
	RECORD_VALUE(struct cache_entry, label.unit, "unit", "what was compiled"),
	RECORD_VALUE(struct cache_entry, label.arch, "arch", "for what"),
	RECORD_VALUE(struct cache_entry, label.compiler, "compiler", "by what"),
	RECORD_NESTED(
		struct cache_entry, result, compile_result_record, "result", "what became of it"),
};
static RECORD_DEFINE(struct cache_entry, entry_record, entry_members, .name = "cache_entry");

static void sweep(struct cache *cache);

enum status cache_open(const char *folder, struct cache **cache, struct error *err)
{
	struct cache *opened = memory_zeroed(1, sizeof(*opened));
	enum status status;
	struct stat info;

	*cache = NULL;
	opened->folder = path_join(folder, "kernels");
	status = directory_make_own(opened->folder, err);
	if (status == STATUS_OK && access(opened->folder, R_OK | W_OK | X_OK) != 0)
		status = error_set(err, STATUS_BAD_INPUT, "%s: expected a folder to write to: %s",
			opened->folder, strerror(errno));
	if (status == STATUS_OK && stat(folder, &info) == 0 && (info.st_mode & S_IWOTH) &&
		!(info.st_mode & S_ISVTX))
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected a folder that not everybody can write to", folder);
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
	free(cache->folder);
	free(cache);
}

const char *cache_folder(const struct cache *cache)
{
	return cache->folder;
}

void cache_key(const struct build_unit *unit, const char *arch, const char *compiler,
	const char *headers, char key[HASH_SIZE])
{
	struct hash *hash = hash_new();
	struct text layout = {0};

	record_layout(&entry_record, &layout);
	hash_add_string(hash, text_string(&layout));
	text_release(&layout);
	hash_add_string(hash, compiler);
	hash_add_string(hash, arch);
	hash_add_string(hash, unit->source);
	if (*headers)
		hash_add_string(hash, headers);
	hash_add(hash, &unit->option_count, sizeof(unit->option_count));
	for (size_t i = 0; i < unit->option_count; i++)
		hash_add_string(hash, unit->options[i]);
	for (size_t i = 0; i < unit->entry_count; i++)
		hash_add_string(hash, unit->entries[i]);
	hash_finish(hash, key);
}

char *cache_entry_path(const struct cache *cache, const char key[HASH_SIZE])
{
	return string_format("%s/%.2s/%s", cache->folder, key, key);
}

/* One file: a line of text (format, key, size and checksum of the rest), then the packed entry. */
static void header_format(char header[HEADER_SIZE + 1], const char *key, const struct text *body)
{
	int length = snprintf(header, HEADER_SIZE, "tiletune.kernel/2 %s %llu %016llx", key,
		(unsigned long long)body->length,
		(unsigned long long)hash_bytes(body->data, body->length, CHECKSUM_SEED));

	memset(header + length, ' ', (size_t)(HEADER_SIZE - length));
	header[HEADER_SIZE - 1] = '\n';
	header[HEADER_SIZE] = '\0';
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

/* Machine code for the architecture that the label names, or PTX. */
static bool is_kernel_for(const struct cache_entry *entry)
{
	const struct text *cubin = &entry->result.cubin;
	const char *arch = entry->label.arch ? entry->label.arch : "";

	return string_starts_with(arch, "compute_") ||
	       (string_starts_with(arch, "sm_") &&
		       cubin_is_for(cubin->data, cubin->length, atoi(arch + strlen("sm_"))));
}

bool cache_entry_unpack(
	const char *bytes, size_t size, const char key[HASH_SIZE], struct cache_entry *entry)
{
	struct text body = {0};
	char header[HEADER_SIZE + 1];

	*entry = (struct cache_entry){0};
	if (size <= HEADER_SIZE)
		return false;
	body.data = (char *)(uintptr_t)bytes + HEADER_SIZE; /* borrowed, only read */
	body.length = size - HEADER_SIZE;
	header_format(header, key, &body);
	if (memcmp(header, bytes, HEADER_SIZE) != 0 ||
		record_unpack(&entry_record, body.data, body.length, "kernel cache", entry, NULL,
			NULL) != STATUS_OK)
		return false;
	if (entry->result.outcome != OUTCOME_OK || is_kernel_for(entry))
		return true;
	cache_entry_release(entry);
	return false;
}

void cache_entry_pack(
	const char key[HASH_SIZE], const struct cache_entry *entry, struct text *bytes)
{
	CLEANUP(text_release) struct text body = {0};
	char header[HEADER_SIZE + 1];

	record_pack(&entry_record, entry, &body);
	header_format(header, key, &body);
	text_append_bytes(bytes, header, HEADER_SIZE);
	text_append_bytes(bytes, body.data, body.length);
}

void cache_entry_release(struct cache_entry *entry)
{
	record_release(&entry_record, entry);
}

/* use: note that it was used. The entry is filled only for CACHE_GOOD. */
static enum cache_found entry_read(
	const char *path, bool use, const char key[HASH_SIZE], struct cache_entry *entry)
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
	else if (info.st_uid == geteuid() && !(info.st_mode & (S_IWGRP | S_IWOTH)) &&
		 info.st_size <= entry_size_max && read_raw(fd, (size_t)info.st_size, &content) &&
		 cache_entry_unpack(content.data, content.length, key, entry))
		found = CACHE_GOOD;
	if (found == CACHE_GOOD && use)
		note_use(fd, &info);
	close(fd);
	return found;
}

bool cache_get(struct cache *cache, const char key[HASH_SIZE], struct compile_result *result)
{
	CLEANUP(memory_free) char *path = cache_entry_path(cache, key);
	struct cache_entry entry;
	enum cache_found found = entry_read(path, true, key, &entry);

	if (found == CACHE_GOOD) {
		*result = entry.result;
		entry.result = (struct compile_result){0};
		cache_entry_release(&entry);
	}
	if (found == CACHE_DAMAGED)
		unlink(path);
	return found == CACHE_GOOD;
}

/* No fsync: a file that a power cut left incomplete fails its checksum. */
static enum status write_replacing(const char *path, const struct text *content, struct error *err)
{
	CLEANUP(memory_free)
	char *temporary = string_format("%s" CACHE_TEMPORARY "XXXXXX", path);
	enum status status;
	int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return error_set(err, STATUS_FAILED, "%s: creating it: %s", path, strerror(errno));
	status = file_write_all(fd, content->data, content->length, err);
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
	if (directory_make_own(folder, err) == STATUS_OK &&
		write_replacing(path, &content, err) == STATUS_OK)
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

		if (!file->entry || entry_read(file->path, false, key, &entry) != CACHE_GOOD)
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
			found = entry_read(file->path, false, path_name(file->path), &entry);
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
