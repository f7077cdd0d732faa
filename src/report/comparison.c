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

/* The keys in which two problems of one kind differ, "M=N=K", and the others, with their values. */
static void tell_apart(const char *a, const char *b, struct text *keys, struct text *others)
{
	struct pair here, there;

	while (pair_next(&a, &here) && pair_next(&b, &there))
		if (here.value_length == there.value_length &&
			strncmp(here.value, there.value, (size_t)here.value_length) == 0)
			text_appendf(others, "%s%.*s=%.*s", others->length ? "," : "",
				here.name_length, here.name, here.value_length, here.value);
		else
			text_appendf(keys, "%s%.*s", keys->length ? "=" : "", here.name_length,
				here.name);
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_groups(const void *a_, const void *b_)
{
	const struct size_group *a = a_, *b = b_;

	int order = strcmp(a->others, b->others);

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (order == 0)
		order = strcmp(a->keys, b->keys);
	return order ? order : ORDER(a->points[0].entry, b->points[0].entry);
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

/* Which keys of a problem move together: bit i is the problem's i-th key. */
typedef uint64_t moving_keys;

enum {
	KEYS_MAX = 64,
	TOGETHER_MAX = 64 /* sets of several keys, the most frequent, that are tried on a problem */
};

/* A problem as numbers: those of one kind have the same keys, operation and file. */
struct digest {
	const struct report_entry *entry;
	uint64_t kind, values; /* hashes; of values the sum of `value` */
	uint64_t value[KEYS_MAX];
	moving_keys equal[KEYS_MAX]; /* keys with the value of key i; 0: that is no integer */
	int count;
};

static struct digest digest_of(const struct report_entry *entry)
{
	const uint64_t from[] = {(uintptr_t)entry->source, (uintptr_t)entry->label};
	const char *at = entry->problem;
	struct digest digest = {.entry = entry};
	uint64_t text[KEYS_MAX];
	struct pair pair;

	digest.kind = hash_bytes(
		from, sizeof(from), hash_bytes(entry->operation, strlen(entry->operation), 0));
	while (digest.count < KEYS_MAX && pair_next(&at, &pair)) {
		const int i = digest.count++;
		int64_t integer;

		digest.kind = hash_bytes(pair.name, (size_t)pair.name_length, digest.kind);
		text[i] = hash_bytes(pair.value, (size_t)pair.value_length, 0);
		digest.value[i] = hash_bytes(&i, sizeof(i), text[i]);
		digest.values += digest.value[i];
		if (!pair_integer(&pair, &integer))
			continue;
		for (int k = 0; k <= i; k++)
			if (text[k] == text[i]) {
				digest.equal[i] |= (moving_keys)1 << k;
				digest.equal[k] |= (moving_keys)1 << i;
			}
	}
	return digest;
}

/* An entry as one of those that differ in these keys alone. */
struct member {
	uint64_t hash; /* of its kind, the keys, and the values of all others */
	int64_t size;
	const struct report_entry *entry;
};

struct member_list {
	struct member *items;
	size_t count, capacity;
};

/* Nothing, where the keys' values are not equal. */
static void add_member(struct member_list *members, const struct digest *digest, moving_keys keys)
{
	const int first = __builtin_ctzll(keys);
	uint64_t hashed[] = {digest->kind, keys, digest->values};
	const char *at = digest->entry->problem;
	struct member member = {.entry = digest->entry};
	struct pair pair;

	if ((digest->equal[first] & keys) != keys)
		return;
	for (int i = 0; i < digest->count; i++) {
		hashed[2] -= keys >> i & 1 ? digest->value[i] : 0;
		if (i <= first)
			pair_next(&at, &pair);
	}
	pair_integer(&pair, &member.size);
	member.hash = hash_bytes(hashed, sizeof(hashed), 0);
	ARRAY_GROW(members->items, members->count, members->capacity);
	members->items[members->count++] = member;
}

/* A set of several keys, and how many problems have equal values there and nowhere else. */
struct together {
	moving_keys keys;
	size_t count;
};

static int compare_keys(const void *a, const void *b)
{
	return ORDER(((const struct together *)a)->keys, ((const struct together *)b)->keys);
}

static int compare_frequent(const void *a, const void *b)
{
	const int order =
		ORDER(((const struct together *)b)->count, ((const struct together *)a)->count);

	return order ? order : compare_keys(a, b);
}

/* Sets of several keys that move together, the most frequent first, of problems of one kind. The
 * caller frees them. */
static struct together *together_find(const struct digest *digests, size_t count, size_t *found)
{
	struct together *sets = memory_zeroed(count * KEYS_MAX / 2 + 1, sizeof(*sets));
	size_t all = 0;

	*found = 0;
	for (size_t k = 0; k < count; k++)
		for (int i = 0; i < digests[k].count; i++) {
			const moving_keys keys = digests[k].equal[i];

			if (keys & (keys - 1) && i == __builtin_ctzll(keys))
				sets[all++] = (struct together){keys, 1};
		}
	qsort(sets, all, sizeof(*sets), compare_keys);
	for (size_t i = 0; i < all; i++)
		if (*found > 0 && sets[*found - 1].keys == sets[i].keys)
			sets[*found - 1].count++;
		else
			sets[(*found)++] = sets[i];
	qsort(sets, *found, sizeof(*sets), compare_frequent);
	if (*found > TOGETHER_MAX)
		*found = TOGETHER_MAX;
	return sets;
}

static void add_members(struct member_list *members, const struct digest *digests, size_t count)
{
	size_t found;
	CLEANUP(memory_free) struct together *sets = together_find(digests, count, &found);

	for (size_t k = 0; k < count; k++) {
		for (int i = 0; i < digests[k].count; i++)
			if (digests[k].equal[i])
				add_member(members, &digests[k], (moving_keys)1 << i);
		for (size_t i = 0; i < found; i++)
			add_member(members, &digests[k], sets[i].keys);
	}
}

static int compare_members(const void *a_, const void *b_)
{
	const struct member *a = a_, *b = b_;

	if (a->hash != b->hash)
		return ORDER(a->hash, b->hash);
	return a->size != b->size ? ORDER(a->size, b->size) : ORDER(a->entry, b->entry);
}

/* Members of one group, the sizes ascending: of equal ones the first counts. */
static void add_group(struct size_group_list *groups, const struct member *members, size_t count)
{
	CLEANUP(text_release) struct text keys = {0}, others = {0};
	struct size_group group = {0};

	for (size_t i = 0; i < count; i++) {
		if (i > 0 && members[i].size == members[i - 1].size)
			continue;
		ARRAY_GROW(group.points, group.count, group.capacity);
		group.points[group.count++] = (struct size_point){
			.size = (double)members[i].size, .entry = members[i].entry};
	}
	if (group.count < POINTS_MIN) {
		free(group.points);
		return;
	}
	tell_apart(group.points[0].entry->problem, group.points[1].entry->problem, &keys, &others);
	group.keys = text_detach(&keys);
	group.others = text_detach(&others);
	drop_followers(&group);
	ARRAY_GROW(groups->items, groups->count, groups->capacity);
	groups->items[groups->count++] = group;
}

static int compare_digests(const void *a_, const void *b_)
{
	const struct digest *a = a_, *b = b_;

	return a->kind != b->kind ? ORDER(a->kind, b->kind) : ORDER(a->entry, b->entry);
}

void size_groups_find(const struct report *report, struct size_group_list *groups)
{
	CLEANUP(memory_free)
	struct digest *digests = memory_zeroed(report->entry_count + 1, sizeof(*digests));
	struct member_list members = {0};
	size_t count = 0;

	*groups = (struct size_group_list){0};
	for (size_t i = 0; i < report->entry_count; i++)
		if (report->entries[i].has_winner)
			digests[count++] = digest_of(&report->entries[i]);
	qsort(digests, count, sizeof(*digests), compare_digests);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && digests[end].kind == digests[i].kind;)
			end++;
		add_members(&members, digests + i, end - i);
	}
	qsort(members.items, members.count, sizeof(*members.items), compare_members);
	for (size_t i = 0, end; i < members.count; i = end) {
		for (end = i;
			end < members.count && members.items[end].hash == members.items[i].hash;)
			end++;
		add_group(groups, members.items + i, end - i);
	}
	free(members.items);
	if (groups->count)
		qsort(groups->items, groups->count, sizeof(*groups->items), compare_groups);
}

void size_groups_release(struct size_group_list *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		group_release(&groups->items[i]);
	free(groups->items);
	*groups = (struct size_group_list){0};
}
