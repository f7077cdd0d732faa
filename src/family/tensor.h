/* SPDX-License-Identifier: MIT
 *
 * An operation's tensors: shape, type, initial contents, and tolerance of results ({"abs", "rel",
 * "differ"}, or "exact").
 */
#ifndef FAMILY_TENSOR_H
#define FAMILY_TENSOR_H

#include "family/buffer.h"

struct tolerance {
	bool is_given; /* if false, the element type determines the tolerance */
	/* Read keys; NULL means 0. differ is the fraction of points that may exceed the tolerance;
	 * NULL allows none. */
	struct expression *abs, *rel, *differ;
};
RECORD_DECLARE(struct tolerance, tolerance_record);

/* Sets the output's tolerance. values begins with the keys. Negative or infinite tolerances are
 * errors. */
enum status tolerance_evaluate(const struct tolerance *tolerance, enum dtype dtype,
	const struct value *values, struct reference_output *output, struct error *err);

enum {
	TENSOR_RANK_MAX = 8
};

struct tensor {
	/* name, role, dtype, contents, and the pitch in elements, which is 0 for no padding */
	struct plan_buffer buffer;
	bool when;                       /* if false, the tensor has no bytes */
	uint64_t shape[TENSOR_RANK_MAX]; /* outermost dimension first */
	size_t rank;
	struct expression *expression; /* CONTENTS_EXPRESSION: reads the keys, then `index` */
	const char *file;              /* CONTENTS_FILE: in the operation's folder */
	bool has_fill;
	double fill[2]; /* minimum and maximum, or mean and standard deviation */
	int64_t of;     /* offsets: the last one */
	double skew;    /* offsets: Zipf's exponent */
	struct tolerance tolerance;
	struct computed_list computed; /* computed members of this struct */
};
RECORD_DECLARE(struct tensor, tensor_record);
/* values has one value per key. Errors: a dimension below 1, a pitch shorter than the row, more
 * than 2^63 bytes. */
enum status tensor_evaluate(const struct tensor *tensor, struct value *values,
	struct plan_buffer *buffer, struct error *err);

#endif
