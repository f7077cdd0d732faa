/* SPDX-License-Identifier: MIT
 *
 * Names of schedules in family JSON.
 */
#ifndef KERNEL_SCHEDULE_NAME_H
#define KERNEL_SCHEDULE_NAME_H

#include <stdbool.h>

#include "kernel/work.h"

const char *schedule_name(enum schedule schedule); /* "stream_k" */
bool schedule_find(const char *name, enum schedule *schedule);

#endif
