/* SPDX-License-Identifier: MIT */
#include "spec/device_spec.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "spec/sheet.h"

const char *const pipe_names[] = {
#define ROW(id, name, unit, summary) [PIPE_##id] = name,
	PIPES(ROW)
#undef ROW
		NULL};

void device_spec_free(struct device_spec *spec)
{
	if (!spec)
		return;
	free(spec->notice);
	record_release(&device_record, spec);
	free(spec);
}

void device_spec_release(struct device_spec **spec)
{
	device_spec_free(*spec);
	*spec = NULL;
}

/* ---- finding a sheet by its name ---- */
static enum status load_embedded(struct device_spec **spec, struct error *err)
{
	return device_spec_parse(device_spec_default_json, strlen(device_spec_default_json),
		"built-in device sheet", spec, err);
}

static enum status load_file(
	const char *path, const char *name, struct device_spec **spec, struct error *err)
{
	CLEANUP(text_release) struct text content = {0};
	CLEANUP(device_spec_release) struct device_spec *made = NULL;

	TRY(file_read_regular(path, &content, err));
	TRY(device_spec_parse(text_string(&content), content.length, path, &made, err));
	if (strcmp(made->name, name) != 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: $.name: expected \"%s\", the name of the file, found \"%s\"", path,
			name, made->name);
	*spec = made;
	made = NULL;
	return STATUS_OK;
}

struct name_set device_spec_names(const char *const *config_folders)
{
	struct name_set set = {0};
	struct device_spec *embedded;

	for (; config_folders && *config_folders; config_folders++) {
		CLEANUP(memory_free) char *folder = path_join(*config_folders, "devices");

		directory_names(folder, ".json", &set, NULL);
	}
	if (load_embedded(&embedded, NULL) == STATUS_OK) {
		name_set_add(&set, embedded->name, strlen(embedded->name));
		device_spec_free(embedded);
	}
	qsort(set.items, set.count, sizeof(*set.items), string_compare);
	return set;
}

static enum status not_found(const char *name, const char *const *config_folders, struct error *err)
{
	CLEANUP(name_set_release) struct name_set names = device_spec_names(config_folders);

	name_unknown("device sheet", name, (const char *const *)names.items, err);
	if (err && !*err->hint)
		error_hint(err,
			"a device sheet is a file devices/%s.json in a configuration folder", name);
	return STATUS_BAD_INPUT;
}

enum status device_spec_load(const char *name, const char *const *config_folders,
	struct device_spec **spec, struct error *err)
{
	*spec = NULL;
	if (!name || !*name)
		return load_embedded(spec, err);
	for (size_t i = 0; config_folders && config_folders[i] && !strchr(name, '/'); i++) {
		CLEANUP(memory_free)
		char *path = string_format("%s/devices/%s.json", config_folders[i], name);

		if (file_exists(path))
			return load_file(path, name, spec, err);
	}
	TRY(load_embedded(spec, err));
	if (strcmp((*spec)->name, name) == 0)
		return STATUS_OK;
	device_spec_release(spec);
	return not_found(name, config_folders, err);
}

/* ---- from the driver's data of a real GPU ---- */
static bool sheet_matches(const struct device_spec *spec, const struct device_facts *facts)
{
	if (spec->compute_capability != facts->compute_capability ||
		(facts->sm_count && spec->sm_count != facts->sm_count))
		return false;
	for (size_t i = 0; spec->matches[i]; i++)
		if (fnmatch(spec->matches[i], facts->name, 0) == 0)
			return true;
	return false;
}

/* The driver's limits override the sheet's; 0 is unknown. */
static void take_limits(struct device_spec *spec, const struct device_facts *facts)
{
	for (size_t i = 0; i < DEVICE_LIMIT_COUNT; i++)
		if (facts->limits[i] > 0)
			spec->limits[i] = facts->limits[i];
}

static void derive_defaults(struct device_spec *spec, const struct sheet_defaults *defaults,
	const struct device_facts *facts)
{
	double dram = 2.0 * facts->memory_clock_hz * (double)facts->memory_bus_bits / 8;

	spec->clock_hz = facts->clock_hz > 0 ? facts->clock_hz : 1.5e9;
	spec->tensor_clock_hz = spec->clock_hz * defaults->tensor_clock_ratio;
	/* Two transfers per memory clock, or 4 bytes per clock and SM if it is unknown. */
	spec->dram_bytes_per_s = dram > 0 ? dram * defaults->dram_efficiency_ratio
					  : 4.0 * (double)spec->sm_count * spec->clock_hz;
	spec->l2_bytes_per_clock = defaults->l2_bytes_per_clock_sm * (double)spec->sm_count;
	for (size_t i = 0; i < ARRAY_COUNT(spec->max_clusters); i++)
		if ((int64_t)1 << i <= defaults->cluster_blocks_max)
			spec->max_clusters[i] = spec->sm_count >> i;
	/* sm_90a is valid only for 9.0. */
	if (spec->compute_capability != facts->compute_capability)
		snprintf(spec->arch, sizeof(spec->arch), "sm_%d", facts->compute_capability);
}

