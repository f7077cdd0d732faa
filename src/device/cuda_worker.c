/* SPDX-License-Identifier: MIT */
#include "device/cuda_worker.h"

#include <math.h>

#include "base/clock.h"

/* Initialising a driver takes a second or two; on a busy machine with eight GPUs ten. */
static const double start_timeout_s = 90;
static const double restart_pauses_s[] = {0, 0.5, 3};
static const char ended[] = "measuring worker: it ended";

static enum status start(struct worker *process, const char *path, struct error *err)
{
	return worker_start(process, path, "worker-measure", false, err) == STATUS_OK
		       ? STATUS_OK
		       : error_context(err, "starting the measuring worker");
}

static enum status tell(struct worker *process, enum measure_request kind,
	const struct record *record, const void *value, struct error *err)
{
	CLEANUP(text_release) struct text frame = {0};

	message_pack(kind, record, value, &frame);
	return worker_send(process, &frame, NULL) == STATUS_OK
		       ? STATUS_OK
		       : error_set(err, STATUS_NO_DEVICE, "%s", ended);
}

/* Takes a reply apart; other errors are the worker's own words. */
static enum status take_reply(const struct message *message, enum measure_reply kind,
	const struct record *record, void *value, struct error *err)
{
	static const char who[] = "measuring worker";
	struct error theirs;

	if (message->kind == REPLY_ERROR) {
		TRY(message_unpack(message, &measure_error_record, who, &theirs, err));
		if (err)
			*err = theirs;
		return theirs.status;
	}
	if (message->kind != kind)
		return error_set(err, STATUS_FAILED, "%s: expected reply %u, found %u", who,
			(unsigned)kind, (unsigned)message->kind);
	return record ? message_unpack(message, record, who, value, err) : STATUS_OK;
}

static enum status await(struct worker *process, enum measure_reply kind,
	const struct record *record, void *value, struct error *err)
{
	double deadline = clock_seconds() + start_timeout_s;

	for (;;) {
		CLEANUP(message_release) struct message message = {0};
		enum message_result result = message_receive(process->from_fd, &process->pending,
			fmax(deadline - clock_seconds(), 0), &message);

		if (result == MESSAGE_NONE)
			return error_set(err, STATUS_NO_DEVICE,
				"measuring worker: no answer within %.0f s", start_timeout_s);
		if (result == MESSAGE_CLOSED)
			return error_set(err, STATUS_NO_DEVICE, "%s", ended);
		if (message.kind != REPLY_PROGRESS)
			return take_reply(&message, kind, record, value, err);
	}
}

static enum status hello(struct cuda_worker *worker, struct measure_gpu *gpu, struct error *err)
{
	const struct measure_hello asked = {worker->selector};
	enum status status;

	TRY(start(&worker->process, worker->path, err));
	worker->generation++;
	status = tell(&worker->process, REQUEST_HELLO, &measure_hello_record, &asked, err);
	if (status == STATUS_OK)
		status = await(&worker->process, REPLY_HELLO, &measure_gpu_record, gpu, err);
	if (status != STATUS_OK)
		worker_end(&worker->process, NULL);
	return status;
}

/* Whether to try again: the process was killed, and did not say what is wrong. */
static bool try_again(enum status status, const struct error *reason, size_t attempt)
{
	if (status == STATUS_OK || strcmp(reason->message, ended) != 0 ||
		attempt + 1 == ARRAY_COUNT(restart_pauses_s))
		return false;
	clock_sleep(restart_pauses_s[attempt]);
	return true;
}

static enum status told(enum status status, const struct error *reason, struct error *err)
{
	if (status != STATUS_OK && err)
		*err = *reason;
	return status;
}

enum status cuda_worker_hello(
	struct cuda_worker *worker, struct measure_gpu *gpu, struct error *err)
{
	struct error reason = {0};
	enum status status;
	size_t attempt = 0;

	do
		status = hello(worker, gpu, &reason);
	while (try_again(status, &reason, attempt++));
	return told(status, &reason, err);
}

enum status cuda_worker_open(struct cuda_worker *worker, struct error *err)
{
	return tell(&worker->process, REQUEST_OPEN, &measure_open_record, &worker->open, err);
}

static enum status helpers(struct cuda_worker *worker, struct error *err)
{
	TRY(tell(
		&worker->process, REQUEST_HELPERS, &measure_helpers_record, &worker->helpers, err));
	return await(&worker->process, REPLY_HELPERS, NULL, NULL, err);
}

enum status cuda_worker_helpers(struct cuda_worker *worker, struct error *err)
{
	struct error reason = {0};
	const enum status status = helpers(worker, &reason);

	if (!try_again(status, &reason, 0))
		return told(status, &reason, err);
	worker_end(&worker->process, NULL);
	return cuda_worker_restart(worker, err);
}

static enum status start_again(struct cuda_worker *worker, struct error *err)
{
	struct measure_gpu gpu;

	TRY(hello(worker, &gpu, err));
	TRY(cuda_worker_open(worker, err));
	return worker->helpers.cubin.length ? helpers(worker, err) : STATUS_OK;
}

enum status cuda_worker_restart(struct cuda_worker *worker, struct error *err)
{
	for (size_t i = 0; i < ARRAY_COUNT(restart_pauses_s); i++) {
		clock_sleep(restart_pauses_s[i]);
		if (start_again(worker, err) == STATUS_OK)
			return STATUS_OK;
		worker_end(&worker->process, NULL);
	}
	return error_context(err, "starting the measuring worker again");
}

void cuda_worker_release(struct cuda_worker *worker)
{
	worker_end(&worker->process, NULL);
	record_release(&measure_helpers_record, &worker->helpers);
	free(worker->path);
	free(worker->selector);
}

static enum status list(const char *path, struct measure_gpus *gpus, struct error *err)
{
	struct worker process;
	enum status status;

	TRY(start(&process, path, err));
	status = tell(&process, REQUEST_LIST, NULL, NULL, err);
	if (status == STATUS_OK)
		status = await(&process, REPLY_LIST, &measure_gpus_record, gpus, err);
	worker_end(&process, NULL);
	return status;
}

enum status cuda_worker_list(
	const char *path, struct measure_gpus *gpus, char **why, struct error *err)
{
	struct error reason = {0};
	enum status status;
	size_t attempt = 0;

	*why = NULL;
	do
		status = list(path, gpus, &reason);
	while (try_again(status, &reason, attempt++));
	/* what the process says is an answer; that it does not start is none */
	if (status != STATUS_OK && strstr(reason.message, "starting the measuring worker"))
		return told(status, &reason, err);
	if (status != STATUS_OK)
		*why = string_copy(reason.message);
	return STATUS_OK;
}

char *cuda_worker_kill(struct cuda_worker *worker, double allowed_s, bool in_reference)
{
	struct measure_open *open = &worker->open;
	CLEANUP(text_release) struct text how = {0};
	bool stays;

	worker_end(&worker->process, &how);
	stays = strstr(text_string(&how), "has not ended") != NULL;
	if (in_reference)
		open->reference_timeout_s = fmin(open->reference_timeout_s, open->kernel_timeout_s);
	return string_format("no answer within %.3g s%s%s", allowed_s,
		stays ? "; the measuring worker was " : "", stays ? text_string(&how) : "");
}
