/* SPDX-License-Identifier: MIT
 *
 * What a kind of device implements. One more kind: one file that ends in a `const struct
 * device_kind`, and one line in device.c.
 */
#ifndef DEVICE_DEVICE_KIND_H
#define DEVICE_DEVICE_KIND_H

#include "device/device.h"

struct device {
	const struct device_kind *kind;
	struct device_spec *spec;                        /* owned; set by open */
	struct device_identity identity;                 /* filled by open */
	void *state;                                     /* the kind's own */
	struct device_event *events;                     /* that wait to be polled */
	size_t event_first, event_count, event_capacity; /* first: of those not yet taken */
	size_t unanswered;           /* jobs that were submitted, and have no event yet */
	size_t ahead;                /* device_ahead(), where it is not the usual number */
	double busy_s, busy_since_s; /* since: 0 while nothing is pending */
};

/* Takes the event. */
static inline void device_event_push(struct device *device, struct device_event event)
{
	ARRAY_GROW(device->events, device->event_count, device->event_capacity);
	device->events[device->event_count++] = event;
	device->unanswered -= event.lost ? device->unanswered : device->unanswered > 0;
}

struct device_kind {
	const char *name; /* before the colon */
	bool compiles, measures;
	/* What is in the machine, as device_list_cuda() says it; NULL: nothing. */
	enum status (*list)(const struct device_options *options, struct device_listing **list,
		size_t *count, char **why, struct error *err);
	/* rest: what follows the colon ("" if nothing). On failure close is called, too. */
	enum status (*open)(struct device *device, const char *rest,
		const struct device_options *options, struct error *err);
	void (*close)(struct device *device); /* state may be NULL */
	/* As the functions of device.h of the same name; helpers and anchor may be NULL. */
	enum status (*helpers)(struct device *device, const struct text *cubin, struct error *err);
	struct device_job (*anchor)(struct device *device);
	enum status (*submit)(struct device *device, const struct device_job *jobs, size_t count,
		const struct sampling *sampling, struct error *err);
	/* Works until an event waits, at most timeout_s; NULL: all events are there at once. */
	void (*work)(struct device *device, double timeout_s);
	size_t (*poll_fds)(const struct device *device, struct pollfd *fds, size_t max);
	/* NULL: every candidate is possible */
	void (*recorded)(const struct device *device, const char *operation, const char *problem,
		device_recorded_visit *visit, void *context);
};

#endif
