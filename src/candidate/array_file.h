/* SPDX-License-Identifier: MIT
 *
 * A tensor's elements in a file: NumPy's .npy (version 1 to 3, C order, little endian), or, by any
 * other name, the bytes alone, without pitch. Types that NumPy lacks are unsigned or void of their
 * size there.
 */
#ifndef CANDIDATE_ARRAY_FILE_H
#define CANDIDATE_ARRAY_FILE_H

#include "base/text.h"
#include "plan/reference_plan.h"

/* Only as many elements, and of the type, as the tensor has. */
enum status array_file_read(const char *path, const struct plan_buffer *tensor,
	struct text *elements, struct error *err);

enum {
	ARRAY_COMPUTED_MAX = 1 << 24, /* elements: some seconds */
};
/* The same from an expression over `index` (linear) and keys. Errors: more elements than that, an
 * expression that fails. */
enum status array_compute(const char *expression, const struct named_values *keys,
	const struct plan_buffer *tensor, struct text *elements, struct error *err);

#endif
