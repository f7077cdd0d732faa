/* SPDX-License-Identifier: MIT */
#include "check/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "engine/kernel_json.h"
#include "engine/row.h"

/* ---- the entry's "check" ---- */
struct json *check_reference_to_json(
	const struct check_reference *reference, const char *kernel_hash, double confidence_ratio)
{
	struct json *json = json_new_object(), *ratio = json_new_object();

	json_put_string(json, "kernel_hash", kernel_hash);
	json_put_double(json, "time_us", reference->time_us);
	json_put_double(json, "anchor_us", reference->anchor_us);
	json_put_double(ratio, "value", reference->per_anchor.value);
	json_put_double(ratio, "low", reference->per_anchor.low);
	json_put_double(ratio, "high", reference->per_anchor.high);
	json_put_double(ratio, "confidence_ratio", confidence_ratio);
	json_put(json, "time_over_anchor", ratio);
	json_put_int(json, "blocks", (int64_t)reference->blocks);
	return json;
}

bool check_reference_find(
	const struct json_at *entry, double confidence_ratio, struct check_reference *reference)
{
	struct check_estimate *ratio = &reference->per_anchor;
	struct json_at check, winner, at;
	const char *hash = "", *winner_hash = "";
	double confidence = 0;
	int64_t blocks = 0;

	*reference = (struct check_reference){0};
	if (!json_find(entry, "check", &check) || !json_find(entry, "winner", &winner) ||
		json_member_string(&check, "kernel_hash", &hash, NULL) != STATUS_OK ||
		json_member_string(&winner, "kernel_hash", &winner_hash, NULL) != STATUS_OK ||
		strcmp(hash, winner_hash) != 0 ||
		json_member_double(&check, "time_us", &reference->time_us, NULL) != STATUS_OK ||
		json_member_double(&check, "anchor_us", &reference->anchor_us, NULL) != STATUS_OK ||
		json_member_int(&check, "blocks", &blocks, NULL) != STATUS_OK ||
		!json_find(&check, "time_over_anchor", &at) ||
		json_member_double(&at, "value", &ratio->value, NULL) != STATUS_OK ||
		json_member_double(&at, "low", &ratio->low, NULL) != STATUS_OK ||
		json_member_double(&at, "high", &ratio->high, NULL) != STATUS_OK ||
		json_member_double(&at, "confidence_ratio", &confidence, NULL) != STATUS_OK)
		return false;
	if (!(reference->time_us > 0) || !(reference->anchor_us > 0) || !(ratio->low > 0) ||
		!(ratio->value >= ratio->low) || !(ratio->high >= ratio->value) ||
		!(confidence > 0 && confidence < 1) || blocks < 1)
		return false;
	reference->blocks = (size_t)blocks;
	*ratio = check_estimate_at(ratio, confidence, confidence_ratio);
	return true;
}

/* ---- binaries ---- */
char *check_kept_folder(const char *baseline_path)
{
	size_t length = strlen(baseline_path);

	if (string_ends_with(baseline_path, ".json"))
		length -= strlen(".json");
	return string_format("%.*s.cubins", (int)length, baseline_path);
}

static char *key_of(const struct check_row *row)
{
	struct hash *hash = hash_new();
	struct json_at winner;
	const char *kernel_hash = "";
	char digits[HASH_SIZE];

	if (json_find(&row->entry, "winner", &winner))
		json_member_string(&winner, "kernel_hash", &kernel_hash, NULL);
	hash_add_string(hash, row->operation);
	hash_add_string(hash, row->problem);
	hash_add_string(hash, row->family);
	hash_add_string(hash, row->configuration);
	hash_add_string(hash, kernel_hash);
	hash_finish(hash, digits);
	return string_copy(digits);
}

/* The cubin of a unit. Only names are followed, not ways to elsewhere. */
static enum status load_cubin(
	const char *folder, const struct json_at *unit, struct text *cubin, struct error *err)
{
	const char *file;
	char *path;
	enum status status = json_member_string(unit, "file", &file, err);

	if (status == STATUS_OK && (strchr(file, '/') || file[0] == '.'))
		status = json_error(unit, err, "the name of a file beside this one");
	if (status != STATUS_OK)
		return status;
	path = path_join(folder, file);
	status = file_read(path, cubin, err);
	free(path);
	return status;
}

