/* SPDX-License-Identifier: MIT
 *
 * A declaration outside of functions is host code unless it has a device qualifier, or is a type or
 * a constant. Code that any branch of #if needs is retained.
 */
#include "source/host_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "source/scan.h"
#include "source/words.h"

enum {
	PASSES_MAX = 16 /* limits how deeply macros may be nested */
};

enum mark {
	MARK_HOST = 1,
	MARK_KEPT = 2
};

struct host_reading {
	const struct code *code;
	const struct view *view;
	struct name_set device;
	unsigned char *marks; /* flags of each byte of the source */
};

static bool is_device(const struct host_reading *reading, const char *word, size_t length)
{
	return length && name_set_has(&reading->device, word, length);
}

static void find_device_words(struct host_reading *reading)
{
	static const char *const words[] = {"__global__", "__device__", "__constant__",
		"__tile_global__", "__tile__", "__shared__", "__managed__", "constexpr",
		"consteval", "__CUDA_FP16_DECL__", "_CCCL_DEVICE", "_CCCL_HOST_DEVICE",
		"_CCCL_API"};
	struct directive directive;
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		name_set_add(&reading->device, words[i], strlen(words[i]));
	for (int pass = 0; pass < PASSES_MAX && count != reading->device.count; pass++) {
		count = reading->device.count;
		for (size_t from = 0; directive_next(reading->code, &from, &directive);) {
			const char *name = reading->code->text + directive.rest;
			const char *end = reading->code->text + directive.end;
			const size_t length = text_word_length(name);

			if (directive.kind != DIRECTIVE_DEFINE)
				continue;
			for (const char *c = name + length; c < end; c = text_after_word(c))
				if (is_device(reading, c, text_word_length(c)))
					name_set_add(&reading->device, name, length);
		}
	}
}

/* The part of a declaration before its semicolon or opening brace. */
struct head {
	bool is_device;
	bool is_function; /* has "name(...)" before the first `=` */
	bool is_value;
	bool is_type, is_enum;
	bool is_other;
	bool is_open; /* opens a namespace or extern "C" */
	bool is_const, is_std;
	bool has_initializers; /* has `:` after the arguments */
	bool is_container;
	const char *container_value; /* the `=` after a container of std; NULL if there is none */
};

static void read_word(const struct host_reading *reading, struct head *head, const char *c,
	size_t length, bool is_nested)
{
	static const char *const types[] = {"struct", "class", "union", "enum", NULL};
	static const char *const containers[] = {"string", "vector", "map", "unordered_map", "set",
		"unordered_set", "list", "deque", "queue", "function", "shared_ptr", "unique_ptr",
		NULL};
	static const char *const others[] = {
		"using", "typedef", "static_assert", "asm", "__asm__", "friend", "concept", NULL};

	head->is_device |= is_device(reading, c, length);
	head->is_std |= text_word_is(c, length, "std");
	head->is_container |= head->is_std && text_word_among(c, length, containers);
	if (is_nested || head->is_value)
		return;
	if (text_word_among(c, length, types)) {
		head->is_type = true;
		head->is_enum |= text_word_is(c, length, "enum");
		head->is_function = false;
	}
	head->is_other |= text_word_among(c, length, others);
	head->is_open |= text_word_is(c, length, "namespace") || text_word_is(c, length, "extern");
	head->is_const |= text_word_is(c, length, "const");
}

static bool is_function_name(const char *before, const char *word, size_t length, const char *open)
{
	static const char *const attributes[] = {"alignas", "__align__", "__attribute__",
		"__declspec", "decltype", "__launch_bounds__", "noexcept", "static_assert",
		"explicit", "requires", NULL};
	static const char *const types[] = {"struct", "class", "union", NULL};

	return length && !text_word_among(word, length, attributes) &&
	       *text_skip(open + 1) != '*' &&
	       !text_word_among(before, text_word_length(before), types);
}

/* Reads a declaration up to its `;`, `{` or `}`, or the end of the text. Returns this position. */
static const char *head_read(const struct host_reading *reading, const char *c, struct head *head)
{
	const char *word = "", *before = "";
	size_t length = 0;
	int depth = 0;

	*head = (struct head){0};
	for (; *c && (depth > 0 || !strchr(";{}", *c)); c = text_after_word(c)) {
		const size_t next = text_word_length(c);

		if (next) {
			before = word;
			word = c;
			length = next;
			read_word(reading, head, c, next, depth > 0);
			if (text_word_is(c, next, "template") && *text_skip(c + next) == '<' &&
				text_matching(text_skip(c + next)))
				c = text_matching(text_skip(c + next)) - 1;
			if (text_word_is(c, next, "operator") && !head->is_value) {
				head->is_function = true;
				c += next;
				c += strspn(c, " \t\n()<>=+-*/%&|^!~[],") - 1;
			}
			continue;
		}
		if (*c == '(') {
			head->is_function |= depth == 0 && !head->is_value &&
					     is_function_name(before, word, length, c);
			depth++;
		}
		depth -= *c == ')';
		if (depth > 0)
			continue;
		if (*c == ':' && c[1] == ':')
			c++;
		else if (*c == ':')
			head->has_initializers |= head->is_function;
		if (*c == '=' && !head->is_function && !head->is_value) {
			head->is_value = true;
			head->container_value = head->is_container ? c : NULL;
		}
	}
	return c;
}

