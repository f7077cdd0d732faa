/* SPDX-License-Identifier: MIT
 *
 * Compiled kernels on disk, found by what they were made of. FOLDER/kernels/ab/KEY holds one
 * compile_result, KEY beginning with "ab"; a file is complete or not there (temporary file,
 * rename), and several processes may use one folder at once.
 *
 * The cache may always be deleted. What is wrong with an entry (other format, wrong size or
 * checksum, no code for the architecture that it names, another's file, one that others can write
 * to) makes it a miss and removes it; it is never an error.
 *
 * Kernels are code, so folders are the user's alone. $TILETUNE_CACHE_GROUP names a group that is
 * trusted: a FOLDER of that group, which it may write to, is shared by its members.
 * $TILETUNE_CACHE_SEED names another cache where what is not in FOLDER is looked for; it is only
 * read, and nobody but its owner (or that group) may write to it.
 */
#ifndef COMPILE_CACHE_H
#define COMPILE_CACHE_H

#include "compile/cache_entry.h"

struct cache;

struct cache_item {
	char key[HASH_SIZE];
	struct cache_label label;
	uint64_t size_bytes;
	double age_s; /* since it was last used, to within an hour */
	bool failed;  /* the compiler refused it: kept as well */
};

/* What check and trim did. */
struct cache_summary {
	uint64_t kept_count, kept_bytes;
	uint64_t removed_count, removed_bytes;
};

/* Makes the folder. STATUS_BAD_INPUT if it cannot be made or written to. */
enum status cache_open(const char *folder, struct cache **cache, struct error *err);
void cache_close(struct cache *cache); /* NULL is fine */
const char *cache_folder(const struct cache *cache);

/* False: not there. Ticket and from_cache of the result are not set. */
bool cache_get(struct cache *cache, const char key[HASH_SIZE], struct compile_result *result);

/* An outcome that is not the same each time (crash, timeout) must not be put. Not being able to
 * write is no reason to stop: the caller may say it once. */
enum status cache_put(struct cache *cache, const char key[HASH_SIZE],
	const struct cache_label *label, const struct compile_result *result, struct error *err);

/* ---- one file: for the tests ---- */
/* Between an entry's name and the random end of the temporary file that becomes it. */
#define CACHE_TEMPORARY ".new-"

char *cache_entry_path(const struct cache *cache, const char key[HASH_SIZE]); /* caller frees */

/* ---- for the command that looks after it ---- */
typedef void cache_visit(const struct cache_item *item, void *context);
/* Every good entry, by key; damaged ones are passed over. */
enum status cache_list(struct cache *cache, cache_visit *visit, void *context, struct error *err);

/* Reads everything; removes what is damaged and temporary files that a killed tuner left. */
enum status cache_check(struct cache *cache, struct cache_summary *summary, struct error *err);

/* Removes what was not used for max_age_s, then the longest unused until at most max_bytes are
 * left. Negative max_age_s, UINT64_MAX: no such limit. */
enum status cache_trim(struct cache *cache, uint64_t max_bytes, double max_age_s,
	struct cache_summary *summary, struct error *err);

#endif
