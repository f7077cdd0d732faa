/* SPDX-License-Identifier: MIT
 *
 * GPUs as the driver lists them: how to name one, and what it tells of itself.
 */
#ifndef DRIVER_GPU_H
#define DRIVER_GPU_H

#include "driver/cuda_api.h"
#include "spec/device_spec.h"

enum {
	GPU_UUID_SIZE = 64
};

/* "GPU-8f6a..." */
enum status gpu_uuid(
	const struct cuda_api *cuda, CUdevice device, char uuid[GPU_UUID_SIZE], struct error *err);
/* name: an ordinal ("0") or a UUID ("GPU-8f6a...", or a unique beginning of one). STATUS_NO_DEVICE
 * if there is none: the message lists what there is. */
enum status gpu_find(
	const struct cuda_api *cuda, const char *name, CUdevice *device, struct error *err);
enum status gpu_facts(const struct cuda_api *cuda, CUdevice device, struct device_facts *facts,
	struct error *err);

#endif
