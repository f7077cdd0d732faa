/* SPDX-License-Identifier: MIT
 *
 * Implements tiletune_launch.h: errors, the driver, and bundles.
 */
#ifndef TILETUNE_LAUNCH_BUNDLE_H
#define TILETUNE_LAUNCH_BUNDLE_H

#include "tiletune_launch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TTL_DYNAMIC
#define TTL_FUNCTIONS(f)                                                                           \
	f(cuCtxGetDevice) f(cuDeviceGetAttribute) f(cuLibraryLoadData) f(cuLibraryUnload)          \
		f(cuLibraryGetKernel) f(cuKernelGetFunction) f(cuFuncSetAttribute)                 \
			f(cuFuncGetParamInfo) f(cuFuncLoad) f(cuLaunchKernelEx) f(cuMemAlloc)      \
				f(cuMemFree) f(cuMemsetD8Async) f(cuStreamSynchronize)             \
					f(cuMemcpyDtoDAsync) f(cuLibraryGetGlobal)                 \
						f(cuTensorMapEncodeTiled) f(cuGetErrorString)
#define TTL_POINTER(name) __typeof__(&name) name##_;
#define TTL_CUDA(name)    ttl_cuda.name##_
static struct {
	TTL_FUNCTIONS(TTL_POINTER)
} ttl_cuda;
#else
#define TTL_CUDA(name) name
#endif

struct ttl_bundle {
	const struct ttl_header *header;
	void *owned;                    /* NULL: the caller owns the memory */
	uint32_t next[TTL_TABLE_COUNT]; /* per table: the first item that was not checked yet */
#define TTL_TABLE(name, type)                                                                      \
	const type *name;                                                                          \
	uint64_t name##_count;
	TTL_TABLES(TTL_TABLE)
#undef TTL_TABLE
};

