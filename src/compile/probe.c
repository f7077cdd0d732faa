/* SPDX-License-Identifier: MIT */
#include "compile/probe.h"

#include <stdlib.h>
#include <string.h>

/* A library of 110 MB from a slow disk, and a trial. */
static const double load_timeout_s = 60;

enum status probe_answer(
	const struct message *message, struct probe *probe, int *major, struct error *err)
{
	struct wire_reader reader = {.at = message->payload.data, .left = message->payload.length};
	enum status status = STATUS_OK;
	uint64_t number;

	*probe = (struct probe){0};
	if (message->kind != WIRE_LOADED) {
		char *reason = wire_get_string(&reader);

		status = error_set(err, STATUS_NO_DEVICE, "%s",
			message->kind == WIRE_REFUSED ? reason : "the worker did not understand");
		free(reason);
		return status;
	}
	probe->library_path = wire_get_string(&reader);
	probe->identity = wire_get_string(&reader);
	number = wire_get_u64(&reader);
	if (reader.bad) {
		probe_release(probe);
		return error_set(err, STATUS_NO_DEVICE, "the worker's answer cannot be read");
	}
	if (major)
		*major = (int)number;
	return STATUS_OK;
}

/* One candidate, in a worker that is started where there is none. */
static enum status try_candidate(const char *path, const char *worker_path, struct worker *worker,
	struct probe *probe, int *major, struct error *err)
{
	struct message message = {0};
	enum message_result result = MESSAGE_CLOSED;
	enum status status = STATUS_OK;

	if (worker->state == WORKER_ABSENT) {
		status = worker_start(worker, worker_path, err);
		if (status != STATUS_OK)
			return status;
	}
	if (worker_load(worker, path, true, load_timeout_s, NULL) == STATUS_OK)
		result = message_receive(
			worker->child.from_fd, &worker->child.pending, load_timeout_s, &message);
	if (result == MESSAGE_READY) {
		status = probe_answer(&message, probe, major, err);
		message_release(&message);
		worker->state = WORKER_IDLE;
		return status;
	}
	if (result == MESSAGE_NONE) {
		status = error_set(err, STATUS_NO_DEVICE, "%s: did not load within %.0f s", path,
			load_timeout_s);
		worker_kill(worker);
		worker_reap(worker, &(struct text){0});
	} else {
		struct text how = {0};

		worker_reap(worker, &how);
		status = error_set(err, STATUS_NO_DEVICE,
			"%s: the process that loaded it (%s worker-compile) was %s", path,
			worker_path, how.data);
		text_release(&how);
	}
	return status;
}

static enum status refuse_too_new(const struct nvrtc_search *search, struct worker *worker,
	struct probe *probe, struct error *err)
{
	struct text how = {0};
	enum status status = error_set(err, STATUS_NO_DEVICE,
		"%s: is %s, newer than the driver's CUDA %d.%d, which would refuse its code",
		probe->library_path, probe->identity, search->driver_cuda_version / 1000,
		search->driver_cuda_version % 1000 / 10);

	probe_release(probe);
	worker_reap(worker, &how); /* a library that was used is not safely unloaded */
	text_release(&how);
	return status;
}

static void indent_lines(struct text *text, const char *lines)
{
	for (; *lines; lines += strspn(lines, "\n")) {
		size_t length = strcspn(lines, "\n");

		text_append(text, "\n  ");
		text_append_bytes(text, lines, length);
		lines += length;
	}
}

enum status probe_run(const struct nvrtc_search *search, const char *worker_path,
	struct worker *worker, struct probe *probe, struct error *err)
{
	struct nvrtc_candidates candidates;
	struct text refusals = {0}, message = {0};
	enum status status = STATUS_NO_DEVICE;

	*probe = (struct probe){0};
	nvrtc_find(search, &candidates);
	for (size_t i = 0; i < candidates.count && status == STATUS_NO_DEVICE; i++) {
		const char *path = candidates.items[i].path;
		struct error why = {0};
		int major = 0;

		status = try_candidate(path, worker_path, worker, probe, &major, &why);
		if (status == STATUS_OK && search->driver_cuda_version &&
			major > search->driver_cuda_version / 1000)
			status = refuse_too_new(search, worker, probe, &why);
		/* that the loader does not know a name is said once, with the places */
		if (status != STATUS_OK &&
			(strchr(path, '/') || search->given ||
				!strstr(why.message, "cannot open shared object")))
			text_appendf(&refusals, "\n  %s", why.message);
		if (status != STATUS_OK && status != STATUS_NO_DEVICE)
			error_set(err, status, "%s", why.message);
	}
	if (status == STATUS_NO_DEVICE) {
		text_append(&message, "NVRTC: expected libnvrtc.so.N, found none that works");
		if (refusals.length)
			text_appendf(&message, "; tried:%s", refusals.data);
		text_append(&message, "\nlooked in:");
		indent_lines(&message, text_string(&candidates.places));
		status = error_set(err, STATUS_NO_DEVICE, "%s", message.data);
		error_hint(err,
			"install the CUDA toolkit or the wheel nvidia-cuda-nvrtc, or name the "
			"library or its folder in TILETUNE_NVRTC");
	}
	text_release(&message);
	text_release(&refusals);
	nvrtc_candidates_release(&candidates);
	return status;
}

void probe_release(struct probe *probe)
{
	free(probe->library_path);
	free(probe->identity);
	*probe = (struct probe){0};
}
