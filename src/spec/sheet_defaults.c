/* SPDX-License-Identifier: MIT
 *
 * Default rates of an architecture, for GPUs without a sheet.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "spec/embedded.h"
#include "spec/sheet.h"

static const char *const keys[] = {
	"format", "compute_capability", "arch", "figures", "rates", NULL};

static const struct {
	const char *name;
	size_t offset;
	bool is_count;
} fields[] = {
#define COUNT(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct sheet_defaults, name), true                                 \
	}
#define REAL(name)                                                                                 \
	{                                                                                          \
#name, offsetof(struct sheet_defaults, name), false                                \
	}
	COUNT(smem_static_max_bytes),
	COUNT(smem_reserved_bytes),
	COUNT(cluster_blocks_max),
	REAL(l2_bytes_per_clock_sm),
	REAL(smem_bytes_per_clock_sm),
	REAL(instructions_per_clock_sm),
	REAL(dram_efficiency_ratio),
	REAL(tensor_clock_ratio),
	REAL(launch_us),
	REAL(dram_latency_us),
	REAL(l2_latency_us),
	REAL(sync_us),
#undef COUNT
#undef REAL
};

static enum status read_figures(
	const struct json_at *figures, struct sheet_defaults *defaults, struct error *err)
{
	const char *names[ARRAY_COUNT(fields) + 1] = {NULL};

	for (size_t i = 0; i < ARRAY_COUNT(fields); i++)
		names[i] = fields[i].name;
	if (json_expect_keys(figures, names, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (size_t i = 0; i < ARRAY_COUNT(fields); i++) {
		void *field = (char *)defaults + fields[i].offset;
		struct json_at at;
		bool estimated;

		if (json_member(figures, fields[i].name, &at, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		if ((fields[i].is_count ? sheet_count(&at, field, err)
					: sheet_figure(&at, field, &estimated, err)) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

static enum status read_root(
	const struct json_at *root, struct sheet_defaults *defaults, struct error *err)
{
	struct json_at figures, rates;
	const char *arch;
	int64_t capability;

	if (json_expect_keys(root, keys, err) != STATUS_OK ||
		json_expect_format(root, "tiletune.device_defaults/1", err) != STATUS_OK ||
		json_member_int(root, "compute_capability", &capability, err) != STATUS_OK ||
		json_member_string(root, "arch", &arch, err) != STATUS_OK ||
		json_member(root, "figures", &figures, err) != STATUS_OK ||
		json_member(root, "rates", &rates, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	defaults->compute_capability = (int)capability;
	string_put(defaults->arch, sizeof(defaults->arch), arch);
	if (read_figures(&figures, defaults, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return sheet_rates(&rates, defaults->rate, err);
}

enum status sheet_defaults_parse(const char *json, size_t size, const char *file,
	struct sheet_defaults *defaults, struct error *err)
{
	struct json *tree;
	struct json_at root;
	enum status status = json_parse(json, size, file, &tree, err);

	memset(defaults, 0, sizeof(*defaults));
	if (status != STATUS_OK)
		return status;
	root = json_root(tree, file);
	status = read_root(&root, defaults, err);
	json_free(tree);
	return status;
}

/* Whether a describes compute_capability better than b: not newer, then as new as possible. */
static bool is_nearer(int a, int b, int compute_capability)
{
	if ((a <= compute_capability) != (b <= compute_capability))
		return a <= compute_capability;
	return a <= compute_capability ? a > b : a < b;
}

enum status sheet_defaults_find(
	int compute_capability, struct sheet_defaults *defaults, struct error *err)
{
	bool found = false;

	for (size_t i = 0; device_spec_architecture_json[i]; i++) {
		const char *json = device_spec_architecture_json[i];
		struct sheet_defaults one;

		if (sheet_defaults_parse(json, strlen(json), "built-in default rates", &one, err) !=
			STATUS_OK)
			return STATUS_BAD_INPUT;
		if (!found || is_nearer(one.compute_capability, defaults->compute_capability,
				      compute_capability))
			*defaults = one;
		found = true;
	}
	if (!found)
		BUG("no default rates are built in");
	return STATUS_OK;
}
