/* SPDX-License-Identifier: MIT
 *
 * The context has everything that a command works with, opened in the right order: templates, the
 * device, a compiler whose cubins the device's driver can load, the helper kernels, and the store
 * of compiled kernels.
 */
#ifndef ENGINE_CONTEXT_H
#define ENGINE_CONTEXT_H

#include "device/device.h"
#include "family/catalogue.h"
#include "engine/kernel_store.h"
#include "score/learned.h"

struct context_options {
	const char *const *roots; /* folders that hold templates/ and configs/; NULL-terminated */
	const char *operation;    /* load only this operation; NULL: all */
	const char *served;       /* the operation whose program may be the device, or NULL */
	const char *device;       /* "auto", "cuda:0", "model:NAME", "replay:FILE" */
	/* If a program serves the operation (family.h), this function is called with its command
	 * and folder before the program starts, and "auto" selects the program as the device. NULL:
	 * no program is started. */
	void (*program_starts)(const char *command, const char *folder);
	bool describes;     /* nothing is evaluated, so no program is started */
	bool allow_model;   /* auto may fall back to the embedded sheet */
	bool need_compiler; /* false: a missing compiler is no error (explain, dry runs) */
	struct learned_choice learned;
	bool no_cache;
	/* cache_folder NULL selects the user's cache folder; context_open() fills in the driver
	 * version. */
	struct compiler_options compiler;
	struct device_options machine; /* context_open() fills in folders and program */
};

struct context {
	char **template_folders;
	char **config_folders;
	struct catalogue catalogue;
	struct device *device;
	uint64_t tickets;             /* the last ticket that was given to a job */
	struct learned *learned;      /* learned corrections for the device */
	bool l2_warm;                 /* times are measured with a warm L2 */
	struct compiler *compiler;    /* NULL if none was found and the command needs none */
	struct kernel_store *store;   /* NULL without a compiler */
	const struct family *program; /* the family whose program is the device, or NULL */
	const char *worker_path; /* program of worker processes, borrowed; NULL: this executable */
	char *cache_notice;      /* why there is no cache of kernels, or NULL */
	char *notice; /* a notice for the user (without a GPU, times are predicted), or NULL */
};

enum status context_open(
	const struct context_options *options, struct context *context, struct error *err);
void context_release(struct context *context);

/* ROOT/NAME for each root; the file of an own kernel stays as it is. NULL-terminated; the caller
 * frees each string and the array. */
char **context_folders(const char *const *roots, const char *name);

#endif
