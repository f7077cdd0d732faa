/* SPDX-License-Identifier: MIT */
#include "check/baseline.h"

#include "base/file.h"
#include "base/record_write.h"
#include "engine/kernel_json.h"
#include "engine/row.h"

/* ---- the entry's "check" ---- */
bool check_reference_find(
	const struct tuned_entry *entry, double confidence_ratio, struct check_reference *reference)
{
	const struct tuned_check *check = entry->check;
	struct check_estimate ratio;

	*reference = (struct check_reference){0};
	if (!check || strcmp(check->kernel_hash, entry->winner.kernel_hash) != 0)
		return false;
	ratio = (struct check_estimate){.value = check->time_over_anchor.value,
		.low = check->time_over_anchor.low,
		.high = check->time_over_anchor.high};
	if (!(ratio.value >= ratio.low) || !(ratio.high >= ratio.value))
		return false;
	*reference = (struct check_reference){.time_us = check->time_us,
		.anchor_us = check->anchor_us,
		.per_anchor = check_estimate_at(
			&ratio, check->time_over_anchor.confidence_ratio, confidence_ratio),
		.blocks = (size_t)check->blocks};
	return true;
}

void check_reference_put(const struct check_reference *reference, const char *kernel_hash,
	double confidence_ratio, struct tuned_entry *entry)
{
	struct tuned_check *check = entry->check;

	if (!check)
		check = entry->check = memory_zeroed(1, sizeof(*check));
	string_put(check->kernel_hash, sizeof(check->kernel_hash), kernel_hash);
	check->time_us = reference->time_us;
	check->anchor_us = reference->anchor_us;
	check->time_over_anchor = (struct tuned_estimate){.value = reference->per_anchor.value,
		.low = reference->per_anchor.low,
		.high = reference->per_anchor.high,
		.confidence_ratio = confidence_ratio};
	check->blocks = reference->blocks;
}

/* ---- binaries ---- */
char *check_kept_folder(const char *baseline_path)
{
	size_t length = strlen(baseline_path);

	if (string_ends_with(baseline_path, ".json"))
		length -= strlen(".json");
	return string_format("%.*s.cubins", (int)length, baseline_path);
}

static void key_of(const struct check_row *row, char key[HASH_SIZE])
{
	struct hash *hash = hash_new();

	hash_add_string(hash, row->operation);
	hash_add_string(hash, row->problem);
	hash_add_string(hash, row->family);
	hash_add_string(hash, row->configuration);
	hash_add_string(hash, row->entry.winner.kernel_hash);
	hash_finish(hash, key);
}

static enum status load_parts(
	const char *folder, const struct json_at *root, struct check_kept *kept, struct error *err)
{
	struct kernel_document document = {0};
	enum status status = STATUS_OK;

	TRY(record_from_json(&kernel_document_record, root, &document, NULL, err));
	kept->binary.plan = document.plan;
	document.plan = (struct plan){0};
	kept->binary.cubins = memory_zeroed(document.unit_count + 1, sizeof(*kept->binary.cubins));
	for (size_t i = 0; i < document.unit_count && status == STATUS_OK; i++) {
		CLEANUP(memory_free) char *path = path_join(folder, document.units[i].file);

		status = file_read(path, &kept->binary.cubins[i], err);
		kept->binary.cubin_count++;
	}
	record_release(&kernel_document_record, &document);
	return status;
}

void check_kept_load(const char *folder, struct check_row *row, struct text *notice)
{
	struct check_kept *kept = &row->work->kept;
	char key[HASH_SIZE];
	CLEANUP(memory_free) char *path = NULL;
	struct json *tree = NULL;
	struct error reason = {0};
	enum status status;

	key_of(row, key);
	path = string_format("%s/%s.json", folder, key);
	if (!file_exists(path))
		return;
	kept->found = true;
	status = json_load(path, &tree, &reason);
	if (status == STATUS_OK) {
		struct json_at root = json_root(tree, path);

		status = load_parts(folder, &root, kept, &reason);
	}
	json_free(tree);
	if (status == STATUS_OK)
		return;
	text_appendf(notice, "%sa kept cubin is of no use: %s", notice->length ? "\n" : "",
		reason.message);
	check_kept_release(kept);
}

static enum status save_cubins(
	const char *folder, const struct trial *trial, char *const *files, struct error *err)
{
	TRY(directory_make(folder, err));
	for (size_t i = 0; i < trial->build.unit_count; i++) {
		const struct text *cubin = &trial->kernels[i]->cubin;
		CLEANUP(memory_free) char *path = path_join(folder, files[i]);

		TRY(file_write(path, cubin->data, cubin->length, err));
	}
	return STATUS_OK;
}

