/* SPDX-License-Identifier: MIT */
#include "learn/correction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_read.h"
#include "family/expression_json.h"
#include "family/family.h"

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

/* ---- trees ---- */
static enum status split_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct tree_split *split = field;
	int32_t *const wholes[] = {&split->feature, NULL, &split->low, &split->high};

	(void)context;
	if (json_count(at) != ARRAY_COUNT(wholes))
		return json_error(at, err, "[feature, threshold, low, high]");
	for (size_t i = 0; i < ARRAY_COUNT(wholes); i++) {
		const struct json_at part = json_item(at, i);
		int64_t value;

		if (!wholes[i]) {
			TRY(json_get_double(&part, &split->threshold, err));
			continue;
		}
		TRY(json_get_int(&part, &value, err));
		if (value < INT32_MIN || value > INT32_MAX)
			return json_error(&part, err, "an index of 32 bits");
		*wholes[i] = (int32_t)value;
	}
	return STATUS_OK;
}

static struct json *split_schema(struct json *definitions)
{
	static const char text[] = "{\"type\":\"array\",\"items\":{\"type\":\"number\"},"
				   "\"minItems\":4,\"maxItems\":4}";
	struct json *schema = NULL;

	(void)definitions;
	if (json_parse(text, strlen(text), "", &schema, NULL) != STATUS_OK)
		BUG("the schema of a split");
	return schema;
}

static const struct record_custom split_custom = {.read = split_read, .schema = split_schema};

/* The place in the JSON of a part of a split. */
static enum status refuse(const struct json_at *tree, size_t split, size_t part, struct error *err,
	const char *expected)
{
	struct json_at splits, one, at;

	json_find(tree, "splits", &splits);
	one = json_item(&splits, split);
	at = json_item(&one, part);
	return json_error(&at, err, "%s", expected);
}

/* A split after its parent, or a leaf. */
static bool leads_on(const struct boosted_tree *tree, size_t own, int32_t link)
{
	return link < 0 ? ~link < (int64_t)tree->leaf_count
			: link > (int64_t)own && link < (int64_t)tree->split_count;
}

static enum status tree_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	static const char expected[] = "a later split, or ~ of one of the leaves";
	const struct boosted_tree *tree = value;
	struct json_at leaves;

	(void)context;
	json_find(at, "leaves", &leaves);
	if (tree->leaf_count != tree->split_count + 1)
		return json_error(
			&leaves, err, "a leaf more than splits, %zu", tree->split_count + 1);
	for (size_t i = 0; i < tree->split_count; i++) {
		if (!leads_on(tree, i, tree->splits[i].low))
			return refuse(at, i, 2, err, expected);
		if (!leads_on(tree, i, tree->splits[i].high))
			return refuse(at, i, 3, err, expected);
	}
	return STATUS_OK;
}

static const struct record_member tree_members[] = {
	RECORD_CUSTOMS(struct boosted_tree, splits, split_count, &split_custom, "splits",
		"[feature, threshold, where it is at most that, where it is more]: a later split, "
		"or ~leaf"),
	RECORD_VALUES(
		struct boosted_tree, leaves, leaf_count, "leaves", "what is added", .count_min = 1),
};
RECORD_DEFINE(struct boosted_tree, boosted_tree_record, tree_members, .name = "tree",
	.check = tree_check);

double boosted_trees_sum(const struct boosted_tree *trees, size_t count, const double *features)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		const struct boosted_tree *tree = &trees[i];
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

/* ---- a correction ---- */
/* The context of its members. */
struct correction_reading {
	struct reading reading; /* of the features' expressions */
	const struct catalogue *catalogue;
	const char *device; /* NULL: any */
	struct name_table names;
};

static enum status family_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct correction_reading *reading = context;
	const struct family **family = field;
	const char *name;

	TRY(json_get_string(at, &name, err));
	TRY(catalogue_family(reading->catalogue, NULL, name, family, err));
	reading->names = names_of(*family);
	reading->reading.names = &reading->names;
	return STATUS_OK;
}

/* The folder says which device a file is for: one that was copied there is not. */
static enum status correction_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct correction_reading *reading = context;
	const struct correction *correction = value;
	struct json_at member, tree;

	json_find(at, "device", &member);
	if (reading->device && strcmp(correction->device, reading->device) != 0)
		return json_error(&member, err, "\"%s\", as the folder is named", reading->device);
	json_find(at, "trees", &member);
	for (size_t i = 0; i < correction->tree_count; i++)
		for (size_t k = 0; k < correction->trees[i].split_count; k++) {
			const int32_t feature = correction->trees[i].splits[k].feature;

			if (feature >= 0 && (size_t)feature < correction->feature_count)
				continue;
			tree = json_item(&member, i);
			return refuse(&tree, k, 0, err, "one of the features");
		}
	return STATUS_OK;
}

