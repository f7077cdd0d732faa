/* SPDX-License-Identifier: MIT
 *
 * Selects the GPUs of "cuda:all" or "cuda:0,cuda:2".
 */
#ifndef DEVICE_SELECTION_H
#define DEVICE_SELECTION_H

#include "device/device.h"

struct gpu_selection {
	struct device_listing *list;
	size_t count;
	size_t *chosen; /* indices into list, in the given order */
	size_t chosen_count;
};

bool device_is_several(const char *name);
/* The caller releases the selection, also on failure. Errors: STATUS_BAD_INPUT for a wrong name, a
 * GPU named twice, or GPUs of several models; STATUS_NO_DEVICE for a missing GPU. */
enum status gpu_selection_open(const struct device_options *options, const char *names,
	struct gpu_selection *selection, struct error *err);
void gpu_selection_release(struct gpu_selection *selection);

#endif
