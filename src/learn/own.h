/* SPDX-License-Identifier: MIT
 *
 * What was learned on this machine: timings, a line for each problem and family, which every run
 * appends to FOLDER/learned/DEVICE.jsonl; and the layer that is fitted to the newest of them, on
 * top of what is shipped, FOLDER/learned/DEVICE.json. FOLDER is the cache's. Several processes may
 * do so at once.
 */
#ifndef LEARN_OWN_H
#define LEARN_OWN_H

#include "learn/training.h"

enum status own_add(
	const char *folder, const char *device, const struct timings *timings, struct error *err);
/* Fits the layer anew, if there are timings. device: of the timings; what is shipped for it is in
 * learned (may be NULL), of which the other layer is not looked at. */
enum status own_fit(const char *folder, const struct device_spec *device,
	const struct catalogue *catalogue, const struct learned *learned, struct error *err);
/* Forgets both files; *found false: there was none. */
enum status own_drop(const char *folder, const char *device, bool *found, struct error *err);

#endif