static const struct record_rule some_rule = {.expected = "a name"};
static const struct record_custom family_custom = {.read = family_read}, any_custom = {0};

static const struct record_member feature_members[] = {
	RECORD_VALUE(struct feature, name, "name", "what it is called", .rule = &some_rule),
	EXPRESSION(struct feature, expression, "expr", "what it is"),
};
static RECORD_DEFINE(struct feature, feature_record, feature_members, .name = "feature");

static const struct record_member correction_members[] = {
	RECORD_CONSTANT("format", "tiletune.correction/1", "what this file is"),
	RECORD_VALUE(struct correction, device, "device",
		"the sheet's name, as the folder is called", .rule = &some_rule),
	RECORD_CUSTOM(struct correction, family, &family_custom, "family",
		"gemm/wgmma, whose file is gemm-wgmma.json"),
	RECORD_COMMENT("summary", "one line"),
	RECORD_DERIVED(struct correction, &any_custom, "fitted",
		"to what, and what came of it where whole problems were left out",
		.flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct correction, features, feature_count, feature_record, "features",
		"what splits ask for"),
	RECORD_RECORDS(struct correction, trees, tree_count, boosted_tree_record, "trees",
		"their sum is ln(measured / predicted)"),
};
RECORD_DEFINE(struct correction, correction_record, correction_members, .name = "correction",
	.check = correction_check);

enum status correction_load(const char *path, const char *device, const struct catalogue *catalogue,
	struct correction **correction, struct error *err)
{
	struct correction *read = memory_zeroed(1, sizeof(*read));
	struct correction_reading reading = {.catalogue = catalogue, .device = device};
	enum status status;

	read->file = string_copy(path);
	status = json_load(path, &read->tree, err);
	if (status == STATUS_OK) {
		const struct json_at root = json_root(read->tree, read->file);

		status = record_from_json(&correction_record, &root, read, &reading, err);
	}
	name_table_release(&reading.names);
	if (status != STATUS_OK) {
		correction_free(read);
		read = NULL;
	}
	*correction = read;
	return status;
}

void correction_free(struct correction *correction)
{
	if (!correction)
		return;
	record_release(&correction_record, correction);
	json_free(correction->tree);
	free(correction->file);
	free(correction);
}

enum status correction_features(const struct correction *correction, const struct value *slots,
	const struct score *score, double *features, struct error *err)
{
	const size_t count = correction->family->scope.count;
	CLEANUP(memory_free)
	struct value *values =
		memory_zeroed(count + 2 + ARRAY_COUNT(score_numbers), sizeof(*values));

	memcpy(values, slots, count * sizeof(*values));
	bind_score(score, values + count);
	for (size_t i = 0; i < correction->feature_count; i++)
		TRY(expression_real(correction->features[i].expression, values, &features[i], err));
	return STATUS_OK;
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
	*factor = exp(boosted_trees_sum(correction->trees, correction->tree_count, features));
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
	CLEANUP(memory_free) char *path = path_join(search->folder, name);

	if (!string_ends_with(name, ".json") || name[0] == '.')
		return STATUS_OK;
	family = family_of(search->catalogue, name);
	if (!family || corrections_find(corrections, family))
		return STATUS_OK;
	TRY(correction_load(path, search->device, search->catalogue, &correction, err));
	ARRAY_GROW(corrections->items, corrections->count, corrections->capacity);
	corrections->items[corrections->count++] = correction;
	if (correction->family != family)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: $.family: expected \"%s\" as the file is named", path, family->name);
	return STATUS_OK;
}

enum status corrections_load(const char *const *config_folders, const char *device,
	const struct catalogue *catalogue, struct corrections *corrections, struct error *err)
{
	enum status status = STATUS_OK;

	*corrections = (struct corrections){0};
	for (; *config_folders && status == STATUS_OK; config_folders++) {
		CLEANUP(memory_free)
		char *folder = string_format("%s/corrections/%s", *config_folders, device);
		struct search search = {folder, device, catalogue, corrections};

		if (directory_exists(folder))
			status = directory_list(folder, visit, &search, err);
	}
	if (status != STATUS_OK)
		corrections_release(corrections);
	return status;
}

const struct correction *corrections_find(
	const struct corrections *corrections, const struct family *family)
{
	for (size_t i = 0; corrections && i < corrections->count; i++)
		if (corrections->items[i]->family == family)
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
