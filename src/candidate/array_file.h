/* SPDX-License-Identifier: MIT
 *
 * A tensor's elements from NumPy's .npy (versions 1 to 3, C order, little-endian) or, with any
 * other name, from raw bytes. Types that NumPy lacks are unsigned or void of the same size.
 */
#ifndef CANDIDATE_ARRAY_FILE_H
#define CANDIDATE_ARRAY_FILE_H

#include "base/text.h"
#include "plan/reference_plan.h"

/* The file must have exactly the tensor's number of elements and its type. */
enum status array_file_read(const char *path, const struct plan_buffer *tensor,
	struct text *elements, struct error *err);

enum {
	ARRAY_COMPUTED_MAX = 1 << 24, /* elements; takes some seconds */
};
/* Computes the elements from an expression over `index` (linear) and keys. Errors: more than
 * ARRAY_COMPUTED_MAX elements, or the expression fails. */
enum status array_compute(const char *expression, const struct named_values *keys,
	const struct plan_buffer *tensor, struct text *elements, struct error *err);

#endif
