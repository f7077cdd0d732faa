/* SPDX-License-Identifier: MIT
 *
 * Tuned files are read or refused; a file that was read accepts a new entry for each of its
 * problems.
 */
#include <string.h>

#include "fuzz/fuzz_file.h"
#include "format/tuned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool stands(const struct tuned_row *row, void *context)
{
	(void)row;
	(void)context;
	return true;
}

static void use(struct tuned *tuned)
{
	const struct tuned_judge judge = {stands, NULL};
	const size_t count = tuned->entry_count < 8 ? tuned->entry_count : 8;
	struct tuned_entry copies[8];
	struct text text = {0};
	struct tuned again;
	struct error err = {0};
	const char *kept;

	if (!tuned->run_count)
		return;
	if (tuned_expect_device(tuned, &tuned->device, &err) != STATUS_OK)
		abort();
	for (size_t i = 0; i < count; i++) {
		const struct tuned_entry *entry = &tuned->entries[i];

		if (!tuned_find(tuned, entry->operation, &entry->problem, entry->objective))
			abort();
		copies[i] = tuned_entry_copy(entry);
		/* rows of one run are never compared with each other */
		free(copies[i].run);
		copies[i].run = string_copy(tuned->runs[i % tuned->run_count].id);
	}
	for (size_t i = 0; i < count; i++)
		tuned_put_entry(tuned, &copies[i], &judge, &kept);
	/* the written file can be read again */
	tuned_append(tuned, &text);
	if (tuned_parse(&text, "again", &again, &err) != STATUS_OK ||
		again.entry_count != tuned->entry_count)
		abort();
	tuned_release(&again);
	text_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file file;
	struct tuned tuned;
	struct error err = {0};

	fuzz_file_open(&file, data, size);
	if (tuned_load(file.path, &tuned, &err) == STATUS_OK) {
		use(&tuned);
		tuned_release(&tuned);
	} else if (!err.message[0]) {
		abort();
	}
	fuzz_file_close(&file);
	return err.message[0] ? -1 : 0;
}