static enum status load_parts(
	const char *folder, const struct json_at *root, struct check_kept *kept, struct error *err)
{
	struct json_at plan, units;
	enum status status = json_expect_format(root, KERNEL_FORMAT, err);

	if (status == STATUS_OK)
		status = json_member(root, "plan", &plan, err);
	if (status == STATUS_OK)
		status = plan_from_json(&plan, &kept->binary.plan, err);
	if (status == STATUS_OK)
		status = json_member(root, "units", &units, err);
	for (size_t i = 0; status == STATUS_OK && i < kept->binary.plan.launch_count; i++)
		if (kept->binary.plan.launches[i].unit >= json_count(&units))
			status = json_error(&plan, err, "launches of units that are there");
	if (status != STATUS_OK)
		return status;
	kept->binary.cubins = memory_zeroed(json_count(&units) + 1, sizeof(*kept->binary.cubins));
	for (size_t i = 0; i < json_count(&units) && status == STATUS_OK; i++) {
		struct json_at unit = json_item(&units, i);

		status = load_cubin(folder, &unit, &kept->binary.cubins[i], err);
		kept->binary.cubin_count++;
	}
	return status;
}

void check_kept_load(const char *folder, struct check_row *row, struct text *notice)
{
	struct check_kept *kept = &row->work->kept;
	char *key = key_of(row);
	char *path = string_format("%s/%s.json", folder, key);
	struct json *tree = NULL;
	struct error reason = {0};

	if (file_exists(path)) {
		enum status status = json_load(path, &tree, &reason);

		kept->key = string_copy(key);
		if (status == STATUS_OK) {
			struct json_at root = json_root(tree, path);

			status = load_parts(folder, &root, kept, &reason);
		}
		if (status != STATUS_OK) {
			text_appendf(notice, "%sa kept cubin is of no use: %s",
				notice->length ? "\n" : "", reason.message);
			check_kept_release(kept);
		}
	}
	json_free(tree);
	free(path);
	free(key);
}

static enum status save_cubins(
	const char *folder, const struct trial *trial, char *const *files, struct error *err)
{
	enum status status = directory_make(folder, err);

	for (size_t i = 0; i < trial->build.unit_count && status == STATUS_OK; i++) {
		const struct text *cubin = &trial->kernels[i]->cubin;
		char *path = path_join(folder, files[i]);

		status = file_write(path, cubin->data, cubin->length, err);
		free(path);
	}
	return status;
}

enum status check_kept_save(const struct check *check, struct check_row *row, struct error *err)
{
	const char *folder = check->kept_folder;
	const struct trial *trial = row->work->trial;
	const struct bound_family *bound = row->work->winner.bound;
	size_t count = trial->build.unit_count;
	char *key = key_of(row), *path = string_format("%s/%s.json", folder, key);
	char **files = memory_zeroed(count + 1, sizeof(*files));
	struct json *problem = problem_to_json(row->work->problem);
	struct json *configuration = configuration_to_json(bound, row->work->winner.choices);
	const struct kernel_description description = {.kind = "cubin",
		.operation = row->operation,
		.problem = problem,
		.family = row->family,
		.configuration = configuration,
		.arch = device_spec(check->context->device)->arch,
		.compiler = compiler_identity(check->context->compiler),
		.build = &trial->build,
		.plan = &trial->plan,
		.files = files};
	struct json *json;
	enum status status;
	char *printed;

	for (size_t i = 0; i < count; i++)
		files[i] = string_format("%s.%zu.cubin", key, i);
	status = save_cubins(folder, trial, files, err);
	json = kernel_to_json(&description);
	printed = json_print(json, true);
	/* last: it says that the cubins are whole */
	if (status == STATUS_OK)
		status = file_write(path, printed, strlen(printed), err);
	for (size_t i = 0; i < count; i++)
		free(files[i]);
	free(files);
	free(printed);
	json_free(json);
	json_free(problem);
	json_free(configuration);
	free(path);
	free(key);
	return status;
}

void check_kept_release(struct check_kept *kept)
{
	for (size_t i = 0; i < kept->binary.cubin_count; i++)
		text_release(&kept->binary.cubins[i]);
	free(kept->binary.cubins);
	free(kept->key);
	plan_release(&kept->binary.plan);
	*kept = (struct check_kept){0};
}

/* ---- what a check leaves ---- */
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
	status = row_to_json(&trial->candidate, &evaluation, result, err);
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
	tuned_put_entry_json(check->baseline, entry, NULL, &kept);
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
