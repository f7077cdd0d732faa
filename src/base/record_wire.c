/* SPDX-License-Identifier: MIT */
#include "base/record_wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEPTH_MAX = 32 /* of records within records */
};

static const uint32_t no_string = UINT32_MAX;
static const uint64_t no_list = UINT64_MAX; /* an optional one that is NULL */

/* Whether a member is packed: all of the struct's within one process. */
static bool is_packed(const struct record_member *member, bool local)
{
	return member->kind != RECORD_KIND_CONSTANT && member->kind != RECORD_KIND_COMMENT &&
	       (local || !(member->flags & RECORD_NOT_WIRE));
}

/* Whether the number of items is not known from the table. */
static bool is_counted(const struct record_member *member)
{
	return member->shape == RECORD_LIST || member->shape == RECORD_MAPPED ||
	       member->shape == RECORD_OWNED || member->shape == RECORD_FILLED;
}

/* ---- packing ---- */
struct packer {
	struct text *bytes;
	bool local;
};

static void pack_record(
	const struct packer *packer, const struct record *record, const void *value);

static void pack_string(const struct packer *packer, const char *string)
{
	const size_t length = string ? strlen(string) : no_string;
	const uint32_t size = (uint32_t)length;

	if (string && length >= no_string)
		BUG("a string of %zu bytes does not fit into a packet", length);
	text_append_bytes(packer->bytes, &size, sizeof(size));
	if (string)
		text_append_bytes(packer->bytes, string, length + 1);
}

static void pack_json(const struct packer *packer, const struct json *json)
{
	char *printed = json ? json_print(json, false) : NULL;

	pack_string(packer, printed);
	free(printed);
}

static void pack_item(
	const struct packer *packer, const struct record_member *member, const void *item)
{
	const struct text *bytes = item;
	struct json *json;
	const char *string;
	uint64_t size;

	switch (member->kind) {
	case RECORD_KIND_TEXT:
		pack_string(packer, item);
		break;
	case RECORD_KIND_STRING:
	case RECORD_KIND_BORROWED:
		if (packer->local && member->kind == RECORD_KIND_BORROWED) {
			text_append_bytes(packer->bytes, item, sizeof(string));
			break;
		}
		memcpy(&string, item, sizeof(string));
		pack_string(packer, string);
		break;
	case RECORD_KIND_BYTES:
		size = bytes->length;
		text_append_bytes(packer->bytes, &size, sizeof(size));
		text_append_bytes(packer->bytes, bytes->data, bytes->length);
		break;
	case RECORD_KIND_JSON:
	case RECORD_KIND_UNKNOWN:
		memcpy(&json, item, sizeof(json));
		pack_json(packer, json);
		break;
	case RECORD_KIND_RECORD:
		pack_record(packer, member->record, item);
		break;
	case RECORD_KIND_CUSTOM:
		if (member->record) {
			pack_record(packer, member->record, item);
			break;
		}
		json = member->custom->write ? member->custom->write(item) : NULL;
		pack_json(packer, json);
		json_free(json);
		break;
	default:
		text_append_bytes(packer->bytes, item, member->size);
	}
}

static void pack_record(const struct packer *packer, const struct record *record, const void *value)
{
	for (size_t i = 0; i < record->member_count; i++) {
		const struct record_member *member = &record->members[i];
		const struct record_span span = record_span(member, value);
		const uint64_t count =
			!span.data && member->flags & RECORD_OPTIONAL ? no_list : span.count;
		const uint8_t is_there = !record_is_absent(member, value);

		if (!is_packed(member, packer->local))
			continue;
		if (member->present)
			text_append_bytes(packer->bytes, &is_there, sizeof(is_there));
		if (member->present && !is_there)
			continue;
		if (is_counted(member))
			text_append_bytes(packer->bytes, &count, sizeof(count));
		for (size_t k = 0; k < span.count; k++)
			pack_item(packer, member, span.data + k * member->size);
	}
}

void record_pack(const struct record *record, const void *value, struct text *bytes)
{
	pack_record(&(struct packer){.bytes = bytes}, record, value);
}

void record_pack_local(const struct record *record, const void *value, struct text *bytes)
{
	pack_record(&(struct packer){.bytes = bytes, .local = true}, record, value);
}

/* ---- unpacking ---- */
struct unpacker {
	const char *at;
	size_t left;
	const char *what;
	void *context;
	struct error *err;
	bool local;
	unsigned depth;
};

static enum status unpack_record(
	struct unpacker *unpacker, const struct record *record, void *value);

static enum status refuse(const struct unpacker *unpacker, const struct record *record,
	const struct record_member *member, const char *why)
{
	return error_set(unpacker->err, STATUS_FAILED, "%s: expected a packed %s, found %s%s%s",
		unpacker->what, record->name ? record->name : "record", why, member ? " in " : "",
		member ? member->name : "");
}