/* "NVIDIA RTX A6000" -> "nvidia-rtx-a6000" */
static char *name_from_title(const char *title)
{
	char *name = string_copy(title);
	char *end = name;

	for (const char *c = title; *c; c++) {
		bool plain = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '.';

		if (*c >= 'A' && *c <= 'Z')
			*end++ = (char)(*c - 'A' + 'a');
		else if (plain)
			*end++ = *c;
		else if (end > name && end[-1] != '-')
			*end++ = '-';
	}
	while (end > name && end[-1] == '-')
		end--;
	*end = '\0';
	return name;
}

static enum status device_spec_complete(
	const struct device_facts *facts, struct device_spec **spec, struct error *err)
{
	static const int64_t least[] = {
#define ROW(name, attribute, kind, least, summary) least,
		DEVICE_LIMITS(ROW)
#undef ROW
	};
	struct sheet_defaults defaults = {0};
	struct device_spec *made;

	if (facts->compute_capability)
		TRY(sheet_defaults_find(facts->compute_capability, &defaults, err));
	made = memory_copy(&defaults.typical, sizeof(*made));
	made->name = name_from_title(facts->name);
	made->title = string_copy(facts->name);
	made->matches = memory_zeroed(1, sizeof(*made->matches));
	*spec = made;
	/* Limits stay 0 for a program that measures by itself. */
	for (size_t i = 0; facts->compute_capability && i < DEVICE_LIMIT_COUNT; i++)
		if (!made->limits[i])
			made->limits[i] = least[i];
	take_limits(made, facts);
	if (facts->compute_capability) {
		derive_defaults(made, &defaults, facts);
		sheet_derive_rates(made);
	}
	made->compute_capability = facts->compute_capability;
	return STATUS_OK;
}

enum status device_spec_match(const struct device_facts *facts, const char *const *config_folders,
	struct device_spec **spec, struct error *err)
{
	CLEANUP(name_set_release) struct name_set names = device_spec_names(config_folders);
	CLEANUP(text_release) struct text notice = {0};
	struct error broken;

	*spec = NULL;
	for (size_t i = 0; i < names.count && !*spec; i++) {
		if (device_spec_load(names.items[i], config_folders, spec, &broken) != STATUS_OK)
			text_appendf(&notice, "%sskipped a device sheet: %s",
				notice.length ? "; " : "", broken.message);
		else if (!sheet_matches(*spec, facts))
			device_spec_release(spec);
	}
	if (*spec) {
		take_limits(*spec, facts);
		sheet_derive_rates(*spec);
	} else {
		TRY(device_spec_complete(facts, spec, err));
	}
	if (notice.length)
		(*spec)->notice = text_detach(&notice);
	return STATUS_OK;
}

/* ---- peak rates ---- */
double device_spec_rate(const struct device_spec *spec, enum pipe pipe, enum dtype dtype)
{
	const bool by_type =
		pipe == PIPE_TENSOR_MMA || pipe == PIPE_TENSOR_WGMMA ||
		(pipe == PIPE_FP32 && dtype == DTYPE_FP64 && spec->rate[pipe][dtype] > 0);

	return spec->rate[pipe][by_type ? dtype : DTYPE_FP32];
}

enum pipe device_spec_fastest_pipe(const struct device_spec *spec, enum dtype dtype)
{
	static const enum pipe pipes[] = {PIPE_TENSOR_MMA, PIPE_TENSOR_WGMMA};
	enum pipe fastest = PIPE_FP32;

	for (size_t i = 0; i < ARRAY_COUNT(pipes); i++)
		if (device_spec_rate(spec, pipes[i], dtype) >
			device_spec_rate(spec, fastest, dtype))
			fastest = pipes[i];
	return fastest;
}

double device_spec_peak_flop_per_s(const struct device_spec *spec, enum dtype dtype)
{
	return device_spec_rate(spec, device_spec_fastest_pipe(spec, dtype), dtype) *
	       (double)spec->sm_count * spec->clock_hz;
}

const char *const device_value_names[DEVICE_VALUE_COUNT] = {
#define ROW(name, attribute, kind, least, summary) #name,
	DEVICE_LIMITS(ROW)
#undef ROW
		"compute_capability",
	"max_warps_per_sm"};

struct value device_spec_value(const struct device_spec *spec, size_t index)
{
	if (index < DEVICE_LIMIT_COUNT)
		return value_int(spec->limits[index]);
	if (index == DEVICE_LIMIT_COUNT)
		return value_int(spec->compute_capability);
	return value_int(spec->warp_size > 0 ? spec->max_threads_per_sm / spec->warp_size : 0);
}
