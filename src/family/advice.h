/* SPDX-License-Identifier: MIT
 *
 * "advise" of an operation: which of its keys may be chosen a little larger or smaller, and to
 * multiples of what.
 *
 *	"advise": {
 *	  "sizes":   { "N": {"multiples": "[8, 64, 128]", "padding": true} },
 *	  "pitches": { "ldb": {"multiples": "[16 // dtype_bytes(dtype)]"} },
 *	  "sweep":   "M=4096,N=4096,K=4096,dtype=bf16" }
 *
 * A size with "padding": filled up with zeros, the larger problem holds the asked one's result; the
 * other sizes are a choice of whoever designs the model. A pitch (elements from row to row) changes
 * neither work nor result. Multiples are expressions over the keys. "sweep" is a problem's text:
 *what a sweep over some keys takes for those that nobody gave.
 */
#ifndef FAMILY_ADVICE_H
#define FAMILY_ADVICE_H

#include "family/catalogue.h"

struct advice_axis {
	size_t key; /* of the operation; an integer */
	bool is_pitch;
	bool is_padding;
	struct expression *multiples; /* a list of integers */
};

struct advice_list {
	struct advice_axis *items;
	size_t count;
	const char *sweep; /* borrowed from the JSON; "" if there is none */
};

/* root: the operation's JSON; its keys have been read. */
enum status operation_advice_read(
	const struct json_at *root, struct operation *operation, struct error *err);
void advice_list_release(struct advice_list *list);

/* Axes of an operation; count 0: it gives no advice. */
const struct advice_list *operation_advice(const struct operation *operation);
/* The axis' multiples for a problem, ascending, without those below 2. Caller frees *multiples. */
enum status advice_multiples(const struct problem *problem, const struct advice_axis *axis,
	int64_t **multiples, size_t *count, struct error *err);
/* The names of the first alias of a key ("batch", "seq" of M); *count is 0 without one. */
const char *const *advice_alias_parts(const struct operation *operation, size_t key, size_t *count);

#endif
