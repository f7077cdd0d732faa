/* SPDX-License-Identifier: MIT */
#include "report/size_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	POINTS_MIN = 3
};

/* The next "key=value" of a problem: lengths of both; false at the end. */
static bool next_member(const char **at, size_t *key_length, size_t *value_length)
{
	if (!**at)
		return false;
	*key_length = strcspn(*at, "=,");
	*value_length = (*at)[*key_length] == '=' ? strcspn(*at + *key_length + 1, ",") : 0;
	return true;
}

static const char *after(const char *at, size_t key_length, size_t value_length)
{
	at += key_length + 1 + value_length;
	return at + (*at == ',');
}

/* Whether a and b differ only in numbers that are all equal within each: their keys, the rest, and
 * the sizes. */
static bool moves_together(const char *a, const char *b, struct text *keys, struct text *others,
	double *size_a, double *size_b)
{
	size_t key_a, value_a, key_b, value_b;
	bool first = true;

	while (next_member(&a, &key_a, &value_a) && next_member(&b, &key_b, &value_b)) {
		const char *text_a = a + key_a + 1, *text_b = b + key_b + 1;
		bool same = value_a == value_b && strncmp(text_a, text_b, value_a) == 0;

		if (key_a != key_b || strncmp(a, b, key_a) != 0)
			return false;
		if (same) {
			text_append(others, others->length ? "," : "");
			text_append_bytes(others, a, key_a + 1 + value_a);
		} else {
			char *end_a, *end_b;
			double x = strtod(text_a, &end_a), y = strtod(text_b, &end_b);

			if (end_a != text_a + value_a || end_b != text_b + value_b ||
				(!first && (x != *size_a || y != *size_b)))
				return false;
			*size_a = x;
			*size_b = y;
			first = false;
			text_append(keys, keys->length ? "=" : "");
			text_append_bytes(keys, a, key_a);
		}
		a = after(a, key_a, value_a);
		b = after(b, key_b, value_b);
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
		char *wanted = string_format("%.*s=", (int)length, at);
		const char *found = strstr(title, wanted);

		while (found && found != title && found[-1] != ',')
			found = strstr(found + 1, wanted);
		if (found) {
			text_append(&kept, kept.length ? "=" : "");
			text_append_bytes(&kept, at, length);
		}
		free(wanted);
		at += length + (at[length] == '=');
	}
	if (kept.length) {
		free(group->keys);
		group->keys = text_detach(&kept);
	}
	text_release(&kept);
}

void size_groups_find(const struct report *report, struct size_group_list *groups)
{
	size_t kept = 0;

	*groups = (struct size_group_list){0};
	for (size_t i = 0; i < report->entry_count; i++)
		for (size_t k = i + 1; k < report->entry_count; k++) {
			const struct report_entry *a = &report->entries[i],
						  *b = &report->entries[k];
			struct text keys = {0}, others = {0};
			double size_a = 0, size_b = 0;

			if (a->source == b->source && a->label == b->label && a->has_winner &&
				b->has_winner && strcmp(a->operation, b->operation) == 0 &&
				moves_together(
					a->problem, b->problem, &keys, &others, &size_a, &size_b)) {
				struct size_group *group = group_of(
					groups, text_string(&keys), text_string(&others), a);

				add_point(group, size_a, a);
				add_point(group, size_b, b);
			}
			text_release(&keys);
			text_release(&others);
		}
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
