/* SPDX-License-Identifier: MIT */
#include "check/row.h"

#include "base/file.h"
#include "base/format_text.h"
#include "format/kernel_json.h"
#include "engine/row.h"

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

	hash_add_string(hash, row->entry.operation);
	hash_add_string(hash, row->problem_text);
	hash_add_string(hash, row->entry.winner.result.family);
	hash_add_string(hash, row->configuration);
	hash_add_string(hash, row->entry.winner.result.kernel_hash);
	hash_finish(hash, key);
}

static enum status load_binary(
	const char *folder, const char *path, struct device_job *binary, struct error *err)
{
	CLEANUP(json_release) struct json *tree = NULL;
	struct kernel_document document = {0};
	enum status status = STATUS_OK;
	struct json_at root;

	TRY(json_load_found(path, &tree, err));
	root = json_root(tree, path);
	TRY(record_from_json(&kernel_document_record, &root, &document, NULL, err));
	*binary = (struct device_job){.family = "",
		.configuration = "",
		.plan = memory_copy(&document.plan, sizeof(document.plan)),
		.cubins = memory_zeroed(document.unit_count + 1, sizeof(*binary->cubins))};
	document.plan = (struct plan){0};
	for (size_t i = 0; i < document.unit_count && status == STATUS_OK; i++) {
		CLEANUP(text_release) struct text code = {0};

		binary->cubins[binary->cubin_count++] = path_join(folder, document.units[i].file);
		status = file_read_regular(binary->cubins[i], &code, err);
	}
	record_release(&kernel_document_record, &document);
	return status;
}

void check_kept_load(const char *folder, struct check_row *row, struct text *notice)
{
	char key[HASH_SIZE];
	CLEANUP(memory_free) char *path = NULL;
	struct error reason;

	key_of(row, key);
	path = string_format("%s/%s.json", folder, key);
	if (!file_exists(path) || load_binary(folder, path, &row->binary, &reason) == STATUS_OK)
		return;
	format_put(notice, format_shown, "ignoring a stored cubin: %s\n", reason.message);
	check_kept_release(&row->binary);
}

static enum status write_cubins(const struct check *check, const struct check_row *row,
	char *const *files, const char *metadata, struct error *err)
{
	const struct trial *trial = row->trial;
	CLEANUP(memory_free) struct kernel_unit *units = kernel_units(&trial->build);
	CLEANUP(memory_free) char *printed = NULL;
	CLEANUP(json_release) struct json *json = NULL;

	TRY(file_expect_no_link(check->kept_folder, err));
	TRY(file_expect_no_link(metadata, err));
	TRY(directory_make(check->kept_folder, err));
	for (size_t i = 0; i < trial->build.unit_count; i++)
		TRY(file_expect_no_link(files[i], err));
	for (size_t i = 0; i < trial->build.unit_count; i++)
		TRY(file_write(files[i], trial->kernels[i]->cubin.data,
			trial->kernels[i]->cubin.length, err));
	json = kernel_json("cubin", &row->winner, &trial->build, &trial->plan, units, files,
		check->context->device->spec->arch, compiler_identity(check->context->compiler));
	printed = json_print(json, true);
	/* written last, so that a file with metadata has complete cubins */
	return file_write(metadata, printed, strlen(printed), err);
}

static enum status check_kept_save(
	const struct check *check, const struct check_row *row, struct error *err)
{
	CLEANUP(name_set_release) struct name_set files = {0};
	CLEANUP(memory_free) char *metadata = NULL;
	char key[HASH_SIZE];

	key_of(row, key);
	metadata = string_format("%s/%s.json", check->kept_folder, key);
	for (size_t i = 0; i < row->trial->build.unit_count; i++) {
		CLEANUP(memory_free)
		char *path = string_format("%s/%s.%zu.cubin", check->kept_folder, key, i);

		name_set_add(&files, path, strlen(path));
	}
	return write_cubins(check, row, files.items, metadata, err);
}

void check_kept_release(struct device_job *binary)
{
	record_release(&device_job_record, binary);
	*binary = (struct device_job){0};
}

/* ---- updating the baseline ---- */
/* Makes a row of today's kernel. On a device model it keeps the baseline's time. */
static enum status row_today(
	const struct check_row *row, struct tuned_row *today, struct error *err)
{
	const struct trial *trial = row->trial;
	const struct tuned_row *then = &row->entry.winner;
	struct result result = trial->result; /* borrowed */

	if (!row->now.rounds) {
		result.time = then->result.time;
		result.verification = then->result.verification;
	}
	if (row_describe(&trial->candidate, &result, today, err) != STATUS_OK)
		return STATUS_FAILED;
	if (!row->now.rounds) {
		today->tflops = then->tflops;
		today->gb_per_s = then->gb_per_s;
	}
	return STATUS_OK;
}

/* differences that make another binary than the baseline's */
static const uint32_t changed = CHECK_DIFFERS(KERNEL) | CHECK_DIFFERS(NVRTC);

enum status check_update(struct check *check, const char *run_id, struct error *err)
{
	for (size_t i = 0; i < check->row_count; i++) {
		struct check_row *row = &check->rows[i];
		const bool was_timed = row->now.rounds > 0;
		struct tuned_entry entry;
		struct tuned_row today;
		const char *kept;

		if (!row->can_run)
			continue;
		if (row_today(row, &today, err) != STATUS_OK)
			return error_context(err, "%s %s", row->entry.operation, row->problem_text);
		entry = tuned_entry_copy(&row->entry);
		for (size_t k = 0; k < entry.family_count && was_timed; k++)
			if (entry.predicted)
				tuned_row_release(&entry.families[k]);
			else if (!entry.families[k].run)
				entry.families[k].run = string_copy(entry.run);
		if (was_timed) {
			entry.family_count = entry.predicted ? 0 : entry.family_count;
			entry.predicted = false;
			free(entry.run);
			entry.run = string_copy(run_id);
		}
		tuned_row_release(&entry.winner);
		entry.winner = today;
		tuned_entry_release(&row->entry);
		row->entry = tuned_entry_copy(&entry);
		tuned_put_entry(check->baseline, &entry, NULL, &kept);
		row->differs &= ~changed;
	}
	return STATUS_OK;
}

enum status check_keep(struct check *check, size_t *kept, struct error *err)
{
	*kept = 0;
	for (size_t i = 0; i < check->row_count; i++) {
		struct check_row *row = &check->rows[i];

		if (!row->can_run || !row->now.rounds || row->by_program)
			continue;
		if (row->differs & changed)
			continue;
		if (check_kept_save(check, row, err) != STATUS_OK)
			return err ? err->status : STATUS_FAILED;
		++*kept;
	}
	return STATUS_OK;
}
