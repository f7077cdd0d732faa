/* SPDX-License-Identifier: MIT
 *
 * Digests of a candidate's outputs on probe inputs. Two candidates with equal digests probably add
 * in the same order.
 */
#ifndef FORMAT_BITS_H
#define FORMAT_BITS_H

#include "record/record.h"

/* Digest i covers the first 1 << i rows, the last one all rows. With several outputs, a row is the
 * same fraction of each. */
struct output_digest {
	unsigned inputs; /* number of probe inputs; 0: no digests */
	uint64_t rows;
	char **digests; /* 16 hexadecimal digits each; NULL-terminated */
};
RECORD_DECLARE(struct output_digest, output_digest_record);

/* Returns NULL for NULL. The caller frees the copy. */
struct output_digest *output_digest_copy(const struct output_digest *bits);
void output_digest_free(struct output_digest **bits);

size_t bits_digest_count(uint64_t rows);
uint64_t bits_digest_rows(uint64_t rows, size_t i);

enum digest_verdict {
	DIGEST_SAME,
	DIGEST_OTHER,
	DIGEST_UNKNOWN, /* no digests, other inputs, or no number of rows in common */
};
/* Compares the digests of the largest number of rows that both have, and stores this number, or 0,
 * in *rows (may be NULL). */
enum digest_verdict output_digest_compare(
	const struct output_digest *a, const struct output_digest *b, uint64_t *rows);

/* Appends "16 rows on 2 inputs". */
void bits_describe(const struct output_digest *bits, uint64_t rows, struct text *text);

#endif
