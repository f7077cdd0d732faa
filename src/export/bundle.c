/* SPDX-License-Identifier: MIT
 *
 * Bundles contain entries with their compiled kernels and all that is needed to launch them. The
 * structs of launch/tiletune_launch.h define the format.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "advise/lookup.h"
#include "candidate/bound_family.h"
#include "engine/row.h"
#include "export/bundle_entry.h"
#include "score/prediction.h"

/* Compiles for one architecture at a time, because the stores share the compiler. */
static enum status compile(struct bundle *bundle, size_t arch,
	const struct tuned_entry *const *entries, size_t count, struct error *err)
{
	const struct export_source *source = bundle->source;

	bundle->stores[arch] = kernel_store_new(source->compiler, source->devices[arch]->arch);
	for (size_t i = 0; i < count; i++) {
		CLEANUP(export_kernel_release) struct export_kernel kernel = {0};
		CLEANUP(text_release) struct text name = {0};
		const struct compile_result *compiled;

		export_name(entries[i], &name);
		if (export_kernel_open(source->catalogue, source->device, entries[i], &kernel,
			    err) != STATUS_OK)
			return error_context(err, "%s", text_string(&name));
		for (size_t unit = 0; unit < kernel.build.unit_count; unit++)
			TRY(kernel_store_request(
				bundle->stores[arch], &kernel.build.units[unit], &compiled, err));
	}
	while (compiler_pending(source->compiler))
		compiler_poll(source->compiler, INFINITY);
	return STATUS_OK;
}

/* ---- default entries, for GPUs that were not tuned ---- */
/* row->result.family stays NULL if the family has no default configuration here. */
static enum status default_row(const struct family *family, const struct problem *problem,
	const struct device_spec *device, struct tuned_row *row, struct error *err)
{
	CLEANUP(candidate_release) struct candidate candidate = {0};
	struct bound_family *bound = NULL;
	bool found = false;

	TRY(family_bind_if_applies(family, problem, device, NULL, &bound, NULL, err));
	if (!bound)
		return STATUS_OK;
	candidate.bound = bound;
	TRY(configuration_default(candidate.bound, candidate.choices, &found, err));
	if (!found)
		return STATUS_OK;
	TRY(predict_candidate(&candidate, err));
	return row_predict(&candidate, row, err);
}

/* The default configuration, of all families, that is predicted fastest on the device. */
static enum status default_entry(const struct export_source *source, size_t arch,
	const struct tuned_entry *from, struct tuned_entry *entry, struct error *err)
{
	CLEANUP(problem_cleanup) struct problem *problem = NULL;
	const struct operation *operation;

	TRY(catalogue_operation(source->catalogue, from->operation, &operation, err));
	TRY(problem_from_named_values(operation, &from->problem, &problem, err));
	*entry = (struct tuned_entry){.operation = string_copy(from->operation),
		.problem = problem_named_values(problem),
		.objective = from->objective,
		.predicted = true};
	for (size_t i = 0; i < source->catalogue->family_count; i++) {
		const struct family *family = source->catalogue->families[i];
		struct tuned_row row = {0};

		/* a bundle must not depend on whether the compiler of tile kernels is installed */
		if (family->operation != operation || family->program ||
			family->language == LANGUAGE_TILE)
			continue;
		TRY(default_row(family, problem, source->devices[arch], &row, err));
		if (row.result.family &&
			(!entry->winner.result.family ||
				row.result.time.median < entry->winner.result.time.median)) {
			tuned_row_release(&entry->winner);
			entry->winner = row;
			row = (struct tuned_row){0};
		}
		tuned_row_release(&row);
	}
	return STATUS_OK;
}

/* Covers the architectures that the kernel of the entry does not run on. */
static enum status put_defaults(struct bundle *bundle, const struct tuned_entry *from,
	const bool *serves, struct error *err)
{
	const struct export_source *source = bundle->source;

	for (size_t arch = 1; source->devices[arch]; arch++) {
		CLEANUP(tuned_entry_release) struct tuned_entry entry = {0};
		CLEANUP(export_kernel_release) struct export_kernel kernel = {0};
		bool compiles = false;

		if (serves[arch])
			continue;
		if (from->bits) { /* a default configuration may have other bits */
			bundle->missing++;
			continue;
		}
		TRY(default_entry(source, arch, from, &entry, err));
		if (entry.winner.result.family) {
			TRY(export_kernel_open(
				source->catalogue, source->devices[arch], &entry, &kernel, err));
			TRY(bundle_compiles(bundle, &kernel, arch, &compiles, err));
		}
		if (compiles)
			TRY(bundle_put_entry(bundle, &entry, arch, NULL, err));
		bundle->defaults += compiles;
		bundle->missing += !compiles;
	}
	return STATUS_OK;
}

/* Adds the operations in the order of their first entries. `serves` has room for one flag per
 * architecture. */
