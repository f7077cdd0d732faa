/* SPDX-License-Identifier: MIT
 *
 * The worker process of cuda:N: starting, talking, ending.
 */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "device/cuda_device.h"

/* Initialising a driver takes a second or two; on a busy machine with eight GPUs ten. */
static const double start_timeout_s = 90;
static const double restart_pause_s[CUDA_RESTARTS_MAX] = {0, 0.5, 3};

enum {
	PIPE_BYTES_WANTED = 1 << 20,
};

enum status cuda_worker_start(struct child *worker, const char *path, struct error *err)
{
	char *own = path ? NULL : path_executable();
	const char *program = path ? path : own;
	const char *arguments[] = {program, "worker-measure", NULL};
	enum status status = child_start(worker, program, arguments, NULL, err);

	free(own);
	return status == STATUS_OK ? STATUS_OK
				   : error_context(err, "starting the measuring worker");
}

bool cuda_worker_send(struct child *worker, enum measure_request kind, const struct text *payload)
{
	const struct timespec now = {0, 0};
	sigset_t pipe_signal, before;
	bool was_pending, sent;

	/* A dead worker must be an answer, not a SIGPIPE, whatever our caller does with signals. */
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	sigpending(&before);
	was_pending = sigismember(&before, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
	sent = message_send(worker->to_fd, kind, text_string(payload), payload->length, NULL) ==
	       STATUS_OK;
	if (!sent && !was_pending)
		sigtimedwait(&pipe_signal, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return sent;
}

char *cuda_worker_end(struct child *worker)
{
	struct text text = {0};

	child_kill(worker);
	child_describe_exit(child_reap(worker), &text);
	return text_detach(&text);
}

enum status cuda_worker_reply(struct child *worker, enum measure_reply kind, double timeout_s,
	struct packet *packet, struct error *err)
{
	double deadline = clock_seconds() + timeout_s;
	struct message message;

	for (;;) {
		double left = deadline - clock_seconds();
		enum message_result result = message_receive(
			worker->from_fd, &worker->pending, left > 0 ? left : 0, &message);
		enum status status;

		if (result == MESSAGE_NONE)
			return error_set(err, STATUS_NO_DEVICE,
				"measuring worker: no answer within %.0f s", timeout_s);
		if (result == MESSAGE_CLOSED)
			return error_set(err, STATUS_NO_DEVICE, "measuring worker: it ended");
		if (message.kind == REPLY_PROGRESS) {
			message_release(&message);
			continue;
		}
		status = packet_unpack(&message.payload, "measuring worker", packet, err);
		if (status == STATUS_OK && message.kind == REPLY_ERROR) {
			struct error theirs;

			measure_error_unpack(packet, &theirs);
			packet_release(packet);
			status = theirs.status;
			if (err)
				*err = theirs;
		} else if (status == STATUS_OK && message.kind != kind) {
			packet_release(packet);
			status = error_set(err, STATUS_FAILED,
				"measuring worker: expected reply %u, found %u", (unsigned)kind,
				(unsigned)message.kind);
		}
		message_release(&message);
		return status;
	}
}

/* Room that a write to the worker has without waiting for it. */
static size_t pipe_room(int fd)
{
	int size = fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES_WANTED);

	if (size < 0)
		size = fcntl(fd, F_GETPIPE_SZ);
	/* small writes fill whole pages: count on half */
	return size > 0 ? (size_t)size / 2 : PIPE_BUF;
}

enum status cuda_worker_hello(struct cuda_device *cuda, struct measure_gpu *gpu, struct error *err)
{
	struct text payload = {0};
	struct packet packet = {0};
	struct json_at at;
	struct json *header = json_new_object();
	enum status status;
	char *ended;

	json_put_string(header, "device", cuda->selector);
	packet_pack(header, NULL, 0, &payload);
	status = cuda_worker_start(&cuda->worker, cuda->worker_path, err);
	if (status != STATUS_OK)
		goto cleanup;
	cuda->generation++;
	cuda->pipe_bytes = pipe_room(cuda->worker.to_fd);
	/* The worker must not wait for us to read its progress while we are busy elsewhere. */
	pipe_room(cuda->worker.from_fd);
	cuda->unanswered_bytes = 0;
	cuda->progress = (struct measure_progress){0};
	if (!cuda_worker_send(&cuda->worker, REQUEST_HELLO, &payload))
		status = error_set(err, STATUS_NO_DEVICE, "measuring worker: it ended");
	if (status == STATUS_OK)
		status = cuda_worker_reply(
			&cuda->worker, REPLY_HELLO, start_timeout_s, &packet, err);
	if (status == STATUS_OK)
		status = json_member(&packet.root, "gpu", &at, err);
	if (status == STATUS_OK)
		status = measure_gpu_from_json(&at, gpu, err);
	packet_release(&packet);
cleanup:
	text_release(&payload);
	if (status != STATUS_OK && cuda->worker.pid) {
		ended = cuda_worker_end(&cuda->worker);
		free(ended);
	}
	return status;
}

enum status cuda_worker_open(struct cuda_device *cuda, struct error *err)
{
	struct text payload = {0};
	bool sent;

	measure_open_pack(&cuda->open, &payload);
	sent = cuda_worker_send(&cuda->worker, REQUEST_OPEN, &payload);
	text_release(&payload);
	return sent ? STATUS_OK : error_set(err, STATUS_NO_DEVICE, "measuring worker: it ended");
}

enum status cuda_worker_helpers(struct cuda_device *cuda, struct error *err)
{
	struct text payload = {0};
	struct packet packet = {0};
	enum status status = STATUS_OK;

	packet_pack(json_new_object(), &cuda->helpers, 1, &payload);
	if (!cuda_worker_send(&cuda->worker, REQUEST_HELPERS, &payload))
		status = error_set(err, STATUS_NO_DEVICE, "measuring worker: it ended");
	if (status == STATUS_OK)
		status = cuda_worker_reply(
			&cuda->worker, REPLY_HELPERS, start_timeout_s, &packet, err);
	packet_release(&packet);
	text_release(&payload);
	return status;
}

enum status cuda_worker_restart(struct cuda_device *cuda, struct error *err)
{
	struct measure_gpu gpu;
	enum status status = STATUS_OK;
	char *ended;

	for (int i = 0; i < CUDA_RESTARTS_MAX; i++) {
		clock_sleep(restart_pause_s[i]);
		status = cuda_worker_hello(cuda, &gpu, err);
		if (status == STATUS_OK)
			status = cuda_worker_open(cuda, err);
		if (status == STATUS_OK && cuda->helpers.length)
			status = cuda_worker_helpers(cuda, err);
		if (status == STATUS_OK)
			return STATUS_OK;
		if (cuda->worker.pid) {
			ended = cuda_worker_end(&cuda->worker);
			free(ended);
		}
	}
	return error_context(err, "starting the measuring worker again");
}
