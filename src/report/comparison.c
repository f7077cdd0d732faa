/* SPDX-License-Identifier: MIT */
#include "report/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "tune/select.h"
#include "report/format.h"
#include "expr/dtype.h"

static struct comparison_row row_of(
	const struct report_entry *first, const struct report_entry *second)
{
	const struct report_result *a = &first->winner, *b = &second->winner;
	struct comparison_row row = {
		.first = first, .second = second, .ratio = b->time_us / a->time_us};

	row.low = a->high_us > 0 && b->low_us > 0 ? b->low_us / a->high_us : row.ratio;
	row.high = a->low_us > 0 && b->high_us > 0 ? b->high_us / a->low_us : row.ratio;
	/* the floor that ties have everywhere: what differs between two runs of one binary */
	row.verdict = row.high < 1 - SELECT_TIE_RATIO  ? "faster"
		      : row.low > 1 + SELECT_TIE_RATIO ? "slower"
						       : "same";
	if (first->predicted != second->predicted)
		row.verdict = "not comparable: one is predicted";
	return row;
}

void comparison_make(const struct report *report, struct comparison *comparison)
{
	CLEANUP(memory_free)
	char **keys = memory_zeroed(report->entry_count + 1, sizeof(*keys));
	CLEANUP(memory_free) struct same_name *same = NULL;

	*comparison = (struct comparison){0};
	for (size_t i = 0; i < report->entry_count; i++) {
		const struct report_entry *entry = &report->entries[i];

		keys[i] = entry->has_winner
				  ? string_format("%s %s", entry->operation, entry->problem)
				  : string_format("%zu", i);
	}
	same = names_same(keys, report->entry_count);
	for (size_t i = 0; i < report->entry_count; i++) {
		const struct report_entry *second = &report->entries[i],
					  *first = &report->entries[same[i].first];

		free(keys[i]);
		if (first == second)
			continue;
		ARRAY_GROW(comparison->rows, comparison->count, comparison->capacity);
		comparison->rows[comparison->count++] = row_of(first, second);
		comparison->devices_differ |=
			strcmp(report_device_name(first), report_device_name(second)) != 0;
	}
}

void comparison_release(struct comparison *comparison)
{
	free(comparison->rows);
	*comparison = (struct comparison){0};
}

/* ---- the device's ceilings ---- */
static int dtype_of(const struct report_entry *entry)
{
	char name[32];
	struct pair pair;

	if (!pair_find(entry->problem, "dtype", &pair))
		return DTYPE_FP32;
	snprintf(name, sizeof(name), "%.*s", pair.value_length, pair.value);
	return dtype_find(name);
}

size_t ceilings_find(const struct report_entry *entry, struct ceiling ceilings[CEILINGS_MAX])
{
	static const struct {
		enum pipe pipe;
		const char *name, *brief;
	} pipes[CEILINGS_MAX] = {{PIPE_TENSOR_WGMMA, "tensor cores (wgmma)", "wgmma"},
		{PIPE_TENSOR_MMA, "tensor cores (mma.sync)", "mma.sync"},
		{PIPE_FP32, "CUDA cores, fp32", "CUDA cores"}};
	const struct device_spec *spec = entry->spec;
	const int dtype = dtype_of(entry);
	size_t count = 0;

	for (int i = 0; spec && i < CEILINGS_MAX; i++) {
		const bool tensor = pipes[i].pipe != PIPE_FP32;
		const int column = tensor ? dtype : DTYPE_FP32;
		const double rate = column < 0 ? 0 : spec->rate[pipes[i].pipe][column];
		const double tflop_per_clock = rate * (double)spec->sm_count * 1e-12;

		if (rate <= 0)
			continue;
		ceilings[count++] = (struct ceiling){.name = pipes[i].name,
			.brief = pipes[i].brief,
			.tflops = tflop_per_clock * spec->clock_hz,
			.sustained_tflops = tensor ? tflop_per_clock * spec->tensor_clock_hz : 0};
	}
	return count;
}

/* ---- sizes of a sweep ---- */
enum {
	POINTS_MIN = 3
};

/* Whether a and b differ only in numbers that are all equal within each: their keys, the rest, and
 * the sizes. */
static bool moves_together(const char *a, const char *b, struct text *keys, struct text *others,
	double *size_a, double *size_b)
{
	struct pair here, there;
	bool first = true;

	while (pair_next(&a, &here) && pair_next(&b, &there)) {
		int64_t x, y;

		if (here.name_length != there.name_length ||
			strncmp(here.name, there.name, (size_t)here.name_length) != 0)
			return false;
		if (here.value_length == there.value_length &&
			strncmp(here.value, there.value, (size_t)here.value_length) == 0) {
			text_appendf(others, "%s%.*s=%.*s", others->length ? "," : "",
				here.name_length, here.name, here.value_length, here.value);
			continue;
		}
		if (!pair_integer(&here, &x) || !pair_integer(&there, &y) ||
			(!first && ((double)x != *size_a || (double)y != *size_b)))
			return false;
		*size_a = (double)x;
		*size_b = (double)y;
		first = false;
		text_appendf(keys, "%s%.*s", keys->length ? "=" : "", here.name_length, here.name);
	}
	return !first && !*a && !*b;
}

