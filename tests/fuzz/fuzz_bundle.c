/* SPDX-License-Identifier: MIT
 *
 * Opens any bytes as a bundle, unchanged and with a corrected header and checksum. Opening it,
 * searching it and binding its kernels to tensors never read outside the bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TTL_IMPLEMENTATION
#define TTL_DYNAMIC
#include "launch/tiletune_launch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the part of a driver that binding needs ---- */
static CUresult fake_allocate(CUdeviceptr *address, size_t bytes)
{
	*address = 4096;
	return bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult fake_free(CUdeviceptr address)
{
	return address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult fake_memset(CUdeviceptr address, unsigned char value, size_t bytes, CUstream stream)
{
	(void)address, (void)value, (void)bytes, (void)stream;
	return CUDA_SUCCESS;
}

static CUresult fake_wait(CUstream stream)
{
	(void)stream;
	return CUDA_SUCCESS;
}

static CUresult fake_words(CUresult error, const char **words)
{
	*words = "none";
	return error;
}

static CUresult fake_encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
	void *address, const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
	const cuuint32_t *ones, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
	CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	uint64_t sum =
		(uint64_t)(uintptr_t)address + type + interleave + swizzle + promotion + fill;

	if (rank < 1 || rank > TTL_RANK_MAX || (uintptr_t)map % 64)
		abort();
	for (uint32_t i = 0; i < rank; i++)
		sum += dims[i] + box[i] + ones[i] + (i + 1 < rank ? strides[i] : 0);
	memset(map, (int)(sum & 0x7f), sizeof(*map));
	return CUDA_SUCCESS;
}

/* ---- */
static void bind_entry(const struct ttl_bundle *bundle, const struct ttl_entry *entry)
{
	const struct ttl_kernel kernel = {.bundle = bundle, .entry = entry};
	struct ttl_tensor tensors[16];
	struct ttl_error err;
	struct ttl_run *run;
	uint32_t count = 0;

	for (; count < entry->tensor_count && count < 16; count++)
		tensors[count] = (struct ttl_tensor){
			ttl_string(bundle, ttl_buffers(bundle, entry)[count].name), 4096};
	if (ttl_bind(&kernel, tensors, count, NULL, &run, &err) == TTL_OK)
		ttl_unbind(run);
	else if (!memchr(err.text, 0, sizeof(err.text)))
		abort();
	for (uint32_t i = 0; i < entry->images.count; i++) {
		const struct ttl_image *image = &bundle->images[entry->images.first + i];

		ttl_is_elf(bundle->code + image->offset, image->bytes);
	}
}

static void walk(const struct ttl_bundle *bundle)
{
	static const char *const problems[] = {"", "M=64", "M=64,N=", "rows=256,cols=512",
		"=,,=", "M=99999999999999999999,dtype=bf16"};
	const struct ttl_entry *entry;

	for (uint64_t i = 0; i < bundle->operations_count; i++) {
		const struct ttl_operation *operation = &bundle->operations[i];
		const char *name = ttl_string(bundle, operation->name);

		for (size_t k = 0; k < sizeof(problems) / sizeof(problems[0]); k++)
			if (ttl_find(bundle, name, problems[k], &entry, NULL) == TTL_OK)
				bind_entry(bundle, entry);
		for (uint32_t k = 0; k < operation->entries.count && k < 4; k++)
			bind_entry(bundle, &bundle->entries[operation->entries.first + k]);
	}
}

static void try(const void *data, size_t size)
{
	struct ttl_bundle *bundle;
	struct ttl_error err;

	if (ttl_open_memory(data, size, &bundle, &err) == TTL_OK) {
		walk(bundle);
		ttl_close(bundle);
	} else if (bundle || err.status == TTL_OK || !memchr(err.text, 0, sizeof(err.text))) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* copies the bundle to aligned memory of the exact size */
	struct ttl_header *copy = malloc(size ? size : 1);

	ttl_cuda.cuMemAlloc_ = fake_allocate;
	ttl_cuda.cuMemFree_ = fake_free;
	ttl_cuda.cuMemsetD8Async_ = fake_memset;
	ttl_cuda.cuStreamSynchronize_ = fake_wait;
	ttl_cuda.cuGetErrorString_ = fake_words;
	ttl_cuda.cuTensorMapEncodeTiled_ = fake_encode;
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	try(copy, size);
	if (size >= sizeof(*copy)) {
		const size_t summed = offsetof(struct ttl_header, tables);

		memcpy(copy->magic, "ttbundle", sizeof(copy->magic));
		copy->version = TTL_VERSION;
		copy->header_bytes = sizeof(*copy);
		copy->bytes = size;
		copy->checksum = ttl_checksum((const char *)copy + summed, size - summed);
		try(copy, size);
	}
	free(copy);
	return 0;
}
