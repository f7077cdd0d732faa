/* SPDX-License-Identifier: MIT
 *
 * Names of schedules in family JSON.
 */
#ifndef FAMILY_SCHEDULE_NAME_H
#define FAMILY_SCHEDULE_NAME_H

#include <stdbool.h>

#include "family/work.h"

const char *schedule_name(enum schedule schedule); /* "stream_k" */
bool schedule_find(const char *name, enum schedule *schedule);

#endif
