/* SPDX-License-Identifier: MIT
 *
 * Binaries that a check left beside the baseline: <baseline>.cubins/KEY.json (tiletune.kernel/1),
 * which says how they are run, and KEY.N.cubin. KEY is a hash of what the baseline's entry names,
 * so that an entry that was tuned anew finds nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "check/check_parts.h"
#include "engine/kernel_json.h"

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
	const struct bound_family *bound = row->work->pool.families[0].bound;
	size_t count = trial->build.unit_count;
	char *key = key_of(row), *path = string_format("%s/%s.json", folder, key);
	char **files = memory_zeroed(count + 1, sizeof(*files));
	struct json *problem = problem_to_json(row->work->problem);
	struct json *configuration =
		configuration_to_json(bound, candidates_configuration(&row->work->pool, 0));
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
