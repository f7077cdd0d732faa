/* layer: import */
/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a CUDA source and as a T1 file: read, drafted and printed, or refused; what is
 * printed is JSON.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "import/draft.h"
#include "import/t1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const struct json *tree)
{
	CLEANUP(json_release) struct json *again = NULL;
	CLEANUP(text_release) struct text text = {0};
	struct error err = {0};

	draft_print(tree, &text);
	if (json_parse(text.data, text.length, "draft", &again, &err) != STATUS_OK)
		BUG("%s in %s", err.message, text.data);
}

static void read_source(const char *text)
{
	CLEANUP(kernel_source_release) struct kernel_source source = {0};

	kernel_source_read(text, &source);
	for (size_t i = 0; i < source.kernel_count; i++) {
		CLEANUP(json_release)
		struct json *tree = draft_new(&source, &source.kernels[i], "kernel.cu");

		print(tree);
	}
}

static void read_t1(const char *text, size_t size)
{
	CLEANUP(json_release) struct json *tree = NULL, *own = NULL;
	struct error err = {0};
	struct json_at root;

	if (json_parse(text, size, "tests/own/t1.json", &tree, &err) != STATUS_OK)
		return;
	root = json_root(tree, "tests/own/t1.json");
	if (t1_is(&root) && t1_convert(&root, &own, &err) == STATUS_OK)
		print(own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(memory_free) char *text = string_copy_bytes((const char *)data, size);

	read_source(text);
	read_t1(text, size);
	return 0;
}
