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
#include "learn/learned.h"
#include "process/team.h"

struct context_options {
	const char *const *roots; /* folders that hold templates/ and configs/; NULL-terminated */
	const char *operation;    /* load only this one; NULL: all */
	const char *device;       /* "auto", "cuda:0", "model:NAME", "replay:FILE" */
	bool several;             /* also "cuda:all" and "cuda:0,cuda:2" */
	bool allow_model;         /* auto may fall back to the embedded sheet */
	bool need_compiler;       /* false: go on without one (explain, dry runs) */
	const char *worker_path;  /* NULL: this executable */
	const char *nvrtc_path;
	const char *cache_folder; /* NULL: the user's */
	bool no_cache;
	enum learned_wanted learned;
	unsigned workers; /* compilers; 0: automatic */
	double wait_s;    /* for the GPU's lock */
	uint64_t seed;
};

struct context {
	char **template_folders;
	char **config_folders;
	struct catalogue catalogue;
	struct device *device;
	struct learned *learned;    /* of the device */
	struct compiler *compiler;  /* NULL: none found, and none needed */
	struct kernel_store *store; /* NULL without a compiler */
	const struct text *helpers; /* cubin of the helper kernels, of the store; NULL: no GPU */
	struct team *team;          /* of several GPUs (engine/gpus.h); NULL: one */
	struct context *others;     /* of the first of several: theirs, all but the device shared */
	size_t other_count;         /* each knows it */
	char *cache_notice;         /* why nothing is kept, or NULL */
	char *notice; /* what the user should know (no GPU: the model is used), or NULL */
};

enum status context_open(
	const struct context_options *options, struct context *context, struct error *err);
void context_release(struct context *context);

/* roots -> roots/<name>, an own kernel's file as it is, NULL-terminated; caller frees each and the
 * array. */
char **context_folders(const char *const *roots, const char *name);
void context_folders_free(char **folders);

#endif
