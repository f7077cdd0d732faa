/* SPDX-License-Identifier: MIT */
#include "tune/known.h"

#include <inttypes.h>
#include <math.h>

#include "candidate/problem_reference.h"
#include "engine/row.h"
#include "format/merge.h"

enum {
	TRIED_MAX = 64 /* more than needed, as winners may be illegal here or equal */
};

enum status known_load(
	struct tuned *known, const char *path, const struct context *context, struct error *err)
{
	CLEANUP(gpu_model_release)
	struct gpu_model device =
		gpu_model_of(context->device->spec, context->device->identity.name);
	struct merge_summary ignored = {0};
	enum status status = tuned_merge_file(known, path, &context->catalogue, &ignored, err);

	if (status == STATUS_OK && !gpu_model_same(&known->device, &device))
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: the file is for %s with %" PRId64 " SMs, not for %s with %" PRId64
			" SMs",
			path, known->device.name, known->device.sm_count, device.name,
			device.sm_count);
	return status == STATUS_OK ? status : error_context(err, "--known");
}

static bool same_toolchain(const struct run *run, const struct context *context)
{
	const char *nvrtc = context->compiler ? compiler_identity(context->compiler) : NULL;

	/* a replay accepts any toolchain */
	return run && (!nvrtc || (run->nvrtc && strcmp(run->nvrtc, nvrtc) == 0));
}

static bool same_verification(const struct tuned_entry *entry, const struct problem *problem,
	const struct context *context, uint64_t seed)
{
	char now[HASH_SIZE];

	if (entry->predicted)
		return true;
	problem_verification_hash(problem, &context->catalogue, context->device->spec, seed, now);
	return *now && strcmp(now, entry->verification_hash) == 0;
}

static const struct tuned_entry *find_entry(const struct tuned *known,
	const struct context *context, enum objective objective, uint64_t seed,
	const struct problem *problem)
{
	struct row_validity validity = {.context = context, .problem = problem};
	const struct tuned_entry *entry = tuned_find_problem(known, problem, objective);

	return entry && entry->predicted != context->device->kind->measures && !entry->unfinished &&
			       same_toolchain(
				       tuned_row_run(known, entry, &entry->winner), context) &&
			       row_is_still_valid(&entry->winner, &validity) &&
			       same_verification(entry, problem, context, seed)
		       ? entry
		       : NULL;
}

static void put_entry(
	struct tuned *tuned, const struct tuned *file, const struct tuned_entry *entry)
{
	struct tuned_entry copy = {0};
	const char *kept;

	if (tuned_find(tuned, entry->operation, &entry->problem, entry->objective))
		return;
	copy = tuned_entry_copy(entry);
	tuned_copy_run(tuned, file, entry->run);
	tuned_copy_run(tuned, file, entry->winner.run);
	for (size_t i = 0; i < entry->family_count; i++)
		tuned_copy_run(tuned, file, entry->families[i].run);
	tuned_put_entry(tuned, &copy, NULL, &kept);
}

void known_take(const struct tuned *known, const struct context *context, enum objective objective,
	uint64_t seed, struct problem_list *problems, struct problem_list *taken,
	struct tuned *tuned)
{
	size_t kept = 0;

	for (size_t i = 0; i < problems->count; i++) {
		struct problem *problem = problems->items[i];
		const struct tuned_entry *entry =
			find_entry(known, context, objective, seed, problem);

		if (!entry) {
			problems->items[kept++] = problem;
			continue;
		}
		put_entry(tuned, known, entry);
		ARRAY_GROW(taken->items, taken->count, taken->capacity);
		taken->items[taken->count++] = problem;
	}
	problems->count = kept;
}

