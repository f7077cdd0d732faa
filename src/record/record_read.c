/* SPDX-License-Identifier: MIT */
#include "record/record_read.h"

#include <math.h>

#include "base/base64.h"

struct reading {
	record_computed *computed; /* NULL if no member may be computed */
	void *context;
	struct error *err;
};

static enum status read_object(const struct record *record, const struct json_at *at, void *value,
	const struct record_member *key, const struct reading *reading);

enum status record_name_from_json(
	const struct json_at *at, const char *const *names, int *index, struct error *err)
{
	CLEANUP(text_release) struct text expected = {0};
	const char *name;
	const size_t count = record_name_count(names);

	TRY(json_get_string(at, &name, err));
	*index = name_find(name, names);
	if (*index >= 0)
		return STATUS_OK;
	for (size_t i = 0; i < count; i++)
		text_appendf(&expected, "%s\"%s\"",
			i == 0                       ? count > 2 ? "one of " : ""
			: i + 1 < count || count > 2 ? ", "
						     : " or ",
			names[i]);
	json_error(at, err, "%s", text_string(&expected));
	return name_hint(name, names, err);
}

/* low and high are infinite if unbounded. */
static enum status refuse_number(const struct json_at *at, const struct record_member *member,
	const char *what, double low, double high, struct error *err)
{
	if (member->expected)
		return json_error(at, err, "%s", member->expected);
	if (isfinite(high))
		return json_error(at, err, "%s from %.15g to %.15g", what, low, high);
	if (isfinite(low))
		return json_error(at, err, "%s of at least %.15g", what, low);
	return json_error(at, err, "%s", what);
}

static enum status read_integer(
	const struct json_at *at, const struct record_member *member, void *item, struct error *err)
{
	int64_t value;
	uint64_t bits;
	const bool is_signed = member->kind == RECORD_KIND_INT;
	const int width = 8 * (int)member->size;
	double low = is_signed ? width < 64 ? -ldexp(1, width - 1) : -INFINITY : 0;
	double high = width < 64 ? ldexp(1, width - is_signed) - 1 : INFINITY;

	if ((is_signed ? json_get_int(at, &value, NULL) : json_get_uint(at, &bits, NULL)) ==
			STATUS_OK &&
		record_allows(member, is_signed ? value : (int64_t)bits)) {
		record_store(member, item, is_signed ? value : (int64_t)bits);
		return STATUS_OK;
	}
	if (record_has_range(member)) {
		low = fmax(low, member->low);
		high = fmin(high, member->high);
	}
	return refuse_number(at, member, "an integer", low, high, err);
}

static enum status read_real(
	const struct json_at *at, const struct record_member *member, void *item, struct error *err)
{
	const bool is_whole = member->flags & RECORD_WHOLE, has_range = record_has_range(member);
	double value;

	if (json_type(at) == JSON_NUMBER) {
		TRY(json_get_double(at, &value, err));
		/* a whole number may exceed 64 bits */
		if ((!is_whole || value == floor(value)) && record_allows_real(member, value)) {
			memcpy(item, &value, sizeof(value));
			return STATUS_OK;
		}
	}
	return refuse_number(at, member, is_whole && !has_range ? "a whole number" : "a number",
		has_range ? member->low : -INFINITY, has_range ? member->high : INFINITY, err);
}

static enum status store_string(const struct json_at *at, const struct record_member *member,
	void *item, const char *string, struct error *err)
{
	const struct record_rule *rule = member->rule;

	if (rule && !(rule->accepts ? rule->accepts(string) : *string != '\0'))
		return json_error(at, err, "%s", rule->expected);
	if (member->kind == RECORD_KIND_TEXT && strlen(string) >= member->size)
		return json_error(at, err, "a string of at most %zu bytes", member->size - 1);
	record_store_string(member, item, string);
	return STATUS_OK;
}

static enum status read_flags(
	const struct json_at *at, const struct record_member *member, void *item, struct error *err)
{
	struct json_at name = {0};
	int64_t flags = 0;
	int index;

	TRY(json_expect(at, JSON_ARRAY, err));
	while (json_next(at, &name)) {
		TRY(record_name_from_json(&name, member->names, &index, err));
		flags |= (int64_t)1 << index;
	}
	record_store(member, item, flags);
	return STATUS_OK;
}

/* A string that is no name of the enum is an expression. */
static bool is_computed(
	const struct json_at *at, const struct record_member *member, const struct reading *reading)
{
	const char *text;

	return reading->computed && member->computed &&
	       json_get_string(at, &text, NULL) == STATUS_OK &&
	       (member->kind != RECORD_KIND_ENUM || name_find(text, member->names) < 0);
}

