/* SPDX-License-Identifier: MIT */
#include "source/tile_view.h"

#include <stdlib.h>

#include "base/memory.h"
#include "source/span.h"
#include "source/words.h"

/* Returns the text in the brackets after the first `word`, or an empty span. */
static struct span behind(struct span span, const char *word, char open)
{
	for (const char *c = NULL; (c = span_next(span, span_of(word), c)) != NULL;) {
		const char *next = text_skip(c + strlen(word));

		if (*next == open && text_matching(next))
			return (struct span){next + 1, text_matching(next) - 1};
	}
	return (struct span){span.end, span.end};
}

/* Returns the only kernel argument in an expression such as "assume_divisible<8>(columns)", or
 * NULL. */
static const char *argument_in(
	const struct source_kernel *kernel, struct span span, bool is_pointer)
{
	const char *found = NULL;

	for (const char *c = span.begin; c < span.end; c = text_after_word(c))
		for (size_t i = 0; i < kernel->argument_count; i++)
			if (kernel->arguments[i].is_pointer == is_pointer &&
				text_word_is(c, text_word_length(c), kernel->arguments[i].name)) {
				if (found)
					return NULL;
				found = kernel->arguments[i].name;
			}
	return found;
}

static bool is_sum_or_product(struct span span)
{
	for (const char *c = span.begin; c < span.end; c++)
		if (strchr("+-*/%", *c))
			return true;
	return false;
}

/* Reads "0", "ct::bid().x", "(int)ct::bid().x", or a variable with such a value. */
static enum tile_place place_read(struct span body, struct span index, unsigned *axis)
{
	struct span call;

	if (span_is_word(index))
		(void)span_next_value(body, index, NULL, &index);
	if (span_is(index, "0"))
		return TILE_WHOLE;
	call = behind(index, "bid", '(');
	if (is_sum_or_product(index) || call.end + 3 != index.end || call.end[1] != '.' ||
		call.end[2] < 'x' || call.end[2] > 'z')
		return TILE_ANYWHERE;
	*axis = (unsigned)(call.end[2] - 'x');
	return TILE_AT_BLOCK;
}

/* Reads loads and stores, and the indices of the first. In a store, the tile precedes the
 * indices. */
static void read_uses(struct span body, struct span name, struct tile_view *view)
{
	for (const char *c = NULL;
		(c = span_next((struct span){name.end, body.end}, name, c)) != NULL;) {
		const char *method = c + (name.end - name.begin), *open;
		struct span parts[SPAN_PARTS_MAX];
		size_t count, first;

		if (*method++ != '.')
			continue;
		open = method + text_word_length(method);
		if (*open != '(')
			continue;
		count = span_list(open, "([{<", parts);
		first = string_starts_with(method, "store");
		if ((!first && !string_starts_with(method, "load")) ||
			count != first + view->dimension_count)
			continue;
		for (size_t i = 0; i < count - first && !view->reads && !view->writes; i++)
			view->dimensions[i].place =
				place_read(body, parts[first + i], &view->dimensions[i].axis);
		view->reads |= !first;
		view->writes |= first;
	}
}

/* Returns "in" for "const auto in = ". */
static struct span variable_before(struct span body, const char *at)
{
	const char *equals = at;

	while (equals > body.begin && !strchr("=;{}", *equals))
		equals--;
	if (*equals != '=')
		return (struct span){at, at};
	return span_word_before(body.begin, span_trim((struct span){body.begin, equals}).end);
}

static bool read_view(struct span body, struct span name, const char *at,
	const struct source_kernel *kernel, struct tile_view *view)
{
	const struct span rest = {at, body.end};
	const struct span whole = behind(rest, "partition_view", '(');
	const struct span tensor = behind(whole, "tensor_span", '(');
	struct span extents[SPAN_PARTS_MAX], tiles[SPAN_PARTS_MAX], pointer[SPAN_PARTS_MAX];
	size_t count;

	if (span_split(tensor, "([{<", ',', pointer) < 2)
		return false;
	count = span_split(behind(tensor, "extents", '('), "([{<", ',', extents);
	*view = (struct tile_view){.tensor = argument_in(kernel, pointer[0], true)};
	if (!view->tensor || !count || count > TILE_DIMENSIONS_MAX ||
		span_split(behind((struct span){tensor.end, whole.end}, "shape", '<'), "([{<", ',',
			tiles) != count)
		return false;
	for (; view->dimension_count < count; view->dimension_count++) {
		struct tile_dimension *dimension = &view->dimensions[view->dimension_count];
		const struct span extent = extents[view->dimension_count],
				  tile = tiles[view->dimension_count];
		const char *argument = argument_in(kernel, extent, false);

		if (!span_is_word(tile) || is_sum_or_product(extent) ||
			!(argument || span_is_word(extent))) {
			tile_views_release(view, 1);
			return false;
		}
		dimension->extent = argument ? string_copy(argument) : span_copy(extent);
		dimension->tile = span_copy(tile);
	}
	read_uses(body, name, view);
	return true;
}

size_t tile_views_read(const struct source_kernel *kernel, struct tile_view *views)
{
	const struct span body = span_of(kernel->body);
	size_t count = 0;

	for (const char *c = NULL; count < TILE_VIEWS_MAX &&
				   (c = span_next(body, span_of("partition_view"), c)) != NULL;)
		count += read_view(body, variable_before(body, c), c, kernel, &views[count]);
	return count;
}

void tile_views_release(struct tile_view *views, size_t count)
{
	for (size_t v = 0; v < count; v++)
		for (size_t i = 0; i < views[v].dimension_count; i++) {
			free(views[v].dimensions[i].extent);
			free(views[v].dimensions[i].tile);
		}
}
