/* SPDX-License-Identifier: MIT */
#include "source/launch_site.h"

#include <stdlib.h>

#include "base/memory.h"
#include "source/words.h"

enum {
	WORDS_MAX = 24,  /* arguments, dimensions or template arguments of a launch */
	DEPTH_MAX = 12,  /* variables that are defined by others */
	BYTES_MAX = 2000 /* of an expression */
};

struct span {
	const char *begin, *end;
};

struct site {
	const char *text, *at; /* the text, and the launch in it */
	const struct kernel_source *source;
	const struct source_kernel *kernel;
	struct span templates[WORDS_MAX], arguments[WORDS_MAX];
	size_t template_count, argument_count;
};

/* ---- lists ---- */
static struct span span_trim(struct span span)
{
	span.begin = text_skip(span.begin);
	while (span.end > span.begin && isspace((unsigned char)span.end[-1]))
		span.end--;
	return span;
}

static bool span_is(struct span span, const char *word)
{
	return (size_t)(span.end - span.begin) == strlen(word) &&
	       strncmp(span.begin, word, strlen(word)) == 0;
}

/* Splits at commas outside of brackets. */
static size_t split(struct span whole, bool has_angles, struct span *parts)
{
	const char *opens = has_angles ? "([{<" : "([{", *closes = has_angles ? ")]}>" : ")]}";
	size_t count = 0;
	int depth = 0;

	whole = span_trim(whole);
	for (const char *c = whole.begin, *begin = c; c <= whole.end && whole.end > whole.begin;
		c++) {
		if (c < whole.end) {
			depth += strchr(opens, *c) != NULL;
			depth -= strchr(closes, *c) != NULL;
		}
		if (c < whole.end && (*c != ',' || depth > 0))
			continue;
		if (count < WORDS_MAX)
			parts[count++] = span_trim((struct span){begin, c});
		begin = c + 1;
	}
	return count;
}

/* ---- finding ---- */
/* Returns the end of "<...>" that opens here, or NULL. */
static const char *after_angles(const char *open)
{
	int depth = 0, round = 0;

	for (const char *c = open; *c && *c != ';' && *c != '{'; c++) {
		round += *c == '(';
		round -= *c == ')';
		if (round)
			continue;
		depth += *c == '<';
		depth -= *c == '>';
		if (!depth)
			return c + 1;
	}
	return NULL;
}

/* Reads "k<...><<<...>>>(...)" from behind its name. */
static bool read_site(const char *c, struct site *site, struct span *parts, size_t *part_count)
{
	const char *begin, *end;

	c = text_skip(c);
	if (*c == '<' && !string_starts_with(c, "<<<")) {
		end = after_angles(c);
		if (!end)
			return false;
		site->template_count = split((struct span){c + 1, end - 1}, true, site->templates);
		c = text_skip(end);
	}
	if (!string_starts_with(c, "<<<"))
		return false;
	begin = c + 3;
	end = strstr(begin, ">>>");
	if (!end)
		return false;
	*part_count = split((struct span){begin, end}, false, parts);
	c = text_skip(end + 3);
	if (*c == '(' && text_matching(c))
		site->argument_count =
			split((struct span){c + 1, text_matching(c) - 1}, false, site->arguments);
	return *part_count >= 2;
}

/* ---- what a name stands for ---- */
/* Finds the initializer of the name's last definition before the launch: "name = ...;",
 * "dim3 name(...)", "dim3 name{...}". */
static bool find_definition(const struct site *site, struct span name, struct span *value)
{
	const size_t length = (size_t)(name.end - name.begin);
	bool found = false;

	for (const char *c = site->text; c < site->at; c = text_after_word(c)) {
		const char *after, *word = c;

		if (text_word_length(c) != length || strncmp(c, name.begin, length) != 0)
			continue;
		after = text_skip(c + length);
		while (word > site->text && isspace((unsigned char)word[-1]))
			word--;
		if (*after == '=' && after[1] != '=') {
			int depth = 0;
			const char *end = after + 1;

			for (; *end && *end != ';' && !(*end == ',' && !depth); end++)
				depth += strchr("({", *end) ? 1 : strchr(")}", *end) ? -1 : 0;
			*value = span_trim((struct span){after + 1, end});
			found = true;
		} else if (strchr("({", *after) && word - site->text >= 4 &&
			   strncmp(word - 4, "dim3", 4) == 0 && text_matching(after)) {
			*value = (struct span){after + 1, text_matching(after) - 1};
			found = true;
		}
	}
	return found;
}

