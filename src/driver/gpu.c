/* SPDX-License-Identifier: MIT */
#include "driver/gpu.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum status gpu_uuid(
	const struct cuda_api *cuda, CUdevice device, char uuid[GPU_UUID_SIZE], struct error *err)
{
	static const char digits[] = "0123456789abcdef";
	CUuuid raw = {{0}};
	struct text text = {0};
	CUresult result = cuda->cuDeviceGetUuid(&raw, device);

	if (result != CUDA_SUCCESS)
		return cuda_check(cuda, result, "cuDeviceGetUuid", err);
	text_append(&text, "GPU-");
	for (int i = 0; i < 16; i++) {
		unsigned char byte = (unsigned char)raw.bytes[i];

		if (i == 4 || i == 6 || i == 8 || i == 10)
			text_append_char(&text, '-');
		text_append_char(&text, digits[byte >> 4]);
		text_append_char(&text, digits[byte & 15]);
	}
	string_put(uuid, GPU_UUID_SIZE, text.data);
	text_release(&text);
	return STATUS_OK;
}

static bool is_ordinal(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length > 4)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isdigit((unsigned char)name[i]))
			return false;
	return true;
}

enum status gpu_find(
	const struct cuda_api *cuda, const char *name, CUdevice *device, struct error *err)
{
	struct text seen = {0};
	int count = 0, matches = 0;
	enum status status =
		cuda_check(cuda, cuda->cuDeviceGetCount(&count), "cuDeviceGetCount", err);

	if (status != STATUS_OK)
		return status;
	for (int i = 0; status == STATUS_OK && i < count; i++) {
		char uuid[GPU_UUID_SIZE] = "";
		CUdevice candidate;

		status = cuda_check(cuda, cuda->cuDeviceGet(&candidate, i), "cuDeviceGet", err);
		if (status == STATUS_OK)
			status = gpu_uuid(cuda, candidate, uuid, err);
		if (status != STATUS_OK)
			break;
		text_appendf(&seen, "%s%d (%s)", i ? ", " : "", i, uuid);
		if (is_ordinal(name) ? atoi(name) == i
				     : strlen(name) >= 4 && string_starts_with(uuid, name)) {
			*device = candidate;
			matches++;
		}
	}
	if (status == STATUS_OK && matches != 1)
		status = error_set(err, STATUS_NO_DEVICE,
			"GPU: expected one GPU with the number or UUID %s, found %s among: %s",
			name, matches ? "several" : "none",
			count ? text_string(&seen) : "no GPU at all");
	text_release(&seen);
	return status;
}

enum status gpu_facts(
	const struct cuda_api *cuda, CUdevice device, struct device_facts *facts, struct error *err)
{
	int major = 0, minor = 0, clock_khz = 0, memory_khz = 0, bus_bits = 0;
	int l2 = 0, reserved = 0, block_smem = 0, sm_smem = 0;
	size_t total = 0;
	enum status status;
	struct {
		CUdevice_attribute attribute;
		int *small;
		int64_t *wide;
	} wanted[] = {
		{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major, NULL},
		{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor, NULL},
		{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, NULL, &facts->sm_count},
		{CU_DEVICE_ATTRIBUTE_WARP_SIZE, NULL, &facts->warp_size},
		{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, NULL, &facts->max_threads_per_block},
		{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, NULL,
			&facts->max_threads_per_sm},
		{CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, NULL,
			&facts->max_blocks_per_sm},
		{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, NULL, &facts->regs_per_block},
		{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, NULL, &facts->regs_per_sm},
		{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &block_smem, NULL},
		{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &sm_smem, NULL},
		{CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, &reserved, NULL},
		{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2, NULL},
		{CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &clock_khz, NULL},
		{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memory_khz, NULL},
		{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &bus_bits, NULL},
	};

	*facts = (struct device_facts){0};
	status = cuda_check(cuda,
		cuda->cuDeviceGetName(facts->name, (int)sizeof(facts->name) - 1, device),
		"cuDeviceGetName", err);
	if (status == STATUS_OK)
		status = cuda_check(
			cuda, cuda->cuDeviceTotalMem(&total, device), "cuDeviceTotalMem", err);
	for (size_t i = 0; status == STATUS_OK && i < ARRAY_COUNT(wanted); i++) {
		int value = 0;

		status = cuda_check(cuda,
			cuda->cuDeviceGetAttribute(&value, wanted[i].attribute, device),
			"cuDeviceGetAttribute", err);
		if (wanted[i].small)
			*wanted[i].small = value;
		else
			*wanted[i].wide = value;
	}
	if (status != STATUS_OK)
		return status;
	facts->compute_capability = 10 * major + minor;
	facts->smem_per_block_bytes = block_smem;
	facts->smem_per_sm_bytes = sm_smem;
	facts->smem_reserved_bytes = reserved;
	facts->l2_bytes = l2;
	facts->dram_bytes = (int64_t)total;
	facts->clock_hz = clock_khz * 1e3;
	facts->memory_clock_hz = memory_khz * 1e3;
	facts->memory_bus_bits = bus_bits;
	return STATUS_OK;
}
