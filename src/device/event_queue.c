/* SPDX-License-Identifier: MIT */
#include "device/event_queue.h"

#include <stdlib.h>

#include "base/memory.h"

void event_queue_push(struct event_queue *queue, struct device_event event)
{
	ARRAY_GROW(queue->events, queue->count, queue->capacity);
	queue->events[queue->count++] = event;
}

bool event_queue_pop(struct event_queue *queue, struct device_event *event)
{
	if (queue->first == queue->count)
		return false;
	*event = queue->events[queue->first++];
	if (queue->first == queue->count)
		queue->first = queue->count = 0;
	return true;
}

size_t event_queue_length(const struct event_queue *queue)
{
	return queue->count - queue->first;
}

void event_queue_release(struct event_queue *queue)
{
	struct device_event event;

	while (event_queue_pop(queue, &event))
		device_event_release(&event);
	free(queue->events);
	*queue = (struct event_queue){0};
}
