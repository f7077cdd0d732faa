/* SPDX-License-Identifier: MIT
 *
 * Implements tiletune_launch.h: loading kernels.
 */
#ifndef TILETUNE_LAUNCH_KERNEL_H
#define TILETUNE_LAUNCH_KERNEL_H

#include "launch_bundle.h"

/* Returns whether the image is an ELF file whose parts lie within it. The driver trusts these
 * offsets. */
static int ttl_is_elf(const unsigned char *image, uint64_t bytes)
{
	const struct {
		int table, count, offset, size;          /* offsets in the header and in a part */
	} parts[] = {{32, 56, 8, 32}, {40, 60, 24, 32}}; /* program headers, sections */

	if (bytes < 64 || memcmp(image, "\177ELF\2\1", 6) != 0)
		return 0;
	for (int i = 0; i < 2; i++) {
		const uint64_t table = ttl_word(image + parts[i].table, 8);
		const uint64_t count = ttl_word(image + parts[i].count, 2), each = i ? 64 : 56;

		if (table > bytes || count * each > bytes - table ||
			(count && ttl_word(image + parts[i].count - 2, 2) != each))
			return 0;
		for (uint64_t k = 0; k < count; k++) {
			const unsigned char *part = image + table + k * each;
			const uint64_t offset = ttl_word(part + parts[i].offset, 8);
			const uint64_t size = ttl_word(part + parts[i].size, 8);
			const int is_empty = i && ttl_word(part + 4, 4) == 8; /* SHT_NOBITS */

			if (!is_empty && (offset > bytes || size > bytes - offset))
				return 0;
		}
	}
	return 1;
}

/* Ranks how well an image suits the GPU; 0: it does not run there. */
static uint32_t ttl_image_rank(const struct ttl_image *image, uint32_t capability)
{
	const int is_ptx = image->suffix == 'p';
	const int suits = image->suffix == 'a' ? image->capability == capability
			  : is_ptx             ? image->capability <= capability
					       : image->capability / 10 == capability / 10 &&
					     image->capability <= capability;

	return !suits ? 0
		      : 1 + (is_ptx ? 0 : 1u << 20) + 2 * image->capability + (image->suffix != 0);
}

static const struct ttl_image *ttl_image_for(const struct ttl_bundle *b,
	const struct ttl_entry *entry, uint32_t unit, uint32_t capability)
{
	const struct ttl_image *best = NULL;
	uint32_t most = 0;

	TTL_EACH(ttl_image, image, b, images, entry->images) {
		const uint32_t rank = image->unit == unit ? ttl_image_rank(image, capability) : 0;

		if (rank > most) {
			most = rank;
			best = image;
		}
	}
	return best;
}

/* Returns the lowest rank of the entry's units, or 0 if a step has no image for the GPU. */
static uint32_t ttl_entry_rank(
	const struct ttl_bundle *b, const struct ttl_entry *entry, uint32_t capability)
{
	uint32_t least = UINT32_MAX;

	TTL_EACH(ttl_step, step, b, steps, entry->steps) {
		const struct ttl_image *image = ttl_image_for(b, entry, step->unit, capability);
		const uint32_t rank = image ? ttl_image_rank(image, capability) : 0;

		least = rank < least ? rank : least;
	}
	return least;
}

/* Returns the entry if it has an image for the GPU, else the best default entry for its sizes. */
static const struct ttl_entry *ttl_entry_for(
	const struct ttl_bundle *b, const struct ttl_entry *entry, uint32_t capability)
{
	const struct ttl_entry *best = entry, *other = entry + 1;
	uint32_t most = ttl_entry_rank(b, entry, capability);

	if (most)
		return entry;
	for (; other < b->entries + b->entries_count && other->is_default; other++) {
		const uint32_t rank = ttl_entry_rank(b, other, capability);

		if (rank > most) {
			most = rank;
			best = other;
		}
	}
	return best;
}

static enum ttl_status ttl_load_units(
	struct ttl_kernel *kernel, uint32_t capability, struct ttl_error *err)
{
	const struct ttl_bundle *b = kernel->bundle;

