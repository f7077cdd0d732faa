/* SPDX-License-Identifier: MIT
 *
 * What a kind of device implements. One more kind: one file that ends in a `const struct
 * device_kind`, and one line in device.c.
 */
#ifndef DEVICE_DEVICE_KIND_H
#define DEVICE_DEVICE_KIND_H

#include "device/event_queue.h"

struct device {
	const struct device_kind *kind;
	struct device_spec *spec;        /* owned; set by open */
	struct device_identity identity; /* filled by open */
	void *state;                     /* the kind's own */
};

struct device_kind {
	const char *name; /* before the colon */
	const char *summary;
	bool compiles, measures;
	/* What is in the machine, as device_list_cuda() says it; NULL: nothing. */
	enum status (*list)(const struct device_options *options, struct device_listing **list,
		size_t *count, char **why, struct error *err);
	/* rest: what follows the colon ("" if nothing). On failure close is called all the same. */
	enum status (*open)(struct device *device, const char *rest,
		const struct device_options *options, struct error *err);
	void (*close)(struct device *device); /* state may be NULL */
	/* As the functions of device.h of the same name. helpers and anchor may be NULL: nothing to
	 * do, no anchor. */
	enum status (*helpers)(struct device *device, const struct text *cubin, struct error *err);
	enum status (*anchor)(struct device *device, device_handle *handle, struct error *err);
	enum status (*problem)(struct device *device, const char *operation,
		const char *problem_text, const struct reference_plan *reference,
		const struct text *reference_cubin, uint32_t *problem, struct error *err);
	enum status (*load)(struct device *device, const struct device_load_request *request,
		device_handle *handle, struct error *err);
	enum status (*verify)(struct device *device, device_handle handle, struct error *err);
	enum status (*sample)(struct device *device, const struct device_sample_request *request,
		struct error *err);
	void (*unload)(struct device *device, device_handle handle);
	size_t (*pending)(const struct device *device);
	bool (*poll)(struct device *device, double timeout_s, struct device_event *event);
	size_t (*poll_fds)(const struct device *device, struct pollfd *fds, size_t max);
	/* NULL: every candidate is possible */
	void (*recorded)(const struct device *device, const char *operation, const char *problem,
		device_recorded_visit *visit, void *context);
};

#endif
