/* SPDX-License-Identifier: MIT */
#include "record/record_cells.h"

#include <math.h>
#include <string.h>

void csv_append(struct text *line, const char *field)
{
	const bool is_formula = *field && strchr("=+-@\t", *field);

	if (!is_formula && !field[strcspn(field, ",\"\r\n")]) {
		text_append(line, field);
		return;
	}
	text_append(line, is_formula ? "\"'" : "\"");
	for (; *field; field++) {
		if (*field == '"')
			text_append_char(line, '"');
		text_append_char(line, *field);
	}
	text_append_char(line, '"');
}

static void append_cell(const struct record_member *member, const char *item, struct text *line)
{
	const char *string = NULL;
	double number = NAN;

	switch (member->kind) {
	case RECORD_KIND_REAL:
		number = record_load_real(member, item);
		break;
	case RECORD_KIND_INT:
		number = (double)record_load(member, item);
		break;
	case RECORD_KIND_UINT:
		number = (double)(uint64_t)record_load(member, item);
		break;
	case RECORD_KIND_ENUM:
		string = member->names[record_load(member, item)];
		break;
	case RECORD_KIND_TEXT:
		string = item;
		break;
	default: /* a pointer */
		memcpy(&string, item, sizeof(string));
	}
	if (string)
		csv_append(line, string);
	else if (isfinite(number))
		text_append_real(line, number);
}

void record_cells(const struct record *record, const void *value, const char *const *without,
	struct text *line)
{
	const unsigned kinds = 1u << RECORD_KIND_REAL | 1u << RECORD_KIND_INT |
			       1u << RECORD_KIND_UINT | 1u << RECORD_KIND_ENUM |
			       1u << RECORD_KIND_STRING | 1u << RECORD_KIND_BORROWED |
			       1u << RECORD_KIND_TEXT;
	struct record_fields fields;

	record_fields_fill(record, &fields);
	for (size_t i = 0; i < fields.count; i++) {
		const struct record_member *member = fields.items[i].member;
		const char *base = value ? (const char *)value + fields.items[i].base : NULL;

		if (member->flags & RECORD_NOT_JSON || member->shape != RECORD_ONE ||
			!(kinds & 1u << member->kind) || name_find(member->name, without) >= 0)
			continue;
		if (!base)
			csv_append(line, member->name);
		else if (!(member->present || member->flags & RECORD_OPTIONAL) ||
			 !record_is_absent(member, base))
			append_cell(member, base + member->offset, line);
		text_append_char(line, ',');
	}
}