static enum status read_item(const struct json_at *at, const struct record_member *member,
	void *item, const struct reading *reading)
{
	struct error *err = reading->err;
	const char *string;
	struct json *json;
	bool boolean;
	int index;

	if (is_computed(at, member, reading))
		return reading->computed(at, member, item, reading->context, err);
	switch (member->kind) {
	case RECORD_KIND_BOOL:
		TRY(json_get_bool(at, &boolean, err));
		record_store(member, item, boolean);
		return STATUS_OK;
	case RECORD_KIND_INT:
	case RECORD_KIND_UINT:
		return read_integer(at, member, item, err);
	case RECORD_KIND_REAL:
		return read_real(at, member, item, err);
	case RECORD_KIND_STRING:
	case RECORD_KIND_BORROWED:
	case RECORD_KIND_TEXT:
		TRY(json_get_string(at, &string, err));
		return store_string(at, member, item, string, err);
	case RECORD_KIND_BYTES:
		TRY(json_get_string(at, &string, err));
		return base64_decode(string, item) ? STATUS_OK : json_error(at, err, "base64");
	case RECORD_KIND_JSON:
		json = json_copy(at->node);
		memcpy(item, &json, sizeof(json));
		return STATUS_OK;
	case RECORD_KIND_ENUM:
		TRY(record_name_from_json(at, member->names, &index, err));
		record_store(member, item, index);
		return STATUS_OK;
	case RECORD_KIND_FLAGS:
		return read_flags(at, member, item, err);
	case RECORD_KIND_RECORD:
		return read_object(member->record, at, item, NULL, reading);
	case RECORD_KIND_CUSTOM:
		return member->custom->read ? member->custom->read(at, item, reading->context, err)
					    : STATUS_OK;
	case RECORD_KIND_CONSTANT:
		TRY(json_get_string(at, &string, err));
		return strcmp(string, member->constant) == 0
			       ? STATUS_OK
			       : json_error(at, err, "\"%s\"", member->constant);
	case RECORD_KIND_COMMENT:
		return json_expect(at, JSON_STRING, err);
	default:
		BUG("member %s cannot be read from JSON", member->name);
	}
}

static enum status read_entry(const struct json_at *at, const struct record *record, void *item,
	const struct reading *reading)
{
	const struct record_member *key = &record->members[0], *value = &record->members[1];

	TRY(store_string(at, key, (char *)item + key->offset, at->key, reading->err));
	if (record->member_count != 2 || *value->name)
		return read_object(record, at, item, key, reading);
	TRY(read_item(at, value, (char *)item + value->offset, reading));
	return record->check ? record->check(item, at, reading->context, reading->err) : STATUS_OK;
}

static enum status read_by_name(const struct json_at *at, const struct record_member *member,
	char *data, const struct reading *reading)
{
	struct json_at item = {0};

	TRY(json_expect_keys(at, member->keys, reading->err));
	while (json_next(at, &item)) {
		const size_t index = (size_t)name_find(item.key, member->keys);

		if (index >= member->length)
			BUG("member %s has more keys than items", member->name);
		TRY(read_item(&item, member, data + index * member->size, reading));
	}
	return STATUS_OK;
}

static enum status read_list(const struct json_at *at, const struct record_field *of, void *base,
	const struct reading *reading)
{
	const struct record_member *member = of->member;
	const bool mapped = member->shape == RECORD_MAPPED;
	const bool lone = member->flags & RECORD_SCALAR_OR_LIST && json_type(at) != JSON_ARRAY;
	const size_t count = lone ? 1 : json_count(at);
	struct json_at item = {0};
	char *data;

	if (!lone)
		TRY(json_expect(at, mapped ? JSON_OBJECT : JSON_ARRAY, reading->err));
	if (count < member->count_min || (member->count_max && count > member->count_max)) {
		const bool few = count < member->count_min;
		const size_t bound = few ? member->count_min : member->count_max;

		return json_error(at, reading->err, "%s%zu %s%s",
			member->count_min == member->count_max ? ""
			: few                                  ? "at least "
							       : "at most ",
			bound, mapped ? "member" : "element", bound == 1 ? "" : "s");
	}
	data = record_reserve(of->record, member, base, count);
	if (!data && member->length && (member->shape == RECORD_FIXED || count > member->length))
		return json_error(at, reading->err, "%s%zu elements",
			member->shape == RECORD_FILLED ? "at most " : "", member->length);
	if (!data)
		return json_error(at, reading->err, "as many elements as its other lists have");
	if (lone)
		return read_item(at, member, data, reading);
	while (json_next(at, &item)) {
		TRY(mapped ? read_entry(&item, member->record, data, reading)
			   : read_item(&item, member, data, reading));
		data += member->size;
	}
	return STATUS_OK;
}

