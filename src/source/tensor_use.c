/* SPDX-License-Identifier: MIT */
#include "source/tensor_use.h"

#include <stdlib.h>

#include "base/memory.h"
#include "source/span.h"
#include "source/words.h"

enum {
	DEPTH_MAX = 8 /* nesting of variables in definitions */
};

/* Finds the next use of the name, except as a member. */
static const char *next_use(const char *c, const char *begin, const char *name)
{
	for (; *c; c = text_after_word(c))
		if (text_word_is(c, text_word_length(c), name) &&
			(c == begin || (c[-1] != '.' && c[-1] != '>')))
			return c;
	return NULL;
}

static const char *skip_back(const char *begin, const char *c)
{
	while (c > begin && isspace((unsigned char)c[-1]))
		c--;
	return c;
}

/* Returns whether c is in a call such as "atomicAdd(&x[i], 1)". */
static bool is_in_atomic(const char *begin, const char *c)
{
	const char *word;

	c = skip_back(begin, c);
	c = skip_back(begin, c - (c > begin && c[-1] == '&'));
	if (c == begin || c[-1] != '(')
		return false;
	word = span_word_before(begin, c - 1).begin;
	return string_starts_with(word, "atomic") || string_starts_with(word, "gpuAtomic");
}

/* Skips text that selects a part of an element: ")", ".x", "[0]". */
static const char *after_element(const char *c)
{
	for (c = text_skip(c); c && (*c == ')' || *c == '.' || *c == '['); c = c ? text_skip(c) : c)
		c = *c == '[' ? text_matching(c)
			      : c + 1 + (*c == '.' ? text_word_length(c + 1) : 0);
	return c ? c : "";
}

struct tensor_use tensor_use_read(const char *body, const char *name)
{
	struct tensor_use use = {0};

	for (const char *c = body; (c = next_use(c, body, name)) != NULL; c = text_after_word(c)) {
		const char *open = text_skip(c + strlen(name));
		const char *end = *open == '[' ? text_matching(open) : NULL;
		const char *after = end ? after_element(end) : "";
		const char *before = skip_back(body, c);
		const bool is_set = *after == '=' && after[1] != '=';
		const bool is_changed = (*after && strchr("+-*/|&^", *after) && after[1] == '=') ||
					(*after && strchr("+-", *after) && after[1] == *after);

		if (is_in_atomic(body, c) || is_changed)
			use.reads = use.writes = true;
		else if (is_set)
			use.writes = true;
		else if (end && !(before > body && before[-1] == '&'))
			use.reads = true;
		else if (!(*open && strchr("=!+", *open) && open[1] == '='))
			use.unclear++;
	}
	return use;
}

struct shape_reader {
	const char *body;
	const struct launch_site *site;
	const struct name_set *sizes;
	char **dimensions;
	size_t count;
};

static size_t split(struct span whole, char operator, struct span parts[SPAN_PARTS_MAX])
{
	const size_t count = span_split(span_bare(whole), "([", operator, parts);

	for (size_t i = 0; i < count; i++)
		parts[i] = span_bare(parts[i]);
	return count;
}

/* Returns whether the expression consists of sizes and numbers. */
static bool is_size(const struct shape_reader *reader, struct span span)
{
	for (const char *c = span.begin; c < span.end; c = text_after_word(c)) {
		const size_t length = text_word_length(c);

		if (length ? !name_set_has(reader->sizes, c, length)
			   : !isdigit((unsigned char)*c) && !strchr("+-*/() ", *c))
			return false;
	}
	return span.begin < span.end;
}

static char *expression_of(struct span span)
{
	struct text text = {0};

	for (const char *c = span.begin; c < span.end; c++)
		text_appendf(&text, *c == '/' ? "//" : "%c", *c);
	return text_detach(&text);
}

static void add_dimension(struct shape_reader *reader, struct span span)
{
	if (reader->count < TENSOR_DIMENSIONS_MAX)
		reader->dimensions[reader->count++] = expression_of(span);
}

static bool add_text(struct shape_reader *reader, const char *text)
{
	if (text)
		add_dimension(reader, span_of(text));
	return text != NULL;
}

/* Returns the bound in a comparison or in an argument of a macro. */
static struct span bound_at(const char *begin)
{
	const char *c = begin;
	int depth = 0;

	for (; *c && !strchr(";,{&|?<>=", *c) && depth >= 0; c++)
		depth += (*c == '(') - (*c == ')');
	return span_bare((struct span){begin, depth < 0 ? c - 1 : c});
}

/* Finds "i < n", "i >= n" and loops such as CUDA_KERNEL_LOOP(i, n). */
static bool find_bound(const struct shape_reader *reader, struct span name, struct span *bound)
{
	for (const char *c = NULL; (c = span_next(span_of(reader->body), name, c)) != NULL;) {
		const char *after = text_skip(c + (name.end - name.begin));

		if (c > reader->body && strchr(".>", c[-1]))
			continue;
		if ((*after == '<' && after[1] != '<' && after[1] != '=') ||
			(*after == ',' && c > reader->body && c[-1] == '(' &&
				c - reader->body > 4 && strncmp(c - 5, "LOOP", 4) == 0))
			*bound = bound_at(after + 1);
		else if (*after == '>' && after[1] == '=')
			*bound = bound_at(after + 2);
		else
			continue;
		if (is_size(reader, *bound) && !span_is(*bound, "0"))
			return true;
	}
	return false;
}

static bool read_extents(struct shape_reader *reader, struct span index, int depth);

