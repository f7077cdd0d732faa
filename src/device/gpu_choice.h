/* SPDX-License-Identifier: MIT
 *
 * Several GPUs of one model for one run: `cuda:all`, `cuda:0,cuda:2`.
 */
#ifndef DEVICE_GPU_CHOICE_H
#define DEVICE_GPU_CHOICE_H

#include "device/device.h"

/* Whether a device's name means several. */
bool gpu_choice_is_several(const char *device);

/* Opens and locks each, in the order in which they are named; no process is started before a device
 * is asked for something. One that does not open, as when another process holds it, is left out,
 * and *notice says so (the caller frees; NULL: nothing). Errors: STATUS_BAD_INPUT for GPUs of
 * several models, with the lists to use; STATUS_NO_DEVICE: none is left. */
enum status gpu_choice_open(const struct device_options *options, const char *names,
	struct device ***devices, size_t *count, char **notice, struct error *err);

#endif
