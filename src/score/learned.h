/* SPDX-License-Identifier: MIT
 *
 * Trees per family that predict ln(measured / predicted time), fitted to timings of a device
 * ("tiletune.learned/1").
 */
#ifndef SCORE_LEARNED_H
#define SCORE_LEARNED_H

#include "family/catalogue.h"
#include "score/trees.h"

/* Quality on problems excluded from learning: best measured time divided by the time of the
 * candidate with the best prediction. */
struct left_out {
	uint64_t problems;
	double physics_mean, physics_lowest;
	double learned_mean, learned_lowest;
};

struct learned_family {
	char *name;
	uint64_t timings, problems;
	struct left_out left_out;
	struct trees trees;
	const struct family *family; /* NULL if the catalogue lacks the family */
	size_t feature_count;
};

struct learned {
	char *device; /* NULL if nothing was learned */
	struct learned_family *families;
	size_t family_count;
	bool is_named;
};

/* Reads the families of the catalogue, or all if it is NULL. */
enum status learned_parse(const struct text *content, const char *path,
	const struct catalogue *catalogue, struct learned *learned, struct error *err);
void learned_release(struct learned *learned);

struct learned_choice {
	bool none;
	const char *file; /* NULL selects the shipped file */
};

/* Loads the named file, else <folder>/learned/DEVICE.json, else the file of another device with the
 * same compute capability. Shipped files may be missing, and TILETUNE_LEARNED=none ignores them.
 * Families whose parameters changed are left out. Errors: an invalid file, another device, or a
 * named file without a known family. */
enum status learned_open(const struct learned_choice *choice, const char *const *config_folders,
	const char *device, const struct catalogue *catalogue, struct learned *learned,
	struct error *err);

/* Returns NULL if nothing was learned for the family. */
const struct learned_family *learned_find(
	const struct learned *learned, const struct family *family);

#endif