	for (uint32_t unit = 0; unit < kernel->library_count; unit++) {
		const struct ttl_image *image = ttl_image_for(b, kernel->entry, unit, capability);
		const unsigned char *code = image ? b->code + image->offset : NULL;

		if (!image)
			return ttl_fail(err, TTL_NOT_FOUND,
				"%s: expected an image for compute capability %u.%u, found none",
				b->texts + kernel->entry->family, capability / 10, capability % 10);
		if (image->suffix == 'p' ? !image->bytes || code[image->bytes - 1]
					 : !ttl_is_elf(code, image->bytes))
			return ttl_fail(err, TTL_BAD_BUNDLE, "%s: expected a cubin, found another",
				b->texts + kernel->entry->family);
		TTL_TRY(ttl_done(TTL_CUDA(cuLibraryLoadData)(&kernel->libraries[unit], code, NULL,
					 NULL, 0, NULL, NULL, 0),
			"loading a cubin", err));
	}
	return TTL_OK;
}

/* cuLaunchKernelEx reads one pointer for each parameter that the kernel has. */
static enum ttl_status ttl_check_arguments(const struct ttl_bundle *b, const struct ttl_step *step,
	CUfunction function, struct ttl_error *err)
{
#if CUDA_VERSION >= 12040
	static const size_t bytes[] = {8, sizeof(CUtensorMap), 4, 4}; /* indexed by ttl_kind */
	const struct ttl_argument *arguments = b->arguments + step->arguments.first;
	size_t offset, size = 0;
	uint32_t i = 0;

	while (i < step->arguments.count &&
		TTL_CUDA(cuFuncGetParamInfo)(function, i, &offset, &size) == CUDA_SUCCESS &&
		size == (arguments[i].kind == TTL_NUMBER ? arguments[i].index
							 : bytes[arguments[i].kind]))
		i++;
	if (i < step->arguments.count ||
		TTL_CUDA(cuFuncGetParamInfo)(function, i, &offset, &size) == CUDA_SUCCESS)
		return ttl_fail(err, TTL_BAD_BUNDLE, "%s: argument %u is not what the kernel takes",
			b->texts + step->entry, (unsigned)i);
	TTL_TRY(ttl_done(TTL_CUDA(cuFuncLoad)(function), b->texts + step->entry, err));
#else
	(void)b, (void)step, (void)function, (void)err;
#endif
	return TTL_OK;
}

static enum ttl_status ttl_load_step(
	struct ttl_kernel *kernel, uint32_t index, struct ttl_error *err)
{
	const struct ttl_bundle *b = kernel->bundle;
	const struct ttl_step *step = &b->steps[kernel->entry->steps.first + index];
	const char *name = b->texts + step->entry;
	CUfunction *function = &kernel->functions[index];
	CUkernel found;

	TTL_TRY(ttl_done(TTL_CUDA(cuLibraryGetKernel)(&found, kernel->libraries[step->unit], name),
		name, err));
	TTL_TRY(ttl_done(TTL_CUDA(cuKernelGetFunction)(function, found), name, err));
	TTL_TRY(ttl_check_arguments(b, step, *function, err));
	if (step->smem_dynamic_bytes)
		TTL_TRY(ttl_done(TTL_CUDA(cuFuncSetAttribute)(*function,
					 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
					 (int)step->smem_dynamic_bytes),
			name, err));
	/* larger clusters are not portable */
	if ((uint64_t)step->cluster[0] * step->cluster[1] * step->cluster[2] > 8)
		TTL_TRY(ttl_done(TTL_CUDA(cuFuncSetAttribute)(*function,
					 CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
			name, err));
	return TTL_OK;
}

static enum ttl_status ttl_load_symbols(struct ttl_kernel *kernel, struct ttl_error *err)
{
	const struct ttl_bundle *b = kernel->bundle;
	const struct ttl_range range = kernel->entry->symbols;
	const struct ttl_symbol *symbols = b->symbols + range.first;

