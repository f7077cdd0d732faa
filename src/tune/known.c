/* SPDX-License-Identifier: MIT */
#include "tune/known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_read.h"
#include "family/problem_text.h"
#include "tune/conclude.h"

enum {
	TRIED_MAX = 64 /* of the nearest, some may not be legal here, or be the same */
};

void known_release(struct known *known)
{
	for (size_t i = 0; i < known->count; i++)
		tuned_release(&known->files[i]);
	free(known->files);
	tuned_index_release(&known->index);
	*known = (struct known){0};
}

/* ---- loading ---- */
static enum status load_file(struct known *known, const char *path, const struct context *context,
	const struct gpu_model *device, struct error *err)
{
	CLEANUP(tuned_release) struct tuned tuned = {0};

	TRY(tuned_load(path, &tuned, err));
	if (!gpu_model_same(&tuned.device, device))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a tuned file of %s, found one of %s", path, device->name,
			tuned.device.name);
	tuned_complete(&tuned, &context->catalogue);
	ARRAY_GROW(known->files, known->count, known->capacity);
	known->files[known->count++] = tuned;
	tuned = (struct tuned){0};
	return STATUS_OK;
}

/* Of a file in a folder, when it is needed. NULL: it has gone meanwhile. */
static const struct tuned *file_of(
	struct known *known, const char *path, const struct context *context)
{
	CLEANUP(gpu_model_release)
	struct gpu_model device =
		gpu_model_of(device_spec(context->device), device_identity(context->device)->name);

	for (size_t i = 0; i < known->count; i++)
		if (strcmp(known->files[i].path, path) == 0)
			return &known->files[i];
	return load_file(known, path, context, &device, NULL) == STATUS_OK
		       ? &known->files[known->count - 1]
		       : NULL;
}

enum status known_load(
	struct known *known, const char *path, const struct context *context, struct error *err)
{
	CLEANUP(gpu_model_release)
	struct gpu_model device =
		gpu_model_of(device_spec(context->device), device_identity(context->device)->name);
	enum status status;

	if (directory_exists(path)) {
		status = tuned_index_add_folder(&known->index, path, &device, err);
	} else {
		status = load_file(known, path, context, &device, err);
		if (status == STATUS_OK)
			tuned_index_add(&known->index, &known->files[known->count - 1]);
	}
	return status == STATUS_OK ? STATUS_OK : error_context(err, "--known");
}

/* Texts of problems from before the operation had all of its keys become those of today. */
static void complete_texts(struct known *known, const struct operation *operation)
{
	for (size_t i = 0; i < known->index.count; i++) {
		struct tuned_index_item *item = &known->index.items[i];
		size_t keys = 1;
		char *text;

		if (strcmp(item->operation, operation->name) != 0)
			continue;
		for (const char *at = item->problem; *at; at++)
			keys += *at == ',';
		if (keys >= operation->key_count)
			continue;
		text = string_copy(item->problem);
		problem_text_complete(operation, &text);
		item->problem = tuned_index_keep(&known->index, text);
	}
}

/* ---- known problems ---- */
static bool same_toolchain(const struct run *run, const struct context *context)
{
	const char *nvrtc = context->compiler ? compiler_identity(context->compiler) : NULL;

	/* a replay has none: whatever it was */
	return run && (!nvrtc || (run->nvrtc && strcmp(run->nvrtc, nvrtc) == 0));
}

/* The entry that saves tuning this problem, of the first file that has one. */
static const struct tuned_entry *find_entry(struct known *known, const struct context *context,
	enum objective objective, const struct problem *problem, const struct tuned **file)
{
	struct row_validity validity = {.context = context, .problem = problem};

