/* SPDX-License-Identifier: MIT */
#include "format/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

struct bits *bits_copy(const struct bits *bits)
{
	struct bits *copy = bits ? memory_zeroed(1, sizeof(*copy)) : NULL;

	if (bits)
		record_copy(&bits_record, bits, copy);
	return copy;
}

void bits_free(struct bits **bits)
{
	if (*bits)
		record_release(&bits_record, *bits);
	free(*bits);
	*bits = NULL;
}

size_t bits_digest_count(uint64_t rows)
{
	size_t count = 1;

	while (bits_digest_rows(rows, count - 1) < rows)
		count++;
	return count;
}

uint64_t bits_digest_rows(uint64_t rows, size_t i)
{
	return i < 64 && UINT64_C(1) << i < rows ? UINT64_C(1) << i : rows;
}

enum bits_verdict bits_compare(const struct bits *a, const struct bits *b, uint64_t *rows)
{
	const uint64_t fewest = a->rows < b->rows ? a->rows : b->rows;
	const char *of_a = NULL, *of_b = NULL;
	uint64_t common = 0;

	if (a->inputs && a->inputs == b->inputs)
		for (size_t i = 0; i < bits_digest_count(fewest); i++) {
			const uint64_t count = bits_digest_rows(a->rows, i);

			if (count != bits_digest_rows(b->rows, i))
				break;
			common = count;
			of_a = a->digests[i];
			of_b = b->digests[i];
		}
	if (rows)
		*rows = common;
	if (!common)
		return BITS_UNKNOWN;
	return strcmp(of_a, of_b) == 0 ? BITS_SAME : BITS_OTHER;
}

void bits_describe(const struct bits *bits, uint64_t rows, struct text *text)
{
	text_appendf(text, "%llu row%s on %u input%s", (unsigned long long)rows,
		rows == 1 ? "" : "s", bits->inputs, bits->inputs == 1 ? "" : "s");
}

/* ---- JSON ---- */
static bool is_digest(const char *text)
{
	return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

static const struct record_rule digest_rule = {
	.expected = "16 hexadecimal digits", .accepts = is_digest};

static const struct record_member bits_members[] = {
	RECORD_VALUE(struct bits, inputs, "inputs", .low = 1, .high = INFINITY),
	RECORD_VALUE(struct bits, rows, "rows", .low = 1, .high = INFINITY),
	RECORD_STRINGS(struct bits, digests, "digests", .rule = &digest_rule, .count_min = 1),
};

static enum status bits_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct bits *bits = value;
	size_t count = 0;

	(void)context;
	while (bits->digests[count])
		count++;
	if (count == bits_digest_count(bits->rows))
		return STATUS_OK;
	return json_invalid(at, err, "expected %zu digests, one for each part of the %llu rows",
		bits_digest_count(bits->rows), (unsigned long long)bits->rows);
}

RECORD_DEFINE(
	struct bits, bits_record, bits_members, .name = "bits", .open = true, .check = bits_check);
