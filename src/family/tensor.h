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
	/* Expressions that read keys. NULL means 0. differ is the fraction of points that may
	 * exceed the tolerance. */
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
	/* name, role, dtype, contents, and pitch in elements, or 0 without padding */
	struct plan_buffer buffer;
	bool when;                       /* if false, the tensor has no bytes */
	uint64_t shape[TENSOR_RANK_MAX]; /* outermost dimension first */
	size_t rank;
	struct expression *expression; /* for CONTENTS_EXPRESSION; reads the keys and `index` */
	const char *file;              /* for CONTENTS_FILE: a file in the operation's folder */
	bool has_fill;
	double fill[2]; /* minimum and maximum, or mean and standard deviation */
	int64_t of;     /* for CONTENTS_OFFSETS: the last offset */
	double skew;    /* for CONTENTS_OFFSETS: exponent of Zipf's law */
	struct tolerance tolerance;
	/* values has one value per key. Errors: a dimension below 1, a pitch shorter than the row,
	 * more * than 2^63 bytes. */
	struct computed_list computed;
};
RECORD_DECLARE(struct tensor, tensor_record);
enum status tensor_evaluate(const struct tensor *tensor, struct value *values,
	struct plan_buffer *buffer, struct error *err);

#endif
