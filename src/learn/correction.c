/* SPDX-License-Identifier: MIT */
#include "learn/correction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "family/family.h"

struct feature {
	const char *name;
	struct expression *expression;
};

struct correction {
	struct json *tree;
	char *file;
	const struct family *family;
	struct feature *features;
	size_t feature_count;
	struct boosted_trees trees;
};

/* The score's numbers, by the names that features read them by. */
static const struct {
	const char *name;
	size_t offset;
} score_numbers[] = {
	{"waves_exact", offsetof(struct launch_score, waves_exact)},
	{"slots_per_wave", offsetof(struct launch_score, slots_per_wave)},
	{"lines_per_row_ratio", offsetof(struct launch_score, lines_per_row_ratio)},
	{"dram_traffic_bytes", offsetof(struct launch_score, dram_bytes)},
	{"l2_traffic_bytes", offsetof(struct launch_score, l2_bytes)},
};
static const char predicted_name[] = "predicted_us", blocks_name[] = "blocks_per_sm";

/* Slots of the family's scope, then one for each of the score's numbers. */
static struct name_table names_of(const struct family *family)
{
	struct name_table names = scope_table(&family->scope, SCOPE_PLAIN, SIZE_MAX, NULL);

	name_table_add(&names, predicted_name);
	name_table_add(&names, blocks_name);
	for (size_t i = 0; i < ARRAY_COUNT(score_numbers); i++)
		name_table_add(&names, score_numbers[i].name);
	return names;
}

static void bind_score(const struct score *score, struct value *values)
{
	const struct launch_score *launch = &score->launches[score->longest];

	*values++ = value_real(score->predicted_time_us);
	*values++ = value_int(launch->blocks_per_sm);
	for (size_t i = 0; i < ARRAY_COUNT(score_numbers); i++) {
		double number;

		memcpy(&number, (const char *)launch + score_numbers[i].offset, sizeof(number));
		*values++ = value_real(number);
	}
}

static enum status read_feature(const struct json_at *at, const struct name_table *names,
	struct feature *feature, struct error *err)
{
	static const char *const keys[] = {"name", "expr", NULL};
	struct json_at text;

	TRY(json_expect_keys(at, keys, err));
	TRY(json_member_string(at, "name", &feature->name, err));
	TRY(json_member(at, "expr", &text, err));
	return expression_json_compile(&text, names, &feature->expression, err);
}

static enum status read_features(
	const struct json_at *root, struct correction *correction, struct error *err)
{
	CLEANUP(name_table_release) struct name_table names = names_of(correction->family);
	struct json_at list;

	TRY(json_member(root, "features", &list, err));
	TRY(json_expect(&list, JSON_ARRAY, err));
	correction->feature_count = json_count(&list);
	correction->features =
		memory_zeroed(correction->feature_count + 1, sizeof(*correction->features));
	for (size_t i = 0; i < correction->feature_count; i++) {
		const struct json_at at = json_item(&list, i);

		TRY(read_feature(&at, &names, &correction->features[i], err));
	}
	return STATUS_OK;
}

/* The folder says which device a file is for: one that was copied there is not. */
static enum status check_device(const struct json_at *root, const char *device, struct error *err)
{
	struct json_at at;
	const char *name;

	TRY(json_member(root, "device", &at, err));
	TRY(json_get_string(&at, &name, err));
	if (device && strcmp(name, device) != 0)
		return json_error(&at, err, "\"%s\", as the folder is named", device);
	return STATUS_OK;
}

static enum status read_all(const struct catalogue *catalogue, const char *device,
	struct correction *correction, struct error *err)
{
	static const char *const keys[] = {
		"format", "device", "family", "summary", "fitted", "features", "trees", NULL};
	const struct json_at root = json_root(correction->tree, correction->file);
	struct json_at trees;
	const char *name;

	TRY(json_expect_format(&root, "tiletune.correction/1", err));
	TRY(json_expect_keys(&root, keys, err));
	TRY(check_device(&root, device, err));
	TRY(json_member_string(&root, "family", &name, err));
	TRY(catalogue_family(catalogue, NULL, name, &correction->family, err));
	TRY(read_features(&root, correction, err));
	TRY(json_member(&root, "trees", &trees, err));
	return boosted_trees_read(&trees, correction->feature_count, &correction->trees, err);
}

enum status correction_load(const char *path, const char *device, const struct catalogue *catalogue,
	struct correction **correction, struct error *err)
{
	struct correction *read = memory_zeroed(1, sizeof(*read));
	enum status status;

