/* SPDX-License-Identifier: MIT
 *
 * Requests to a program's processes and its answers. A process that ends, is silent for too long or
 * says nonsense costs the job in progress, and a new one is started; everything else that was not
 * answered is asked again.
 */
#ifndef DEVICE_PROGRAM_QUEUE_H
#define DEVICE_PROGRAM_QUEUE_H

#include "device/device_kind.h"
#include "device/program_process.h"

enum {
	PREPARE_MAX = 8,
	PROCESSES_MAX = 1 + PREPARE_MAX /* the first measures */
};

struct program_handle {
	uint32_t problem; /* 0: the anchor, of which nothing is run */
	char *configuration;
	bool is_verified, is_measured;
	enum outcome failure; /* not ok: it took a process along, and is not tried again */
	char *failure_detail;
};

struct program_request {
	enum device_event_kind kind; /* LOADED: prepare; else measure */
	struct sampling sampling;
	device_handle *handles; /* 0: answered */
	size_t count, left;
	struct program_process *by; /* NULL: it waits */
	size_t current;             /* what the program says that it works on */
	bool verifies;
};

struct program {
	struct device *device;
	const struct family *family;
	uint64_t seed;
	int lock_fd;
	struct program_process processes[PROCESSES_MAX];
	size_t process_count; /* that may run; 1: nothing is prepared */
	char **problems;      /* number - 1: texts */
	size_t problem_count, problem_capacity;
	struct program_handle *handles; /* number - 1 */
	size_t handle_count, handle_capacity;
	struct program_request **requests; /* in order */
	size_t request_count, request_capacity;
	bool lost;
};

struct program_handle *program_handle_of(const struct program *program, device_handle handle);
/* An event for each handle will come. kind LOADED: they are prepared; else measured. */
void program_request(struct program *program, enum device_event_kind kind,
	const device_handle *handles, size_t count, const struct sampling *sampling);
void program_push(struct program *program, enum device_event_kind kind, device_handle handle,
	enum outcome outcome, const char *detail);          /* an event */
void program_work(struct device *device, double timeout_s); /* until an event waits */
size_t program_fds(const struct device *device, struct pollfd *fds, size_t max);
void program_queue_release(struct program *program);

#endif
