/* SPDX-License-Identifier: MIT
 *
 * Inside tune/candidates*.c only: the space of a family where the device is a recording.
 */
#ifndef ENGINE_CANDIDATES_RECORDED_H
#define ENGINE_CANDIDATES_RECORDED_H

#include "engine/candidates.h"

/* On a recording: fills in the configurations that it has of this problem and that are legal here
 * (what the templates no longer know is absent), in lexicographic order, and sets
 * family->recorded. On other devices: nothing. */
enum status candidates_recorded(const struct problem *problem, const struct device *device,
	struct family_candidates *family, struct error *err);

#endif
