/* SPDX-License-Identifier: MIT */
#include "format/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char *text_of(const struct json_at *object, const char *key)
{
	const char *text = "";

	json_member_string(object, key, &text, NULL);
	return text;
}

static const char *date_of(const struct tuned *tuned, const struct json_at *entry)
{
	struct json_at root = json_root(tuned->root, tuned->path), runs;
	const char *run = text_of(entry, "run");

	if (!json_find(&root, "runs", &runs))
		return "";
	for (size_t i = 0; i < json_count(&runs); i++) {
		struct json_at at = json_item(&runs, i);

		if (strcmp(text_of(&at, "id"), run) == 0)
			return text_of(&at, "date");
	}
	return "";
}

static double winner_time(const struct json_at *entry)
{
	struct json_at winner, time;
	double median = 0;

	if (json_find(entry, "winner", &winner) && json_find(&winner, "time_us", &time))
		json_member_double(&time, "median", &median, NULL);
	return median;
}

static bool same_json(const struct json *a, const struct json *b)
{
	char *text_a = json_print(a, false), *text_b = json_print(b, false);
	bool same = strcmp(text_a, text_b) == 0;

	free(text_a);
	free(text_b);
	return same;
}

/* One problem that both files have. */
struct conflict {
	const struct tuned *into, *from;
	struct json_at ours, theirs; /* in into, in from */
};

static bool theirs_is_base(const struct conflict *conflict, enum merge_rule rule)
{
	if (rule == MERGE_NEWEST)
		return strcmp(date_of(conflict->from, &conflict->theirs),
			       date_of(conflict->into, &conflict->ours)) > 0;
	if (rule == MERGE_FASTEST)
		return winner_time(&conflict->theirs) < winner_time(&conflict->ours);
	return false;
}

static enum status conflict_error(const struct conflict *conflict, struct error *err)
{
	struct json_at problem;
	char *text = json_find(&conflict->ours, "problem", &problem)
			     ? json_print(problem.node, false)
			     : string_copy("?");

	error_set(err, STATUS_BAD_INPUT,
		"%s: expected no entry of %s %s, which %s has too, found one", conflict->from->path,
		text_of(&conflict->ours, "operation"), text, conflict->into->path);
	free(text);
	return error_hint(err, "--on-conflict newest, fastest or first decides");
}

/* The base is put last: tuned_put_entry() lets the new one stand and adds what the old one has
 * besides. */
static void join(struct tuned *into, const struct conflict *conflict, bool theirs_first)
{
	struct json *ours = json_copy(conflict->ours.node);
	struct json *theirs = json_copy(conflict->theirs.node);
	const char *kept;

	tuned_put_entry(into, theirs, NULL, &kept);
	if (theirs_first)
		tuned_put_entry(into, ours, NULL, &kept);
	else
		json_free(ours);
}

static enum status merge_entry(struct tuned *into, const struct tuned *from,
	const struct json_at *theirs, enum merge_rule rule, struct merge_summary *summary,
	struct error *err)
{
	struct conflict conflict = {.into = into, .from = from, .theirs = *theirs};
	struct json_at problem;
	const char *kept;
	bool same_kind;

	if (json_member(theirs, "problem", &problem, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (!tuned_find(into, text_of(theirs, "operation"), problem.node, &conflict.ours)) {
		summary->added++;
		tuned_put_entry(into, json_copy(theirs->node), NULL, &kept);
		return STATUS_OK;
	}
	if (same_json(conflict.ours.node, theirs->node)) {
		summary->equal++;
		return STATUS_OK;
	}
	same_kind = strcmp(text_of(&conflict.ours, "timing"), text_of(theirs, "timing")) == 0;
	if (!same_kind) { /* measured stays, or comes */
		summary->outranked++;
		tuned_put_entry(into, json_copy(theirs->node), NULL, &kept);
		return STATUS_OK;
	}
	if (rule == MERGE_FAIL)
		return conflict_error(&conflict, err);
	summary->conflicts++;
	join(into, &conflict, !theirs_is_base(&conflict, rule));
	return STATUS_OK;
}

static enum status device_error(
	const struct tuned *into, const struct tuned *from, struct error *err)
{
	const struct tuned *files[] = {into, from};
	const char *names[2] = {"?", "?"};
	int64_t sm_counts[2] = {0};

	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		struct json_at root = json_root(files[i]->root, files[i]->path), device;

		if (!json_find(&root, "device", &device))
			continue;
		json_member_string(&device, "name", &names[i], NULL);
		json_member_int(&device, "sm_count", &sm_counts[i], NULL);
	}
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected a tuned file of %s with %" PRId64
		" SMs, as %s is, found one of %s with %" PRId64 " SMs",
		from->path, names[0], sm_counts[0], into->path, names[1], sm_counts[1]);
}

enum status tuned_merge(struct tuned *into, const struct tuned *from, enum merge_rule rule,
	struct merge_summary *summary, struct error *err)
{
	struct json_at root = json_root(from->root, from->path), device, runs, entries;
	enum status status = json_member(&root, "device", &device, err);

	if (status == STATUS_OK && tuned_same_device(into, device.node, NULL) != STATUS_OK)
		status = device_error(into, from, err);
	if (status != STATUS_OK)
		return status;
	if (json_find(&root, "entries", &entries))
		for (size_t i = 0; status == STATUS_OK && i < json_count(&entries); i++) {
			struct json_at item = json_item(&entries, i);

			status = merge_entry(into, from, &item, rule, summary, err);
		}
	if (status == STATUS_OK && json_find(&root, "runs", &runs))
		for (size_t i = 0; i < json_count(&runs); i++) {
			struct json_at item = json_item(&runs, i);

			tuned_put_run(into, json_copy(item.node));
		}
	return status;
}
