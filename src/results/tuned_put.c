/* SPDX-License-Identifier: MIT
 *
 * How a new entry meets an old one of the same problem.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "results/tuned.h"

static const char *member_text(const struct json_at *at, const char *key)
{
	const char *text = "";

	json_member_string(at, key, &text, NULL);
	return text;
}

static double row_time(const struct json_at *row)
{
	struct json_at time;
	double median = 0;

	if (json_find(row, "time_us", &time))
		json_member_double(&time, "median", &median, NULL);
	return median;
}

static bool has_family(const struct json_at *rows, const char *family)
{
	for (size_t i = 0; i < json_count(rows); i++) {
		struct json_at row = json_item(rows, i);

		if (strcmp(member_text(&row, "family"), family) == 0)
			return true;
	}
	return false;
}

/* A row of an older run says so, if it does not yet. */
static struct json *old_row(const struct json_at *row, const struct json_at *entry)
{
	struct json *copy = json_copy(row->node);
	struct json_at run;

	if (!json_find(row, "run", &run))
		json_put_string(copy, "run", member_text(entry, "run"));
	return copy;
}

/* Rows of families that the new run did not tune stay; the fastest of all rows wins unless the new
 * winner ties with it (1%, the floor for what differs between runs). */
static void merge_families(struct json *entry, const struct json_at *old, const char **kept)
{
	const double tie_ratio = 0.01;
	struct json_at at = json_root(entry, ""), old_rows, rows, winner;
	struct json *merged, *best = NULL;
	double best_us;

	if (!json_find(old, "families", &old_rows) || !json_find(&at, "families", &rows) ||
		!json_find(&at, "winner", &winner))
		return;
	merged = json_copy(rows.node);
	best_us = row_time(&winner) * (1 - tie_ratio);
	for (size_t i = 0; i < json_count(&old_rows); i++) {
		struct json_at row = json_item(&old_rows, i);

		if (has_family(&rows, member_text(&row, "family")))
			continue;
		json_push(merged, old_row(&row, old));
		if (row_time(&row) < best_us) {
			best_us = row_time(&row);
			json_free(best);
			best = old_row(&row, old);
		}
	}
	if (best) {
		*kept = "the winner stays one of a family that was not tuned now";
		json_put(entry, "winner", best);
		json_put(entry, "tied", json_new_array());
	}
	json_put(entry, "families", merged);
}

/* By how much the winner's family is ahead: {"family": second, "ratio": its time / the winner's}.
 */
static void put_margin(struct json *entry)
{
	struct json_at at = json_root(entry, ""), rows, winner, second = {0};
	struct json *margin;

	if (!json_find(&at, "families", &rows) || !json_find(&at, "winner", &winner))
		return;
	for (size_t i = 0; i < json_count(&rows); i++) {
		struct json_at row = json_item(&rows, i);

		if (strcmp(member_text(&row, "family"), member_text(&winner, "family")) != 0 &&
			row_time(&row) > 0 && (!second.node || row_time(&row) < row_time(&second)))
			second = row;
	}
	if (!second.node || !(row_time(&winner) > 0))
		return;
	margin = json_new_object();
	json_put_string(margin, "family", member_text(&second, "family"));
	json_put_double(margin, "ratio", row_time(&second) / row_time(&winner));
	json_put(entry, "margin", margin);
}

void tuned_put_entry(struct tuned *tuned, struct json *entry, const char **kept)
{
	struct json_at root = json_root(tuned->root, tuned->path), entries;
	struct json_at ours = json_root(entry, ""), problem;
	struct json *rebuilt = json_new_array();
	bool placed = false;

	*kept = NULL;
	if (!json_find(&root, "entries", &entries) || !json_find(&ours, "problem", &problem))
		BUG("an entry without a problem, or a file without entries");
	for (size_t i = 0; i < json_count(&entries); i++) {
		struct json_at old = json_item(&entries, i), old_problem;
		bool same = !placed &&
			    strcmp(member_text(&old, "operation"),
				    member_text(&ours, "operation")) == 0 &&
			    json_find(&old, "problem", &old_problem) &&
			    tuned_same_problem(old_problem.node, problem.node);
		bool old_measured = strcmp(member_text(&old, "timing"), "measured") == 0;
		bool new_measured = strcmp(member_text(&ours, "timing"), "measured") == 0;

		if (!same) {
			json_push(rebuilt, json_copy(old.node));
			continue;
		}
		placed = true;
		if (old_measured && !new_measured) {
			*kept = "a measured entry is not replaced by a predicted one";
			json_push(rebuilt, json_copy(old.node));
			continue;
		}
		if (old_measured == new_measured)
			merge_families(entry, &old, kept);
		put_margin(entry);
		json_push(rebuilt, json_copy(entry));
	}
	if (!placed) {
		put_margin(entry);
		json_push(rebuilt, json_copy(entry));
	}
	json_free(entry);
	json_put(tuned->root, "entries", rebuilt);
}

void tuned_put_run(struct tuned *tuned, struct json *run)
{
	struct json_at root = json_root(tuned->root, tuned->path), runs;
	struct json_at ours = json_root(run, "");
	struct json *rebuilt = json_new_array();

	if (!json_find(&root, "runs", &runs))
		BUG("a tuned file without runs");
	for (size_t i = 0; i < json_count(&runs); i++) {
		struct json_at old = json_item(&runs, i);

		if (strcmp(member_text(&old, "id"), member_text(&ours, "id")) != 0)
			json_push(rebuilt, json_copy(old.node));
	}
	json_push(rebuilt, run);
	json_put(tuned->root, "runs", rebuilt);
}