static const void *take(struct unpacker *unpacker, size_t size)
{
	const char *at = unpacker->at;

	if (size > unpacker->left)
		return NULL;
	unpacker->at += size;
	unpacker->left -= size;
	return at;
}

/* A string within the bytes, NULL where NULL was packed. False if there is none. */
static bool take_string(struct unpacker *unpacker, const char **string, size_t *length)
{
	uint32_t size;
	const void *at = take(unpacker, sizeof(size));

	*string = NULL;
	*length = 0;
	if (!at)
		return false;
	memcpy(&size, at, sizeof(size));
	if (size == no_string)
		return true;
	*string = take(unpacker, (size_t)size + 1);
	*length = size;
	return *string && !memchr(*string, '\0', size) && (*string)[size] == '\0';
}

static enum status unpack_string(struct unpacker *unpacker, const struct record *record,
	const struct record_member *member, void *item)
{
	const char *string;
	size_t length;

	if (!take_string(unpacker, &string, &length))
		return refuse(unpacker, record, member, "no string");
	if (string && *string && member->rule && member->rule->accepts &&
		!member->rule->accepts(string))
		return refuse(unpacker, record, member, "another string");
	if (member->kind == RECORD_KIND_TEXT && (!string || length >= member->size))
		return refuse(unpacker, record, member, "a string of another length");
	record_store_string(member, item, string);
	return STATUS_OK;
}

static enum status unpack_json(struct unpacker *unpacker, const struct record *record,
	const struct record_member *member, void *item)
{
	CLEANUP(json_release) struct json *json = NULL;
	struct json_at at;
	const char *string;
	size_t length;

	if (!take_string(unpacker, &string, &length))
		return refuse(unpacker, record, member, "no JSON");
	if (string)
		TRY(json_parse(string, length, unpacker->what, &json, unpacker->err));
	if (member->kind != RECORD_KIND_CUSTOM) {
		memcpy(item, &json, sizeof(json));
		json = NULL;
		return STATUS_OK;
	}
	if (!json)
		return STATUS_OK;
	at = json_root(json, unpacker->what);
	return member->custom->read
		       ? member->custom->read(&at, item, unpacker->context, unpacker->err)
		       : refuse(unpacker, record, member, "what is never read");
}

static enum status unpack_number(struct unpacker *unpacker, const struct record *record,
	const struct record_member *member, void *item)
{
	const void *at = take(unpacker, member->size);

	if (!at)
		return refuse(unpacker, record, member, "too few bytes");
	/* a bool must not hold another bit pattern, not even for the time of this check; what is
	 * copied within the process is what it was */
	if (!unpacker->local &&
		!(member->flags & RECORD_OPTIONAL && record_item_is_absent(member, at)) &&
		!(member->kind == RECORD_KIND_REAL
				? record_allows_real(member, record_load_real(member, at))
				: record_allows(member, record_load(member, at))))
		return refuse(unpacker, record, member, "a value out of range");
	memcpy(item, at, member->size);
	return STATUS_OK;
}

static enum status unpack_item(struct unpacker *unpacker, const struct record *record,
	const struct record_member *member, void *item)
{
	const void *at;
	uint64_t size;

	switch (member->kind) {
	case RECORD_KIND_BORROWED:
	case RECORD_KIND_TEXT:
	case RECORD_KIND_STRING:
		if (!unpacker->local || member->kind != RECORD_KIND_BORROWED)
			return unpack_string(unpacker, record, member, item);
		memcpy(item, take(unpacker, sizeof(char *)), sizeof(char *));
		return STATUS_OK;
	case RECORD_KIND_BYTES:
		at = take(unpacker, sizeof(size));
		if (at)
			memcpy(&size, at, sizeof(size));
		if (!at || size > unpacker->left)
			return refuse(unpacker, record, member, "too few bytes");
		if (size)
			text_append_bytes(item, take(unpacker, (size_t)size), (size_t)size);
		return STATUS_OK;
	case RECORD_KIND_CUSTOM:
		if (member->record)
			return unpack_record(unpacker, member->record, item);
		return unpack_json(unpacker, record, member, item);
	case RECORD_KIND_JSON:
	case RECORD_KIND_UNKNOWN:
		return unpack_json(unpacker, record, member, item);
	case RECORD_KIND_RECORD:
		return unpack_record(unpacker, member->record, item);
	default:
		return unpack_number(unpacker, record, member, item);
	}
}

