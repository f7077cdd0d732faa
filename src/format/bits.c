/* SPDX-License-Identifier: MIT */
#include "format/bits.h"

#include <math.h>

struct output_digest *output_digest_copy(const struct output_digest *bits)
{
	struct output_digest *copy = bits ? memory_zeroed(1, sizeof(*copy)) : NULL;

	if (bits)
		record_copy(&output_digest_record, bits, copy);
	return copy;
}

void output_digest_free(struct output_digest **bits)
{
	if (*bits)
		record_release(&output_digest_record, *bits);
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

enum digest_verdict output_digest_compare(
	const struct output_digest *a, const struct output_digest *b, uint64_t *rows)
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
		return DIGEST_UNKNOWN;
	return strcmp(of_a, of_b) == 0 ? DIGEST_SAME : DIGEST_OTHER;
}

void bits_describe(const struct output_digest *bits, uint64_t rows, struct text *text)
{
	text_appendf(text, "%llu row%s on %u input%s", (unsigned long long)rows,
		rows == 1 ? "" : "s", bits->inputs, bits->inputs == 1 ? "" : "s");
}

static bool is_digest(const char *text)
{
	return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

static const struct record_rule digest_rule = {
	.expected = "16 hexadecimal digits", .accepts = is_digest};

static const struct record_member bits_members[] = {
	RECORD_VALUE(struct output_digest, inputs, "inputs", .low = 1, .high = INFINITY),
	RECORD_VALUE(struct output_digest, rows, "rows", .low = 1, .high = INFINITY),
	RECORD_STRINGS(
		struct output_digest, digests, "digests", .rule = &digest_rule, .count_min = 1),
};

static enum status bits_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct output_digest *bits = value;
	size_t count = 0;

	(void)context;
	while (bits->digests[count])
		count++;
	if (count == bits_digest_count(bits->rows))
		return STATUS_OK;
	return json_invalid(at, err, "expected %zu digests, one for each part of the %llu rows",
		bits_digest_count(bits->rows), (unsigned long long)bits->rows);
}

RECORD_DEFINE(struct output_digest, output_digest_record, bits_members, .name = "bits",
	.open = true, .check = bits_check);