static struct size_group *group_of(struct size_group_list *groups, const char *keys,
	const char *others, const struct report_entry *entry)
{
	struct size_group *group;

	for (size_t i = 0; i < groups->count; i++) {
		group = &groups->items[i];
		if (strcmp(group->keys, keys) == 0 && strcmp(group->others, others) == 0 &&
			group->points[0].entry->source == entry->source &&
			group->points[0].entry->label == entry->label &&
			strcmp(group->points[0].entry->operation, entry->operation) == 0)
			return group;
	}
	ARRAY_GROW(groups->items, groups->count, groups->capacity);
	group = &groups->items[groups->count++];
	*group = (struct size_group){.keys = string_copy(keys), .others = string_copy(others)};
	return group;
}

static void add_point(struct size_group *group, double size, const struct report_entry *entry)
{
	size_t at = 0;

	while (at < group->count && group->points[at].size < size)
		at++;
	if (at < group->count && group->points[at].size == size)
		return;
	ARRAY_GROW(group->points, group->count, group->capacity);
	memmove(group->points + at + 1, group->points + at,
		(group->count - at) * sizeof(*group->points));
	group->points[at] = (struct size_point){.size = size, .entry = entry};
	group->count++;
}

static int compare_groups(const void *a_, const void *b_)
{
	const struct size_group *a = a_, *b = b_;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->others, b->others);
}

static void group_release(struct size_group *group)
{
	free(group->keys);
	free(group->others);
	free(group->points);
}

/* Keys that the title does not name follow from others: "M=N=K=lda" -> "M=N=K". */
static void drop_followers(struct size_group *group)
{
	const char *title = group->points[0].entry->title;
	struct text kept = {0};

	for (const char *at = group->keys; *at;) {
		size_t length = strcspn(at, "=");
		CLEANUP(memory_free) char *key = string_copy_bytes(at, length);
		struct pair pair;

		if (pair_find(title, key, &pair))
			text_appendf(&kept, "%s%s", kept.length ? "=" : "", key);
		at += length + (at[length] == '=');
	}
	if (!kept.length)
		return;
	free(group->keys);
	group->keys = text_detach(&kept);
}

/* A problem's keys and values as numbers: of two of many entries it is said at once whether they
 * may move together. */
struct digest {
	uint64_t names, *values;
	size_t count;
};

static struct digest digest_of(const char *problem)
{
	struct digest digest = {.values = memory_zeroed(strlen(problem) + 1, sizeof(uint64_t))};
	struct pair pair;

	while (pair_next(&problem, &pair)) {
		digest.names = hash_bytes(pair.name, (size_t)pair.name_length, digest.names);
		digest.values[digest.count++] =
			hash_bytes(pair.value, (size_t)pair.value_length, 0);
	}
	return digest;
}

static bool may_move_together(const struct digest *a, const struct digest *b)
{
	size_t first = a->count;

	if (a->names != b->names || a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (a->values[i] == b->values[i])
			continue;
		first = first < a->count ? first : i;
		if (a->values[i] != a->values[first] || b->values[i] != b->values[first])
			return false;
	}
	return first < a->count;
}

/* Puts two entries into the group of those that differ from them as they differ. */
static void add_two(
	struct size_group_list *groups, const struct report_entry *a, const struct report_entry *b)
{
	CLEANUP(text_release) struct text keys = {0}, others = {0};
	double size_a = 0, size_b = 0;
	struct size_group *group;

	if (a->source != b->source || a->label != b->label || !a->has_winner || !b->has_winner ||
		strcmp(a->operation, b->operation) != 0 ||
		!moves_together(a->problem, b->problem, &keys, &others, &size_a, &size_b))
		return;
	group = group_of(groups, text_string(&keys), text_string(&others), a);
	add_point(group, size_a, a);
	add_point(group, size_b, b);
}

void size_groups_find(const struct report *report, struct size_group_list *groups)
{
	size_t kept = 0;

	struct digest *digests = memory_zeroed(report->entry_count + 1, sizeof(*digests));

	*groups = (struct size_group_list){0};
	for (size_t i = 0; i < report->entry_count; i++)
		digests[i] = digest_of(report->entries[i].problem);
	for (size_t i = 0; i < report->entry_count; i++)
		for (size_t k = i + 1; k < report->entry_count; k++)
			if (may_move_together(&digests[i], &digests[k]))
				add_two(groups, &report->entries[i], &report->entries[k]);
	for (size_t i = 0; i < report->entry_count; i++)
		free(digests[i].values);
	free(digests);
	for (size_t i = 0; i < groups->count; i++) {
		if (groups->items[i].count < POINTS_MIN) {
			group_release(&groups->items[i]);
			continue;
		}
		drop_followers(&groups->items[i]);
		groups->items[kept++] = groups->items[i];
	}
	groups->count = kept;
	if (kept)
		qsort(groups->items, kept, sizeof(*groups->items), compare_groups);
}

void size_groups_release(struct size_group_list *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		group_release(&groups->items[i]);
	free(groups->items);
	*groups = (struct size_group_list){0};
}
