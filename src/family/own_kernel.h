/* SPDX-License-Identifier: MIT
 *
 * A user's own kernel in one file: the members of an operation and of its one family side by side
 * ("tiletune.own_kernel/1"), taken apart into the trees that both readers take. Each member keeps
 * its path, so messages point into the file. Whose a member is follows from the records of
 * operations and families; one that both have is the family's.
 *
 * Input files of Kernel Tuner and KTT (T1) are brought into this form by src/python/tiletune/t1.py.
 */
#ifndef FAMILY_OWN_KERNEL_H
#define FAMILY_OWN_KERNEL_H

#include "base/json.h"

struct own_kernel {
	char *file;
	char *name;                  /* of the operation: the member, else the file's */
	char *family;                /* after the source file */
	struct json *operation_tree; /* NULL once taken */
	struct json *family_tree;    /* NULL once taken */
};

/* Whether a name on the command line, or a place to look for templates, is such a file. */
bool own_kernel_is_file(const char *name);
/* An error for a T1 file, whose hint names the command that converts it. */
enum status own_kernel_refuse_t1(const struct json_at *root, struct error *err);
/* A kernel's JSON where a source is expected: it needs no draft; a T1 file has a converter. */
enum status own_kernel_refuse(const char *path, struct error *err);
enum status own_kernel_load(const char *path, struct own_kernel *own, struct error *err);
void own_kernel_release(struct own_kernel *own);

#endif
