/* SPDX-License-Identifier: MIT
 *
 * Scans any bytes as a CUDA source, removes host code, and drafts its kernels. Line numbers stay,
 * and the output is JSON.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "source/draft.h"
#include "source/host_code.h"
#include "source/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void scan(const char *bytes, size_t size)
{
	struct code code;
	struct view view;
	struct branches branches = {0};

	code_read(bytes, size, &code);
	for (size_t i = 0; i < code.length; i++)
		if (code.at[i] > code.at[i + 1] || code.at[i + 1] > size)
			BUG("at[%zu] of %zu", i, size);
	for (size_t branch = 0; branch < 4 && code_view(&code, &branches, &view); branch++) {
		for (size_t i = 0; i < view.length; i++)
			if (view.text[i] != code.text[view.at[i]])
				BUG("branch %zu differs at %zu", branch, i);
		view_release(&view);
	}
	branches_release(&branches);
	code_release(&code);
}

static void blank(const char *bytes, size_t size)
{
	CLEANUP(text_release) struct text text = {0};

	text_append_bytes(&text, bytes, size);
	host_code_blank(&text);
	if (text.length != size)
		BUG("%zu bytes of %zu", text.length, size);
	for (size_t i = 0; i < size; i++)
		if ((text.data[i] == '\n') != (bytes[i] == '\n'))
			BUG("a line ends at %zu", i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(memory_free) char *text = string_copy_bytes((const char *)data, size);
	CLEANUP(kernel_source_release) struct kernel_source source = {0};

	scan((const char *)data, size);
	blank((const char *)data, size);
	kernel_source_read(text, text, &source);
	for (size_t i = 0; i < source.kernel_count; i++) {
		CLEANUP(text_release) struct text remarks = {0};
		CLEANUP(json_release)
		struct json *tree = draft_new(&source, &source.kernels[i], text,
			&(struct draft_names){"kernel.cu", "kernel.cu", true}, &remarks);
		CLEANUP(json_release) struct json *again = NULL;
		CLEANUP(memory_free) char *printed = json_print(tree, true);
		struct error err = {0};

		if (json_parse(printed, strlen(printed), "draft", &again, &err) != STATUS_OK)
			BUG("%s in %s", err.message, printed);
	}
	return 0;
}
