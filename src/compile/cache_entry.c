/* SPDX-License-Identifier: MIT */
#include "compile/cache_entry.h"

#include <stdio.h>

#include "record/record_wire.h"
#include "compile/cubin.h"
#include "compile/worker.h"

enum {
	HEADER_SIZE = 96, /* "tiletune.kernel/2 KEY SIZE CHECKSUM", padded with blanks, newline */
	CHECKSUM_SEED = 1,
};

#define FORMAT "tiletune.kernel/2"

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
	struct text layout = {0};

	record_layout(&entry_record, &layout);
	hash_add_string(hash, text_string(&layout));
	text_release(&layout);
	hash_add_string(hash, compiler);
	hash_add_string(hash, arch);
	hash_add_string(hash, unit->source);
	if (*toolkit)
		hash_add_string(hash, toolkit);
	hash_add(hash, &unit->option_count, sizeof(unit->option_count));
	for (size_t i = 0; i < unit->option_count; i++)
		hash_add_string(hash, unit->options[i]);
	for (size_t i = 0; i < unit->entry_count; i++)
		hash_add_string(hash, unit->entries[i]);
	hash_finish(hash, key);
}

/* A file has one line of text (format, key, size and checksum of the rest) and the packed entry. */
static void header_format(char header[HEADER_SIZE + 1], const char *key, const struct text *body)
{
	int length = snprintf(header, HEADER_SIZE, FORMAT " %s %llu %016llx", key,
		(unsigned long long)body->length,
		(unsigned long long)hash_bytes(body->data, body->length, CHECKSUM_SEED));

	memset(header + length, ' ', (size_t)(HEADER_SIZE - length));
	header[HEADER_SIZE - 1] = '\n';
	header[HEADER_SIZE] = '\0';
}

/* Returns whether the image is machine code for the architecture that the entry names, or PTX. */
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

bool cache_entry_unpack(
	const char *bytes, size_t size, const char key[HASH_SIZE], struct cache_entry *entry)
{
	struct text body = {0};
	char header[HEADER_SIZE + 1];

	*entry = (struct cache_entry){0};
	if (size <= HEADER_SIZE)
		return false;
	body.data = (char *)(uintptr_t)bytes +
		    HEADER_SIZE; /* borrowed and only read, despite the cast */
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

RECORD_RELEASE(cache_entry_release, entry_record);
