/* SPDX-License-Identifier: MIT
 *
 * A user's kernel in one file ("tiletune.own_kernel/1"): an operation and its only family. The file
 * is split into a tree for each, by the members of their records; the family gets members that both
 * have. src/python/tiletune/t1.py converts files of Kernel Tuner and KTT (T1).
 */
#ifndef FAMILY_OWN_KERNEL_H
#define FAMILY_OWN_KERNEL_H

#include "base/json.h"

struct own_kernel {
	char *file;
	char *name;   /* the operation's name, from the member "name" or else from the file name */
	char *family; /* named after the source file */
	struct json *operation_tree; /* NULL once handed over */
	struct json *family_tree;    /* NULL once handed over */
};

/* Returns whether a command-line name or template place is the file of an own kernel. */
bool own_kernel_is_file(const char *name);
/* Sets an error for a T1 file. The hint is the command that converts it. */
enum status own_kernel_refuse_t1(const struct json_at *root, struct error *err);
/* Fails if the path, given in place of a CUDA source, is a JSON file. The hint is the command that
 * accepts the file. */
enum status own_kernel_refuse(const char *path, struct error *err);
enum status own_kernel_load(const char *path, struct own_kernel *own, struct error *err);
void own_kernel_release(struct own_kernel *own);

#endif
