/* SPDX-License-Identifier: MIT
 *
 * The end of a problem: winner, entry, tuned file.
 */
#ifndef TUNE_CONCLUDE_H
#define TUNE_CONCLUDE_H

#include "tune/search.h"

/* Selects the winner, writes the entry into tuned file and journal. STATUS_FAILED if nothing that
 * was evaluated is ok. */
enum status search_conclude(struct search *search, struct error *err);

#endif
