/* SPDX-License-Identifier: MIT
 *
 * Several GPUs of one model in one run: `cuda:all`, `cuda:0,cuda:2`. Each has a thread that drives
 * its measuring worker (process/team.h); compilers, kernels, catalogue and files are shared.
 */
#ifndef ENGINE_GPUS_H
#define ENGINE_GPUS_H

#include "engine/context.h"

/* Whether a device's name means several. */
bool gpus_named(const char *device);

/* Context of the first, whose `others` are the contexts of the rest, without their helper kernels
 * yet (gpus_join()). One of the rest that does not open is left out with a notice. Errors: as
 * context_open(); STATUS_BAD_INPUT for GPUs of several models, with the lists to use. */
enum status gpus_open(
	const struct context_options *options, struct context *context, struct error *err);
void gpus_release(struct context *context); /* part of context_release() */

/* Called by the thread of one of the others, in its turn: from now on it measures. *notice (the
 * caller frees; NULL: nothing) says that it is slower or faster than the first GPU. */
enum status gpus_join(
	const struct context *first, struct context *context, char **notice, struct error *err);

#endif
