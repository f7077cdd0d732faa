/* SPDX-License-Identifier: MIT */
#include "format/tuned_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* What differs between two runs of one binary on one GPU model. */
static const double floor_ratio = 0.01;

static const char *member_text(const struct json_at *at, const char *key)
{
	const char *text = "";

	json_member_string(at, key, &text, NULL);
	return text;
}

static double member_number(const struct json_at *at, const char *key, double otherwise)
{
	struct json_at member;

	/* null: not known */
	if (json_find(at, key, &member) && json_type(&member) == JSON_NUMBER)
		json_get_double(&member, &otherwise, NULL);
	return otherwise;
}

static double row_time(const struct json_at *row)
{
	struct json_at time;

	return json_find(row, "time_us", &time) ? member_number(&time, "median", 0) : 0;
}

static bool find_family(const struct json_at *rows, const char *family, struct json_at *found)
{
	for (size_t i = 0; i < json_count(rows); i++) {
		struct json_at row = json_item(rows, i);

		if (strcmp(member_text(&row, "family"), family) == 0) {
			*found = json_root(row.node, "");
			return true;
		}
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

/* ---- the runs that rows are of ---- */
static bool find_run(const struct tuned *tuned, const struct json_at *entry,
	const struct json_at *row, struct json_at *run)
{
	struct json_at root = json_root(tuned->root, ""), runs;
	const char *id = member_text(row, "run");

	if (!id[0])
		id = member_text(entry, "run");
	if (!json_find(&root, "runs", &runs))
		return false;
	for (size_t i = 0; i < json_count(&runs); i++) {
		struct json_at item = json_item(&runs, i);

		if (strcmp(member_text(&item, "id"), id) == 0) {
			*run = json_root(item.node, "");
			return true;
		}
	}
	return false;
}

static bool same_text(
	const struct json_at *a, const struct json_at *b, const char *key, bool must_be_known)
{
	const char *x = member_text(a, key), *y = member_text(b, key);

	return strcmp(x, y) == 0 && (x[0] || !must_be_known);
}

/* A time of run `from` times this is a time of run `to`: the anchor kernel was timed in both. 0:
 * their times cannot be compared. The GPU model is the same, it is the file's. */
static double time_scale(const struct json_at *from, const struct json_at *to)
{
	double from_us = member_number(from, "anchor_us", 0);
	double to_us = member_number(to, "anchor_us", 0);
	double from_w = member_number(from, "power_limit_w", 0);
	double to_w = member_number(to, "power_limit_w", 0);

	if (!same_text(from, to, "driver", true) || !same_text(from, to, "nvrtc", true) ||
		!same_text(from, to, "mig", false) || from_w < to_w || from_w > to_w)
		return 0;
	if (from_us > 0 && to_us > 0)
		return to_us / from_us;
	return same_text(from, to, "uuid", true) ? 1 : 0;
}

/* ---- which of two rows of one family stays ---- */
struct pair {
	const struct tuned *tuned;
	const struct json_at *old_entry, *new_entry;
};

static double scale_of(
	const struct pair *pair, const struct json_at *old, const struct json_at *new)
{
	struct json_at old_run, new_run;

	if (!find_run(pair->tuned, pair->old_entry, old, &old_run) ||
		!find_run(pair->tuned, pair->new_entry, new, &new_run))
		return 0;
	return time_scale(&old_run, &new_run);
}

/* Faster by more than the intervals and the floor. */
static bool is_faster(const struct json_at *old, const struct json_at *new, double scale)
{
	double old_us = row_time(old) * scale, new_us = row_time(new);
	struct json_at old_time, new_time;
	double high, low;

	if (!(old_us > 0) || !(new_us > 0) || !json_find(old, "time_us", &old_time) ||
		!json_find(new, "time_us", &new_time))
		return false;
	high = member_number(&old_time, "ci95_high", row_time(old)) * scale;
	low = member_number(&new_time, "ci95_low", new_us);
	/* half of the floor on each side */
	return high + 0.5 * floor_ratio * old_us < low - 0.5 * floor_ratio * new_us;
}

static bool same_member(const struct json_at *a, const struct json_at *b, const char *key)
{
	struct json_at x, y;
	bool in_a = json_find(a, key, &x), in_b = json_find(b, key, &y);

	return in_a && in_b ? json_same(x.node, y.node) : in_a == in_b;
}

/* A run that looked at few candidates does not undo what an earlier one found, as long as that is
 * worth as much today. The same configuration timed again is what it is now. */
static bool old_stays(const struct pair *pair, const struct json_at *old, const struct json_at *new,
	const struct tuned_judge *judge)
{
	double scale;

	if (!judge || strcmp(member_text(pair->new_entry, "timing"), "measured") != 0)
		return false;
	if (same_member(old, new, "configuration") && same_member(old, new, "steps"))
		return false;
	scale = scale_of(pair, old, new);
	return scale > 0 && is_faster(old, new, scale) && judge->stands(old, judge->context);
}

/* The row's time in the new entry's run, where that can be said. */
static double time_now(
	const struct pair *pair, const struct json_at *row, const struct json_at *winner)
{
	double scale = scale_of(pair, row, winner);

	return row_time(row) * (scale > 0 ? scale : 1);
}

/* The new rows, but old ones in the place of those that they beat; then old ones of families that
 * were not tuned now. stayed[i]: the i-th is old. */
static struct json *merged_rows(const struct pair *pair, const struct tuned_judge *judge,
	const struct json_at *new_rows, const struct json_at *old_rows, bool *stayed)
{
	struct json *merged = json_new_array();
	struct json_at other;
	size_t count = 0;

	for (size_t i = 0; i < json_count(new_rows); i++) {
		struct json_at row = json_item(new_rows, i);

		stayed[count] = find_family(old_rows, member_text(&row, "family"), &other) &&
				old_stays(pair, &other, &row, judge);
		json_push(merged,
			stayed[count] ? old_row(&other, pair->old_entry) : json_copy(row.node));
		count++;
	}
	for (size_t i = 0; i < json_count(old_rows); i++) {
		struct json_at row = json_item(old_rows, i);

		if (find_family(new_rows, member_text(&row, "family"), &other))
			continue;
		json_push(merged, old_row(&row, pair->old_entry));
		stayed[count++] = true;
	}
	return merged;
}

void tuned_rows_merge(const struct tuned *tuned, struct json *entry, const struct json_at *old,
	const struct tuned_judge *judge, const char **kept)
{
	struct json_at at = json_root(entry, ""), old_rows, rows, winner, merged_at, other;
	const struct pair pair = {.tuned = tuned, .old_entry = old, .new_entry = &at};
	struct json *merged, *best = NULL;
	double best_us;
	bool *stayed;

	if (!json_find(old, "families", &old_rows) || !json_find(&at, "families", &rows) ||
		!json_find(&at, "winner", &winner))
		return;
	stayed = memory_zeroed(json_count(&rows) + json_count(&old_rows) + 1, sizeof(*stayed));
	merged = merged_rows(&pair, judge, &rows, &old_rows, stayed);
	merged_at = json_root(merged, "");
	/* the fastest of all wins, unless the new winner ties with it */
	best_us = row_time(&winner) * (1 - floor_ratio);
	for (size_t i = 0; i < json_count(&merged_at); i++) {
		struct json_at row = json_item(&merged_at, i);
		double row_us = time_now(&pair, &row, &winner);

		if (!stayed[i] || !(row_us < best_us))
			continue;
		best_us = row_us;
		json_free(best);
		best = json_copy(row.node);
		*kept = find_family(&rows, member_text(&row, "family"), &other)
				? "the winner stays what an earlier run found: nothing that was "
				  "tried now is as fast"
				: "the winner stays one of a family that was not tuned now";
	}
	if (best) {
		json_put(entry, "winner", best);
		json_put(entry, "tied", json_new_array());
	}
	json_put(entry, "families", merged);
	free(stayed);
}

/* {"family": second, "ratio": its time / the winner's} */
void tuned_rows_margin(struct json *entry)
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