/* The fewest bytes that a packed item takes; at least 1. */
static size_t smallest(const struct record_member *member, bool local, unsigned depth)
{
	size_t sum = 0;

	switch (member->record ? RECORD_KIND_RECORD : member->kind) {
	case RECORD_KIND_STRING:
	case RECORD_KIND_BORROWED:
	case RECORD_KIND_TEXT:
	case RECORD_KIND_JSON:
	case RECORD_KIND_UNKNOWN:
	case RECORD_KIND_CUSTOM:
		return sizeof(uint32_t);
	case RECORD_KIND_BYTES:
		return sizeof(uint64_t);
	case RECORD_KIND_RECORD:
		for (size_t i = 0; depth < 4 && i < member->record->member_count; i++) {
			const struct record_member *inner = &member->record->members[i];

			if (!is_packed(inner, local))
				continue;
			if (inner->present)
				sum += 1;
			else if (is_counted(inner))
				sum += sizeof(uint64_t);
			else
				sum += (inner->length ? inner->length : 1) *
				       smallest(inner, local, depth + 1);
		}
		return sum ? sum : 1;
	default:
		return member->size;
	}
}

static enum status unpack_member(struct unpacker *unpacker, const struct record *record,
	const struct record_member *member, void *value)
{
	struct record_span span = record_span(member, value);
	const void *at;
	uint64_t count;

	if (member->present) {
		at = take(unpacker, 1);
		if (!at || *(const uint8_t *)at > 1)
			return refuse(unpacker, record, member, "neither presence nor absence");
		if (!*(const uint8_t *)at) {
			record_set_absent(member, value);
			return STATUS_OK;
		}
		record_set_present(member, value);
	}
	if (is_counted(member)) {
		at = take(unpacker, sizeof(count));
		if (at)
			memcpy(&count, at, sizeof(count));
		if (at && count == no_list && member->flags & RECORD_OPTIONAL)
			return STATUS_OK;
		if (!at || count > unpacker->left / smallest(member, unpacker->local, 0))
			return refuse(unpacker, record, member, "a count beyond the bytes");
		if ((member->count_min && count < member->count_min) ||
			(member->count_max && count > member->count_max) ||
			(member->shape == RECORD_OWNED && count > 1))
			return refuse(unpacker, record, member, "another count");
		if (count == 0 && member->shape == RECORD_OWNED)
			return STATUS_OK;
		span.data = record_room(record, member, value, (size_t)count);
		span.count = (size_t)count;
		if (!span.data)
			return refuse(unpacker, record, member, "another count");
	}
	for (size_t i = 0; i < span.count; i++)
		TRY(unpack_item(unpacker, record, member, span.data + i * member->size));
	return STATUS_OK;
}

static enum status unpack_record(
	struct unpacker *unpacker, const struct record *record, void *value)
{
	const struct json_at at = json_root(NULL, unpacker->what);

	if (++unpacker->depth > DEPTH_MAX)
		return refuse(unpacker, record, NULL, "too many records within each other");
	for (size_t i = 0; i < record->member_count; i++)
		if (is_packed(&record->members[i], unpacker->local))
			TRY(unpack_member(unpacker, record, &record->members[i], value));
	if (record->check && !unpacker->local)
		TRY(record->check(value, &at, unpacker->context, unpacker->err));
	unpacker->depth--;
	return STATUS_OK;
}

static enum status unpack(struct unpacker *unpacker, const struct record *record, void *value)
{
	enum status status = unpack_record(unpacker, record, value);

	if (status == STATUS_OK && unpacker->left)
		status = refuse(unpacker, record, NULL, "more bytes than one takes");
	if (status != STATUS_OK)
		record_release(record, value);
	return status;
}

enum status record_unpack(const struct record *record, const void *bytes, size_t size,
	const char *what, void *value, void *context, struct error *err)
{
	struct unpacker unpacker = {
		.at = bytes, .left = size, .what = what, .context = context, .err = err};

	return unpack(&unpacker, record, value);
}

enum status record_unpack_local(
	const struct record *record, const struct text *bytes, void *value, struct error *err)
{
	struct unpacker unpacker = {.at = text_string(bytes),
		.left = bytes->length,
		.what = "copy",
		.err = err,
		.local = true};

	return unpack(&unpacker, record, value);
}

/* ---- layout ---- */
static void layout(const struct record *record, struct text *text, unsigned depth)
{
	text_appendf(text, "{%s", record->name ? record->name : "");
	for (size_t i = 0; i < record->member_count; i++) {
		const struct record_member *member = &record->members[i];

		if (!is_packed(member, false))
			continue;
		text_appendf(text, " %s:%d.%d.%zu.%zu.%d", member->name, (int)member->kind,
			(int)member->shape, member->size, member->length, member->present > 0);
		for (size_t k = 0; member->names && member->names[k]; k++)
			text_appendf(text, "|%s", member->names[k]);
		if (member->record && depth < DEPTH_MAX && member->record != record)
			layout(member->record, text, depth + 1);
	}
	text_append(text, "}");
}

void record_layout(const struct record *record, struct text *text)
{
	layout(record, text, 0);
}
