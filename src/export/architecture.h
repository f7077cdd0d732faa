/* SPDX-License-Identifier: MIT
 *
 * Architectures other than the tuned one, for which a bundle is compiled, too: "sm_80", "sm_90a",
 * "compute_80" (PTX).
 */
#ifndef EXPORT_ARCHITECTURE_H
#define EXPORT_ARCHITECTURE_H

#include "spec/device_spec.h"

/* What a kernel for the architecture may use: the figures of a GPU of this compute capability, with
 * the least shared memory of all GPUs that the image runs on; its `arch` is the name. Errors:
 * STATUS_BAD_INPUT, the name.
 */
enum status architecture_device(const char *name, const char *const *config_folders,
	struct device_spec **device, struct error *err);

#endif
