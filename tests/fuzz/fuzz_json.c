/* SPDX-License-Identifier: MIT
 *
 * JSON: every parsed value can be traversed, and printing and parsing it again gives the same text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct json_at *at)
{
	struct text path = {0};
	const char *string;
	double number;
	int64_t integer;
	struct json_at found;

	json_path(at, &path);
	if (path.length < 1 || path.data[0] != '$')
		abort();
	text_release(&path);
	(void)json_get_string(at, &string, NULL);
	(void)json_get_double(at, &number, NULL);
	(void)json_get_int(at, &integer, NULL);
	for (size_t i = 0; i < json_count(at); i++) {
		struct json_at item = json_item(at, i);

		if (item.key && !json_find(at, item.key, &found))
			abort();
		walk(&item);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *root = NULL, *again = NULL;
	struct error err = {0};
	struct json_at at;
	char *first, *second;

	if (json_parse((const char *)data, size, "input", &root, &err) != STATUS_OK) {
		if (err.status != STATUS_BAD_INPUT || !err.message[0] || root)
			abort();
		return -1;
	}
	at = json_root(root, "input");
	walk(&at);
	first = json_print(root, true);
	if (json_parse(first, strlen(first), "again", &again, &err) != STATUS_OK)
		abort();
	second = json_print(again, true);
	if (strcmp(first, second) != 0)
		abort();
	free(first);
	free(second);
	json_free(root);
	json_free(again);
	return 0;
}
