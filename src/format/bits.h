/* SPDX-License-Identifier: MIT
 *
 * Digests of a candidate's outputs on made inputs (measure/problem_data.h): whether two candidates
 * make their sums in the same order, as far as those inputs tell.
 */
#ifndef FORMAT_BITS_H
#define FORMAT_BITS_H

#include "base/error.h"
#include "record/record.h"

/* Digest i is of the first 1 << i rows; the last one of all rows. Where there are several outputs,
 * a row is the same part of each. */
struct bits {
	unsigned inputs; /* how many inputs it was run on; 0: there are no digests */
	uint64_t rows;
	char **digests; /* 16 hexadecimal digits; ends with NULL */
};
RECORD_DECLARE(struct bits, bits_record);

/* NULL of NULL; the caller frees with bits_free(). */
struct bits *bits_copy(const struct bits *bits);
void bits_free(struct bits **bits);

/* How many digests an output of that many rows has. */
size_t bits_digest_count(uint64_t rows);
/* How many rows the i-th is of. */
uint64_t bits_digest_rows(uint64_t rows, size_t i);

enum bits_verdict {
	BITS_SAME,
	BITS_OTHER,
	BITS_UNKNOWN, /* no digests, other inputs, or no rows in common */
};
/* By the rows that both have; rows: how many these are (0: none), may be NULL. */
enum bits_verdict bits_compare(const struct bits *a, const struct bits *b, uint64_t *rows);

/* "16 rows on 2 inputs" */
void bits_describe(const struct bits *bits, uint64_t rows, struct text *text);

#endif
