/* SPDX-License-Identifier: MIT
 *
 * Digests of a candidate's outputs on probe inputs (measure/problem_data.h). Equal digests are
 * evidence that two candidates add in the same order.
 */
#ifndef FORMAT_BITS_H
#define FORMAT_BITS_H

#include "base/error.h"
#include "record/record.h"

/* Digest i covers the first 1 << i rows, and the last digest covers all rows. If there are
 * several outputs, a row is the same fraction of each. */
struct output_digest {
	unsigned inputs; /* number of probe inputs; 0: there are no digests */
	uint64_t rows;
	char **digests; /* 16 hexadecimal digits each; NULL-terminated */
};
RECORD_DECLARE(struct output_digest, output_digest_record);

/* Returns NULL if `bits` is NULL. The caller frees the copy with output_digest_free(). */
struct output_digest *output_digest_copy(const struct output_digest *bits);
void output_digest_free(struct output_digest **bits);

/* The number of digests that an output with that many rows has. */
size_t bits_digest_count(uint64_t rows);
/* The number of rows that digest i covers. */
uint64_t bits_digest_rows(uint64_t rows, size_t i);

enum digest_verdict {
	DIGEST_SAME,
	DIGEST_OTHER,
	DIGEST_UNKNOWN, /* one has no digests, the inputs differ, or they have no number of rows in
			 common */
};
/* Compares the digests of the largest number of rows that both have. *rows gets this number, or 0
 * if they have no number in common; `rows` may be NULL. */
enum digest_verdict output_digest_compare(
	const struct output_digest *a, const struct output_digest *b, uint64_t *rows);

/* Appends, for example, "16 rows on 2 inputs". */
void bits_describe(const struct output_digest *bits, uint64_t rows, struct text *text);

#endif
