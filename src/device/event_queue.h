/* SPDX-License-Identifier: MIT
 *
 * Events that wait to be polled.
 */
#ifndef DEVICE_EVENT_QUEUE_H
#define DEVICE_EVENT_QUEUE_H

#include "device/device.h"

struct event_queue {
	struct device_event *events;
	size_t first, count, capacity; /* first: of those not yet taken */
};
void event_queue_push(struct event_queue *queue, struct device_event event); /* takes it */
bool event_queue_pop(struct event_queue *queue, struct device_event *event);
size_t event_queue_length(const struct event_queue *queue);
void event_queue_release(struct event_queue *queue);

#endif
