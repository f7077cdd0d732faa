/* SPDX-License-Identifier: MIT
 *
 * A tensor's elements in a file: NumPy's .npy (version 1 to 3, C order, little endian), or, by any
 * other name, the bytes alone, without pitch. Types that NumPy lacks are unsigned or void of their
 * size there.
 */
#ifndef CANDIDATE_ARRAY_FILE_H
#define CANDIDATE_ARRAY_FILE_H

#include "base/text.h"
#include "family/plan.h"

/* Only as many elements, and of the type, as the tensor has. */
enum status array_file_read(const char *path, const struct plan_buffer *tensor,
	struct text *elements, struct error *err);

#endif