	*correction = NULL;
	read->file = string_copy(path);
	status = json_load(path, &read->tree, err);
	if (status == STATUS_OK)
		status = read_all(catalogue, device, read, err);
	if (status != STATUS_OK) {
		correction_free(read);
		return status;
	}
	*correction = read;
	return STATUS_OK;
}

void correction_free(struct correction *correction)
{
	if (!correction)
		return;
	for (size_t i = 0; i < correction->feature_count; i++)
		expression_free(correction->features[i].expression);
	free(correction->features);
	boosted_trees_release(&correction->trees);
	json_free(correction->tree);
	free(correction->file);
	free(correction);
}

const struct family *correction_family(const struct correction *correction)
{
	return correction->family;
}

size_t correction_feature_count(const struct correction *correction)
{
	return correction->feature_count;
}

const char *correction_feature_name(const struct correction *correction, size_t feature)
{
	return correction->features[feature].name;
}

enum status correction_features(const struct correction *correction, const struct value *slots,
	const struct score *score, double *features, struct error *err)
{
	const size_t count = correction->family->scope.count;
	struct value *values =
		memory_zeroed(count + 2 + ARRAY_COUNT(score_numbers), sizeof(*values));
	enum status status = STATUS_OK;

	memcpy(values, slots, count * sizeof(*values));
	bind_score(score, values + count);
	for (size_t i = 0; i < correction->feature_count && status == STATUS_OK; i++)
		status = expression_real(
			correction->features[i].expression, values, &features[i], err);
	free(values);
	return status;
}

enum status correction_factor(const struct correction *correction, const struct value *slots,
	const struct score *score, double *factor, struct error *err)
{
	CLEANUP(memory_free) double *features = NULL;

	*factor = 1;
	if (!correction || !isfinite(score->predicted_time_us))
		return STATUS_OK;
	features = memory_zeroed(correction->feature_count + 1, sizeof(*features));
	TRY(correction_features(correction, slots, score, features, err));
	*factor = exp(boosted_trees_sum(&correction->trees, features));
	return STATUS_OK;
}

/* ---- the corrections of a device ---- */
/* A folder on its way. */
struct search {
	const char *folder, *device;
	const struct catalogue *catalogue;
	struct corrections *corrections;
};

/* "gemm-wgmma.json" is for "gemm/wgmma"; other files and other operations' are passed over. */
static const struct family *family_of(const struct catalogue *catalogue, const char *file_name)
{
	const size_t length = strlen(file_name) - strlen(".json");

	for (size_t i = 0; i < catalogue->family_count; i++) {
		const char *name = catalogue->families[i]->name;
		const size_t operation = strcspn(name, "/");

		if (strlen(name) == length && strncmp(name, file_name, operation) == 0 &&
			file_name[operation] == '-' &&
			strncmp(name + operation + 1, file_name + operation + 1,
				length - operation - 1) == 0)
			return catalogue->families[i];
	}
	return NULL;
}

static enum status visit(const char *name, void *context, struct error *err)
{
	const struct search *search = context;
	struct corrections *corrections = search->corrections;
	struct correction *correction;
	const struct family *family;
	enum status status;
	char *path;

	if (!string_ends_with(name, ".json") || name[0] == '.')
		return STATUS_OK;
	family = family_of(search->catalogue, name);
	if (!family || corrections_find(corrections, family))
		return STATUS_OK;
	path = path_join(search->folder, name);
	status = correction_load(path, search->device, search->catalogue, &correction, err);
	free(path);
	if (status == STATUS_OK) {
		ARRAY_GROW(corrections->items, corrections->count, corrections->capacity);
		corrections->items[corrections->count++] = correction;
		if (!corrections_find(corrections, family))
			status = error_set(err, STATUS_BAD_INPUT,
				"%s/%s: $.family: expected \"%s\" as the file is named",
				search->folder, name, family->name);
	}
	return status;
}

enum status corrections_load(const char *const *config_folders, const char *device,
	const struct catalogue *catalogue, struct corrections *corrections, struct error *err)
{
	enum status status = STATUS_OK;

	*corrections = (struct corrections){0};
	for (; *config_folders && status == STATUS_OK; config_folders++) {
		char *folder = string_format("%s/corrections/%s", *config_folders, device);
		struct search search = {folder, device, catalogue, corrections};

		if (directory_exists(folder))
			status = directory_list(folder, visit, &search, err);
		free(folder);
	}
	if (status != STATUS_OK)
		corrections_release(corrections);
	return status;
}

const struct correction *corrections_find(
	const struct corrections *corrections, const struct family *family)
{
	for (size_t i = 0; corrections && i < corrections->count; i++)
		if (correction_family(corrections->items[i]) == family)
			return corrections->items[i];
	return NULL;
}

