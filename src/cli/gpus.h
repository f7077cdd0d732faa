/* SPDX-License-Identifier: MIT
 *
 * Implements `tune --device cuda:all`: starts an ordinary `tune --shard I/N` for each GPU and
 * watches these processes. All share one tuned file and one journal.
 */
#ifndef CLI_GPUS_H
#define CLI_GPUS_H

#include "cli/tuning.h"

/* Runs the processes. `path` is the tuned file. `wrote` is the last line that each process
 * prints, which is suppressed; `out` gets their other output. If a GPU is lost, its part is
 * tuned by the next free GPU. Returns the errors of the processes, or STATUS_NO_DEVICE if no GPU
 * is left. */
enum status gpus_tune(struct tuning *tuning, const char *path, const char *wrote, FILE *out,
	bool progress, struct error *err);

#endif
