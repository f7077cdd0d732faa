/* SPDX-License-Identifier: MIT
 *
 * Reads any bytes as an evaluation. An accepted one is written in a form that is accepted again and
 * written identically.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_read.h"
#include "record/record_write.h"
#include "format/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the evaluation as written, or NULL if it is refused; the caller frees it. */
static char *pass_through(const char *text, size_t size)
{
	struct json *json;
	struct json_at at;
	struct result result = {0};
	struct error err;
	char *written = NULL;

	if (json_parse(text, size, "fuzz", &json, &err) != STATUS_OK)
		return NULL;
	at = json_root(json, "fuzz");
	if (record_from_json(&result_record, &at, &result, NULL, &err) == STATUS_OK) {
		struct json *tree = record_to_json(&result_record, &result);

		written = json_print(tree, false);
		json_free(tree);
		result_release(&result);
	}
	json_free(json);
	return written;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *once = pass_through((const char *)data, size), *twice;

	if (!once)
		return -1;
	twice = pass_through(once, strlen(once));
	if (!twice || strcmp(once, twice) != 0)
		abort();
	free(once);
	free(twice);
	return 0;
}
