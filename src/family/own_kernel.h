/* SPDX-License-Identifier: MIT
 *
 * A user's kernel in one file ("tiletune.own_kernel/1"), which mixes the members of an operation
 * and its only family. The file is split into a tree for each reader. Members keep their paths, so
 * that messages point into the file. The records of operations and families determine where a
 * member belongs; the family gets a member that both have.
 *
 * src/python/tiletune/t1.py converts input files of Kernel Tuner and KTT (T1) to this format.
 */
#ifndef FAMILY_OWN_KERNEL_H
#define FAMILY_OWN_KERNEL_H

#include "base/json.h"

struct own_kernel {
	char *file;
	char *name;   /* operation's name: from the member, else from the file name */
	char *family; /* named after the source file */
	struct json *operation_tree; /* NULL once handed over */
	struct json *family_tree;    /* NULL once handed over */
};

/* Returns whether a command-line name or template place is such a file. */
bool own_kernel_is_file(const char *name);
/* Sets an error for a T1 file. The hint is the command that converts it. */
enum status own_kernel_refuse_t1(const struct json_at *root, struct error *err);
/* Refuses a kernel's JSON in place of a source: it needs no draft; T1 files need the converter. */
enum status own_kernel_refuse(const char *path, struct error *err);
enum status own_kernel_load(const char *path, struct own_kernel *own, struct error *err);
void own_kernel_release(struct own_kernel *own);

#endif
