/* SPDX-License-Identifier: MIT
 *
 * A device sheet: "tiletune.device/1" to struct device_spec.
 */
#include "spec/device_spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "spec/sheet.h"

static const char *const keys[] = {"format", "name", "title", "matches", "compute_capability",
	"arch", "figures", "rates", "max_clusters", NULL};

static const struct {
	const char *name;
	size_t offset;
	bool is_count;
	bool may_be_zero;
} fields[] = {
#define COUNT(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct device_spec, name), true, false                             \
	}
#define REAL(name)                                                                                 \
	{                                                                                          \
#name, offsetof(struct device_spec, name), false, false                            \
	}
	COUNT(sm_count),
	COUNT(warp_size),
	COUNT(max_threads_per_block),
	COUNT(max_threads_per_sm),
	COUNT(max_blocks_per_sm),
	COUNT(regs_per_block),
	COUNT(regs_per_sm),
	COUNT(smem_per_block_bytes),
	COUNT(smem_static_max_bytes),
	COUNT(smem_per_sm_bytes),
	{"smem_reserved_bytes", offsetof(struct device_spec, smem_reserved_bytes), true, true},
	COUNT(l2_bytes),
	COUNT(dram_bytes),
	REAL(clock_hz),
	REAL(tensor_clock_hz),
	REAL(dram_bytes_per_s),
	REAL(l2_bytes_per_clock),
	REAL(smem_bytes_per_clock_sm),
	REAL(instructions_per_clock_sm),
	REAL(launch_us),
	REAL(dram_latency_us),
	REAL(l2_latency_us),
	REAL(sync_us),
#undef COUNT
#undef REAL
};

static enum status read_figures(
	const struct json_at *figures, struct device_spec *spec, struct error *err)
{
	const char *names[ARRAY_COUNT(fields) + 1] = {NULL};

	for (size_t i = 0; i < ARRAY_COUNT(fields); i++)
		names[i] = fields[i].name;
	if (json_expect_keys(figures, names, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
		void *field = (char *)spec + fields[i].offset;
		struct json_at at;
		bool estimated;
		double value;

		if (json_member(figures, fields[i].name, &at, err) != STATUS_OK ||
			sheet_figure(&at, &value, &estimated, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		if (value <= 0 && !fields[i].may_be_zero)
			return json_error(&at, err, "a value above 0");
		if (fields[i].is_count && sheet_count(&at, field, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		if (!fields[i].is_count)
			memcpy(field, &value, sizeof(value));
	}
	return STATUS_OK;
}

/* {"1": figure, "2": ..., "4", "8", "16"}; sizes that are left out do not fit at all. */
static enum status read_clusters(
	const struct json_at *clusters, struct device_spec *spec, struct error *err)
{
	static const char *const sizes[] = {"1", "2", "4", "8", "16", NULL};

	if (json_expect_keys(clusters, sizes, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	spec->max_clusters_measured = true;
	for (size_t i = 0; sizes[i]; i++) {
		struct json_at at;
		bool estimated = false;
		double value;

		if (!json_find(clusters, sizes[i], &at))
			continue;
		if (sheet_count(&at, &spec->max_clusters[i], err) != STATUS_OK ||
			sheet_figure(&at, &value, &estimated, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		if (estimated)
			spec->max_clusters_measured = false;
	}
	return STATUS_OK;
}

static enum status read_matches(
	const struct json_at *matches, struct device_spec *spec, struct error *err)
{
	size_t count = json_count(matches);

	if (json_expect(matches, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	spec->matches = memory_zeroed(count + 1, sizeof(*spec->matches));
	for (size_t i = 0; i < count; i++) {
		struct json_at at = json_item(matches, i);
		const char *pattern;

		if (json_get_string(&at, &pattern, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		spec->matches[i] = string_copy(pattern);
	}
	return STATUS_OK;
}

static enum status read_root(
	const struct json_at *root, struct device_spec *spec, struct error *err)
{
	struct json_at matches, figures, rates, clusters, at;
	const char *name, *title, *arch;
	int64_t capability;

	if (json_expect_keys(root, keys, err) != STATUS_OK ||
		json_expect_format(root, "tiletune.device/1", err) != STATUS_OK ||
		json_member_string(root, "name", &name, err) != STATUS_OK ||
		json_member_string(root, "title", &title, err) != STATUS_OK ||
		json_member_string(root, "arch", &arch, err) != STATUS_OK ||
		json_member(root, "compute_capability", &at, err) != STATUS_OK ||
		json_get_int(&at, &capability, err) != STATUS_OK ||
		json_member(root, "matches", &matches, err) != STATUS_OK ||
		json_member(root, "figures", &figures, err) != STATUS_OK ||
		json_member(root, "rates", &rates, err) != STATUS_OK ||
		json_member(root, "max_clusters", &clusters, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (capability < 50 || capability > 999)
		return json_error(&at, err, "ten times the compute capability, as 90 for 9.0");
	if (!string_starts_with(arch, "sm_") || strlen(arch) >= sizeof(spec->arch)) {
		json_find(root, "arch", &at);
		return json_error(&at, err, "an architecture such as sm_90a");
	}
	spec->compute_capability = (int)capability;
	spec->name = string_copy(name);
	spec->title = string_copy(title);
	string_put(spec->arch, sizeof(spec->arch), arch);
	if (read_matches(&matches, spec, err) != STATUS_OK ||
		read_figures(&figures, spec, err) != STATUS_OK ||
		sheet_rates(&rates, spec->rate, err) != STATUS_OK ||
		read_clusters(&clusters, spec, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	sheet_derive_rates(spec);
	return STATUS_OK;
}

enum status device_spec_parse(const char *json, size_t size, const char *file,
	struct device_spec **spec, struct error *err)
{
	struct json *tree;
	struct json_at root;
	enum status status = json_parse(json, size, file, &tree, err);

	*spec = NULL;
	if (status != STATUS_OK)
		return status;
	*spec = memory_zeroed(1, sizeof(**spec));
	(*spec)->from_sheet = true;
	root = json_root(tree, file);
	status = read_root(&root, *spec, err);
	json_free(tree);
	if (status != STATUS_OK) {
		device_spec_free(*spec);
		*spec = NULL;
	}
	return status;
}

void device_spec_free(struct device_spec *spec)
{
	if (!spec)
		return;
	for (size_t i = 0; spec->matches && spec->matches[i]; i++)
		free(spec->matches[i]);
	free(spec->matches);
	free(spec->name);
	free(spec->title);
	free(spec);
}
