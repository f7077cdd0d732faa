/* SPDX-License-Identifier: MIT
 *
 * Architectures other than the tuned one, for which bundles are compiled.
 */
#include "export/export.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* A cubin runs on later minor versions, PTX on everything later. */
static bool runs_on(int capability, bool is_ptx, int other)
{
	return other >= capability && (is_ptx || other / 10 == capability / 10);
}

static enum status find_device(int capability, bool is_ptx, const char *const *config_folders,
	struct device_spec **device, struct error *err)
{
	const struct device_facts unknown = {.compute_capability = capability};
	CLEANUP(name_set_release) struct name_set names = device_spec_names(config_folders);
	CLEANUP(device_spec_release) struct device_spec *best = NULL;
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < names.count; i++) {
		CLEANUP(device_spec_release) struct device_spec *sheet = NULL;

		if (device_spec_load(names.items[i], config_folders, &sheet, NULL) != STATUS_OK ||
			!runs_on(capability, is_ptx, sheet->compute_capability))
			continue;
		if (sheet->smem_per_block_bytes < least)
			least = sheet->smem_per_block_bytes;
		if (!best || sheet->compute_capability < best->compute_capability) {
			struct device_spec *other = best;

			best = sheet;
			sheet = other;
		}
	}
	if (!best)
		return device_spec_match(&unknown, config_folders, device, err);
	best->smem_per_block_bytes = least;
	best->compute_capability = capability;
	*device = best;
	best = NULL;
	return STATUS_OK;
}

enum status architecture_device(const char *name, const char *const *config_folders,
	struct device_spec **device, struct error *err)
{
	int capability, length = 0;

	if (sscanf(name, "sm_%d%n%*1[af]%n", &capability, &length, &length) >= 1 && !name[length])
		TRY(find_device(capability, false, config_folders, device, err));
	else if (sscanf(name, "compute_%d%n", &capability, &length) == 1 && !name[length])
		TRY(find_device(capability, true, config_folders, device, err));
	else
		return error_set(err, STATUS_BAD_INPUT,
			"--arch: expected an architecture such as sm_90a (or compute_80 for PTX), "
			"found %s",
			name);
	string_put((*device)->arch, sizeof((*device)->arch), name);
	return STATUS_OK;
}
