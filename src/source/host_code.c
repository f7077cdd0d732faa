/* SPDX-License-Identifier: MIT */
#include "source/host_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "import/kernel_source.h"
#include "import/words.h"

/* What stands before a brace. */
struct head {
	bool is_function; /* "...(...)" */
	bool is_device;   /* says __global__ or __device__ */
	bool is_main;
	bool is_open; /* a namespace, extern "C": functions stand in it */
	bool is_host; /* says __host__, and nothing of the device */
};

static struct head head_read(const char *from, const char *brace)
{
	struct head head = {0};
	bool is_named = false;

	for (const char *c = from; c < brace; c++) {
		const size_t length = text_word_length(c);

		if (!length) {
			head.is_function |= *c == ')';
			continue;
		}
		if (text_word_is(c, length, "__global__") || text_word_is(c, length, "__device__"))
			head.is_device = true;
		if (text_word_is(c, length, "__host__"))
			head.is_host = true;
		if (text_word_is(c, length, "namespace") || text_word_is(c, length, "extern"))
			head.is_open = true;
		if (text_word_is(c, length, "struct") || text_word_is(c, length, "class") ||
			text_word_is(c, length, "enum") || text_word_is(c, length, "union"))
			is_named = true;
		if (text_word_is(c, length, "main") && *text_skip(c + length) == '(')
			head.is_main = true;
		c += length - 1;
	}
	head.is_host &= !head.is_device;
	head.is_open &= !head.is_function && !is_named;
	return head;
}

static const char *behind(const char *open)
{
	int depth = 0;

	for (const char *c = open; *c; c++) {
		depth += *c == '{';
		depth -= *c == '}';
		if (depth == 0)
			return c + 1;
	}
	return open + strlen(open);
}

/* Blanks, and the statement where there is room: a body that never ends returns no value that would
 * be missed. */
static void blank(char *from, const char *to, const char *statement)
{
	const size_t length = strlen(statement);

	for (char *c = from; c < to; c++)
		if (*c != '\n')
			*c = ' ';
	if ((size_t)(to - from) >= length && !memchr(from, '\n', length))
		memcpy(from, statement, length);
}

/* All of it but directives. */
static void remove_code(const char *code, const char *from, const char *to, char *source)
{
	for (const char *c = from; c < to; c++)
		if (!isspace((unsigned char)*c))
			source[c - code] = ' ';
}

void host_code_blank(struct text *source)
{
	CLEANUP(memory_free) char *code = NULL;
	const char *from;

	if (!source->length ||
		(!strstr(text_string(source), "<<<") && !strstr(text_string(source), "main") &&
			!strstr(text_string(source), "__host__")))
		return;
	code = source_code_alone(text_string(source));
	from = code;
	for (const char *c = code; *c; c++) {
		const char *end = *c == '{' ? behind(c) : c + 1, *launch;
		struct head head;

		if (*c == '}')
			from = end;
		if (*c != ';' && *c != '{')
			continue;
		head = head_read(from, c);
		if (head.is_function && *c == '{' && (head.is_host || head.is_main)) {
			blank(source->data + (c + 1 - code), source->data + (end - 1 - code), "");
			remove_code(code, from, end, source->data);
		} else if (head.is_function && head.is_host) {
			remove_code(code, from, end, source->data);
		} else if (head.is_function && *c == '{' && !head.is_device) {
			launch = strstr(c, "<<<");
			if (launch && launch < end)
				blank(source->data + (c + 1 - code),
					source->data + (end - 1 - code), "for (;;);");
		}
		if (!head.is_open || *c == ';')
			c = end - 1;
		from = c + 1;
	}
}
