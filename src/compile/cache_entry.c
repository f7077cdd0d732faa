/* SPDX-License-Identifier: MIT */
#include "compile/cache_entry.h"

#include <string.h>

#include "compile/cubin.h"
#include "compile/worker.h"

enum {
	CHECKSUM_SEED = 1,
};

/* The first line of a file has the format, the key and the checksum of the rest. */
#define FORMAT "tiletune.kernel/4"
#define HEADER FORMAT " %s %016llx\n"

static const struct record_member entry_members[] = {
	RECORD_VALUE(struct cache_entry, unit, "unit"),
	RECORD_VALUE(struct cache_entry, arch, "arch"),
	RECORD_VALUE(struct cache_entry, compiler, "compiler"),
	RECORD_NESTED(struct cache_entry, result, compile_result_record, "result"),
};
static RECORD_DEFINE(struct cache_entry, entry_record, entry_members, .name = "cache_entry");

void cache_key(const struct build_unit *unit, const char *arch, const char *compiler,
	const char *toolkit, char key[HASH_SIZE])
{
	struct hash *hash = hash_new();

	hash_add_string(hash, FORMAT);
	hash_add_string(hash, compiler);
	hash_add_string(hash, arch);
	if (*toolkit)
		hash_add_string(hash, toolkit);
	build_unit_hash(unit, hash);
	hash_finish(hash, key);
}

/* Returns whether the image is PTX, or is for the architecture that the entry names. */
static bool is_kernel_for(const struct cache_entry *entry)
{
	const struct text *cubin = &entry->result.cubin;
	const char *arch = entry->arch ? entry->arch : "";

	return string_starts_with(arch, "compute_") ||
	       (string_starts_with(arch, "sm_") &&
		       cubin_is_for(cubin->data, cubin->length, atoi(arch + strlen("sm_"))));
}

bool cache_entry_begins(const struct text *bytes)
{
	return string_starts_with(text_string(bytes), FORMAT " ");
}

void cache_entry_seal(const char key[HASH_SIZE], const struct text *body, struct text *bytes)
{
	text_appendf(bytes, HEADER, key,
		(unsigned long long)hash_bytes(text_string(body), body->length, CHECKSUM_SEED));
	text_append_bytes(bytes, text_string(body), body->length);
}

bool cache_entry_unpack(
	const struct text *bytes, const char key[HASH_SIZE], struct cache_entry *entry)
{
	CLEANUP(text_release) struct text body = {0}, expected = {0};
	const char *end = bytes->length ? memchr(bytes->data, '\n', bytes->length) : NULL;

	*entry = (struct cache_entry){0};
	if (!end)
		return false;
	text_append_bytes(&body, end + 1, bytes->length - (size_t)(end + 1 - bytes->data));
	cache_entry_seal(key, &body, &expected);
	if (expected.length != bytes->length ||
		memcmp(expected.data, bytes->data, bytes->length) != 0 ||
		line_read(&entry_record, &body, "kernel cache", entry, NULL) != STATUS_OK)
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

	record_append(&entry_record, entry, &body);
	cache_entry_seal(key, &body, bytes);
}

RECORD_RELEASE(cache_entry_release, entry_record);
