/* SPDX-License-Identifier: MIT
 *
 * Binaries that a check left beside the baseline: <baseline>.cubins/KEY.json, which says how they
 * are run, and KEY.N.cubin. KEY is a hash of what the baseline's entry names, so that an entry that
 * was tuned anew finds nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "tune/check_parts.h"

#define KEPT_FORMAT "tiletune.kept/1"

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

static char *cubin_path(const char *folder, const char *key, size_t index)
{
	return string_format("%s/%s.%zu.cubin", folder, key, index);
}

static enum status load_parts(
	const char *folder, const struct json_at *root, struct check_kept *kept, struct error *err)
{
	struct json_at plan;
	int64_t count = 0;
	enum status status = json_expect_format(root, KEPT_FORMAT, err);

	if (status == STATUS_OK)
		status = json_member(root, "plan", &plan, err);
	if (status == STATUS_OK)
		status = plan_from_json(&plan, &kept->plan, err);
	if (status == STATUS_OK)
		status = json_member_int(root, "cubins", &count, err);
	if (status == STATUS_OK && (count < 1 || count > 64))
		status = json_error(root, err, "1 to 64 cubins");
	for (size_t i = 0; status == STATUS_OK && i < kept->plan.launch_count; i++)
		if (kept->plan.launches[i].unit >= count)
			status = json_error(&plan, err, "launches of cubins that are there");
	if (status != STATUS_OK)
		return status;
	kept->cubins = memory_zeroed((size_t)count, sizeof(*kept->cubins));
	kept->cubin_count = (size_t)count;
	for (size_t i = 0; i < kept->cubin_count && status == STATUS_OK; i++) {
		char *path = cubin_path(folder, kept->key, i);

		status = file_read(path, &kept->cubins[i], err);
		free(path);
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

enum status check_kept_save(const char *folder, struct check_row *row, struct error *err)
{
	const struct flight *flight = &row->work->flight;
	char *key = key_of(row), *path = string_format("%s/%s.json", folder, key);
	struct json *json = json_new_object();
	enum status status = directory_make(folder, err);
	char *printed;

	for (size_t i = 0; i < flight->build.unit_count && status == STATUS_OK; i++) {
		const struct text *cubin = &flight->kernels[i]->cubin;
		char *cubin_file = cubin_path(folder, key, i);

		status = file_write(cubin_file, cubin->data, cubin->length, err);
		free(cubin_file);
	}
	json_put_string(json, "format", KEPT_FORMAT);
	json_put_string(json, "operation", row->operation);
	json_put_string(json, "problem", row->problem);
	json_put_string(json, "family", row->family);
	json_put_string(json, "configuration", row->configuration);
	json_put_string(json, "kernel_hash", flight->build.kernel_hash);
	json_put_int(json, "cubins", (int64_t)flight->build.unit_count);
	json_put(json, "plan", plan_to_json(&flight->plan));
	printed = json_print(json, true);
	/* last: it says that the cubins are whole */
	if (status == STATUS_OK)
		status = file_write(path, printed, strlen(printed), err);
	free(printed);
	json_free(json);
	free(path);
	free(key);
	return status;
}

void check_kept_release(struct check_kept *kept)
{
	for (size_t i = 0; i < kept->cubin_count; i++)
		text_release(&kept->cubins[i]);
	free(kept->cubins);
	free(kept->key);
	plan_release(&kept->plan);
	*kept = (struct check_kept){0};
}
