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

void record_cells(const struct record *record, const void *value,
	void (*each)(const struct record_cell *cell, void *context), void *context)
{
	struct record_fields fields;

	record_fields_fill(record, &fields);
	for (size_t i = 0; i < fields.count; i++) {
		const struct record_member *member = fields.items[i].member;
		const char *base = value ? (const char *)value + fields.items[i].base : NULL;

		if (member->flags & RECORD_NOT_JSON || member->shape != RECORD_ONE ||
			member->kind > RECORD_KIND_FLAGS || member->kind == RECORD_KIND_BYTES ||
			member->kind == RECORD_KIND_JSON)
			continue;
		if (base && (member->present || member->flags & RECORD_OPTIONAL) &&
			record_is_absent(member, base))
			base = NULL;
		each(&(struct record_cell){member, base ? base + member->offset : NULL}, context);
	}
}

double record_cell_number(const struct record_cell *cell)
{
	const enum record_kind kind = cell->member->kind;

	if (cell->item && kind == RECORD_KIND_REAL)
		return record_load_real(cell->member, cell->item);
	if (cell->item && kind == RECORD_KIND_INT)
		return (double)record_load(cell->member, cell->item);
	if (cell->item && kind == RECORD_KIND_UINT)
		return (double)(uint64_t)record_load(cell->member, cell->item);
	return NAN;
}

const char *record_cell_string(const struct record_cell *cell)
{
	const struct record_member *member = cell->member;
	const char *string = cell->item;

	if (!cell->item)
		return NULL;
	switch (member->kind) {
	case RECORD_KIND_BOOL:
		return record_load(member, cell->item) ? "true" : "false";
	case RECORD_KIND_ENUM:
		return member->names[record_load(member, cell->item)];
	case RECORD_KIND_STRING:
	case RECORD_KIND_BORROWED:
		memcpy(&string, cell->item, sizeof(string));
		return string;
	case RECORD_KIND_TEXT:
		return string;
	default:
		return NULL;
	}
}
