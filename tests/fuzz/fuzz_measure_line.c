/* SPDX-License-Identifier: MIT
 *
 * Reads any line as a message between the tuner and a measuring process; the first byte selects the
 * kind of message. An accepted message gives the same line when it is written, read and written
 * again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "measure/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct record *const records[] = {&measure_request_record, &measure_answer_record};

/* Returns false if the line is refused. */
static bool rewrite(const struct record *record, const struct text *line, struct text *again)
{
	void *value = memory_zeroed(1, record->size);
	struct error err;
	const bool is_read = line_read(record, line, "fuzz", value, &err) == STATUS_OK;

	if (is_read) {
		record_append(record, value, again);
		record_release(record, value);
	}
	free(value);
	return is_read;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text line = {0}, first = {0}, second = {0};
	const struct record *record;

	if (size == 0)
		return 0;
	record = records[data[0] % ARRAY_COUNT(records)];
	text_append_bytes(&line, (const char *)data + 1, size - 1);
	if (rewrite(record, &line, &first)) {
		if (!rewrite(record, &first, &second) ||
			strcmp(text_string(&first), text_string(&second)) != 0)
			abort();
	}
	text_release(&line);
	text_release(&first);
	text_release(&second);
	return 0;
}
