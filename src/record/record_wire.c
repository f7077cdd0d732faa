/* SPDX-License-Identifier: MIT
 *
 * Packing and unpacking share one walk over the tables, which moves each piece into or out of the
 * bytes.
 */
#include "record/record_wire.h"

#include <string.h>

enum {
	DEPTH_MAX = 32
};

static const uint32_t no_string = UINT32_MAX;
static const uint64_t no_list = UINT64_MAX; /* count of an optional list that is NULL */

struct wire {
	struct text *to; /* destination of packing; NULL when unpacking */
	const char *at;  /* next of the `left` bytes that are still to be unpacked */
	size_t left;
	bool local; /* copying within this process: all members, and borrowed strings as pointers */
	unsigned depth;
	const char *what;
	void *context;
	struct error *err;
	const struct record *record;
	const struct record_member *member;
};

static enum status move_record(struct wire *wire, const struct record *record, void *value);

static bool is_packed(const struct record_member *member)
{
	return member->kind != RECORD_KIND_CONSTANT && member->kind != RECORD_KIND_COMMENT;
}

static enum status refuse(const struct wire *wire, const char *found)
{
	return error_set(wire->err, STATUS_FAILED, "%s: invalid packed record \"%s\": %s%s%s",
		wire->what, wire->record->name ? wire->record->name : "record", found,
		wire->member ? " in " : "", wire->member ? wire->member->name : "");
}

static enum status move(struct wire *wire, void *value, size_t size)
{
	if (wire->to) {
		text_append_bytes(wire->to, value, size);
		return STATUS_OK;
	}
	if (size > wire->left)
		return refuse(wire, "too few bytes");
	memcpy(value, wire->at, size);
	wire->at += size;
	wire->left -= size;
	return STATUS_OK;
}

/* An unpacked string points into the bytes. */
static enum status move_string(struct wire *wire, const char **string)
{
	const size_t length = wire->to && *string ? strlen(*string) : no_string;
	uint32_t size = (uint32_t)length;

	if (length > no_string)
		BUG("a string of %zu bytes does not fit into a packet", length);
	TRY(move(wire, &size, sizeof(size)));
	if (wire->to && size != no_string)
		return move(wire, (char *)(uintptr_t)*string, (size_t)size + 1);
	if (!wire->to)
		*string = size == no_string ? NULL : wire->at;
	if (size == no_string)
		return STATUS_OK;
	if (size >= wire->left || memchr(wire->at, '\0', (size_t)size + 1) != wire->at + size)
		return refuse(wire, "an unterminated string");
	wire->at += (size_t)size + 1;
	wire->left -= (size_t)size + 1;
	return STATUS_OK;
}

static enum status move_text(struct wire *wire, void *item)
{
	const struct record_member *member = wire->member;
	const char *string = item;

	if (member->kind != RECORD_KIND_TEXT)
		memcpy(&string, item, sizeof(string));
	TRY(move_string(wire, &string));
	if (wire->to)
		return STATUS_OK;
	if (string && *string && member->rule && member->rule->accepts &&
		!member->rule->accepts(string))
		return refuse(wire, "an unexpected string");
	if (member->kind == RECORD_KIND_TEXT && (!string || strlen(string) >= member->size))
		return refuse(wire, "a string of the wrong length");
	record_store_string(member, item, string);
	return STATUS_OK;
}

static enum status move_json(struct wire *wire, void *item)
{
	const struct record_custom *custom = wire->member->custom;
	CLEANUP(json_release) struct json *made = NULL;
	CLEANUP(memory_free) char *printed = NULL;
	struct json *json = NULL;
	const char *string;
	struct json_at at;

	if (wire->to && custom)
		json = made = custom->write ? custom->write(item) : NULL;
	else if (wire->to)
		memcpy(&json, item, sizeof(json));
	string = printed = json ? json_print(json, false) : NULL;
	TRY(move_string(wire, &string));
	if (wire->to)
		return STATUS_OK;
	if (string)
		TRY(json_parse(string, strlen(string), wire->what, &made, wire->err));
	if (!custom) {
		memcpy(item, &made, sizeof(made));
		made = NULL;
	}
	if (!made)
		return STATUS_OK;
	at = json_root(made, wire->what);
	return custom->read ? custom->read(&at, item, wire->context, wire->err)
			    : refuse(wire, "a member that is never read");
}

static enum status move_bytes(struct wire *wire, struct text *bytes)
{
	uint64_t size = bytes->length;

	TRY(move(wire, &size, sizeof(size)));
	if (wire->to)
		return move(wire, bytes->data, bytes->length);
	if (size > wire->left)
		return refuse(wire, "too few bytes");
	text_append_bytes(bytes, wire->at, (size_t)size);
	wire->at += size;
	wire->left -= (size_t)size;
	return STATUS_OK;
}

static enum status move_number(struct wire *wire, void *item)
{
	const struct record_member *member = wire->member;

	/* A bool must never hold another bit pattern, so check the byte first. Copies within the
	 * process need no check. */
	if (!wire->to && !wire->local && member->size <= wire->left &&
		!(member->flags & RECORD_OPTIONAL && record_item_is_absent(member, wire->at)) &&
		!(member->kind == RECORD_KIND_REAL
				? record_allows_real(member, record_load_real(member, wire->at))
				: record_allows(member, record_load(member, wire->at))))
		return refuse(wire, "a value out of range");
	return move(wire, item, member->size);
}

