/* SPDX-License-Identifier: MIT
 *
 * An operation's tensors: shape, type, what they hold before a run, how near a result must be to
 * what is expected ({"abs", "rel", "differ"}, or "exact").
 */
#ifndef FAMILY_TENSOR_H
#define FAMILY_TENSOR_H

#include "family/buffer.h"

struct tolerance {
	bool is_given; /* else by element type */
	/* over keys; NULL: 0. differ: the ratio of points that may be further away. */
	struct expression *abs, *rel, *differ;
};
extern const struct record_custom tolerance_member;

/* Fills the output's tolerance. values: keys first. Errors: negative or infinite ones. */
enum status tolerance_evaluate(const struct tolerance *tolerance, enum dtype dtype,
	const struct value *values, struct reference_output *output, struct error *err);

enum {
	TENSOR_RANK_MAX = 8
};

struct tensor {
	const char *name;             /* borrowed from the operation's JSON */
	struct expression_list shape; /* outermost dimension first */
	struct expression *ld;        /* elements; NULL: packed */
	struct expression *when;      /* else it has no bytes; NULL: always there */
	struct expression *dtype;
	enum buffer_role role;
	bool has_fill;
	enum buffer_contents contents;
	struct expression *expression; /* of CONTENTS_EXPRESSION: over the keys, then `index` */
	const char *file;              /* of CONTENTS_FILE: in the operation's folder */
	double fill[2];                /* lowest, highest; or mean, standard deviation */
	struct expression *of, *skew;  /* of offsets: the last one, Zipf's exponent (NULL: 0) */
	struct tolerance tolerance;    /* of an output */
};
RECORD_DECLARE(struct tensor, tensor_record);
/* values: one per key. Errors: a dimension below 1, a pitch below the row, more than 2^63 bytes. */
enum status tensor_evaluate(const struct tensor *tensor, const struct value *values,
	struct plan_buffer *buffer, struct error *err);

#endif
