/* SPDX-License-Identifier: MIT */
#include "record/record.h"

#include <math.h>

/* ---- walking ---- */
static void fields_add(
	const struct record *record, size_t base, struct record_fields *fields, unsigned depth)
{
	for (size_t i = 0; i < record->member_count; i++) {
		const struct record_member *member = &record->members[i];

		if (member->shape == RECORD_FLATTENED && depth < 8) {
			fields_add(member->record, base + member->offset, fields, depth + 1);
			continue;
		}
		if (fields->count == RECORD_MEMBERS_MAX || depth == 8)
			BUG("record %s has too many members for one object", record->name);
		fields->items[fields->count++] = (struct record_field){record, member, base};
	}
}

void record_fields_fill(const struct record *record, struct record_fields *fields)
{
	fields->count = 0;
	fields_add(record, 0, fields, 0);
}

size_t record_field_find(const struct record_fields *fields, const char *name, size_t from)
{
	for (size_t i = 0; i < fields->count; i++) {
		const size_t at = (from + i) % fields->count;
		const struct record_member *member = fields->items[at].member;

		if (*member->name == *name && !(member->flags & RECORD_NOT_JSON) &&
			strcmp(member->name, name) == 0)
			return at;
	}
	return SIZE_MAX;
}

bool record_is_counted(const struct record_member *member)
{
	return member->shape == RECORD_LIST || member->shape == RECORD_MAPPED ||
	       member->shape == RECORD_OWNED || member->shape == RECORD_FILLED;
}

static bool is_pointed(const struct record_member *member)
{
	return record_is_counted(member) && member->shape != RECORD_FILLED;
}

static size_t count_load(const struct record_member *member, const void *base)
{
	size_t count;

	memcpy(&count, (const char *)base + member->count_offset, sizeof(count));
	return count;
}

static void count_store(const struct record_member *member, void *base, size_t count)
{
	memcpy((char *)base + member->count_offset, &count, member->count_size);
}

static size_t terminated_count(const char *data)
{
	size_t count = 0;

	for (const char *item; data; count++) {
		memcpy(&item, data + count * sizeof(item), sizeof(item));
		if (!item)
			break;
	}
	return count;
}

struct record_span record_span(const struct record_member *member, const void *base)
{
	char *field = (char *)(uintptr_t)base + member->offset;
	char *pointer;

	switch (member->shape) {
	case RECORD_OWNED:
		memcpy(&pointer, field, sizeof(pointer));
		return (struct record_span){pointer, pointer ? 1 : 0};
	case RECORD_LIST:
	case RECORD_MAPPED:
		memcpy(&pointer, field, sizeof(pointer));
		if (!pointer)
			return (struct record_span){0};
		return (struct record_span){pointer,
			member->count_size ? count_load(member, base) : terminated_count(pointer)};
	case RECORD_FIXED:
	case RECORD_BY_NAME:
		return (struct record_span){field, member->length};
	case RECORD_FILLED:
		return (struct record_span){field, count_load(member, base)};
	default:
		return (struct record_span){field, 1};
	}
}

/* Lists may share a count, which must then be equal. */
static bool count_differs(const struct record *record, const struct record_member *member,
	const void *base, size_t count)
{
	for (const struct record_member *other = record->members; other < member; other++) {
		const struct record_span span = record_span(other, base);

		if (other->count_size && other->count_offset == member->count_offset && span.data &&
			span.count != count)
			return true;
	}
	return false;
}

char *record_reserve(
	const struct record *record, const struct record_member *member, void *base, size_t count)
{
	char *field = (char *)base + member->offset;
	char *data;

	switch (member->shape) {
	case RECORD_OWNED:
	case RECORD_LIST:
	case RECORD_MAPPED:
		if (member->count_size && count_differs(record, member, base, count))
			return NULL;
		data = memory_zeroed(count + 1, member->size);
		memcpy(field, &data, sizeof(data));
		count_store(member, base, count);
		return data;
	case RECORD_FILLED:
		if (count > member->length || count_differs(record, member, base, count))
			return NULL;
		count_store(member, base, count);
		return field;
	default:
		return count == record_span(member, base).count ? field : NULL;
	}
}

