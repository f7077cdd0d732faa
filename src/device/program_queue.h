/* SPDX-License-Identifier: MIT
 *
 * Requests to a program's processes and its answers. One process measures; where the program can
 * prepare, others compile what is measured later. A process that ends, is silent for too long or
 * says nonsense costs the job in progress; everything else that was not answered is asked again.
 */
#ifndef DEVICE_PROGRAM_QUEUE_H
#define DEVICE_PROGRAM_QUEUE_H

#include "device/device.h"
#include "device/program_process.h"
#include "process/pool.h"

enum {
	PREPARE_MAX = 16
};

/* A configuration that it was asked for. */
struct program_known {
	char *problem, *configuration;
	bool is_prepared, is_verified, is_measured;
};

struct program {
	struct device *device;
	const char *path; /* of this program's executable; NULL: this one */
	const struct family *family;
	uint64_t seed;
	struct pool measures, prepares;
	bool can_prepare;
	struct program_hello hello; /* of the process that measures */
	struct program_known *known;
	size_t known_count, known_capacity;
	bool has_greeted;
};

/* The pools; one process has greeted then. */
enum status program_queue_open(struct program *program, struct error *err);
/* How many may prepare; 0: none does. */
void program_queue_prepare(struct program *program, size_t processes);
/* An event for each job will come. */
void program_request_add(struct program *program, const struct device_job *jobs, size_t count,
	const struct sampling *sampling);
void program_queue_release(struct program *program);

#endif
