/* SPDX-License-Identifier: MIT
 *
 * What the tuned files of a folder have, without reading them: each entry's problem and the
 * winner's configuration are kept in FOLDER/.tiletune.index. What it says of a file holds as long
 * as the file is the one that was read (size, time, inode); others are read anew, and the index is
 * written again where the folder can be written to. So it is never out of date, and may be deleted.
 */
#ifndef FORMAT_TUNED_INDEX_H
#define FORMAT_TUNED_INDEX_H

#include "format/tuned.h"

/* An entry. Strings are borrowed from the index. */
struct tuned_index_item {
	const char *path; /* of the file */
	const char *operation;
	const char *problem; /* "M=4096,...": as in the file */
	const char *choice;  /* the winner, as tuned_choice_record */
	enum objective objective;
	bool predicted;
};

struct tuned_index {
	struct tuned_index_item *items;
	size_t count, capacity;
	char **strings; /* that the items are parts of */
	size_t string_count, string_capacity;
};

/* Adds the entries of a file that was read. */
void tuned_index_add(struct tuned_index *index, const struct tuned *tuned);
/* Adds those of all tuned files *.json, *.json.gz of a folder that are of this GPU model (NULL:
 * adds none, the index is brought up to date). Others' files may lie there. Errors: no such folder.
 */
enum status tuned_index_add_folder(struct tuned_index *index, const char *folder,
	const struct gpu_model *device, struct error *err);
/* Takes a string, for an item; it lives as long as the index. */
char *tuned_index_keep(struct tuned_index *index, char *string);
void tuned_index_release(struct tuned_index *index);

#endif