/* ---- absence ---- */
static bool is_number(const struct record_member *member)
{
	return member->kind <= RECORD_KIND_REAL || member->kind == RECORD_KIND_ENUM;
}

bool record_item_is_absent(const struct record_member *member, const void *item)
{
	void *pointer;
	double number;

	if (is_number(member)) {
		number = member->kind == RECORD_KIND_REAL ? record_load_real(item)
							  : (double)record_load(member, item);
		return number == member->absent || (isnan(number) && isnan(member->absent));
	}
	switch (member->kind) {
	case RECORD_KIND_FLAGS:
		return record_load(member, item) == 0;
	case RECORD_KIND_STRING:
	case RECORD_KIND_BORROWED:
	case RECORD_KIND_JSON:
		memcpy(&pointer, item, sizeof(pointer));
		return !pointer;
	case RECORD_KIND_TEXT:
		return *(const char *)item == '\0';
	case RECORD_KIND_BYTES:
		return ((const struct text *)item)->length == 0;
	case RECORD_KIND_COMMENT:
		return true;
	default:
		return false;
	}
}

bool record_is_absent(const struct record_member *member, const void *base)
{
	const struct record_span span = record_span(member, base);

	if (member->present)
		return !*((const bool *)base + member->present - 1);
	for (size_t i = 0; i < span.count; i++)
		if (record_is_counted(member) ||
			!record_item_is_absent(member, span.data + i * member->size))
			return false;
	return true;
}

void record_set_absent(const struct record_member *member, void *base)
{
	const struct record_span span = record_span(member, base);

	if (member->present)
		*((bool *)base + member->present - 1) = false;
	if (record_is_counted(member))
		return;
	for (size_t i = 0; i < span.count; i++) {
		void *item = span.data + i * member->size;

		if (member->kind == RECORD_KIND_RECORD)
			for (size_t k = 0; k < member->record->member_count; k++)
				record_set_absent(&member->record->members[k], item);
		else if (member->kind == RECORD_KIND_REAL)
			memcpy(item, &member->absent, sizeof(double));
		else if (is_number(member))
			record_store(member, item, (int64_t)member->absent);
	}
}

void record_set_present(const struct record_member *member, void *base)
{
	if (member->present)
		*((bool *)base + member->present - 1) = true;
}

/* ---- values ---- */
int64_t record_load(const struct record_member *member, const void *item)
{
	uint64_t value = 0;
	const unsigned unused = 64 - 8 * (unsigned)member->size;

	/* Every machine with a supported GPU is little-endian. */
	memcpy(&value, item, member->size);
	if (member->kind == RECORD_KIND_INT || member->kind == RECORD_KIND_ENUM)
		return (int64_t)(value << unused) >> unused;
	return (int64_t)value;
}

void record_store(const struct record_member *member, void *item, int64_t value)
{
	memcpy(item, &value, member->size);
}

void record_store_string(const struct record_member *member, void *item, const char *string)
{
	char *copy;

	if (member->kind == RECORD_KIND_TEXT) {
		string_put(item, member->size, string);
	} else if (member->kind == RECORD_KIND_STRING) {
		copy = string_copy(string);
		memcpy(item, &copy, sizeof(copy));
	} else {
		memcpy(item, &string, sizeof(string));
	}
}

double record_load_real(const void *item)
{
	double value;

	memcpy(&value, item, sizeof(value));
	return value;
}

size_t record_name_count(const char *const *names)
{
	size_t count = 0;

	while (names[count])
		count++;
	return count;
}

bool record_has_range(const struct record_member *member)
{
	return member->low != 0 || member->high != 0;
}

bool record_allows(const struct record_member *member, int64_t value)
{
	const bool is_signed = member->kind == RECORD_KIND_INT;
	const double real = is_signed ? (double)value : (double)(uint64_t)value;
	const unsigned bits = 8 * (unsigned)member->size;

	switch (member->kind) {
	case RECORD_KIND_BOOL:
		return value == 0 || value == 1;
	case RECORD_KIND_ENUM:
		return value >= 0 && (uint64_t)value < record_name_count(member->names) &&
		       (member->size > 1 || value < 2);
	case RECORD_KIND_FLAGS:
		return ((uint64_t)value >> record_name_count(member->names)) == 0;
	default:
		if (bits < 64 && is_signed &&
			(value < -(1LL << (bits - 1)) || value >= 1LL << (bits - 1)))
			return false;
		if (bits < 64 && !is_signed && (uint64_t)value >> bits)
			return false;
		return !record_has_range(member) || (real >= member->low && real <= member->high);
	}
}

