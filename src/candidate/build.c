/* SPDX-License-Identifier: MIT
 *
 * Build units of candidates and references: source, options, entries, hashes.
 */
#include "candidate/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/build_make.h"
#include "candidate/candidate.h"
#include "candidate/composite.h"
#include "family/family.h"

/* What every unit is compiled with; the architecture is added by who knows it. */
static const char *const fixed_options[] = {
	"--std=c++17", "-default-device", "-DNDEBUG", "--ptxas-options=-v"};

void build_unit_make(struct build_unit *unit, const char *name, const char *source,
	const struct define_list *defines)
{
	size_t fixed = ARRAY_COUNT(fixed_options);

	*unit = (struct build_unit){.name = string_copy(name), .source = string_copy(source)};
	unit->option_count = fixed + defines->count;
	unit->options = memory_zeroed(unit->option_count + 1, sizeof(*unit->options));
	for (size_t i = 0; i < fixed; i++)
		unit->options[i] = string_copy(fixed_options[i]);
	for (size_t i = 0; i < defines->count; i++)
		unit->options[fixed + i] =
			string_format("-D%s=%s", defines->items[i].name, defines->items[i].value);
}

void build_unit_add_entry(struct build_unit *unit, const char *entry)
{
	for (size_t i = 0; i < unit->entry_count; i++)
		if (strcmp(unit->entries[i], entry) == 0)
			return;
	unit->entries = memory_resize(unit->entries, unit->entry_count + 2, sizeof(*unit->entries));
	unit->entries[unit->entry_count++] = string_copy(entry);
	unit->entries[unit->entry_count] = NULL;
}

static void add_strings(struct hash *hash, char *const *strings, size_t count)
{
	hash_add(hash, &(uint64_t){count}, sizeof(uint64_t));
	for (size_t i = 0; i < count; i++)
		hash_add_string(hash, strings[i]);
}

void build_finish(struct build *build)
{
	struct hash *whole = hash_new();

	for (size_t i = 0; i < build->unit_count; i++) {
		struct build_unit *unit = &build->units[i];
		struct hash *hash = hash_new();

		hash_add_string(hash, unit->source);
		add_strings(hash, unit->options, unit->option_count);
		add_strings(hash, unit->entries, unit->entry_count);
		hash_finish(hash, unit->hash);
		hash_add_string(whole, unit->hash);
	}
	hash_finish(whole, build->kernel_hash);
}

enum status family_units(
	const struct family *family, const struct value *slots, int *units, struct error *err)
{
	int count = 0;

	for (size_t i = 0; i < family->source_count; i++)
		units[i] = -1;
	for (size_t i = 0; i < family->launch_count; i++) {
		const struct launch *launch = &family->launches[i];
		bool is_built = true;

		if (!launch->always_built) {
			enum status status = launch_is_active(launch, slots, &is_built, err);

			if (status != STATUS_OK)
				return status;
		}
		if (is_built && units[launch->source] < 0)
			units[launch->source] = count++;
	}
	return STATUS_OK;
}

static enum status add_entries(const struct family *family, const struct value *slots,
	const int *units, struct build *build, struct error *err)
{
	for (size_t i = 0; i < family->launch_count; i++) {
		const struct launch *launch = &family->launches[i];
		bool is_built = true;

		if (!launch->always_built) {
			enum status status = launch_is_active(launch, slots, &is_built, err);

			if (status != STATUS_OK)
				return status;
		}
		if (is_built)
			build_unit_add_entry(&build->units[units[launch->source]], launch->entry);
	}
	return STATUS_OK;
}

enum status candidate_build(const struct bound_family *bound, const struct value *slots,
	struct build *build, struct error *err)
{
	const struct family *family = bound->family;
	int *units = memory_zeroed(family->source_count + 1, sizeof(*units));
	struct define_list defines = {0};
	enum status status;

	if (family->step_count) {
		free(units);
		return composite_build(bound, build, err);
	}
	status = family_defines(family, slots, &defines, err);
	*build = (struct build){
		.units = memory_zeroed(family->source_count + 1, sizeof(*build->units))};
	if (status == STATUS_OK)
		status = family_units(family, slots, units, err);
	for (size_t i = 0; i < family->source_count && status == STATUS_OK; i++) {
		const struct family_source *source = &family->sources[i];

		if (units[i] < 0)
			continue;
		build_unit_make(&build->units[units[i]], source->name,
			source->text ? source->text : "", &defines);
		build->unit_count++;
	}
	if (status == STATUS_OK)
		status = add_entries(family, slots, units, build, err);
	if (status == STATUS_OK)
		build_finish(build);
	else
		build_release(build);
	define_list_release(&defines);
	free(units);
	return status;
}

void build_unit_release(struct build_unit *unit)
{
	for (size_t i = 0; i < unit->option_count; i++)
		free(unit->options[i]);
	for (size_t i = 0; i < unit->entry_count; i++)
		free(unit->entries[i]);
	free(unit->options);
	free(unit->entries);
	free(unit->source);
	free(unit->name);
	*unit = (struct build_unit){0};
}

void build_release(struct build *build)
{
	for (size_t i = 0; i < build->unit_count; i++)
		build_unit_release(&build->units[i]);
	free(build->units);
	*build = (struct build){0};
}
