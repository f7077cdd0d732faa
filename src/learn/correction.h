/* SPDX-License-Identifier: MIT
 *
 * What timings taught of a family on a device beyond the model: a factor on the predicted time,
 * from configs/corrections/DEVICE/FAMILY.json ("tiletune.correction/1"). The model knows why a
 * candidate takes its time and holds for any device; trees that were fitted to its errors know
 * better by how much it is off, where it was measured. Devices and families without a file keep
 * the model's time.
 *
 * Features are expressions over what the family's own see (problem, device, parameters, constants)
 * and the score's numbers: predicted_us, waves_exact, slots_per_wave, blocks_per_sm,
 * lines_per_row_ratio, dram_traffic_bytes, l2_traffic_bytes (of the longest launch).
 */
#ifndef LEARN_CORRECTION_H
#define LEARN_CORRECTION_H

#include "base/record.h"
#include "candidate/candidate.h"
#include "family/catalogue.h"
#include "score/score.h"

/* Gradient-boosted regression trees, as a library fitted them (tests/tools/fit_correction.py): the
 * value of a point is the sum of one leaf of each tree. A point goes to `low` where its feature is
 * at most the threshold, else to `high`. A link that is not negative is a split (they come after
 * their parent), ~link of a negative one is a leaf. Without splits a tree is its only leaf. */
struct tree_split {
	int32_t feature, low, high;
	double threshold;
};
struct boosted_tree {
	struct tree_split *splits;
	double *leaves;
	size_t split_count, leaf_count;
};
RECORD_DECLARE(struct boosted_tree, boosted_tree_record);
double boosted_trees_sum(const struct boosted_tree *trees, size_t count, const double *features);

struct feature {
	const char *name;
	struct expression *expression;
};

struct correction {
	struct json *tree; /* what is borrowed below */
	char *file;
	const char *device;
	const struct family *family;
	struct feature *features;
	size_t feature_count;
	struct boosted_tree *trees;
	size_t tree_count;
};
RECORD_DECLARE(struct correction, correction_record);

/* Of one device, for those of the catalogue's families that have a file. */
struct corrections {
	struct correction **items;
	size_t count, capacity;
};

/* Looks into <folder>/corrections/<device>/ of every folder; of two files for one family the first
 * folder's counts. Families that the catalogue lacks are passed over. Errors: a broken file, with
 * file and JSON path. */
enum status corrections_load(const char *const *config_folders, const char *device,
	const struct catalogue *catalogue, struct corrections *corrections, struct error *err);
void corrections_release(struct corrections *corrections);
/* NULL: none for this family (or no corrections at all: NULL). */
const struct correction *corrections_find(
	const struct corrections *corrections, const struct family *family);

/* One file. Errors: as above, and a family that is not in the catalogue. device: the sheet that it
 * must be for; NULL: any. */
enum status correction_load(const char *path, const char *device, const struct catalogue *catalogue,
	struct correction **correction, struct error *err);
void correction_free(struct correction *correction);

/* slots: of a legal configuration of the family, constants included; score: of it, with resources
 * estimated, as the trees were fitted. values: one per feature. */
enum status correction_features(const struct correction *correction, const struct value *slots,
	const struct score *score, double *values, struct error *err);
/* Measured time over the predicted one that is to be expected; 1 for a NULL correction. */
enum status correction_factor(const struct correction *correction, const struct value *slots,
	const struct score *score, double *factor, struct error *err);

#endif
