/* SPDX-License-Identifier: MIT
 *
 * Tuned files: read or refused; what was read takes a new entry of each of its problems.
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
	struct error err = {0};
	const char *kept;

	if (tuned_expect_device(tuned, &tuned->device, &err) != STATUS_OK)
		abort();
	for (size_t i = 0; i < count; i++) {
		const struct tuned_entry *entry = &tuned->entries[i];

		if (!tuned_find(tuned, entry->operation, &entry->problem, entry->objective))
			abort();
		copies[i] = tuned_entry_copy(entry);
	}
	for (size_t i = 0; i < count; i++)
		tuned_put_entry(tuned, &copies[i], &judge, &kept);
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
	return 0;
}
