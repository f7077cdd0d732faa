/* layer: format
 * SPDX-License-Identifier: MIT
 *
 * Tuned files: read or refused; what was read takes a new entry of each of its problems.
 */
#include <string.h>

#include "fuzz/fuzz_file.h"
#include "format/tuned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool stands(const struct json_at *row, void *context)
{
	(void)row;
	(void)context;
	return true;
}

static void use(struct tuned *tuned)
{
	struct json_at root = json_root(tuned->root, tuned->path), entries, device, entry, problem;
	const char *operation, *kept;
	struct error err = {0};
	const struct tuned_judge judge = {stands, NULL};
	struct json *copies[8];
	size_t count;

	if (!json_find(&root, "entries", &entries) || !json_find(&root, "device", &device))
		abort();
	(void)tuned_same_device(tuned, device.node, &err);
	count = json_count(&entries) < 8 ? json_count(&entries) : 8;
	for (size_t i = 0; i < count; i++) {
		entry = json_item(&entries, i);
		if (json_member_string(&entry, "operation", &operation, &err) != STATUS_OK ||
			!json_find(&entry, "problem", &problem) ||
			!tuned_find(tuned, operation, problem.node, &entry))
			abort();
		copies[i] = json_copy(entry.node);
	}
	for (size_t i = 0; i < count; i++)
		tuned_put_entry(tuned, copies[i], &judge, &kept);
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