static enum status read_member(const struct json_at *at, const struct record_field *of, void *base,
	const struct reading *reading)
{
	const struct record_member *member = of->member;
	char *field = (char *)base + member->offset;

	if (member->flags & RECORD_NULLABLE && json_type(at) == JSON_NULL) {
		record_set_absent(member, base);
		if (member->kind == RECORD_KIND_REAL) /* the value is present but not finite */
			record_set_present(member, base);
		if (member->kind == RECORD_KIND_REAL && isfinite(member->absent))
			memcpy(field, &(double){NAN}, sizeof(double));
		return STATUS_OK;
	}
	record_set_present(member, base);
	switch (member->shape) {
	case RECORD_OWNED:
		return read_item(at, member, record_reserve(of->record, member, base, 1), reading);
	case RECORD_LIST:
	case RECORD_FIXED:
	case RECORD_FILLED:
	case RECORD_MAPPED:
		return read_list(at, of, base, reading);
	case RECORD_BY_NAME:
		record_set_absent(member, base);
		return read_by_name(at, member, field, reading);
	default:
		return read_item(at, member, field, reading);
	}
}

static void keep_unknown(const struct record *record, const struct json_at *item, void *value)
{
	for (size_t i = 0; i < record->member_count; i++) {
		struct json *object;

		if (!(record->members[i].flags & RECORD_OTHERS))
			continue;
		memcpy(&object, (char *)value + record->members[i].offset, sizeof(object));
		if (!object)
			object = json_new_object();
		json_put(object, item->key, json_copy(item->node));
		memcpy((char *)value + record->members[i].offset, &object, sizeof(object));
	}
}

static enum status read_unknown(const struct record *record, const struct record_fields *fields,
	const struct json_at *item, void *value, const struct reading *reading)
{
	const char *names[RECORD_MEMBERS_MAX + 1] = {NULL};
	size_t count = 0;

	if (record->open) {
		keep_unknown(record, item, value);
		return STATUS_OK;
	}
	for (size_t i = 0; i < fields->count; i++)
		if (!(fields->items[i].member->flags & RECORD_NOT_JSON))
			names[count++] = fields->items[i].member->name;
	json_invalid(item, reading->err, "unknown member");
	return name_hint(item->key, names, reading->err);
}

/* key is a member stored outside of the object, or NULL. */
static enum status read_object(const struct record *record, const struct json_at *at, void *value,
	const struct record_member *key, const struct reading *reading)
{
	struct json_at found[RECORD_MEMBERS_MAX], item = {0};
	struct record_fields fields;
	size_t next = 0;

	const bool is_short = record->short_form && json_type(at) != JSON_OBJECT;

	if (!is_short)
		TRY(json_expect(at, JSON_OBJECT, reading->err));
	record_fields_fill(record, &fields);
	memset(found, 0, fields.count * sizeof(found[0]));
	if (is_short)
		found[record_field_find(&fields, record->short_form, 0)] = *at;
	while (!is_short && json_next(at, &item)) {
		const size_t index = record_field_find(&fields, item.key, next);

		if (index < fields.count && fields.items[index].member != key) {
			found[index] = item;
			next = index + 1;
		} else {
			TRY(read_unknown(record, &fields, &item, value, reading));
		}
	}
	for (size_t i = 0; i < fields.count; i++) {
		const struct record_member *member = fields.items[i].member;
		void *base = (char *)value + fields.items[i].base;

		if (member->flags & RECORD_NOT_JSON || member == key)
			continue;
		if (found[i].node) {
			TRY(read_member(&found[i], &fields.items[i], base, reading));
			continue;
		}
		if (!(member->flags & RECORD_OPTIONAL) && !is_short)
			return json_invalid(
				at, reading->err, "the member \"%s\" is missing", member->name);
		record_set_absent(member, base);
	}
	return record->check ? record->check(value, at, reading->context, reading->err) : STATUS_OK;
}

enum status record_from_json(const struct record *record, const struct json_at *at, void *value,
	void *context, struct error *err)
{
	return record_from_json_computed(record, at, value, NULL, context, err);
}

enum status record_from_json_computed(const struct record *record, const struct json_at *at,
	void *value, record_computed *computed, void *context, struct error *err)
{
	const struct reading reading = {.computed = computed, .context = context, .err = err};

	if (read_object(record, at, value, NULL, &reading) == STATUS_OK)
		return STATUS_OK;
	record_release(record, value);
	return STATUS_BAD_INPUT;
}

enum status record_check(const struct record *record, const struct json_at *at, struct error *err)
{
	CLEANUP(memory_free) void *value = memory_zeroed(1, record->size);

	TRY(record_from_json(record, at, value, NULL, err));
	record_release(record, value);
	return STATUS_OK;
}
