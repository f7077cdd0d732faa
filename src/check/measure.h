/* SPDX-License-Identifier: MIT
 *
 * The part of a check that needs a GPU.
 */
#ifndef CHECK_MEASURE_H
#define CHECK_MEASURE_H

#include "check/check.h"

/* Loads, verifies, times and judges all rows that can run, some at a time. */
enum status check_measure(struct check *check, struct error *err);

#endif