/* ---- host and device parts ---- */
static void put_mark(struct host_reading *reading, size_t from, size_t to, enum mark mark)
{
	for (size_t i = reading->code->at[from]; i < reading->code->at[to]; i++)
		reading->marks[i] = (unsigned char)(reading->marks[i] | mark);
}

static void mark_text(
	struct host_reading *reading, const char *from, const char *to, enum mark mark)
{
	for (const size_t *at = reading->view->at + (from - reading->view->text); from < to;
		from++, at++)
		put_mark(reading, *at, *at + 1, mark);
}

/* Erases the #pragma lines of erased functions. */
static void mark_pragmas(struct host_reading *reading)
{
	const struct code *code = reading->code;
	struct directive directive;

	for (size_t from = 0; directive_next(code, &from, &directive);)
		if (directive.begin > 0 && directive_is(code, &directive, "pragma") &&
			reading->marks[code->at[directive.begin] - 1] == MARK_HOST)
			put_mark(reading, directive.begin, directive.end, MARK_HOST);
}

/* Returns whether an explicit instantiation such as "template void k<8>(int);" begins at c. Entries
 * instantiate kernels, too. */
static bool is_instantiation(const char *c)
{
	return text_word_is(c, text_word_length(c), "template") &&
	       *text_skip(c + strlen("template")) != '<';
}

static void mark_instantiating_macros(struct host_reading *reading)
{
	const struct code *code = reading->code;
	struct directive directive;

	for (size_t from = 0; directive_next(code, &from, &directive);) {
		const char *body = code->text + directive.rest;

		if (directive.kind != DIRECTIVE_DEFINE)
			continue;
		body += text_word_length(body);
		if (*body == '(' && text_matching(body))
			body = text_matching(body);
		body = text_skip(body);
		if (body < code->text + directive.end && is_instantiation(body))
			put_mark(reading, (size_t)(body - code->text), directive.end, MARK_HOST);
	}
}

static const char *declaration_end(const char *begin, const char *end, const struct head *head)
{
	while (*end && !strchr(";}", *end)) {
		const char *close = strchr("({", *end) ? text_matching(end) : end + 1, *last = end;

		while (last > begin && isspace((unsigned char)last[-1]))
			last--;
		if (!close)
			return end + strlen(end);
		if (*end == '{' && head->is_function &&
			!(head->has_initializers && last > begin && text_is_word(last[-1])))
			return close;
		end = close;
	}
	return *end == ';' ? end + 1 : end;
}

static bool is_access(const char *c)
{
	static const char *const words[] = {"public", "private", "protected", NULL};
	const size_t length = text_word_length(c);

	return text_word_among(c, length, words) && *text_skip(c + length) == ':';
}

static void read_declarations(struct host_reading *reading)
{
	/* bit mask of the open braces that belong to types; bit 0 is the innermost brace */
	uint64_t classes = 0;
	const char *c = text_skip(reading->view->text), *end, *behind;
	struct head head;

	for (; *c; c = text_skip(behind)) {
		end = head_read(reading, c, &head);
		if (is_access(c)) {
			behind = strchr(c, ':') + 1;
			continue;
		}
		if (*c == ';') {
			behind = end + 1;
			continue;
		}
		if (*end == '}') {
			behind = end + 1;
			if (classes & 1) /* the names after a type definition */
				behind += strcspn(behind, ";");
			classes >>= 1;
			mark_text(reading, c, behind, MARK_KEPT);
			continue;
		}
		if (*end == '{' && !head.is_function && !head.is_value && !head.is_enum &&
			(head.is_type || head.is_open)) {
			behind = end + 1;
			classes = classes << 1 | head.is_type;
			mark_text(reading, c, behind, MARK_KEPT);
			continue;
		}
		behind = declaration_end(c, end, &head);
		if ((classes & 1) && head.container_value && behind[-1] == ';') {
			mark_text(reading, head.container_value, behind - 1, MARK_HOST);
			mark_text(reading, c, head.container_value, MARK_KEPT);
			mark_text(reading, behind - 1, behind, MARK_KEPT);
			continue;
		}
		if (is_instantiation(c) && head.is_function) {
			mark_text(reading, c, behind, MARK_HOST);
			continue;
		}
		mark_text(reading, c, behind,
			head.is_device || head.is_other ||
					(head.is_open && !head.is_function && head.is_value) ||
					(head.is_type && !head.is_function && !head.is_value) ||
					(head.is_const && !head.is_function && !head.is_type &&
						!head.is_std) ||
					((classes & 1) && !(head.is_function && behind[-1] == '}'))
				? MARK_KEPT
				: MARK_HOST);
	}
}

void host_code_blank(struct text *source)
{
	struct code code;
	struct view view;
	struct host_reading reading = {.code = &code, .view = &view};
	CLEANUP(branches_release) struct branches branches = {0};

	if (!source->length)
		return;
	code_read(source->data, source->length, &code);
	reading.marks = memory_zeroed(source->length + 1, 1);
	find_device_words(&reading);
	while (code_view(&code, &branches, &view)) {
		read_declarations(&reading);
		view_release(&view);
	}
	mark_pragmas(&reading);
	mark_instantiating_macros(&reading);
	for (size_t i = 0; i < source->length; i++)
		if (reading.marks[i] == MARK_HOST && source->data[i] != '\n')
			source->data[i] = ' ';
	name_set_release(&reading.device);
	free(reading.marks);
	code_release(&code);
}

char *host_code_removed(const char *source)
{
	struct text text = {0};

	text_append(&text, source);
	host_code_blank(&text);
	return text_detach(&text);
}
