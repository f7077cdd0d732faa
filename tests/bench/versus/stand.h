/* SPDX-License-Identifier: MIT
 *
 * What every comparison with cuBLASLt stands on: templates, the GPU (locked against tuners) with
 * its helper kernels, a compiler whose cubins it loads, cuBLASLt with a workspace; and the head of
 * a results file, which says all of it.
 */
#ifndef VERSUS_STAND_H
#define VERSUS_STAND_H

#include <stdio.h>

#include "base/json.h"
#include "bench/versus/lt.h"
#include "family/catalogue.h"
#include "measure/gpu_session.h"
#include "spec/device_spec.h"
#include "engine/kernel_store.h"

struct stand {
	char *templates, *configs;
	const char *template_folders[2], *config_folders[2];
	struct catalogue catalogue;
	struct gpu_session gpu;
	int lock_fd;
	struct device_spec *spec;
	struct compiler *compiler;
	struct kernel_store *store;
	CUdeviceptr workspace; /* cuBLASLt's */
	struct lt lt;
};

struct stand_options {
	const char *path;         /* holds templates/ and configs/ */
	const char *operation;    /* whose templates are loaded */
	const char *device;       /* number or UUID */
	const char *cache_folder; /* NULL: the user's */
};

/* stand: zeroed by this. Release it whatever comes back. */
enum status stand_open(const struct stand_options *options, struct stand *stand, struct error *err);
/* fatal: the context is lost, and the process's end frees what it held. */
void stand_release(struct stand *stand, bool fatal);

void stand_print(FILE *out, const struct stand *stand);
/* format, date, command, tiletune, device, driver, compiler, cuBLASLt, power limit, seconds. */
struct json *stand_json(const struct stand *stand, const char *format, double seconds);
enum status stand_write(const char *path, const struct json *json, struct error *err);

#endif
