/* SPDX-License-Identifier: MIT
 *
 * Device memory of the stand-in driver is host memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/standin.h"

enum {
	PIECES_MAX = 4096,
	MARKS_MAX = 16384,
};

struct piece {
	CUdeviceptr data;
	uint64_t bytes;
};
static struct piece pieces[PIECES_MAX];
static size_t piece_count;
static uint64_t used;

struct marked {
	enum mark mark;
	CUdeviceptr data;
	uint64_t bytes;
	uint32_t pattern;
};
static struct marked marks[MARKS_MAX];
static size_t mark_count;

/* Returns 1 + the number of the mark at an address, or 0 if there is none. */
static uint16_t mark_places[2 * MARKS_MAX];

static uint16_t *mark_place(CUdeviceptr data)
{
	size_t at = (size_t)(data * 0x9e3779b97f4a7c15u >> 49);

	while (mark_places[at] && marks[mark_places[at] - 1].data != data)
		at = (at + 1) % (2 * MARKS_MAX);
	return &mark_places[at];
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	*total_bytes = standin_script()->memory_bytes;
	*free_bytes = *total_bytes - used;
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *data, size_t bytes)
{
	void *memory;

	if (bytes == 0 || piece_count == PIECES_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (bytes > standin_script()->memory_bytes - used)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memory = aligned_alloc(512, (bytes + 511) / 512 * 512);
	if (!memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*data = (CUdeviceptr)(uintptr_t)memory;
	pieces[piece_count++] = (struct piece){*data, bytes};
	used += bytes;
	return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr data)
{
	size_t kept = 0;

	for (size_t i = 0; i < piece_count; i++)
		if (pieces[i].data == data) {
			memset(mark_places, 0, sizeof(mark_places));
			for (size_t j = 0; j < mark_count; j++)
				if (marks[j].data < data ||
					marks[j].data >= data + pieces[i].bytes) {
					marks[kept] = marks[j];
					*mark_place(marks[j].data) = (uint16_t)++kept;
				}
			mark_count = kept;
			used -= pieces[i].bytes;
			pieces[i] = pieces[--piece_count];
			free((void *)(uintptr_t)data);
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

bool standin_is_device_memory(CUdeviceptr data)
{
	for (size_t i = 0; i < piece_count; i++)
		if (data >= pieces[i].data && data < pieces[i].data + pieces[i].bytes)
			return true;
	return false;
}

void standin_mark(enum mark mark, CUdeviceptr data, uint64_t bytes, uint32_t pattern)
{
	uint16_t *place = mark_place(data);

	if (!*place && mark_count < MARKS_MAX)
		*place = (uint16_t)++mark_count;
	if (*place)
		marks[*place - 1] = (struct marked){mark, data, bytes, pattern};
}

bool standin_marked(CUdeviceptr data, enum mark mark, uint64_t *bytes, uint32_t *pattern)
{
	const uint16_t place = *mark_place(data);
	const struct marked *marked = &marks[place ? place - 1 : 0];

	if (!place || marked->mark != mark)
		return false;
	*bytes = marked->bytes;
	*pattern = marked->pattern;
	return true;
}

CUdeviceptr standin_marked_within(
	CUdeviceptr data, uint64_t bytes, enum mark mark, uint32_t *pattern)
{
	for (size_t i = 0; i < mark_count; i++)
		if (marks[i].mark == mark && marks[i].data >= data &&
			marks[i].data < data + bytes) {
			*pattern = marks[i].pattern;
			return marks[i].data;
		}
	return 0;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	(void)stream;
	memcpy((void *)(uintptr_t)to, from, bytes);
	return standin_sticky;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	FILE *file = standin_script()->log[0] ? fopen(standin_script()->log, "a") : NULL;

	(void)stream;
	memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
	if (file) {
		fprintf(file, "{\"entry\": \"copy\", \"from\": %llu, \"bytes\": %zu}\n", from,
			bytes);
		fclose(file);
	}
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	(void)stream;
	memcpy(to, (void *)(uintptr_t)from, bytes);
	return standin_sticky;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
	return cuMemcpyHtoDAsync(to, from, bytes, NULL);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
	return cuMemcpyDtoHAsync(to, from, bytes, NULL);
}
