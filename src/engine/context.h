/* SPDX-License-Identifier: MIT
 *
 * Everything that a run works with, opened in the right order: templates, the device, a compiler
 * whose cubins that device's driver can load, the helper kernels, the store of compiled kernels.
 */
#ifndef ENGINE_CONTEXT_H
#define ENGINE_CONTEXT_H

#include "device/device.h"
#include "family/catalogue.h"
#include "engine/kernel_store.h"
#include "score/learned.h"

struct context_options {
	const char *const *roots; /* folders that hold templates/ and configs/; NULL-terminated */
	const char *operation;    /* load only this one; NULL: all */
	const char *served; /* of all: the one that a program may be the device for, or NULL */
	const char *device; /* "auto", "cuda:0", "model:NAME", "replay:FILE" */
	/* Where the operation is served by a program (family.h): called with its command and folder
	 * before it is started, and its device is opened in the place of "auto". NULL: no program
	 * is started. */
	void (*program_starts)(const char *command, const char *folder);
	bool describes;     /* nothing is evaluated: a program's space may be asked for */
	bool allow_model;   /* auto may fall back to the embedded sheet */
	bool need_compiler; /* false: go on without one (explain, dry runs) */
	struct learned_choice learned;
	bool no_cache;
	struct compiler_options compiler; /* cache_folder NULL: the user's; for any driver */
	struct device_options machine;    /* without what is found out here: folders, program */
};

struct context {
	char **template_folders;
	char **config_folders;
	struct catalogue catalogue;
	struct device *device;
	uint64_t tickets;             /* of jobs that were submitted so far */
	struct learned *learned;      /* of the device */
	bool l2_warm;                 /* times are of a warm L2 */
	struct compiler *compiler;    /* NULL: none found, and none needed */
	struct kernel_store *store;   /* NULL without a compiler */
	const struct family *program; /* whose program the device is, of the catalogue; NULL */
	const char *worker_path;      /* of worker processes, borrowed; NULL: this executable */
	char *cache_notice;           /* why nothing is kept, or NULL */
	char *notice; /* what the user should know (no GPU: the model is used), or NULL */
};

enum status context_open(
	const struct context_options *options, struct context *context, struct error *err);
void context_release(struct context *context);

/* roots -> roots/<name>, an own kernel's file as it is, NULL-terminated; caller frees each and the
 * array. */
char **context_folders(const char *const *roots, const char *name);

#endif