	for (size_t i = 0; i < known->index.count; i++) {
		const struct tuned_index_item *item = &known->index.items[i];
		const struct tuned_entry *entry;

		if (item->objective != objective ||
			item->predicted == device_measures(context->device) ||
			strcmp(item->problem, problem->text) != 0 ||
			strcmp(item->operation, problem->operation->name) != 0)
			continue;
		*file = file_of(known, item->path, context);
		entry = *file ? tuned_find_problem(*file, problem, objective) : NULL;
		if (entry && entry->predicted == item->predicted && !entry->unfinished &&
			same_toolchain(tuned_row_run(*file, entry, &entry->winner), context) &&
			row_validity_row(&entry->winner, &validity))
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

void known_take(struct known *known, const struct context *context, enum objective objective,
	struct problem_list *problems, struct problem_list *taken, struct tuned *tuned)
{
	size_t kept = 0;

	if (problems->count)
		complete_texts(known, problems->items[0]->operation);
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
/* Octaves between their sizes; infinite: they differ in kind. Both texts are canonical. */
static double distance(const struct problem *problem, const char *there)
{
	const struct operation *operation = problem->operation;
	const char *here = problem->text;
	double octaves = 0;

	for (size_t i = 0; i < operation->key_count; i++) {
		const size_t name = strlen(operation->keys[i].name) + 1; /* and "=" */
		size_t a_length, b_length;
		double a, b;

		if (strncmp(here, there, name) != 0)
			return INFINITY;
		here += name;
		there += name;
		a_length = strcspn(here, ",");
		b_length = strcspn(there, ",");
		if (a_length != b_length || strncmp(here, there, a_length) != 0) {
			char *a_end, *b_end;

			a = strtod(here, &a_end);
			b = strtod(there, &b_end);
			if (operation->keys[i].values || a_end != here + a_length ||
				b_end != there + b_length || a < 0 || b < 0)
				return INFINITY;
			octaves += fabs(log2((a + 1) / (b + 1)));
		}
		here += a_length + (here[a_length] == ',');
		there += b_length + (there[b_length] == ',');
	}
	return octaves;
}

/* The candidate that is this entry's winner, or -1. */
static ptrdiff_t winner_of(const struct candidates *pool, const struct tuned_index_item *item)
{
	CLEANUP(json_release) struct json *tree = NULL;
	struct tuned_row row = {0};
	struct json_at at;
	ptrdiff_t candidate = -1;

	if (json_parse(item->choice, strlen(item->choice), item->path, &tree, NULL) != STATUS_OK)
		return -1;
	at = json_root(tree, item->path);
	if (record_from_json(&tuned_choice_record, &at, &row, NULL, NULL) == STATUS_OK)
		candidate = candidates_find_named(pool, row.family, &row.configuration);
	record_release(&tuned_choice_record, &row);
	return candidate;
}

struct near {
	double octaves;
	const struct tuned_index_item *item;
};

/* The nearest first; of equals the first in the index. */
static int compare(const void *a, const void *b)
{
	const struct near *x = a, *y = b;

	if (x->octaves != y->octaves)
		return x->octaves < y->octaves ? -1 : 1;
	return x->item < y->item ? -1 : 1;
}

size_t known_near(const struct known *known, const struct candidates *pool,
	enum objective objective, size_t candidates[KNOWN_NEAR_MAX])
{
	const size_t total = known ? known->index.count : 0;
	CLEANUP(memory_free) struct near *near = memory_zeroed(total + 1, sizeof(*near));
	size_t near_count = 0, count = 0;

	for (size_t i = 0; i < total; i++) {
		const struct tuned_index_item *item = &known->index.items[i];

		if (item->objective != objective ||
			strcmp(item->operation, pool->problem->operation->name) != 0)
			continue;
		near[near_count] = (struct near){distance(pool->problem, item->problem), item};
		near_count += isfinite(near[near_count].octaves);
	}
	qsort(near, near_count, sizeof(*near), compare);
	for (size_t i = 0; i < near_count && i < TRIED_MAX && count < KNOWN_NEAR_MAX; i++) {
		const ptrdiff_t candidate = winner_of(pool, near[i].item);
		size_t same = 0;

		while (same < count && (ptrdiff_t)candidates[same] != candidate)
			same++;
		if (candidate >= 0 && same == count)
			candidates[count++] = (size_t)candidate;
	}
	return count;
}
