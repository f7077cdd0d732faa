/* SPDX-License-Identifier: MIT
 *
 * What timings on a device taught beyond physics ("tiletune.learned/1"): for each family, trees
 * that give ln(measured / predicted). Shipped as configs/learned/DEVICE.json, or a file that the
 * user names; `python3 -m tiletune.learn` makes both. Without one the physics stands.
 */
#ifndef SCORE_LEARNED_H
#define SCORE_LEARNED_H

#include "family/catalogue.h"
#include "score/trees.h"

/* Of problems that were left out of what was learned: the best measured time of the family over
 * that of the candidate that is predicted first. */
struct left_out {
	uint64_t problems; /* with enough timings to tell */
	double physics_mean, physics_lowest;
	double learned_mean, learned_lowest;
};

struct learned_family {
	char *name;
	uint64_t timings, problems;
	struct left_out left_out;
	struct trees trees;
	const struct family *family; /* once bound */
	size_t feature_count;
};

struct learned {
	char *device; /* the sheet's name; NULL: nothing was learned */
	struct learned_family *families;
	size_t family_count;
	bool is_named; /* by the user */
};
RECORD_DECLARE(struct learned, learned_record);

/* Errors: a broken file, with file and JSON path. */
enum status learned_load(const char *path, struct learned *learned, struct error *err);
void learned_release(struct learned *learned);

struct learned_choice {
	bool none;        /* physics alone */
	const char *file; /* that the user named; NULL: what is shipped */
};

/* The file that was named; else what is shipped, from <folder>/learned/DEVICE.json of the first
 * folder that has one, else what is shipped for another card of its compute capability; no shipped
 * file is fine. With TILETUNE_LEARNED=none nothing is shipped. Families that the catalogue lacks,
 * or that have changed their parameters since, are skipped. Errors: a broken file, or one of
 * another device; a named file of whose families none is there. */
enum status learned_open(const struct learned_choice *choice, const char *const *config_folders,
	const char *device, const struct catalogue *catalogue, struct learned *learned,
	struct error *err);

/* NULL: nothing of this family (or learned is NULL). */
const struct learned_family *learned_find(
	const struct learned *learned, const struct family *family);

#endif
