/* SPDX-License-Identifier: MIT
 *
 * What a program that takes configurations and answers with times is told and says: lines of JSON
 * (templates/programs.md has a transcript).
 */
#ifndef DEVICE_PROGRAM_PROCESS_H
#define DEVICE_PROGRAM_PROCESS_H

#include "expr/named_values.h"
#include "measure/protocol.h"
#include "process/worker.h"

struct family;

/* Its answer to "hello". */
struct program_hello {
	int64_t id;
	struct named_values versions;
	struct program_device {
		struct device_facts facts; /* compute_capability 0: no GPU */
		char uuid[64];
	} device;
	char **abilities; /* NULL-terminated: "prepare" */
};

/* Any other line. */
struct program_answer {
	int64_t id;
	int64_t job, progress; /* index of what was asked; progress -1: this is an answer */
	double allow_s;
	int outcome; /* enum outcome; -1: not said */
	char *detail;
	double *samples_us;
	size_t sample_count;
	struct verification verification;
};
RECORD_DECLARE(struct program_hello, program_hello_record);
RECORD_DECLARE(struct program_answer, program_answer_record);

/* A request as a line, with the next number of the process's; takes it. */
void program_post(struct worker *worker, const char *kind, struct json *request);
/* Starts the family's program and says hello. */
enum status program_start(struct worker *worker, const char *path, const struct family *family,
	uint64_t seed, bool prepares, struct error *err);
/* {"M": 4096, "dtype": "bf16"} of "M=4096,dtype=bf16": numbers, True and False, else text. */
struct json *program_values(const char *text);
/* One line, if one is there; SAID: value is what the record says, the caller releases it. FAILED:
 * it is gone, or said what the record does not allow; *why in one sentence, or nothing. */
enum program_heard {
	PROGRAM_SILENT,
	PROGRAM_SAID,
	PROGRAM_FAILED,
} program_hear(struct worker *worker, const struct record *record, void *value, struct text *why);

#endif
