/* SPDX-License-Identifier: MIT */
#include "tune/known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record.h"
#include "tune/conclude.h"

void known_release(struct known *known)
{
	for (size_t i = 0; i < known->count; i++)
		tuned_release(&known->files[i]);
	free(known->files);
	*known = (struct known){0};
}

/* ---- loading ---- */
struct loading {
	struct known *known;
	const char *folder; /* NULL: a file was named */
	const struct context *context;
	struct gpu_model device;
};

static enum status load_file(struct loading *loading, const char *path, struct error *err)
{
	struct known *known = loading->known;
	struct tuned tuned;
	enum status status = tuned_load(path, &tuned, err);

	if (status == STATUS_OK && !gpu_model_same(&tuned.device, &loading->device))
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected a tuned file of %s, found one of %s", path,
			loading->device.name, tuned.device.name);
	if (status != STATUS_OK) {
		tuned_release(&tuned);
		return status;
	}
	tuned_complete(&tuned, &loading->context->catalogue);
	ARRAY_GROW(known->files, known->count, known->capacity);
	known->files[known->count++] = tuned;
	return STATUS_OK;
}

/* Others' files lie there, too: what is no tuned file of this GPU model is passed over. */
static enum status load_one(const char *name, void *context, struct error *err)
{
	struct loading *loading = context;
	CLEANUP(memory_free) char *path = path_join(loading->folder, name);

	(void)err;
	if (string_ends_with(name, ".json"))
		(void)load_file(loading, path, NULL);
	return STATUS_OK;
}

enum status known_load(
	struct known *known, const char *path, const struct context *context, struct error *err)
{
	struct loading loading = {.known = known,
		.context = context,
		.device = gpu_model_of(
			device_spec(context->device), device_identity(context->device)->name)};
	enum status status;

	if (directory_exists(path)) {
		loading.folder = path;
		status = directory_list(path, load_one, &loading, err);
	} else {
		status = load_file(&loading, path, err);
	}
	gpu_model_release(&loading.device);
	return status == STATUS_OK ? STATUS_OK : error_context(err, "--known");
}

/* ---- known problems ---- */
static bool same_toolchain(const struct run *run, const struct context *context)
{
	const char *nvrtc = context->compiler ? compiler_identity(context->compiler) : NULL;

	/* a replay has none: whatever it was */
	return run && (!nvrtc || (run->nvrtc && strcmp(run->nvrtc, nvrtc) == 0));
}

/* The entry that saves tuning this problem, of the first file that has one. */
static const struct tuned_entry *find_entry(const struct known *known,
	const struct context *context, enum objective objective, const struct problem *problem,
	const struct tuned **file)
{
	struct row_validity validity = {.context = context, .problem = problem};

	for (size_t i = 0; i < known->count; i++) {
		const struct tuned_entry *entry =
			tuned_find_problem(&known->files[i], problem, objective);

		if (!entry || entry->predicted == device_measures(context->device) ||
			!same_toolchain(
				tuned_row_run(&known->files[i], entry, &entry->winner), context) ||
			!row_validity_row(&entry->winner, &validity))
			continue;
		*file = &known->files[i];
		return entry;
	}
	return NULL;
}

static void put_run(struct tuned *tuned, const struct tuned *file, const char *id)
{
	const struct run *run = id ? tuned_run(file, id) : NULL;
	struct run copy = {0};

	if (!run || tuned_run(tuned, id))
		return;
	record_copy(&run_record, run, &copy);
	tuned_put_run(tuned, &copy);
}

static void put_entry(
	struct tuned *tuned, const struct tuned *file, const struct tuned_entry *entry)
{
	struct tuned_entry copy = {0};
	const char *kept;

	/* what stands there is of this file's own runs */
	if (tuned_find(tuned, entry->operation, &entry->problem, entry->objective))
		return;
	copy = tuned_entry_copy(entry);
	put_run(tuned, file, entry->run);
	put_run(tuned, file, entry->winner.run);
	for (size_t i = 0; i < entry->family_count; i++)
		put_run(tuned, file, entry->families[i].run);
	tuned_put_entry(tuned, &copy, NULL, &kept);
}

void known_take(const struct known *known, const struct context *context, enum objective objective,
	struct problem_list *problems, struct problem_list *taken, struct tuned *tuned)
{
	size_t kept = 0;

	for (size_t i = 0; i < problems->count; i++) {
		struct problem *problem = problems->items[i];
		const struct tuned *file;
		const struct tuned_entry *entry =
			find_entry(known, context, objective, problem, &file);

		if (!entry) {
			problems->items[kept++] = problem;
			continue;
		}
		put_entry(tuned, file, entry);
		ARRAY_GROW(taken->items, taken->count, taken->capacity);
		taken->items[taken->count++] = problem;
	}
	problems->count = kept;
}

/* ---- near ones ---- */
/* Octaves between their sizes; infinite: they differ in kind. */
static double distance(const struct problem *problem, const struct tuned_entry *entry)
{
	const struct operation *operation = problem->operation;
	double octaves = 0;

	if (strcmp(entry->operation, operation->name) != 0)
		return INFINITY;
	for (size_t i = 0; i < operation->key_count; i++) {
		const struct value *there =
			named_values_find(&entry->problem, operation->keys[i].name);
		double a, b;

		if (!there)
			return INFINITY;
		if (value_equal(problem->values[i], *there))
			continue;
		if (operation->keys[i].values || !value_as_real(problem->values[i], &a) ||
			!value_as_real(*there, &b) || a < 0 || b < 0)
			return INFINITY;
		octaves += fabs(log2((a + 1) / (b + 1)));
	}
	return octaves;
}

struct near {
	double octaves;
	size_t candidate;
};

/* Keeps the nearest, nearest first, each candidate once. */
static size_t keep(struct near *near, size_t count, struct near found)
{
	size_t at = count;

	for (size_t i = 0; i < count; i++)
		if (near[i].candidate == found.candidate) {
			if (near[i].octaves <= found.octaves)
				return count;
			memmove(&near[i], &near[i + 1], (--count - i) * sizeof(*near));
			at = count;
			break;
		}
	while (at && near[at - 1].octaves > found.octaves)
		at--;
	if (at == KNOWN_NEAR_MAX)
		return count;
	if (count == KNOWN_NEAR_MAX)
		count--;
	memmove(&near[at + 1], &near[at], (count - at) * sizeof(*near));
	near[at] = found;
	return count + 1;
}

size_t known_near(const struct known *known, const struct candidates *pool,
	enum objective objective, size_t candidates[KNOWN_NEAR_MAX])
{
	struct near near[KNOWN_NEAR_MAX];
	size_t count = 0;

	for (size_t f = 0; known && f < known->count; f++)
		for (size_t e = 0; e < known->files[f].entry_count; e++) {
			const struct tuned_entry *entry = &known->files[f].entries[e];
			const struct tuned_row *winner = &entry->winner;
			const double octaves = entry->objective == objective
						       ? distance(pool->problem, entry)
						       : INFINITY;
			const ptrdiff_t candidate =
				isfinite(octaves) ? candidates_find_named(pool, winner->family,
							    &winner->configuration)
						  : -1;

			if (candidate >= 0)
				count = keep(
					near, count, (struct near){octaves, (size_t)candidate});
		}
	for (size_t i = 0; i < count; i++)
		candidates[i] = near[i].candidate;
	return count;
}