bool record_allows_real(const struct record_member *member, double value)
{
	if (!isfinite(value) && member->flags & RECORD_NULLABLE)
		return true;
	return !record_has_range(member) || (value >= member->low && value <= member->high);
}

/* ---- release ---- */
static void record_item_release(const struct record_member *member, void *item)
{
	void *pointer;

	switch (member->kind) {
	case RECORD_KIND_STRING:
		memcpy(&pointer, item, sizeof(pointer));
		free(pointer);
		break;
	case RECORD_KIND_JSON:
		memcpy(&pointer, item, sizeof(pointer));
		json_free(pointer);
		break;
	case RECORD_KIND_BYTES:
		text_release(item);
		break;
	case RECORD_KIND_RECORD:
		record_release(member->record, item);
		break;
	case RECORD_KIND_CUSTOM:
		if (member->custom->release)
			member->custom->release(item);
		break;
	default:
		break;
	}
}

void record_release(const struct record *record, void *value)
{
	/* Counts are zeroed last, because lists may share them. */
	for (size_t i = 0; i < record->member_count; i++) {
		const struct record_member *member = &record->members[i];
		const struct record_span span = record_span(member, value);

		for (size_t k = 0; k < span.count; k++)
			record_item_release(member, span.data + k * member->size);
		if (is_pointed(member))
			free(span.data);
	}
	for (size_t i = 0; i < record->member_count; i++) {
		const struct record_member *member = &record->members[i];
		char *field = (char *)value + member->offset;

		count_store(member, value, 0);
		if (is_pointed(member))
			memset(field, 0, sizeof(void *));
		else if (member->kind != RECORD_KIND_CUSTOM)
			memset(field, 0, member->size * (member->length ? member->length : 1));
		if (member->present)
			*((bool *)value + member->present - 1) = false;
	}
}

/* ---- copy ---- */
/* A custom member without a record is copied as JSON. */
static void custom_copy(const struct record_custom *custom, const void *from, void *to)
{
	CLEANUP(json_release) struct json *json = custom->write ? custom->write(from) : NULL;
	struct json_at at;
	struct error err;

	if (!json)
		return;
	at = json_root(json, "copy");
	if (custom->read && custom->read(&at, to, NULL, &err) != STATUS_OK)
		BUG("a copy: %s", err.message);
}

static void item_copy(const struct record_member *member, const void *from, void *to)
{
	const struct text *bytes = from;
	void *pointer;

	switch (member->kind) {
	case RECORD_KIND_STRING:
		memcpy(&pointer, from, sizeof(pointer));
		record_store_string(member, to, pointer);
		break;
	case RECORD_KIND_JSON:
		memcpy(&pointer, from, sizeof(pointer));
		pointer = pointer ? json_copy(pointer) : NULL;
		memcpy(to, &pointer, sizeof(pointer));
		break;
	case RECORD_KIND_BYTES:
		text_append_bytes(to, bytes->data, bytes->length);
		break;
	case RECORD_KIND_RECORD:
	case RECORD_KIND_CUSTOM:
		if (member->record)
			record_copy(member->record, from, to);
		else
			custom_copy(member->custom, from, to);
		break;
	case RECORD_KIND_CONSTANT:
	case RECORD_KIND_COMMENT:
		break;
	default:
		memcpy(to, from, member->size);
	}
}

void record_copy(const struct record *record, const void *from, void *to)
{
	for (size_t i = 0; i < record->member_count; i++) {
		const struct record_member *member = &record->members[i];
		const struct record_span span = record_span(member, from);
		char *data;

		if (member->present && record_is_absent(member, from))
			continue;
		record_set_present(member, to);
		if (is_pointed(member) && !span.data)
			continue;
		data = record_reserve(record, member, to, span.count);
		for (size_t k = 0; k < span.count; k++)
			item_copy(member, span.data + k * member->size, data + k * member->size);
	}
}
