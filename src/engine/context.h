/* SPDX-License-Identifier: MIT
 *
 * Everything that a command works with, opened in the right order.
 */
#ifndef ENGINE_CONTEXT_H
#define ENGINE_CONTEXT_H

#include "device/device.h"
#include "engine/kernel_store.h"
#include "score/learned.h"

struct context_options {
	const char *const *roots; /* folders with templates/ and configs/; NULL-terminated */
	const char *operation;    /* NULL: load all */
	const char *served;       /* the operation whose program may be the device, or NULL */
	const char *device;       /* "auto", "cuda:0", "model:NAME", "replay:FILE" */
	/* Called before the program that serves the operation (family.h) starts, which "auto" then
	 * selects as the device. NULL: no program is started. */
	void (*program_starts)(const char *command, const char *folder);
	bool describes;     /* do not start a program */
	bool allow_model;   /* "auto" may fall back to the embedded sheet */
	bool need_compiler; /* fail without a compiler */
	struct learned_choice learned;
	bool no_cache;
	/* cache_folder NULL: the user's folder. context_open() fills in the driver version. */
	struct compiler_options compiler;
	struct device_options machine; /* context_open() fills in folders and program */
};

struct context {
	char **template_folders;
	char **config_folders;
	struct catalogue catalogue;
	struct device *device;
	uint64_t tickets;        /* the last one given to a job */
	struct learned *learned; /* corrections for the device */
	bool l2_warm;
	struct compiler *compiler;    /* NULL: no compiler */
	struct kernel_store *store;   /* NULL without a compiler */
	const struct family *program; /* family whose program is the device, or NULL */
	const char *worker_path;      /* program of workers, borrowed; NULL: this executable */
	char *cache_notice;           /* why kernels are not cached, or NULL */
	char *notice;                 /* message for the user, or NULL */
};

enum status context_open(
	const struct context_options *options, struct context *context, struct error *err);
void context_release(struct context *context);

/* Returns ROOT/NAME for each root; a root that is an own kernel's file stays unchanged. The list is
 * NULL-terminated. The caller frees list and items. */
char **context_folders(const char *const *roots, const char *name);

#endif