void corrections_release(struct corrections *corrections)
{
	for (size_t i = 0; i < corrections->count; i++)
		correction_free(corrections->items[i]);
	free(corrections->items);
	*corrections = (struct corrections){0};
}

/* ---- boosted trees ---- */
/* A split after its parent, or a leaf. */
static enum status read_link(const struct json_at *split, size_t place, size_t own,
	const struct boosted_tree *tree, int32_t *link, struct error *err)
{
	const struct json_at at = json_item(split, place);
	int64_t value;

	if (json_get_int(&at, &value, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (value < 0 ? ~value >= (int64_t)tree->leaf_count
		      : value <= (int64_t)own || value >= (int64_t)tree->split_count)
		return json_error(
			&at, err, "a later split, or ~ of one of %zu leaves", tree->leaf_count);
	*link = (int32_t)value;
	return STATUS_OK;
}

static enum status read_split(const struct json_at *at, size_t own, size_t feature_count,
	const struct boosted_tree *tree, struct tree_split *split, struct error *err)
{
	enum {
		FEATURE,
		THRESHOLD,
		LOW,
		HIGH,
		PARTS
	};
	struct json_at feature, threshold;
	int64_t index;

	if (json_count(at) != PARTS)
		return json_error(at, err, "[feature, threshold, low, high]");
	feature = json_item(at, FEATURE);
	threshold = json_item(at, THRESHOLD);
	if (json_get_int(&feature, &index, err) != STATUS_OK ||
		json_get_double(&threshold, &split->threshold, err) != STATUS_OK ||
		read_link(at, LOW, own, tree, &split->low, err) != STATUS_OK ||
		read_link(at, HIGH, own, tree, &split->high, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (index < 0 || index >= (int64_t)feature_count)
		return json_error(&feature, err, "one of %zu features", feature_count);
	split->feature = (int32_t)index;
	return STATUS_OK;
}

static enum status read_tree(const struct json_at *at, size_t feature_count,
	struct boosted_tree *tree, struct error *err)
{
	static const char *const keys[] = {"splits", "leaves", NULL};
	struct json_at splits, leaves;
	enum status status = json_expect_keys(at, keys, err);

	if (status != STATUS_OK || json_member(at, "splits", &splits, err) != STATUS_OK ||
		json_member(at, "leaves", &leaves, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	tree->split_count = json_count(&splits);
	tree->leaf_count = json_count(&leaves);
	if (tree->leaf_count != tree->split_count + 1)
		return json_error(
			&leaves, err, "a leaf more than splits, %zu", tree->split_count + 1);
	tree->splits = memory_zeroed(tree->split_count + 1, sizeof(*tree->splits));
	tree->leaves = memory_zeroed(tree->leaf_count, sizeof(*tree->leaves));
	for (size_t i = 0; i < tree->split_count && status == STATUS_OK; i++) {
		const struct json_at split = json_item(&splits, i);

		status = read_split(&split, i, feature_count, tree, &tree->splits[i], err);
	}
	for (size_t i = 0; i < tree->leaf_count && status == STATUS_OK; i++) {
		const struct json_at leaf = json_item(&leaves, i);

		status = json_get_double(&leaf, &tree->leaves[i], err);
	}
	return status;
}

enum status boosted_trees_read(const struct json_at *array, size_t feature_count,
	struct boosted_trees *trees, struct error *err)
{
	enum status status = json_expect(array, JSON_ARRAY, err);

	*trees = (struct boosted_trees){0};
	if (status != STATUS_OK)
		return status;
	trees->count = json_count(array);
	trees->trees = memory_zeroed(trees->count + 1, sizeof(*trees->trees));
	for (size_t i = 0; i < trees->count && status == STATUS_OK; i++) {
		const struct json_at tree = json_item(array, i);

		status = read_tree(&tree, feature_count, &trees->trees[i], err);
	}
	if (status != STATUS_OK)
		boosted_trees_release(trees);
	return status;
}

void boosted_trees_release(struct boosted_trees *trees)
{
	for (size_t i = 0; i < trees->count; i++) {
		free(trees->trees[i].splits);
		free(trees->trees[i].leaves);
	}
	free(trees->trees);
	*trees = (struct boosted_trees){0};
}

double boosted_trees_sum(const struct boosted_trees *trees, const double *features)
{
	double sum = 0;

	for (size_t i = 0; i < trees->count; i++) {
		const struct boosted_tree *tree = &trees->trees[i];
		int32_t at = tree->split_count ? 0 : ~0;

		while (at >= 0) {
			const struct tree_split *split = &tree->splits[at];

			at = features[split->feature] <= split->threshold ? split->low
									  : split->high;
		}
		sum += tree->leaves[~at];
	}
	return sum;
}