static enum status put_operations(struct bundle *bundle, const struct tuned_entry *const *entries,
	size_t count, bool *serves, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct operation *operation;
		struct ttl_operation item = {
			.entries.first = bundle_count(bundle, TTL_TABLE_entries)};
		size_t first = 0;

		while (strcmp(entries[first]->operation, entries[i]->operation) != 0)
			first++;
		if (first < i)
			continue;
		TRY(catalogue_operation(
			bundle->source->catalogue, entries[i]->operation, &operation, err));
		item.keys = bundle_next(bundle, TTL_TABLE_keys, operation->key_count);
		for (size_t k = 0; k < operation->key_count; k++) {
			const struct ttl_key key = {
				bundle_put_text(bundle, operation->keys[k].name),
				operation->keys[k].values || operation->keys[k].is_real};

			bundle_put(bundle, TTL_TABLE_keys, &key);
		}
		for (size_t k = i; k < count; k++)
			if (strcmp(entries[k]->operation, entries[i]->operation) == 0) {
				TRY(bundle_put_entry(bundle, entries[k], 0, serves, err));
				TRY(put_defaults(bundle, entries[k], serves, err));
			}
		item.name = bundle_put_text(bundle, entries[i]->operation);
		item.entries = bundle_since(bundle, TTL_TABLE_entries, item.entries.first);
		bundle_put(bundle, TTL_TABLE_operations, &item);
	}
	return STATUS_OK;
}

static enum status answer(const struct export_source *source, const struct problem *problem,
	struct tuned_entry *entry, struct error *err)
{
	const struct lookup_request request = {.catalogue = source->catalogue,
		.device = source->device,
		.tuned = source->tuned,
		.objective = source->objective,
		.without_best = true};
	CLEANUP(lookup_answer_release) struct lookup_answer found = {0};

	TRY(lookup_find(&request, problem, &found, err));
	if (found.grade == LOOKUP_REFUSED)
		return error_set(err, STATUS_FAILED, "%s: %s", problem->title, found.why);
	*entry = lookup_entry(&found, problem);
	return STATUS_OK;
}

static void put_file(struct bundle *bundle, struct text *file)
{
	struct ttl_header header = {.version = TTL_VERSION,
		.header_bytes = sizeof(header),
		.device = bundle_put_text(bundle, bundle->source->tuned->device.name),
		.compiler = bundle_put_text(bundle, compiler_identity(bundle->source->compiler))};
	const size_t summed = offsetof(struct ttl_header, tables);

	memcpy(header.magic, "ttbundle", sizeof(header.magic));
	text_append_bytes(file, &header, sizeof(header));
	for (size_t i = 0; i < TTL_TABLE_COUNT; i++) {
		while (file->length % BUNDLE_ALIGNMENT)
			text_append_char(file, '\0');
		header.tables[i].offset = file->length;
		header.tables[i].count = bundle_count(bundle, (enum ttl_table)i);
		text_append_bytes(file, text_string(&bundle->tables[i]), bundle->tables[i].length);
	}
	while (file->length % 8)
		text_append_char(file, '\0');
	header.bytes = file->length;
	memcpy(file->data, &header, sizeof(header));
	header.checksum = ttl_checksum(file->data + summed, file->length - summed);
	memcpy(file->data, &header, sizeof(header));
}

static enum status write_entries(const struct export_source *source,
	const struct tuned_entry *const *entries, size_t count, struct text *text,
	struct error *err)
{
	struct bundle bundle = {.source = source};
	CLEANUP(memory_free) bool *serves = NULL;
	enum status status = STATUS_OK;
	size_t arches = 0;

	while (source->devices[arches])
		arches++;
	bundle.stores = memory_zeroed(arches + 1, sizeof(*bundle.stores));
	serves = memory_zeroed(arches + 1, sizeof(*serves));
	for (size_t i = 0; i < arches && status == STATUS_OK; i++)
		status = compile(&bundle, i, entries, count, err);
	if (status == STATUS_OK)
		status = put_operations(&bundle, entries, count, serves, err);
	if (status == STATUS_OK)
		put_file(&bundle, text);
	if (bundle.defaults)
		text_appendf(source->notice,
			"for %zu tuned kernels that do not run on another architecture, the bundle "
			"has the default configuration\n",
			bundle.defaults);
	if (bundle.missing)
		text_appendf(source->notice,
			"for %zu entries the bundle has no kernel for another architecture\n",
			bundle.missing);
	if (bundle.changed)
		text_appendf(source->notice,
			"the sources of %zu kernels changed after tuning; compare them with "
			"`tiletune check`\n",
			bundle.changed);
	for (size_t i = 0; i < arches; i++)
		kernel_store_free(bundle.stores[i]);
	for (size_t i = 0; i < TTL_TABLE_COUNT; i++)
		text_release(&bundle.tables[i]);
	free(bundle.stores);
	return status;
}

/* The model makes an entry for each requested problem that the file lacks. */
static enum status bundle_write(
	const struct export_source *source, struct text *text, struct error *err)
{
	const size_t most = source->entry_count + source->untuned_count;
	CLEANUP(memory_free)
	const struct tuned_entry **entries = memory_zeroed(most + 1, sizeof(*entries));
	struct tuned_entry *predicted = memory_zeroed(most + 1, sizeof(*predicted));
	size_t count = 0;
	enum status status = STATUS_OK;

	while (count < source->entry_count) {
		entries[count] = source->entries[count];
		count++;
	}
	for (; count < most && status == STATUS_OK; count++) {
		entries[count] = &predicted[count];
		status = answer(source, source->untuned[count - source->entry_count],
			&predicted[count], err);
	}
	if (status == STATUS_OK && !count)
		status = error_set(
			err, STATUS_BAD_INPUT, "%s: there are no entries to export", source->name);
	if (status == STATUS_OK)
		status = write_entries(source, entries, count, text, err);
	for (size_t i = 0; i < count; i++)
		tuned_entry_release(&predicted[i]);
	free(predicted);
	return status;
}

const struct export_format export_format_bundle = {
	.name = "bundle",
	.summary = "compiled kernels with everything that tiletune_launch.h needs to launch them",
	.compiles = true,
	.write = bundle_write,
};
