/* SPDX-License-Identifier: MIT
 *
 * How a new entry meets an old one of the same problem.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/tuned.h"
#include "format/tuned_rows.h"

static const char *member_text(const struct json_at *at, const char *key)
{
	const char *text = "";

	json_member_string(at, key, &text, NULL);
	return text;
}

void tuned_put_entry(
	struct tuned *tuned, struct json *entry, const struct tuned_judge *judge, const char **kept)
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
			tuned_rows_merge(tuned, entry, &old, judge, kept);
		tuned_rows_margin(entry);
		json_push(rebuilt, json_copy(entry));
	}
	if (!placed) {
		tuned_rows_margin(entry);
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