/* ---- expressions ---- */
static bool translate(const struct site *site, struct span span, int depth, struct text *text);

static const char *known_name(const struct site *site, struct span name)
{
	const struct source_kernel *kernel = site->kernel;
	const size_t length = (size_t)(name.end - name.begin);

	for (size_t i = 0; i < site->argument_count && i < kernel->argument_count; i++)
		if (!kernel->arguments[i].is_pointer &&
			(size_t)(site->arguments[i].end - site->arguments[i].begin) == length &&
			strncmp(site->arguments[i].begin, name.begin, length) == 0)
			return kernel->arguments[i].name;
	for (size_t i = 0; i < site->template_count && i < kernel->template_count; i++)
		if ((size_t)(site->templates[i].end - site->templates[i].begin) == length &&
			strncmp(site->templates[i].begin, name.begin, length) == 0)
			return kernel->templates[i].name;
	for (size_t i = 0; i < site->source->macro_count; i++)
		if (span_is(name, site->source->macros[i].name))
			return site->source->macros[i].name;
	return NULL;
}

static bool is_word(const char *text)
{
	while (text_is_word(*text))
		text++;
	return !*text;
}

/* Whether the name that ends here is used as it is, and no function, object or array. */
static bool is_plain(const char *end)
{
	end = text_skip(end);
	return !strchr("(.[:", *end) && !string_starts_with(end, "->") &&
	       (*end != '<' || end[1] == '<');
}

static bool translate_name(const struct site *site, struct span name, int depth, struct text *text)
{
	static const char *const divisions[] = {"ceil_div", "ceildiv", "ceilDiv", "CeilDiv",
		"CEIL_DIV", "CEILDIV", "cdiv", "div_up", "divUp", "DivUp", "DIVUP", "DIV_UP",
		"iDivUp", "idivup", "updiv", "div_ceil", "DIV_CEIL", "divup", "round_up_div", NULL};
	const size_t length = (size_t)(name.end - name.begin);
	const char *known = known_name(site, name);
	struct span value;

	if (text_word_among(name.begin, length, divisions)) {
		text_append(text, "ceil_div");
		return true;
	}
	if (span_is(name, "min") || span_is(name, "max")) {
		text_append_bytes(text, name.begin, length);
		return true;
	}
	if (known) {
		text_append(text, known);
		return true;
	}
	if (depth > 0 && find_definition(site, name, &value)) {
		CLEANUP(text_release) struct text inner = {0};

		if (!translate(site, value, depth - 1, &inner))
			return false;
		text_appendf(
			text, is_word(text_string(&inner)) ? "%s" : "(%s)", text_string(&inner));
		return true;
	}
	/* a variable of the host */
	text_append_bytes(text, name.begin, length);
	return is_plain(name.end);
}

/* Returns the position after a cast to an integer, "(int)" or "static_cast<int>", else c. */
static const char *after_cast(const char *c, const char *end)
{
	static const char *const types[] = {"int", "unsigned", "long", "size_t", "uint32_t",
		"int32_t", "int64_t", "uint64_t", "uint", "float", "double", NULL};
	const bool is_static = string_starts_with(c, "static_cast");
	const char *word = is_static ? text_skip(c + strlen("static_cast")) : c;
	const char close = is_static ? '>' : ')';

	if (*word != (is_static ? '<' : '('))
		return c;
	for (word = text_skip(word + 1); text_word_among(word, text_word_length(word), types);)
		word = text_skip(word + text_word_length(word));
	return word < end && *word == close && word[-1] != '(' && word[-1] != '<' ? word + 1 : c;
}

static const char *translate_sizeof(const char *c, struct text *text)
{
	const char *open = text_skip(c + strlen("sizeof"));
	const char *close = *open == '(' ? text_matching(open) : NULL;
	const struct source_variable type =
		close ? source_type_read(open + 1, close - 1) : (struct source_variable){0};
	const size_t bytes = source_type_bytes(&type);

	free(type.type);
	free(type.name);
	if (!bytes)
		return NULL;
	text_appendf(text, "%zu", bytes);
	return close;
}

