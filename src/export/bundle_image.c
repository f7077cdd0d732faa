/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "export/bundle_entry.h"

/* arch is "sm_90a" or "compute_80", for example. */
static void put_image(
	struct bundle *bundle, uint32_t unit, const char *arch, const struct text *compiled)
{
	struct text *code = &bundle->tables[TTL_TABLE_code];
	const struct ttl_image *others =
		(const void *)text_string(&bundle->tables[TTL_TABLE_images]);
	const bool is_ptx = string_starts_with(arch, "compute_");
	const uint64_t bytes = compiled->length + is_ptx; /* with the final zero byte */
	struct ttl_image image = {.unit = unit, .offset = UINT64_MAX, .bytes = bytes};
	char *suffix;

	image.capability = (uint32_t)strtoul(strchr(arch, '_') + 1, &suffix, 10);
	image.suffix = is_ptx ? 'p' : (unsigned char)*suffix;
	for (size_t i = 0; i < bundle_count(bundle, TTL_TABLE_images); i++)
		if (others[i].bytes == bytes && memcmp(code->data + others[i].offset,
							compiled->data, compiled->length) == 0)
			image.offset = others[i].offset;
	if (image.offset == UINT64_MAX) {
		while (code->length % BUNDLE_ALIGNMENT)
			text_append_char(code, '\0');
		image.offset = code->length;
		text_append_bytes(code, compiled->data, compiled->length);
		if (is_ptx)
			text_append_char(code, '\0');
	}
	bundle_put(bundle, TTL_TABLE_images, &image);
}

enum status bundle_compiles(struct bundle *bundle, const struct export_kernel *kernel, size_t arch,
	bool *compiles, struct error *err)
{
	*compiles = true;
	for (size_t unit = 0; unit < kernel->build.unit_count && *compiles; unit++) {
		const struct compile_result *compiled = NULL;
		struct error reason;

		*compiles = kernel_store_wait(bundle->stores[arch], &kernel->build.units[unit],
				    &compiled, &reason) == STATUS_OK;
		if (!*compiles && (!compiled || compiled->outcome != OUTCOME_COMPILE_FAILED))
			return error_set(err, reason.status, "%s", reason.message);
	}
	return STATUS_OK;
}

enum status bundle_serves(struct bundle *bundle, const struct tuned_entry *entry,
	const struct export_kernel *kernel, size_t arch, bool *serves, struct error *err)
{
	const struct export_source *source = bundle->source;
	CLEANUP(export_kernel_release) struct export_kernel there = {0};
	struct error reason;

	*serves = export_kernel_open(source->catalogue, source->devices[arch], entry, &there,
			  &reason) == STATUS_OK &&
		  strcmp(kernel->build.kernel_hash, there.build.kernel_hash) == 0;
	return *serves ? bundle_compiles(bundle, kernel, arch, serves, err) : STATUS_OK;
}

enum status bundle_put_images(
	struct bundle *bundle, const struct export_kernel *kernel, size_t arch, struct error *err)
{
	for (size_t unit = 0; unit < kernel->build.unit_count; unit++) {
		const struct compile_result *compiled;

		TRY(kernel_store_wait(
			bundle->stores[arch], &kernel->build.units[unit], &compiled, err));
		put_image(bundle, (uint32_t)unit, bundle->source->devices[arch]->arch,
			&compiled->cubin);
	}
	return STATUS_OK;
}