static enum status move_item(struct wire *wire, void *item)
{
	const struct record_member *member = wire->member;

	switch (member->kind) {
	case RECORD_KIND_BORROWED:
	case RECORD_KIND_TEXT:
	case RECORD_KIND_STRING:
		return wire->local && member->kind == RECORD_KIND_BORROWED
			       ? move(wire, item, sizeof(char *))
			       : move_text(wire, item);
	case RECORD_KIND_BYTES:
		return move_bytes(wire, item);
	case RECORD_KIND_CUSTOM:
	case RECORD_KIND_JSON:
	case RECORD_KIND_RECORD:
		return member->record ? move_record(wire, member->record, item)
				      : move_json(wire, item);
	default:
		return move_number(wire, item);
	}
}

/* Moves the number of items that the table does not fix. Sets *span to the items to pack, or
 * allocates the items to unpack. */
static enum status move_count(struct wire *wire, void *value, struct record_span *span)
{
	const struct record_member *member = wire->member;
	const bool optional = member->flags & RECORD_OPTIONAL;
	uint64_t count = optional && !span->data ? no_list : span->count;

	TRY(move(wire, &count, sizeof(count)));
	if (wire->to || (optional && count == no_list))
		return STATUS_OK;
	if (count > wire->left)
		return refuse(wire, "a count larger than the data");
	if (count == 0 && member->shape == RECORD_OWNED)
		return STATUS_OK;
	if (count >= member->count_min && (!member->count_max || count <= member->count_max) &&
		(count == 1 || member->shape != RECORD_OWNED))
		span->data = record_room(wire->record, member, value, (size_t)count);
	else
		span->data = NULL;
	span->count = (size_t)count;
	return span->data ? STATUS_OK : refuse(wire, "the wrong count");
}

static enum status move_member(struct wire *wire, void *value)
{
	const struct record_member *member = wire->member;
	struct record_span span = record_span(member, value);
	uint8_t present = !record_is_absent(member, value);

	if (member->present) {
		TRY(move(wire, &present, sizeof(present)));
		if (present > 1)
			return refuse(wire, "an invalid presence byte");
		if (!present && !wire->to)
			record_set_absent(member, value);
		if (!present)
			return STATUS_OK;
		record_set_present(member, value);
	}
	if (record_is_counted(member))
		TRY(move_count(wire, value, &span));
	for (size_t i = 0; i < span.count; i++)
		TRY(move_item(wire, span.data + i * member->size));
	return STATUS_OK;
}

static enum status move_record(struct wire *wire, const struct record *record, void *value)
{
	const struct json_at at = json_root(NULL, wire->what);
	const struct wire outer = *wire;

	wire->record = record;
	wire->member = NULL;
	if (wire->depth++ == DEPTH_MAX)
		return refuse(wire, "too many nested records");
	for (size_t i = 0; i < record->member_count; i++) {
		wire->member = &record->members[i];
		if (is_packed(wire->member))
			TRY(move_member(wire, value));
	}
	if (record->check && !wire->local && !wire->to)
		TRY(record->check(value, &at, wire->context, wire->err));
	wire->record = outer.record;
	wire->member = outer.member;
	wire->depth--;
	return STATUS_OK;
}

static void pack(struct wire *wire, const struct record *record, const void *value)
{
	if (move_record(wire, record, (void *)(uintptr_t)value) != STATUS_OK)
		BUG("record %s does not fit into a packet", record->name);
}

static enum status unpack(struct wire *wire, const struct record *record, void *value)
{
	enum status status = move_record(wire, record, value);

	if (status == STATUS_OK && wire->left) {
		wire->record = record;
		status = refuse(wire, "trailing bytes");
	}
	if (status != STATUS_OK)
		record_release(record, value);
	return status;
}

void record_pack(const struct record *record, const void *value, struct text *bytes)
{
	pack(&(struct wire){.to = bytes}, record, value);
}

enum status record_unpack(const struct record *record, const void *bytes, size_t size,
	const char *what, void *value, void *context, struct error *err)
{
	return unpack(
		&(struct wire){
			.at = bytes, .left = size, .what = what, .context = context, .err = err},
		record, value);
}

void record_copy(const struct record *record, const void *from, void *to)
{
	CLEANUP(text_release) struct text bytes = {0};
	struct error err;

	pack(&(struct wire){.to = &bytes, .local = true}, record, from);
	if (unpack(&(struct wire){.at = text_string(&bytes),
			   .left = bytes.length,
			   .what = "copy",
			   .err = &err,
			   .local = true},
		    record, to) != STATUS_OK)
		BUG("a copy of %s: %s", record->name, err.message);
}

bool record_equal(const struct record *record, const void *a, const void *b)
{
	CLEANUP(text_release) struct text x = {0}, y = {0};

	record_pack(record, a, &x);
	record_pack(record, b, &y);
	return x.length == y.length && (x.length == 0 || memcmp(x.data, y.data, x.length) == 0);
}

/* ---- layout ---- */
static void layout(const struct record *record, struct text *text, unsigned depth)
{
	text_appendf(text, "{%s", record->name ? record->name : "");
	for (size_t i = 0; i < record->member_count; i++) {
		const struct record_member *member = &record->members[i];

		if (!is_packed(member))
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