/* Returns false if the expression has anything that the language of the JSON lacks. */
static bool translate(const struct site *site, struct span span, int depth, struct text *text)
{
	span = span_trim(span);
	for (const char *c = span.begin; c < span.end;) {
		const size_t length = text_word_length(c);

		if (text->length > BYTES_MAX)
			return false;
		if (after_cast(c, span.end) != c) {
			c = after_cast(c, span.end);
		} else if (string_starts_with(c, "std::")) {
			c += strlen("std::");
		} else if (text_word_is(c, length, "sizeof")) {
			c = translate_sizeof(c, text);
			if (!c)
				return false;
		} else if (length) {
			if (!translate_name(site, (struct span){c, c + length}, depth, text))
				return false;
			c += length;
		} else if (isdigit((unsigned char)*c)) {
			for (; isdigit((unsigned char)*c); c++)
				text_append_char(text, *c);
			c += strspn(c, "uUlL");
			if (*c == '.' || text_is_word(*c))
				return false;
		} else if (*c == '/') {
			text_append(text, "//");
			c++;
		} else if (isspace((unsigned char)*c)) {
			text_append_char(text, ' ');
			c++;
		} else if (strchr("+-*%(),", *c) || string_starts_with(c, "<<") ||
			   string_starts_with(c, ">>")) {
			const size_t bytes = strchr("<>", *c) ? 2 : 1;

			text_append_bytes(text, c, bytes);
			c += bytes;
		} else {
			return false;
		}
	}
	return span.begin < span.end;
}

static char *translated(const struct site *site, struct span span)
{
	CLEANUP(text_release) struct text text = {0};

	return translate(site, span, DEPTH_MAX, &text) ? text_detach(&text) : NULL;
}

/* Follows names to "dim3(x, y)", and splits it into its dimensions. */
static size_t dimensions_read(const struct site *site, struct span span, char **dimensions)
{
	struct span parts[WORDS_MAX] = {{span.begin, span.end}}, value;
	size_t count = 1;

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		const size_t length = text_word_length(span.begin);
		const char *open = text_skip(span.begin + length);

		if (text_word_is(span.begin, length, "dim3") && strchr("({", *open)) {
			value = (struct span){open + 1, span.end - 1};
		} else if (span.begin + length != span.end || known_name(site, span) ||
			   !find_definition(site, span, &value)) {
			break;
		}
		count = split(value, false, parts);
		if (count != 1)
			break;
		span = parts[0];
	}
	for (size_t i = 0; i < count && i < 3; i++)
		dimensions[i] = translated(site, parts[i]);
	while (count > 1 && dimensions[count - 1] && strcmp(dimensions[count - 1], "1") == 0) {
		count--;
		free(dimensions[count]);
		dimensions[count] = NULL;
	}
	return count <= 3 ? count : 0;
}

bool launch_site_find(const char *text, const struct kernel_source *source,
	const struct source_kernel *kernel, struct launch_site *site)
{
	const size_t length = strlen(kernel->name);

	*site = (struct launch_site){0};
	for (const char *c = text; *c; c = text_after_word(c)) {
		struct site found = {.text = text, .at = c, .source = source, .kernel = kernel};
		struct span parts[WORDS_MAX];
		char *smem[3] = {NULL};
		size_t count;

		if (text_word_length(c) != length || strncmp(c, kernel->name, length) != 0 ||
			!read_site(c + length, &found, parts, &count))
			continue;
		for (size_t i = 0; i < found.template_count && i < ARRAY_COUNT(site->templates);
			i++)
			site->templates[i] = string_copy_bytes(found.templates[i].begin,
				(size_t)(found.templates[i].end - found.templates[i].begin));
		site->grid_count = dimensions_read(&found, parts[0], site->grid);
		site->block_count = dimensions_read(&found, parts[1], site->block);
		if (count > 2 && dimensions_read(&found, parts[2], smem) == 1)
			site->smem_bytes = smem[0];
		return true;
	}
	return false;
}

void launch_site_release(struct launch_site *site)
{
	for (size_t i = 0; i < ARRAY_COUNT(site->templates); i++)
		free(site->templates[i]);
	for (size_t i = 0; i < 3; i++) {
		free(site->grid[i]);
		free(site->block[i]);
	}
	free(site->smem_bytes);
	*site = (struct launch_site){0};
}
