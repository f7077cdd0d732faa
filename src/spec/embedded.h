/* SPDX-License-Identifier: MIT
 *
 * Sheets that are built into the binary, so that it works where there is nothing but itself: the
 * default device and the default rates of each architecture. Made by src/spec/embed.sh.
 */
#ifndef SPEC_EMBEDDED_H
#define SPEC_EMBEDDED_H

#include <stddef.h>

extern const char device_spec_default_json[]; /* configs/devices/h200-sxm.json */
extern const size_t device_spec_default_json_size;
extern const char *const device_spec_architecture_json[]; /* configs/devices/defaults; NULL-ended */

#endif
