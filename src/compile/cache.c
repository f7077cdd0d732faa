/* SPDX-License-Identifier: MIT
 *
 * One entry: a line of text (format, key, size and checksum of the rest), then label and result
 * as compile/wire.h writes them.
 */
#include "compile/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "compile/cache_entry.h"
#include "compile/result.h"
#include "compile/wire.h"

enum {
	HEADER_SIZE = 96, /* "tiletune.kernel/1 KEY SIZE CHECKSUM", blanks, newline */
	CHECKSUM_SEED = 1,
};

/* Longer than any kernel; keeps a damaged folder from filling the memory. */
static const off_t entry_size_max = (off_t)256 << 20;
/* Use is noted in the file's time, but not more often than this. */
static const time_t touch_interval_s = 3600;

struct cache {
	char *folder; /* FOLDER/kernels */
};

enum status cache_open(const char *folder, struct cache **cache, struct error *err)
{
	struct cache *opened = memory_zeroed(1, sizeof(*opened));
	enum status status;

	*cache = NULL;
	opened->folder = path_join(folder, "kernels");
	status = directory_make(opened->folder, err);
	if (status == STATUS_OK && access(opened->folder, R_OK | W_OK | X_OK) != 0)
		status = error_set(err, STATUS_BAD_INPUT, "%s: expected a folder to write to: %s",
			opened->folder, strerror(errno));
	if (status != STATUS_OK) {
		cache_close(opened);
		return error_context(err, "kernel cache");
	}
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

void cache_key(
	const struct build_unit *unit, const char *arch, const char *compiler, char key[HASH_SIZE])
{
	struct hash *hash = hash_new();

	hash_add_string(hash, compile_result_layout);
	hash_add_string(hash, compiler);
	hash_add_string(hash, arch);
	hash_add_string(hash, unit->source);
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

static void header_format(char header[HEADER_SIZE + 1], const char *key, const struct text *body)
{
	int length = snprintf(header, HEADER_SIZE, "tiletune.kernel/1 %s %llu %016llx", key,
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

bool cache_entry_unpack(const char *bytes, size_t size, const char key[HASH_SIZE],
	struct cache_label *label, struct compile_result *result)
{
	struct text body = {0};
	struct wire_reader reader;
	char header[HEADER_SIZE + 1];
	const char *packed;
	size_t packed_size;

	*label = (struct cache_label){0};
	*result = (struct compile_result){0};
	if (size <= HEADER_SIZE)
		return false;
	body.data = (char *)(uintptr_t)bytes + HEADER_SIZE; /* borrowed, only read */
	body.length = size - HEADER_SIZE;
	header_format(header, key, &body);
	if (memcmp(header, bytes, HEADER_SIZE) != 0)
		return false;
	reader = (struct wire_reader){.at = body.data, .left = body.length};
	label->unit = wire_get_string(&reader);
	label->arch = wire_get_string(&reader);
	label->compiler = wire_get_string(&reader);
	packed = wire_get_bytes(&reader, &packed_size);
	if (!reader.bad && reader.left == 0 && compile_result_unpack(packed, packed_size, result))
		return true;
	cache_label_release(label);
	return false;
}

void cache_entry_pack(const char key[HASH_SIZE], const struct cache_label *label,
	const struct compile_result *result, struct text *bytes)
{
	struct text packed = {0}, body = {0};
	char header[HEADER_SIZE + 1];

	compile_result_pack(result, &packed);
	wire_put_string(&body, label->unit);
	wire_put_string(&body, label->arch);
	wire_put_string(&body, label->compiler);
	wire_put_bytes(&body, packed.data, packed.length);
	header_format(header, key, &body);
	text_append_bytes(bytes, header, HEADER_SIZE);
	text_append_bytes(bytes, body.data, body.length);
	text_release(&packed);
	text_release(&body);
}

void cache_label_release(struct cache_label *label)
{
	free(label->unit);
	free(label->arch);
	free(label->compiler);
	*label = (struct cache_label){0};
}

enum cache_found cache_entry_read(const char *path, bool use, const char key[HASH_SIZE],
	struct cache_label *label, struct compile_result *result)
{
	struct text content = {0};
	struct stat info;
	bool good;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return CACHE_ABSENT;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		close(fd);
		return CACHE_ABSENT;
	}
	good = info.st_size <= entry_size_max && read_raw(fd, (size_t)info.st_size, &content) &&
	       cache_entry_unpack(content.data, content.length, key, label, result);
	if (good && use)
		note_use(fd, &info);
	close(fd);
	text_release(&content);
	return good ? CACHE_GOOD : CACHE_DAMAGED;
}

bool cache_get(struct cache *cache, const char key[HASH_SIZE], struct compile_result *result)
{
	char *path = cache_entry_path(cache, key);
	struct cache_label label;
	enum cache_found found = cache_entry_read(path, true, key, &label, result);

	if (found == CACHE_GOOD)
		cache_label_release(&label);
	if (found == CACHE_DAMAGED)
		unlink(path);
	free(path);
	return found == CACHE_GOOD;
}

/* No fsync: a file that a power cut left incomplete fails its checksum. */
static enum status write_replacing(const char *path, const struct text *content, struct error *err)
{
	char *temporary = string_format("%s" CACHE_TEMPORARY "XXXXXX", path);
	enum status status = STATUS_OK;
	int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0) {
		status =
			error_set(err, STATUS_FAILED, "%s: creating it: %s", path, strerror(errno));
		free(temporary);
		return status;
	}
	status = file_write_all(fd, content->data, content->length, err);
	/* mkstemp made it ours alone; a shared cache is a matter of the umask */
	(void)!fchmod(fd, 0644);
	if (close(fd) != 0 && status == STATUS_OK)
		status = error_set(err, STATUS_FAILED, "writing: %s", strerror(errno));
	if (status == STATUS_OK && rename(temporary, path) != 0)
		status = error_set(err, STATUS_FAILED, "renaming: %s", strerror(errno));
	if (status != STATUS_OK) {
		unlink(temporary);
		error_context(err, "%s", path);
	}
	free(temporary);
	return status;
}

enum status cache_put(struct cache *cache, const char key[HASH_SIZE],
	const struct cache_label *label, const struct compile_result *result, struct error *err)
{
	char *path = cache_entry_path(cache, key);
	char *folder = path_parent(path);
	struct text content = {0};
	enum status status = directory_make(folder, err);

	if (status == STATUS_OK) {
		cache_entry_pack(key, label, result, &content);
		status = write_replacing(path, &content, err);
	}
	if (status != STATUS_OK)
		error_context(err, "kernel cache");
	text_release(&content);
	free(folder);
	free(path);
	return status;
}
