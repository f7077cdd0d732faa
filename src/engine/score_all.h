/* SPDX-License-Identifier: MIT
 *
 * The model's time of every candidate, before anything is compiled.
 */
#ifndef ENGINE_SCORE_ALL_H
#define ENGINE_SCORE_ALL_H

#include "engine/candidates.h"

/* Fills predicted_us. Large spaces are scored by one forked child per core: expressions keep
 * scratch, so threads would need copies of everything, which a child has for free. This process
 * holds no driver, compiler or thread that a fork could hurt. */
enum status score_all(struct candidates *candidates, struct error *err);

#endif