static enum status check_kept_save(
	const struct check *check, struct check_row *row, struct error *err)
{
	const char *folder = check->kept_folder;
	const struct trial *trial = row->work->trial;
	const struct bound_family *bound = row->work->winner.bound;
	size_t count = trial->build.unit_count;
	char key[HASH_SIZE];
	CLEANUP(memory_free) char *path = NULL;
	CLEANUP(memory_free) char *printed = NULL;
	char **files = memory_zeroed(count + 1, sizeof(*files));
	struct kernel_document document = {.kind = "cubin",
		.operation = row->operation,
		.problem = problem_named_values(row->work->problem),
		.family = row->family,
		.configuration = configuration_named_values(bound, row->work->winner.choices),
		.arch = device_spec(check->context->device)->arch,
		.compiler = compiler_identity(check->context->compiler),
		.units = kernel_units(&trial->build),
		.unit_count = count,
		.plan = trial->plan};
	struct json *json;
	enum status status;

	key_of(row, key);
	path = string_format("%s/%s.json", folder, key);
	string_put(document.kernel_hash, HASH_SIZE, trial->build.kernel_hash);
	for (size_t i = 0; i < count; i++)
		document.units[i].file = files[i] = string_format("%s.%zu.cubin", key, i);
	status = save_cubins(folder, trial, files, err);
	json = record_to_json(&kernel_document_record, &document);
	printed = json_print(json, true);
	/* last: it says that the cubins are whole */
	if (status == STATUS_OK)
		status = file_write(path, printed, strlen(printed), err);
	for (size_t i = 0; i < count; i++)
		free(files[i]);
	free(files);
	free(document.units);
	json_free(json);
	named_values_release(&document.problem);
	named_values_release(&document.configuration);
	return status;
}

void check_kept_release(struct check_kept *kept)
{
	for (size_t i = 0; i < kept->binary.cubin_count; i++)
		text_release(&kept->binary.cubins[i]);
	free(kept->binary.cubins);
	plan_release(&kept->binary.plan);
	*kept = (struct check_kept){0};
}

/* ---- what a check leaves ---- */
/* Today's kernel as a row of a tuned file; without a clock with the time that stands there. */
static enum status row_today(
	const struct check_row *row, struct tuned_row *today, struct error *err)
{
	const struct trial *trial = row->work->trial;
	const struct tuned_row *then = &row->entry.winner;
	struct evaluation evaluation = trial->evaluation; /* borrowed */

	if (!row->now.blocks)
		evaluation.time = then->time;
	if (row_describe(&trial->candidate, &evaluation, today, err) != STATUS_OK)
		return STATUS_FAILED;
	if (row->now.blocks)
		return STATUS_OK;
	today->tflops = then->tflops;
	today->gb_per_s = then->gb_per_s;
	free(today->errors);
	today->errors = then->errors ? memory_copy(then->errors, sizeof(*then->errors)) : NULL;
	return STATUS_OK;
}

/* today instead of its family's row; times that were predicted do not stand beside one that was
 * measured. */
static void put_family(struct tuned_entry *entry, const struct tuned_row *today, bool measured_now)
{
	struct tuned_row *row = tuned_row_find(entry, today->family);

	if (!entry->family_count || (measured_now && entry->predicted)) {
		for (size_t i = 0; i < entry->family_count; i++)
			tuned_row_release(&entry->families[i]);
		entry->families = memory_resize(entry->families, 2, sizeof(*entry->families));
		entry->families[0] = tuned_row_copy(today);
		entry->family_count = 1;
	} else if (row) {
		tuned_row_release(row);
		*row = tuned_row_copy(today);
	}
}

static void put_reference(
	const struct check *check, const struct check_row *row, struct tuned_entry *entry)
{
	if (row->now.blocks)
		check_reference_put(&row->now, row->work->trial->build.kernel_hash,
			check->options.confidence_ratio, entry);
}

/* Takes what entry holds. */
static void put_entry(struct check *check, struct check_row *row, struct tuned_entry *entry)
{
	const char *kept;

	tuned_entry_release(&row->entry);
	row->entry = tuned_entry_copy(entry);
	tuned_put_entry(check->baseline, entry, NULL, &kept);
}

/* Rows that are not timed now say of which run they are. */
static void put_run(struct tuned_entry *entry, const char *run_id)
{
	for (size_t i = 0; i < entry->family_count; i++)
		if (!entry->families[i].run)
			entry->families[i].run = string_copy(entry->run);
	free(entry->run);
	entry->run = string_copy(run_id);
}

enum status check_update(struct check *check, const char *run_id, struct error *err)
{
	for (size_t i = 0; i < check->row_count; i++) {
		struct check_row *row = &check->rows[i];
		struct tuned_entry entry;
		struct tuned_row today;

		if (!row->work->can_run)
			continue;
		if (row->work->retuned) {
			entry = tuned_entry_copy(row->work->retuned);
			put_entry(check, row, &entry);
			row->work->can_run = false; /* what was measured is not the winner's */
			continue;
		}
		if (row_today(row, &today, err) != STATUS_OK)
			return error_context(err, "%s %s", row->operation, row->problem);
		entry = tuned_entry_copy(&row->entry);
		if (row->now.blocks)
			put_run(&entry, run_id);
		put_family(&entry, &today, row->now.blocks > 0);
		entry.predicted &= !row->now.blocks;
		tuned_row_release(&entry.winner);
		entry.winner = today;
		put_reference(check, row, &entry);
		put_entry(check, row, &entry);
		row->work->updated = true;
	}
	return STATUS_OK;
}

enum status check_keep(struct check *check, size_t *kept, struct error *err)
{
	*kept = 0;
	for (size_t i = 0; i < check->row_count; i++) {
		struct check_row *row = &check->rows[i];
		struct tuned_entry entry;

		if (!row->work->can_run || !row->now.blocks)
			continue;
		/* another kernel or compiler: these are not the baseline's binaries */
		if (row->work->differs & (CHECK_DIFFERS(KERNEL) | CHECK_DIFFERS(NVRTC)) &&
			!row->work->updated)
			continue;
		if (check_kept_save(check, row, err) != STATUS_OK)
			return err ? err->status : STATUS_FAILED;
		entry = tuned_entry_copy(&row->entry);
		put_reference(check, row, &entry);
		put_entry(check, row, &entry);
		++*kept;
	}
	return STATUS_OK;
}
