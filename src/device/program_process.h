/* SPDX-License-Identifier: MIT
 *
 * A process of a program that takes configurations and answers with times: started, asked, heard,
 * in lines of JSON (README.md has a transcript).
 */
#ifndef DEVICE_PROGRAM_PROCESS_H
#define DEVICE_PROGRAM_PROCESS_H

#include "expr/named_values.h"
#include "measure/protocol.h"

struct family;

enum program_state {
	PROGRAM_DOWN,
	PROGRAM_GREETING, /* said nothing yet */
	PROGRAM_IDLE,
	PROGRAM_BUSY, /* with what it was asked last */
};

struct program_process {
	struct worker worker;
	enum program_state state;
	int64_t id;             /* of what it was asked last */
	double said_s, allow_s; /* when it last said something of it; how long it may be silent */
};

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

/* Starts the family's program and says hello. */
enum status program_start(struct program_process *process, const struct family *family,
	uint64_t seed, bool prepares, struct error *err);
/* Takes request; false: the process is gone. */
bool program_ask(struct program_process *process, const char *kind, struct json *request);
/* {"M": 4096, "dtype": "bf16"} of "M=4096,dtype=bf16": numbers, True and False, else text. */
struct json *program_values(const char *text);
/* One line, if one is there; READY: value is what the record says, the caller releases it. FAILED:
 * it is gone, or said what the record does not allow; *why in one sentence. */
enum program_heard {
	PROGRAM_SILENT,
	PROGRAM_SAID,
	PROGRAM_FAILED,
} program_hear(struct program_process *process, const struct record *record, void *value,
	struct text *why);
/* Ends it with all that it started; why: how it ended, where nothing is said yet. */
void program_end(struct program_process *process, struct text *why);

#endif
