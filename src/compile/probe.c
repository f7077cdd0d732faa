/* SPDX-License-Identifier: MIT */
#include "compile/probe.h"

#include <string.h>

/* A library of 110 MB from a slow disk, and a trial. */
static const double load_timeout_s = 60;

static enum status take_answer(
	const struct message *message, struct compile_loaded *loaded, struct error *err)
{
	struct compile_refusal refusal;
	enum status status = STATUS_NO_DEVICE;

	if (message->kind == COMPILE_LOADED && message_unpack(message, &compile_loaded_record,
						       "worker-compile", loaded, err) == STATUS_OK)
		return STATUS_OK;
	if (message->kind == COMPILE_REFUSED &&
		message_unpack(message, &compile_refusal_record, "worker-compile", &refusal, err) ==
			STATUS_OK) {
		error_set(err, status, "%s", refusal.reason ? refusal.reason : "");
		record_release(&compile_refusal_record, &refusal);
		return status;
	}
	return error_set(err, status, "the worker did not understand");
}

/* One candidate, in a worker that is started where there is none. */
static enum status try_candidate(const char *path, const char *worker_path, struct slot *slot,
	struct compile_loaded *loaded, struct error *err)
{
	struct message message = {0};
	enum message_result result;
	struct text how = {0};
	enum status status = STATUS_OK;

	if (slot->state == SLOT_ABSENT)
		status = compile_slot_start(slot, worker_path, err);
	if (status != STATUS_OK)
		return status;
	compile_slot_load(slot, path, true, load_timeout_s);
	result = message_receive(
		slot->worker.from_fd, &slot->worker.pending, load_timeout_s, &message);
	if (result == MESSAGE_READY) {
		status = take_answer(&message, loaded, err);
		message_release(&message);
		slot->state = SLOT_IDLE;
		return status;
	}
	compile_slot_end(slot, &how);
	if (result == MESSAGE_NONE)
		status = error_set(err, STATUS_NO_DEVICE, "%s: did not load within %.0f s", path,
			load_timeout_s);
	else
		status = error_set(err, STATUS_NO_DEVICE,
			"%s: the process that loaded it (%s worker-compile) was %s", path,
			worker_path, text_string(&how));
	text_release(&how);
	return status;
}

static enum status refuse_too_new(const struct nvrtc_search *search, struct slot *slot,
	struct compile_loaded *loaded, struct error *err)
{
	enum status status = error_set(err, STATUS_NO_DEVICE,
		"%s: is %s, newer than the driver's CUDA %d.%d, which would refuse its code",
		loaded->path, loaded->identity, search->driver_cuda_version / 1000,
		search->driver_cuda_version % 1000 / 10);

	record_release(&compile_loaded_record, loaded);
	compile_slot_end(slot, NULL); /* a library that was used is not safely unloaded */
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

enum status probe_run(const struct nvrtc_search *search, const char *worker_path, struct slot *slot,
	struct compile_loaded *loaded, struct error *err)
{
	struct nvrtc_candidates candidates;
	struct text refusals = {0}, message = {0};
	enum status status = STATUS_NO_DEVICE;

	*loaded = (struct compile_loaded){0};
	nvrtc_find(search, &candidates);
	for (size_t i = 0; i < candidates.count && status == STATUS_NO_DEVICE; i++) {
		const char *path = candidates.items[i].path;
		struct error why = {0};

		status = try_candidate(path, worker_path, slot, loaded, &why);
		if (status == STATUS_OK && search->driver_cuda_version &&
			loaded->major > search->driver_cuda_version / 1000)
			status = refuse_too_new(search, slot, loaded, &why);
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