static bool read_variable(struct shape_reader *reader, struct span name, int depth)
{
	static const char *const axes[] = {"x", "y", "z"};
	struct span found;

	if (find_bound(reader, name, &found)) {
		add_dimension(reader, found);
		return true;
	}
	for (size_t i = 0; i < ARRAY_COUNT(axes); i++) {
		CLEANUP(memory_free) char *block = string_format("blockIdx.%s", axes[i]);
		CLEANUP(memory_free) char *thread = string_format("threadIdx.%s", axes[i]);

		if (span_is(name, block))
			return add_text(reader, reader->site->grid[i]);
		if (span_is(name, thread))
			return add_text(reader, reader->site->block[i]);
	}
	return depth > 0 && span_next_value(span_of(reader->body), name, NULL, &found) &&
	       read_extents(reader, span_bare(found), depth - 1);
}

/* Reads "a * S * T" as the extents of a, then S and T. */
static bool read_product(
	struct shape_reader *reader, const struct span *factors, size_t count, int depth)
{
	const size_t before = reader->count;
	size_t variable = count;

	for (size_t i = 0; i < count; i++) {
		if (is_size(reader, factors[i]))
			continue;
		if (variable < count)
			return false;
		variable = i;
	}
	if (variable == count)
		return false;
	if (!read_extents(reader, factors[variable], depth))
		return false;
	for (size_t i = 0; i < count; i++)
		if (i != variable)
			add_dimension(reader, factors[i]);
	return reader->count > before;
}

/* Reads the shape from the term with the most factors, as in "a * S + b * T + c". */
static bool read_extents(struct shape_reader *reader, struct span index, int depth)
{
	struct span terms[SPAN_PARTS_MAX], factors[SPAN_PARTS_MAX];
	const size_t before = reader->count, term_count = split(index, '+', terms);

	if (depth <= 0)
		return false;
	for (size_t wanted = SPAN_PARTS_MAX; wanted > 1; wanted--)
		for (size_t i = 0; i < term_count; i++)
			if (split(terms[i], '*', factors) == wanted) {
				if (read_product(reader, factors, wanted, depth - 1))
					return true;
				while (reader->count > before)
					free(reader->dimensions[--reader->count]);
			}
	for (size_t i = 0; i < term_count; i++) {
		if (split(terms[i], '*', factors) == 1 && !is_size(reader, terms[i]) &&
			read_variable(reader, terms[i], depth - 1) &&
			(term_count == 1 || reader->count > before + 1))
			return true;
		while (reader->count > before)
			free(reader->dimensions[--reader->count]);
	}
	return false;
}

size_t tensor_shape_read(const char *body, const char *name, const struct launch_site *site,
	const struct name_set *sizes, char *dimensions[TENSOR_DIMENSIONS_MAX])
{
	size_t count = 0;

	for (const char *c = body; (c = next_use(c, body, name)) != NULL; c = text_after_word(c)) {
		char *found[TENSOR_DIMENSIONS_MAX];
		struct shape_reader reader = {body, site, sizes, found, 0};
		const char *open = text_skip(c + strlen(name)), *end = NULL;

		if (string_starts_with(open, "+=")) /* later indices count from the moved pointer */
			break;
		if (*open == ',') {
			if (!count && is_in_atomic(body, c))
				dimensions[count++] = string_copy("1");
			continue;
		}
		if (*open == '[')
			end = text_matching(open);
		else if (*open == '+' && open[1] != '=' && open[1] != '+')
			end = bound_at(open + 1).end + 1;
		if (!end || !read_extents(&reader, (struct span){open + 1, end - 1}, DEPTH_MAX))
			continue;
		for (size_t i = 0; i < (reader.count > count ? count : reader.count); i++)
			free(reader.count > count ? dimensions[i] : found[i]);
		if (reader.count > count) {
			memcpy(dimensions, found, reader.count * sizeof(*found));
			count = reader.count;
		}
	}
	return count;
}

/* Returns "blockDim.x" for "blockIdx.x * blockDim.x + threadIdx.x", or NULL. */
static char *step_of(struct span index, const char *of_block, char axis, const char *block)
{
	struct span terms[SPAN_PARTS_MAX], factors[SPAN_PARTS_MAX];
	const size_t count = split(index, '+', terms);
	CLEANUP(memory_free) char *size = string_format("blockDim.%c", axis);

	for (size_t i = 0; i < count; i++) {
		if (split(terms[i], '*', factors) != 2 || !span_has(terms[i], of_block))
			continue;
		for (size_t k = 0; k < 2; k++)
			if (!span_has(factors[k], of_block))
				return !span_has(factors[k], size) ? expression_of(factors[k])
				       : block                     ? string_copy(block)
								   : NULL;
	}
	return NULL;
}

char *grid_extent_read(
	const char *body, size_t axis, const char *block, const struct name_set *sizes)
{
	const struct shape_reader reader = {.body = body, .sizes = sizes};
	const char letter = (char)('x' + axis);
	CLEANUP(memory_free) char *of_block = string_format("blockIdx.%c", letter);
	CLEANUP(memory_free) char *of_thread = string_format("threadIdx.%c", letter);
	struct span index, bound;

	for (const char *c = body; *c; c = text_after_word(c)) {
		const struct span name = span_word(c);
		CLEANUP(memory_free) char *step = NULL, *extent = NULL;

		if (!span_next_value(span_of(body), name, NULL, &index) ||
			!span_has(index, of_block) || !find_bound(&reader, name, &bound))
			continue;
		extent = expression_of(bound);
		if (span_is(span_bare(index), of_block))
			return string_copy(extent);
		step = span_has(index, of_thread) ? step_of(index, of_block, letter, block) : NULL;
		if (step)
			return string_format("ceil_div(%s, %s)", extent, step);
	}
	return NULL;
}
