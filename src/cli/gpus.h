/* SPDX-License-Identifier: MIT
 *
 * `tune --device cuda:all`: starts an ordinary `tune --shard I/N` for each GPU, all with one tuned
 * file and one journal, and watches them.
 */
#ifndef CLI_GPUS_H
#define CLI_GPUS_H

#include "cli/tuning.h"

/* path: the tuned file. wrote: the last line of each process, which is not printed. out: gets what
 * the processes print. The part of a GPU that is lost is tuned by the next GPU that is free.
 * Errors: those of the processes; STATUS_NO_DEVICE if no GPU is left. */
enum status gpus_tune(struct tuning *tuning, const char *path, const char *wrote, FILE *out,
	bool progress, struct error *err);

#endif