	for (uint32_t i = 0; i < range.count; i++) {
		const char *name = b->texts + symbols[i].name;
		CUresult found = CUDA_ERROR_NOT_FOUND;
		size_t bytes = 0;

		if (symbols[i].unit < kernel->library_count)
			found = TTL_CUDA(cuLibraryGetGlobal)(&kernel->symbols[i], &bytes,
				kernel->libraries[symbols[i].unit], name);
		if (found == CUDA_ERROR_NOT_FOUND)
			kernel->symbols[i] = 0;
		else
			TTL_TRY(ttl_done(found, name, err));
		if (kernel->symbols[i] &&
			bytes < ttl_buffers(b, kernel->entry)[symbols[i].buffer].bytes)
			return ttl_fail(err, TTL_BAD_BUNDLE,
				"%s: the variable is smaller than its tensor", name);
	}
	for (uint32_t i = 0; i < range.count; i++) {
		uint32_t k = 0;

		while (k < range.count &&
			!(kernel->symbols[k] && symbols[k].name == symbols[i].name))
			k++;
		if (k == range.count)
			return ttl_fail(err, TTL_BAD_BUNDLE, "%s: no image has this variable",
				b->texts + symbols[i].name);
	}
	return TTL_OK;
}

static enum ttl_status ttl_load_all(struct ttl_kernel *kernel, struct ttl_error *err)
{
	const struct ttl_entry *entry;
	int major = 0, minor = 0;
	CUdevice device;

	TTL_TRY(ttl_done(TTL_CUDA(cuCtxGetDevice)(&device), "the current context", err));
	TTL_TRY(ttl_done(TTL_CUDA(cuDeviceGetAttribute)(
				 &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
		"the device", err));
	TTL_TRY(ttl_done(TTL_CUDA(cuDeviceGetAttribute)(
				 &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
		"the device", err));
	kernel->entry =
		ttl_entry_for(kernel->bundle, kernel->entry, (uint32_t)(10 * major + minor));
	entry = kernel->entry;
	TTL_EACH(ttl_step, step, kernel->bundle, steps, entry->steps)
		if (step->unit >= kernel->library_count)
			kernel->library_count = step->unit + 1;
	kernel->libraries = (CUlibrary *)calloc(kernel->library_count + 1, sizeof(CUlibrary));
	kernel->functions = (CUfunction *)calloc(entry->steps.count + 1, sizeof(CUfunction));
	kernel->symbols = (CUdeviceptr *)calloc(entry->symbols.count + 1, sizeof(CUdeviceptr));
	if (!kernel->libraries || !kernel->functions || !kernel->symbols)
		return ttl_fail(err, TTL_NO_MEMORY, "no memory");
	TTL_TRY(ttl_load_units(kernel, (uint32_t)(10 * major + minor), err));
	for (uint32_t i = 0; i < entry->steps.count; i++)
		TTL_TRY(ttl_load_step(kernel, i, err));
	return ttl_load_symbols(kernel, err);
}

enum ttl_status ttl_load(const struct ttl_bundle *bundle, const struct ttl_entry *entry,
	struct ttl_kernel **kernel, struct ttl_error *err)
{
	enum ttl_status status;

	*kernel = (struct ttl_kernel *)calloc(1, sizeof(**kernel));
	if (!*kernel)
		return ttl_fail(err, TTL_NO_MEMORY, "no memory");
	(*kernel)->bundle = bundle;
	(*kernel)->entry = entry;
	status = ttl_load_all(*kernel, err);
	if (status != TTL_OK) {
		ttl_unload(*kernel);
		*kernel = NULL;
	}
	return status;
}

const struct ttl_entry *ttl_kernel_entry(const struct ttl_kernel *kernel)
{
	return kernel->entry;
}

void ttl_unload(struct ttl_kernel *kernel)
{
	if (!kernel)
		return;
	for (uint32_t i = 0; kernel->libraries && i < kernel->library_count; i++)
		if (kernel->libraries[i])
			TTL_CUDA(cuLibraryUnload)(kernel->libraries[i]);
	free(kernel->libraries);
	free(kernel->functions);
	free(kernel->symbols);
	free(kernel);
}

#endif
