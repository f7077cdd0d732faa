/* SPDX-License-Identifier: MIT
 *
 * The GPU model that a tuned file is of, for commands that open no device.
 */
#ifndef CLI_FILE_DEVICE_H
#define CLI_FILE_DEVICE_H

#include "format/tuned.h"
#include "spec/device_spec.h"

/* The file's sheet, or, of a GPU without one, what the file says of it and the default rates of its
 * architecture. configs: folders. */
enum status file_device_spec(const struct tuned *tuned, char *const *configs,
	struct device_spec **spec, struct error *err);
/* "cuda:N" (a GPU of this machine) or "model:NAME". */
enum status named_device_spec(
	const char *name, char *const *configs, struct device_spec **spec, struct error *err);

#endif
