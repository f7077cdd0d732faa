/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/device.h"

extern const struct device_kind device_kind_cuda, device_kind_model, device_kind_program,
	device_kind_replay;

static const struct device_kind *const device_kinds[] = {
	&device_kind_cuda,
	&device_kind_model,
	&device_kind_replay,
	&device_kind_program,
	NULL,
};

size_t device_listing_find(const struct device_listing *list, size_t count, const char *selector)
{
	const size_t digits = strspn(selector, "0123456789");

	if (digits && digits < 10 && !selector[digits]) {
		const size_t index = strtoul(selector, NULL, 10);

		return index < count ? index : count;
	}
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].identity.uuid, selector) == 0)
			return i;
	return count;
}

static const struct device_kind *kind_find(const char *name, const char **rest)
{
	size_t length = strcspn(name, ":");

	for (size_t i = 0; device_kinds[i]; i++)
		if (strlen(device_kinds[i]->name) == length &&
			strncmp(device_kinds[i]->name, name, length) == 0) {
			*rest = name[length] ? name + length + 1 : "";
			return device_kinds[i];
		}
	return NULL;
}

static enum status kind_unknown(const char *name, struct error *err)
{
	const char *names[ARRAY_COUNT(device_kinds)] = {NULL};
	CLEANUP(text_release) struct text expected = {0};
	CLEANUP(memory_free) char *prefix = string_copy_bytes(name, strcspn(name, ":"));
	const char *nearest;

	for (size_t i = 0; device_kinds[i] != &device_kind_program;
		i++) { /* a kernel's JSON names programs */
		names[i] = device_kinds[i]->name;
		text_appendf(&expected, "%s%s:", i ? ", " : "", device_kinds[i]->name);
	}
	nearest = name_nearest(prefix, names);
	error_set(err, STATUS_BAD_INPUT,
		"device: expected a name that begins with one of %s, found %s", expected.data,
		name);
	return nearest ? error_hint(err, "did you mean %s:%s?", nearest,
				 name[strcspn(name, ":")] ? strchr(name, ':') + 1 : "")
		       : error_hint(err, "the first GPU is cuda:0; a device model is, for example, "
					 "model:h200-sxm");
}

enum status device_open(const char *name, const struct device_options *options,
	struct device **device, struct error *err)
{
	const char *rest = "";
	const struct device_kind *kind = kind_find(name, &rest);
	enum status status;

	*device = NULL;
	if (!kind)
		return kind_unknown(name, err);
	*device = memory_zeroed(1, sizeof(**device));
	(*device)->kind = kind;
	(*device)->lock_fd = -1;
	(*device)->ahead = 4;
	string_put((*device)->identity.kind, sizeof((*device)->identity.kind), kind->name);
	status = kind->open(*device, rest, options, err);
	if (status == STATUS_OK && options->helpers_cubin)
		status = device_helpers(*device, options->helpers_cubin, err);
	if (status != STATUS_OK) {
		device_close(*device);
		*device = NULL;
	}
	return status;
}

void device_close(struct device *device)
{
	if (!device)
		return;
	if (device->kind->close)
		device->kind->close(device);
	if (device->lock_fd >= 0)
		close(device->lock_fd);
	for (size_t i = device->reply_first; i < device->reply_count; i++)
		device_reply_release(&device->replies[i]);
	free(device->replies);
	device_spec_free(device->spec);
	free(device);
}

enum status device_helpers(struct device *device, const char *cubin, struct error *err)
{
	return device->kind->helpers ? device->kind->helpers(device, cubin, err) : STATUS_OK;
}

static void count_busy(struct device *device)
{
	device->busy_s = device_busy_seconds(device);
	device->busy_since_s = device->unanswered > 0 ? clock_seconds() : 0;
}

enum status device_submit(struct device *device, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, struct error *err)
{
	enum status status = STATUS_OK;

	device->unanswered += count;
	if (count)
		status = device->kind->submit(device, jobs, count, sampling, err);
	if (status != STATUS_OK)
		device->unanswered -= count;
	count_busy(device);
	return status;
}

double device_busy_seconds(const struct device *device)
{
	return device->busy_s +
	       (device->busy_since_s > 0 ? clock_seconds() - device->busy_since_s : 0);
}

size_t device_pending(const struct device *device)
{
	return device->reply_count - device->reply_first + device->unanswered;
}

bool device_poll(struct device *device, double timeout_s, struct device_reply *reply)
{
	const double deadline = clock_seconds() + timeout_s;

	for (;;) {
		/* the last pools prepare what the first one measures */
		for (size_t i = device->pool_count; i--;)
			pool_work(device->pools[i]);
		if (device->reply_count || !device->unanswered || clock_seconds() >= deadline)
			break;
		pool_wait(device->pools, device->pool_count, deadline - clock_seconds());
	}
	count_busy(device);
	if (device->reply_first == device->reply_count)
		return false;
	*reply = device->replies[device->reply_first++];
	if (device->reply_first == device->reply_count)
		device->reply_first = device->reply_count = 0;
	return true;
}

void device_reply_release(struct device_reply *reply)
{
	result_release(&reply->result);
	*reply = (struct device_reply){0};
}
