/* SPDX-License-Identifier: MIT
 *
 * Journals are read or refused; a journal that was read can be searched and written again. Lines
 * get a valid checksum.
 */
#include <string.h>

#include "fuzz/fuzz_file.h"
#include "record/record_write.h"
#include "format/journal.h"
#include "fuzz/checked_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct journal_record *record)
{
	for (size_t r = 0; r < record->run_count; r++) {
		const struct journal_run *run = &record->runs[r];
		const struct journal_run *previous = journal_previous(record, run);

		if (previous && previous >= run)
			abort();
		(void)journal_resumable(record, run->signature);
		for (size_t p = 0; p < run->problem_count; p++) {
			const struct journal_problem *problem = &run->problems[p];

			if (!journal_problem_find(run, problem->operation, problem->problem))
				abort();
			for (size_t i = 0; i < problem->result_count; i++)
				json_free(record_to_json(&result_record, &problem->results[i]));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal_record record;
	struct fuzz_file file;
	struct error err = {0};

	struct text text = {0};

	checked_lines_append(&text, (const char *)data, size);
	fuzz_file_open(&file, (const uint8_t *)text_string(&text), text.length);
	text_release(&text);
	if (journal_read(file.path, &record, &err) == STATUS_OK) {
		look_up(&record);
		journal_record_release(&record);
	} else if (!err.message[0]) {
		abort();
	}
	fuzz_file_close(&file);
	return err.message[0] ? -1 : 0;
}