/* Returns the distance in octaves of sizes, infinite if the problems differ in other keys. */
static double distance(const struct problem *problem, const struct named_values *there)
{
	const struct operation *operation = problem->operation;
	double octaves = 0;

	if (there->count != operation->key_count)
		return INFINITY;
	for (size_t i = 0; i < operation->key_count; i++) {
		const struct value *a = &problem->values[i], *b = &there->items[i].value;
		double here, other;

		if (strcmp(there->items[i].name, operation->keys[i].name) != 0)
			return INFINITY;
		if (value_equal(*a, *b))
			continue;
		if (operation->keys[i].values || !value_as_real(*a, &here) ||
			!value_as_real(*b, &other) || here < 0 || other < 0)
			return INFINITY;
		octaves += fabs(log2((here + 1) / (other + 1)));
	}
	return octaves;
}

struct near {
	double octaves;
	struct tuned_entry *entry;
	size_t place; /* order in the files */
};

static int known_compare(const void *a, const void *b)
{
	const struct near *x = a, *y = b;

	if (x->octaves != y->octaves)
		return x->octaves < y->octaves ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

static struct near *near_of(const struct tuned *known, const struct tuned *also,
	const struct problem *problem, enum objective objective, size_t *count)
{
	const struct tuned *const files[] = {known, also};
	struct near *near = NULL;
	size_t capacity = 0, place = 0;

	*count = 0;
	for (size_t f = 0; f < ARRAY_COUNT(files); f++) {
		for (size_t i = 0; files[f] && i < files[f]->entry_count; i++) {
			struct tuned_entry *entry = &files[f]->entries[i];
			double octaves;

			if (entry->objective != objective ||
				strcmp(entry->operation, problem->operation->name) != 0)
				continue;
			octaves = distance(problem, &entry->problem);
			if (!isfinite(octaves))
				continue;
			ARRAY_GROW(near, *count, capacity);
			near[(*count)++] = (struct near){octaves, entry, place++};
		}
	}
	if (near)
		qsort(near, *count, sizeof(*near), known_compare);
	return near;
}

size_t known_near(const struct tuned *known, const struct tuned *also,
	const struct candidates *pool, enum objective objective, size_t candidates[KNOWN_NEAR_MAX])
{
	size_t near_count, count = 0;
	CLEANUP(memory_free)
	struct near *near = near_of(known, also, pool->problem, objective, &near_count);

	for (size_t i = 0; i < near_count && i < TRIED_MAX && count < KNOWN_NEAR_MAX; i++) {
		const struct tuned_row *winner = &near[i].entry->winner;
		ptrdiff_t candidate;
		size_t same = 0;

		candidate =
			candidates_find_named(pool, winner->result.family, &winner->configuration);
		while (same < count && (ptrdiff_t)candidates[same] != candidate)
			same++;
		if (candidate >= 0 && same == count)
			candidates[count++] = (size_t)candidate;
	}
	return count;
}

static bool is_same(const struct result *a, const struct result *b)
{
	return strcmp(a->family, b->family) == 0 &&
	       strcmp(a->configuration, b->configuration) == 0 &&
	       strcmp(a->kernel_hash, b->kernel_hash) == 0;
}

static bool was_tried(const struct row_validity *row_validity, const struct result *row)
{
	for (size_t i = 0; i < row_validity->recorded_count; i++)
		if (is_same(&row_validity->recorded[i], row))
			return true;
	for (size_t i = 0; row_validity->evaluated && i < row_validity->evaluated->count; i++)
		if (is_same(&row_validity->evaluated->items[i].result, row))
			return true;
	return false;
}

bool row_is_still_valid(const struct tuned_row *row, void *context)
{
	const struct row_validity *row_validity = context;
	CLEANUP(candidate_release) struct candidate candidate = {0};
	CLEANUP(result_release) struct result today = {0};

	/* a row that is illegal now is invalid */
	if (row_candidate(&row_validity->context->catalogue, row_validity->problem,
		    row_validity->context->device->spec, row, &candidate, NULL, NULL) != STATUS_OK)
		return false;
	return candidate_describe(&candidate, &today, NULL) == STATUS_OK &&
	       strcmp(today.kernel_hash, row->result.kernel_hash) == 0 &&
	       !was_tried(row_validity, &today);
}
