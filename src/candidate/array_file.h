/* SPDX-License-Identifier: MIT
 *
 * Reads the elements of a tensor from a NumPy file (.npy, versions 1 to 3, C order, little-endian),
 * or from raw bytes. Unsigned or void types represent types that NumPy lacks.
 */
#ifndef CANDIDATE_ARRAY_FILE_H
#define CANDIDATE_ARRAY_FILE_H

#include "base/text.h"
#include "plan/reference_plan.h"

/* The file must have exactly the tensor's number of elements and its type. */
enum status array_file_read(const char *path, const struct plan_buffer *tensor,
	struct text *elements, struct error *err);

enum {
	ARRAY_COMPUTED_MAX = 1 << 24, /* number of elements, whose computation takes some seconds */
};
/* Computes each element by an expression over keys and its linear `index`. Fails for more than
 * ARRAY_COMPUTED_MAX elements, or if the expression fails. */
enum status array_compute(const char *expression, const struct named_values *keys,
	const struct plan_buffer *tensor, struct text *elements, struct error *err);

#endif
