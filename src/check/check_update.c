/* SPDX-License-Identifier: MIT
 *
 * What a check leaves in its baseline.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/check_parts.h"
#include "engine/row.h"

/* Today's kernel as a row of a tuned file; without a clock with the time that stands there. */
static enum status row_today(struct check_row *row, struct json **result, struct error *err)
{
	const struct trial *trial = row->work->trial;
	struct evaluation evaluation = trial->evaluation; /* borrowed */
	struct json_at winner, time;
	double median = 1;
	enum status status;

	if (!json_find(&row->entry, "winner", &winner) || !json_find(&winner, "time_us", &time))
		return json_error(&row->entry, err, "a winner with a time");
	json_member_double(&time, "median", &median, NULL);
	if (!row->now.blocks)
		evaluation.time.median = median;
	status = row_to_json(trial->bound, trial->choices, &evaluation, result, err);
	if (status == STATUS_OK && !row->now.blocks) {
		static const char *const stay[] = {"time_us", "errors", "tflops", "gb_per_s"};

		for (size_t i = 0; i < ARRAY_COUNT(stay); i++) {
			struct json_at member;

			if (json_find(&winner, stay[i], &member))
				json_put(*result, stay[i], json_copy(member.node));
		}
	}
	return status;
}

/* The rows of "families" with the winner's own replaced; times that were predicted do not stand
 * beside one that was measured. */
static struct json *families_with(
	const struct json_at *entry, const struct json *today, bool measured_now)
{
	struct json_at families, winner = json_root(today, "");
	struct json *list = json_new_array();
	const char *name = "", *timing = "";

	json_member_string(&winner, "family", &name, NULL);
	json_member_string(entry, "timing", &timing, NULL);
	if (!json_find(entry, "families", &families) ||
		(measured_now && strcmp(timing, "measured") != 0)) {
		json_push(list, json_copy(today));
		return list;
	}
	for (size_t i = 0; i < json_count(&families); i++) {
		struct json_at row = json_item(&families, i);
		const char *family = "";

		json_member_string(&row, "family", &family, NULL);
		json_push(list, json_copy(strcmp(family, name) == 0 ? today : row.node));
	}
	return list;
}

static void put_reference(
	const struct check *check, const struct check_row *row, struct json *entry)
{
	if (row->now.blocks)
		json_put(entry, "check",
			check_reference_to_json(&row->now, row->work->trial->build.kernel_hash,
				check->options.confidence_ratio));
}

/* Takes entry. */
static void put_entry(struct check *check, struct check_row *row, struct json *entry)
{
	const char *kept;

	json_free(row->tree);
	row->tree = json_copy(entry);
	row->entry = json_root(row->tree, check->baseline->path);
	tuned_put_entry(check->baseline, entry, NULL, &kept);
}

enum status check_update(struct check *check, const char *run_id, struct error *err)
{
	for (size_t i = 0; i < check->row_count; i++) {
		struct check_row *row = &check->rows[i];
		struct json *entry, *today = NULL;

		if (!row->work->can_run)
			continue;
		if (row->work->retuned) {
			put_entry(check, row, json_copy(row->work->retuned));
			row->work->can_run = false; /* what was measured is not the winner's */
			continue;
		}
		if (row_today(row, &today, err) != STATUS_OK)
			return error_context(err, "%s %s", row->operation, row->problem);
		entry = json_copy(row->tree);
		json_put(entry, "families", families_with(&row->entry, today, row->now.blocks > 0));
		json_put(entry, "winner", today);
		if (row->now.blocks) {
			json_put_string(entry, "run", run_id);
			json_put_string(entry, "timing", "measured");
		}
		put_reference(check, row, entry);
		put_entry(check, row, entry);
		row->work->updated = true;
	}
	return STATUS_OK;
}

enum status check_keep(struct check *check, size_t *kept, struct error *err)
{
	*kept = 0;
	for (size_t i = 0; i < check->row_count; i++) {
		struct check_row *row = &check->rows[i];
		struct json *entry;

		if (!row->work->can_run || !row->now.blocks)
			continue;
		/* another kernel or compiler: these are not the baseline's binaries */
		if (row->work->differs & (CHECK_DIFFERS(KERNEL) | CHECK_DIFFERS(NVRTC)) &&
			!row->work->updated)
			continue;
		if (check_kept_save(check, row, err) != STATUS_OK)
			return err ? err->status : STATUS_FAILED;
		entry = json_copy(row->tree);
		put_reference(check, row, entry);
		put_entry(check, row, entry);
		++*kept;
	}
	return STATUS_OK;
}