#define TTL_EACH(type, item, b, table, range)                                                      \
	for (const struct type *item = (b)->table + (range).first,                                 \
			       *item##_end = item + (range).count;                                 \
		item < item##_end; item++)

struct ttl_kernel {
	const struct ttl_bundle *bundle;
	const struct ttl_entry *entry;
	CUlibrary *libraries; /* one per unit */
	uint32_t library_count;
	CUfunction *functions; /* one per step */
	CUdeviceptr *symbols;  /* 0: the unit does not have the symbol */
};

enum {
	TTL_ATTRIBUTES = 2
};

struct ttl_run {
	const struct ttl_kernel *kernel;
	CUlaunchConfig *configs;       /* one per step */
	CUlaunchAttribute *attributes; /* TTL_ATTRIBUTES per step */
	void **params;                 /* arguments of all steps */
	int64_t *values;
	CUdeviceptr *buffers;
	CUtensorMap *maps;
	unsigned char *is_owned; /* one flag per buffer */
};

/* ---- errors ---- */
#ifdef __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
static enum ttl_status
ttl_fail(struct ttl_error *err, enum ttl_status status, const char *format, ...)
{
	va_list args;

	if (!err)
		return status;
	err->status = status;
	err->cuda = CUDA_SUCCESS;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return status;
}

static enum ttl_status ttl_done(CUresult result, const char *what, struct ttl_error *err)
{
	const char *words = NULL;

	if (result == CUDA_SUCCESS)
		return TTL_OK;
	if (TTL_CUDA(cuGetErrorString)(result, &words) != CUDA_SUCCESS || !words)
		words = "an unknown error";
	ttl_fail(err, TTL_DRIVER, "%s: %s (%d)", what, words, (int)result);
	if (err)
		err->cuda = result;
	return TTL_DRIVER;
}

#define TTL_TRY(call)                                                                              \
	do {                                                                                       \
		enum ttl_status ttl_status_ = (call);                                              \
		if (ttl_status_ != TTL_OK)                                                         \
			return ttl_status_;                                                        \
	} while (0)

#ifdef TTL_DYNAMIC
enum ttl_status ttl_driver(void *get, struct ttl_error *err)
{
	CUresult(CUDAAPI * ask)(
		const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
	CUdriverProcAddressQueryResult how;
	void *found = NULL;

	memcpy(&ask, &get, sizeof(ask));
#define TTL_GET(name)                                                                              \
	if (ask(#name, &found, CUDA_VERSION, 0, &how) != CUDA_SUCCESS || !found)                   \
		return ttl_fail(err, TTL_DRIVER, "the driver has no %s", #name);                   \
	memcpy(&ttl_cuda.name##_, &found, sizeof(found));
	TTL_FUNCTIONS(TTL_GET)
	return TTL_OK;
}
#endif

/* ---- bundles ---- */
static uint64_t ttl_word(const unsigned char *at, size_t bytes)
{
	uint64_t word = 0;

	memcpy(&word, at, bytes);
	return word;
}

#define TTL_EXPECT(condition)                                                                      \
	if (!(condition))                                                                          \
		return #condition;
/* Ranges follow each other, so that no item is checked twice. */
#define TTL_EXPECT_RANGE(range, table)                                                             \
	TTL_EXPECT((range).first == b->next[TTL_TABLE_##table] &&                                  \
		   (range).count <= b->table##_count - (range).first);                             \
	b->next[TTL_TABLE_##table] += (range).count
#define TTL_EXPECT_TEXT(text) TTL_EXPECT((text) < b->texts_count)

static const char *ttl_check_step(
	struct ttl_bundle *b, const struct ttl_entry *entry, const struct ttl_step *step)
{
	TTL_EXPECT_TEXT(step->entry);
	TTL_EXPECT_RANGE(step->arguments, arguments);
	TTL_EXPECT(step->unit < entry->images.count);
	TTL_EACH(ttl_argument, argument, b, arguments, step->arguments) {
		TTL_EXPECT_TEXT(argument->name);
		TTL_EXPECT(argument->kind <= TTL_NUMBER);
		TTL_EXPECT(argument->kind != TTL_NUMBER || argument->index <= sizeof(int64_t));
		TTL_EXPECT(argument->kind != TTL_BUFFER || argument->index < entry->buffers.count);
		TTL_EXPECT(argument->kind != TTL_MAP || argument->index < entry->maps.count);
	}
	return NULL;
}

static const char *ttl_check_entry(
	struct ttl_bundle *b, const struct ttl_operation *operation, const struct ttl_entry *entry)
{
	TTL_EXPECT_TEXT(entry->family);
	TTL_EXPECT_TEXT(entry->configuration);
	TTL_EXPECT_TEXT(entry->kernel_hash);
	TTL_EXPECT_RANGE(entry->sizes, sizes);
	TTL_EXPECT_RANGE(entry->buffers, buffers);
	TTL_EXPECT_RANGE(entry->maps, maps);
	TTL_EXPECT_RANGE(entry->symbols, symbols);
	TTL_EXPECT_RANGE(entry->steps, steps);
	TTL_EXPECT_RANGE(entry->images, images);
	TTL_EXPECT(entry->sizes.count == operation->keys.count);
	TTL_EXPECT(entry->tensor_count <= entry->buffers.count);
	for (uint32_t i = 0; i < operation->keys.count; i++) {
		const struct ttl_size *size = &b->sizes[entry->sizes.first + i];

		if (b->keys[operation->keys.first + i].is_text)
			TTL_EXPECT_TEXT((uint64_t)size->value);
	}
	TTL_EACH(ttl_buffer, buffer, b, buffers, entry->buffers) {
		TTL_EXPECT_TEXT(buffer->name);
		TTL_EXPECT_TEXT(buffer->dtype);
	}
	TTL_EACH(ttl_image, image, b, images, entry->images) {
		TTL_EXPECT(image->offset <= b->code_count);
		TTL_EXPECT(image->bytes <= b->code_count - image->offset);
	}
	TTL_EACH(ttl_map, map, b, maps, entry->maps) {
		TTL_EXPECT_TEXT(map->name);
		TTL_EXPECT(map->buffer < entry->buffers.count);
		TTL_EXPECT(map->rank <= TTL_RANK_MAX);
	}
	TTL_EACH(ttl_symbol, symbol, b, symbols, entry->symbols) {
		TTL_EXPECT_TEXT(symbol->name);
		TTL_EXPECT(symbol->unit < entry->images.count);
		TTL_EXPECT(symbol->buffer < entry->buffers.count);
	}
	TTL_EACH(ttl_step, step, b, steps, entry->steps)
		TTL_EXPECT(!ttl_check_step(b, entry, step));
	return NULL;
}

static const char *ttl_check(struct ttl_bundle *b)
{
	TTL_EXPECT(b->texts_count && !b->texts[b->texts_count - 1]);
	TTL_EXPECT_TEXT(b->header->device);
	TTL_EXPECT_TEXT(b->header->compiler);
	for (uint64_t i = 0; i < b->keys_count; i++)
		TTL_EXPECT_TEXT(b->keys[i].name);
	for (uint64_t i = 0; i < b->operations_count; i++) {
		const struct ttl_operation *operation = &b->operations[i];

		TTL_EXPECT_TEXT(operation->name);
		TTL_EXPECT_RANGE(operation->keys, keys);
		TTL_EXPECT_RANGE(operation->entries, entries);
		TTL_EXPECT(operation->keys.count <= TTL_KEYS_MAX);
		TTL_EACH(ttl_entry, entry, b, entries, operation->entries) {
			const char *wrong = ttl_check_entry(b, operation, entry);

			if (wrong)
				return wrong;
		}
	}
	return NULL;
}

static const char *ttl_open_tables(struct ttl_bundle *bundle)
{
	const struct ttl_header *header = bundle->header;
	const char *data = (const char *)header;

#define TTL_TABLE(name, type)                                                                      \
	{                                                                                          \
		const uint64_t at = header->tables[TTL_TABLE_##name].offset;                       \
		const uint64_t count = header->tables[TTL_TABLE_##name].count;                     \
		if (at % 8 || at > header->bytes || count > (header->bytes - at) / sizeof(type))   \
			return "the table of " #name " within the file";                           \
		bundle->name = (const type *)(const void *)(data + at);                            \
		bundle->name##_count = count;                                                      \
	}
	TTL_TABLES(TTL_TABLE)
#undef TTL_TABLE
	return ttl_check(bundle);
}

enum ttl_status ttl_open_memory(
	const void *data, size_t size, struct ttl_bundle **bundle, struct ttl_error *err)
{
	const struct ttl_header *header = (const struct ttl_header *)data;
	const size_t summed = offsetof(struct ttl_header, tables);
	const char *wrong;

	*bundle = NULL;
	if ((uintptr_t)data % 8)
		return ttl_fail(err, TTL_BAD_ARGUMENT, "expected memory that is 8-byte aligned");
	if (size < sizeof(*header) || memcmp(header->magic, "ttbundle", 8) != 0)
		return ttl_fail(err, TTL_BAD_BUNDLE, "expected a bundle, found something else");
	if (header->version != TTL_VERSION)
		return ttl_fail(err, TTL_BAD_BUNDLE,
			"expected version %d of the format, found %u: export it again, with the "
			"tiletune that this header is of",
			(int)TTL_VERSION, (unsigned)header->version);
	if (header->bytes != size || size % 8 || header->header_bytes != sizeof(*header))
		return ttl_fail(err, TTL_BAD_BUNDLE, "expected %llu bytes, found %llu",
			(unsigned long long)header->bytes, (unsigned long long)size);
	if (ttl_checksum((const char *)data + summed, size - summed) != header->checksum)
		return ttl_fail(err, TTL_BAD_BUNDLE, "damaged: the checksum does not match");
	*bundle = (struct ttl_bundle *)calloc(1, sizeof(**bundle));
	if (!*bundle)
		return ttl_fail(err, TTL_NO_MEMORY, "no memory");
	(*bundle)->header = header;
	wrong = ttl_open_tables(*bundle);
	if (!wrong)
		return TTL_OK;
	ttl_close(*bundle);
	*bundle = NULL;
	return ttl_fail(err, TTL_BAD_BUNDLE, "damaged: expected %s", wrong);
}

void ttl_close(struct ttl_bundle *bundle)
{
	if (bundle)
		free(bundle->owned);
	free(bundle);
}

static void *ttl_read(FILE *file, size_t *size)
{
	long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
	void *data = end > 0 && fseek(file, 0, SEEK_SET) == 0 ? malloc((size_t)end) : NULL;

	*size = data ? fread(data, 1, (size_t)end, file) : 0;
	return data;
}

enum ttl_status ttl_open(const char *path, struct ttl_bundle **bundle, struct ttl_error *err)
{
	FILE *file = fopen(path, "rb");
	enum ttl_status status;
	size_t size;
	void *data;

	*bundle = NULL;
	if (!file)
		return ttl_fail(err, TTL_NO_FILE, "%s: cannot be opened", path);
	data = ttl_read(file, &size);
	fclose(file);
	if (!data)
		return ttl_fail(err, TTL_NO_FILE, "%s: cannot be read", path);
	status = ttl_open_memory(data, size, bundle, err);
	if (status == TTL_OK)
		(*bundle)->owned = data;
	else
		free(data);
	return status;
}

const struct ttl_header *ttl_bundle_header(const struct ttl_bundle *bundle)
{
	return bundle->header;
}

const char *ttl_string(const struct ttl_bundle *bundle, ttl_text text)
{
	return bundle->texts + text;
}

const struct ttl_buffer *ttl_buffers(const struct ttl_bundle *bundle, const struct ttl_entry *entry)
{
	return bundle->buffers + entry->buffers.first;
}

#endif
