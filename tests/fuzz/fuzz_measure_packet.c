/* SPDX-License-Identifier: MIT
 *
 * Whatever arrives on a pipe between tuner and worker: a byte says what it shall be. What is
 * accepted must pack again into the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/record_wire.h"
#include "measure/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct record *const records[] = {
	&measure_list_record,
	&measure_setup_record,
	&measure_run_record,
	&device_problem_record,
	&device_job_record,
	&measure_gpus_record,
	&device_reply_record,
	&measure_progress_record,
	&error_record,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct record *record;
	struct text again = {0};
	struct error err;
	void *value;

	if (size == 0)
		return 0;
	record = records[data[0] % ARRAY_COUNT(records)];
	value = memory_zeroed(1, record->size);
	if (record_unpack(record, data + 1, size - 1, "fuzz", value, NULL, &err) == STATUS_OK) {
		record_pack(record, value, &again);
		if (again.length != size - 1 ||
			memcmp(text_string(&again), data + 1, size - 1) != 0)
			abort();
		text_release(&again);
		record_release(record, value);
	}
	free(value);
	return 0;
}
