/* SPDX-License-Identifier: MIT */
#include "record/record_write.h"

#include <math.h>
#include <stdio.h>

#include "base/base64.h"

static void put_object(const struct record *record, const void *value,
	const struct record_member *key, struct json *object);

/* Seven significant digits are enough: no measurement resolves a millionth. */
static double round_to_digits(double value)
{
	char text[32];

	if (!isfinite(value) || value == floor(value))
		return value;
	snprintf(text, sizeof(text), "%.7g", value);
	return strtod(text, NULL);
}

static struct json *flags_to_json(const struct record_member *member, const void *item)
{
	struct json *list = json_new_array();
	const int64_t flags = record_load(member, item);

	for (size_t i = 0; member->names[i]; i++)
		if (flags & (int64_t)1 << i)
			json_push(list, json_new_string(member->names[i]));
	return list;
}

static struct json *bytes_to_json(const struct text *bytes)
{
	CLEANUP(text_release) struct text text = {0};

	base64_append(&text, bytes->data, bytes->length);
	return json_new_string(text_string(&text));
}

/* Returns NULL to leave the item out. */
static struct json *item_to_json(const struct record_member *member, const void *item)
{
	struct json *json;
	const char *string;
	double real;

	switch (member->kind) {
	case RECORD_KIND_BOOL:
		return json_new_bool(record_load(member, item) != 0);
	case RECORD_KIND_INT:
		return json_new_int(record_load(member, item));
	case RECORD_KIND_UINT:
		return json_new_uint((uint64_t)record_load(member, item));
	case RECORD_KIND_REAL:
		real = record_load_real(item);
		if (member->flags & RECORD_WHOLE && fabs(real) < 0x1p62)
			return json_new_int(llround(real));
		return json_new_double(
			member->flags & RECORD_ROUNDED ? round_to_digits(real) : real);
	case RECORD_KIND_STRING:
	case RECORD_KIND_BORROWED:
		memcpy(&string, item, sizeof(string));
		return json_new_string(string);
	case RECORD_KIND_TEXT:
		return json_new_string(item);
	case RECORD_KIND_BYTES:
		return bytes_to_json(item);
	case RECORD_KIND_JSON:
		memcpy(&json, item, sizeof(json));
		return json ? json_copy(json) : json_new_string(NULL);
	case RECORD_KIND_ENUM:
		if (!record_allows(member, record_load(member, item)))
			BUG("member %s has no name for %lld", member->name,
				(long long)record_load(member, item));
		return json_new_string(member->names[record_load(member, item)]);
	case RECORD_KIND_FLAGS:
		return flags_to_json(member, item);
	case RECORD_KIND_RECORD:
		json = json_new_object();
		put_object(member->record, item, NULL, json);
		return json;
	case RECORD_KIND_CUSTOM:
		return member->custom->write ? member->custom->write(item) : NULL;
	case RECORD_KIND_CONSTANT:
		return json_new_string(member->constant);
	default:
		return NULL;
	}
}

static const char *key_of(const struct record_member *key, const void *item)
{
	const char *string = (const char *)item + key->offset;

	if (key->kind != RECORD_KIND_TEXT)
		memcpy(&string, string, sizeof(string));
	return string ? string : "";
}

static struct json *map_to_json(const struct record *record, struct record_span span, size_t size)
{
	const struct record_member *key = &record->members[0], *value = &record->members[1];
	struct json *object = json_new_object();

	for (size_t i = 0; i < span.count; i++) {
		const char *item = span.data + i * size;
		struct json *json;

		if (record->member_count == 2 && !*value->name) {
			json = item_to_json(value, item + value->offset);
		} else {
			json = json_new_object();
			put_object(record, item, key, json);
		}
		if (json)
			json_put(object, key_of(key, item), json);
	}
	return object;
}

static struct json *span_to_json(const struct record_member *member, struct record_span span)
{
	const bool by_name = member->shape == RECORD_BY_NAME;
	struct json *whole = by_name ? json_new_object() : json_new_array();

	for (size_t i = 0; i < span.count && (!by_name || member->keys[i]); i++) {
		const char *item = span.data + i * member->size;
		struct json *json = by_name && record_item_is_absent(member, item)
					    ? NULL
					    : item_to_json(member, item);

		if (json && by_name)
			json_put(whole, member->keys[i], json);
		else if (json)
			json_push(whole, json);
	}
	return whole;
}

static struct json *member_to_json(const struct record_member *member, const void *base)
{
	const struct record_span span = record_span(member, base);
	const bool optional = member->flags & RECORD_OPTIONAL && !(member->flags & RECORD_KEPT);
	struct json *json;

	if (optional && record_is_absent(member, base))
		return NULL;
	if (member->flags & RECORD_NULLABLE && record_is_absent(member, base))
		return json_new_string(NULL);
	switch (member->shape) {
	case RECORD_ONE:
		return item_to_json(member, span.data);
	case RECORD_OWNED:
		return span.count ? item_to_json(member, span.data) : NULL;
	case RECORD_MAPPED:
		return map_to_json(member->record, span, member->size);
	default:
		json = span_to_json(member, span);
		/* A custom item that writes nothing is absent. */
		if (member->shape == RECORD_BY_NAME && optional &&
			json_count(&(struct json_at){.node = json}) == 0) {
			json_free(json);
			return NULL;
		}
		return json;
	}
}

static void put_unknown(const struct json *members, struct json *object)
{
	const struct json_at at = json_root(members, NULL);
	struct json_at item = {0};

	while (json_next(&at, &item))
		json_put(object, item.key, json_copy(item.node));
}

static void put_object(const struct record *record, const void *value,
	const struct record_member *key, struct json *object)
{
	struct record_fields fields;
	struct json *json;

	record_fields_fill(record, &fields);
	for (size_t i = 0; i < fields.count; i++) {
		const struct record_member *member = fields.items[i].member;
		const char *base = (const char *)value + fields.items[i].base;

		if (member->flags & RECORD_OTHERS) {
			memcpy(&json, base + member->offset, sizeof(json));
			put_unknown(json, object);
		}
		if (member->flags & RECORD_NOT_JSON || member == key)
			continue;
		json = member_to_json(member, base);
		if (json)
			json_put(object, member->name, json);
	}
}

void record_put_json(const struct record *record, const void *value, struct json *object)
{
	put_object(record, value, NULL, object);
}

struct json *record_to_json(const struct record *record, const void *value)
{
	struct json *object = json_new_object();

	put_object(record, value, NULL, object);
	return object;
}

void record_append(const struct record *record, const void *value, struct text *text)
{
	CLEANUP(json_release) struct json *json = record_to_json(record, value);

	json_append(json, false, text);
}

bool record_equal(const struct record *record, const void *a, const void *b)
{
	CLEANUP(text_release) struct text x = {0}, y = {0};

	record_append(record, a, &x);
	record_append(record, b, &y);
	return strcmp(text_string(&x), text_string(&y)) == 0;
}
