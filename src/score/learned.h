/* SPDX-License-Identifier: MIT
 *
 * Corrections of the analytical model learned from timings on a device ("tiletune.learned/1"):
 * trees per family that predict ln(measured / predicted). The file is shipped as
 * configs/learned/DEVICE.json or named by the user; `python3 -m tiletune.learn` makes both. Without
 * a file, only the analytical model is used.
 */
#ifndef SCORE_LEARNED_H
#define SCORE_LEARNED_H

#include "family/catalogue.h"
#include "score/trees.h"

/* Validation on problems excluded from learning: the family's best measured time over that of the
 * candidate with the best prediction. */
struct left_out {
	uint64_t problems; /* with enough timings to be meaningful */
	double physics_mean, physics_lowest;
	double learned_mean, learned_lowest;
};

struct learned_family {
	char *name;
	uint64_t timings, problems;
	struct left_out left_out;
	struct trees trees;
	const struct family *family; /* set when bound */
	size_t feature_count;
};

struct learned {
	char *device; /* name of the sheet; NULL: nothing was learned */
	struct learned_family *families;
	size_t family_count;
	bool is_named; /* the user named the file */
};

/* Reads the families of the catalogue, or all if it is NULL. An invalid file is an error with file
 * and JSON path. */
enum status learned_parse(const struct text *content, const char *path,
	const struct catalogue *catalogue, struct learned *learned, struct error *err);
void learned_release(struct learned *learned);

struct learned_choice {
	bool none;        /* use only the analytical model */
	const char *file; /* file that the user named; NULL selects the shipped one */
};

/* Loads the named file. Otherwise loads <folder>/learned/DEVICE.json from the first folder that has
 * it, else the shipped file of another device with the same compute capability. A missing shipped
 * file is no error, and TILETUNE_LEARNED=none ignores shipped files. Skips families that the
 * catalogue lacks or whose parameters have changed. Errors: an invalid file, one of another device,
 * or a named file without any known family. */
enum status learned_open(const struct learned_choice *choice, const char *const *config_folders,
	const char *device, const struct catalogue *catalogue, struct learned *learned,
	struct error *err);

/* Returns NULL if nothing was learned for the family, or learned is NULL. */
const struct learned_family *learned_find(
	const struct learned *learned, const struct family *family);

#endif
