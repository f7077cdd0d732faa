/* SPDX-License-Identifier: MIT
 *
 * Shared setup of comparisons with cuBLASLt: templates, the GPU (locked against tuners) with its
 * helper kernels, a compiler, cuBLASLt with a workspace, and the head of a results file that
 * describes them.
 */
#ifndef VERSUS_SETUP_H
#define VERSUS_SETUP_H

#include <stdio.h>

#include "base/json.h"
#include "bench/versus/lt.h"
#include "family/catalogue.h"
#include "measure/gpu_session.h"
#include "spec/device_spec.h"
#include "engine/kernel_store.h"

struct setup {
	char *templates, *configs;
	const char *template_folders[2], *config_folders[2];
	struct catalogue catalogue;
	struct gpu_session gpu;
	int lock_fd;
	struct device_spec *spec;
	struct compiler *compiler;
	struct kernel_store *store;
	CUdeviceptr workspace; /* cuBLASLt's workspace */
	struct lt lt;
};

struct setup_options {
	const char *path;         /* folder with templates/ and configs/ */
	const char *operation;    /* operation whose templates are loaded */
	const char *device;       /* number or UUID */
	const char *cache_folder; /* NULL selects the user's cache folder */
};

/* Zeroes setup first. The caller releases it in any case. */
enum status setup_open(const struct setup_options *options, struct setup *setup, struct error *err);
/* fatal: the context is lost, so that only the end of the process frees its memory. */
void setup_release(struct setup *setup, bool fatal);

void setup_print(FILE *out, const struct setup *setup);
/* Writes format, date, command, tiletune, device, driver, compiler, cuBLASLt, power limit,
 * seconds. */
struct json *setup_json(const struct setup *setup, const char *format, double seconds);
enum status setup_write(const char *path, const struct json *json, struct error *err);

#endif
