/* SPDX-License-Identifier: MIT
 *
 * What timings on a device taught beyond physics ("tiletune.learned/1"): of each family, trees that
 * give ln(measured / predicted). Two layers: what is shipped (configs/learned/DEVICE.json), and
 * what was learned on this machine (own.h), which corrects the first. Without either the physics
 * stands.
 */
#ifndef LEARN_LEARNED_H
#define LEARN_LEARNED_H

#include "family/catalogue.h"
#include "learn/trees.h"

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

struct learned_file {
	char *device; /* the sheet's name */
	char *base;   /* learned_identity() of the layer below; NULL: there is none */
	struct learned_family *families;
	size_t family_count;
};
RECORD_DECLARE(struct learned_file, learned_file_record);

struct learned {
	struct learned_file layers[2]; /* shipped; learned here, on top of it */
	char *own_folder;              /* the cache, where more may be learned; NULL: it may not */
};

/* Errors: a broken file, with file and JSON path. */
enum status learned_file_load(const char *path, struct learned_file *file, struct error *err);
void learned_file_release(struct learned_file *file);

/* Tells what was learned from something else; caller frees. NULL: nothing was learned. */
char *learned_identity(const struct learned_file *file);

enum learned_wanted {
	LEARNED_NONE,
	LEARNED_SHIPPED,
	LEARNED_ALL,
};

/* What is shipped, from <folder>/learned/DEVICE.json of the first folder that has one, else what is
 * shipped for another card of its compute capability; no file is fine. On top of it what was
 * learned here (own.h), in the cache (NULL: the user's). No more than the environment's
 * TILETUNE_LEARNED allows (none, shipped). Families that the catalogue lacks, or that have changed
 * their parameters since, are passed over. Errors: a broken file of those that are shipped, or one
 * for another device. */
enum status learned_open(enum learned_wanted wanted, const char *const *config_folders,
	const char *cache_folder, const char *device, const struct catalogue *catalogue,
	struct learned *learned, struct error *err);
void learned_release(struct learned *learned);

/* NULL: nothing of this family (or learned is NULL). */
const struct learned_family *learned_find(
	const struct learned_file *file, const struct family *family);

#endif
