/* SPDX-License-Identifier: MIT */
#include "source/launch_site.h"

#include <stdlib.h>

#include "base/memory.h"
#include "source/call.h"
#include "source/span.h"
#include "source/words.h"

enum {
	DEPTH_MAX = 12,  /* nesting of variables in definitions */
	BYTES_MAX = 2000 /* size of an expression */
};

struct site {
	struct span text;
	const char *at; /* position of the launch in the text */
	const struct kernel_source *source;
	const struct source_kernel *kernel;
	struct span templates[SPAN_PARTS_MAX], arguments[SPAN_PARTS_MAX];
	size_t template_count, argument_count;
};

/* Reads "k<...><<<...>>>(...)" from the end of the name on. */
static bool read_site(const char *c, struct site *site, struct span *parts, size_t *part_count)
{
	const char *begin, *end;

	c = text_skip(c);
	if (*c == '<' && !string_starts_with(c, "<<<") && text_matching(c)) {
		site->template_count = span_list(c, "([{<", site->templates);
		c = text_skip(text_matching(c));
	}
	if (!string_starts_with(c, "<<<"))
		return false;
	begin = c + 3;
	end = strstr(begin, ">>>");
	if (!end)
		return false;
	*part_count = span_split((struct span){begin, end}, "([{", ',', parts);
	c = text_skip(end + 3);
	if (*c == '(')
		site->argument_count = span_list(c, "([{", site->arguments);
	return *part_count >= 2;
}

/* ---- the value of a name ---- */
/* Returns whether a variable defined at c is visible at the launch. */
static bool is_visible(const struct site *site, const char *c)
{
	int depth = 0;

	for (; c < site->at && depth >= 0; c++)
		depth += (*c == '{') - (*c == '}');
	return depth >= 0;
}

/* Finds the value of the last visible definition before the launch, even "dim3 name(...)" and "dim3
 * name{...}". */
static bool find_definition(const struct site *site, struct span name, struct span *value)
{
	const struct span before = {site->text.begin, site->at};
	struct span found;
	bool is_found = false;

	for (const char *c = NULL; (c = span_next_value(before, name, c, &found)) != NULL;)
		if (is_visible(site, c)) {
			*value = found;
			is_found = true;
		}
	for (const char *c = NULL; !is_found && (c = span_next(before, name, c)) != NULL;) {
		const char *open = text_skip(c + (name.end - name.begin));

		is_found = strchr("({", *open) && span_is(span_previous(before, c), "dim3") &&
			   text_matching(open) && is_visible(site, c);
		*value = is_found ? (struct span){open + 1, text_matching(open) - 1} : *value;
	}
	return is_found;
}

/* Returns whether the name is declared as in "dim3 block, grid;" or "dim3 grid(1)". */
static bool is_dim3(const struct site *site, struct span name)
{
	static const char word[] = "dim3";

	for (const char *c = NULL; (c = span_next(site->text, span_of(word), c)) != NULL;) {
		const char *names = c + strlen(word), *end = names + strcspn(names, ";(){=");

		if (*end != ')' && span_find((struct span){names, end}, name))
			return true;
	}
	return false;
}

static bool translate(const struct site *site, struct span span, int depth, struct text *text);

static const char *known_name(const struct site *site, struct span name)
{
	const struct source_kernel *kernel = site->kernel;

	for (size_t i = 0; i < site->argument_count && i < kernel->argument_count; i++)
		if (!kernel->arguments[i].is_pointer && span_equal(site->arguments[i], name))
			return kernel->arguments[i].name;
	for (size_t i = 0; i < site->template_count && i < kernel->template_count; i++)
		if (span_equal(site->templates[i], name))
			return kernel->templates[i].name;
	for (size_t i = 0; i < site->source->macro_count; i++)
		if (span_is(name, site->source->macros[i].name))
			return site->source->macros[i].name;
	return NULL;
}

static bool is_whole(struct span span)
{
	return *span.begin == '(' ? text_matching(span.begin) == span.end : span_is_word(span);
}

static bool translate_inner(const struct site *site, struct span span, int depth, struct text *text)
{
	CLEANUP(text_release) struct text inner = {0};

	if (!translate(site, span, depth, &inner))
		return false;
	text_appendf(
		text, is_whole(span_of(text_string(&inner))) ? "%s" : "(%s)", text_string(&inner));
	return true;
}

/* Returns the end of "<int>" in max<int>(a, b), or NULL. */
static const char *after_template(const char *end)
{
	const char *open = text_skip(end), *close = *open == '<' ? text_matching(open) : NULL;

	return close && *text_skip(close) == '(' ? text_skip(close) : NULL;
}

/* Returns whether the name before `end` is no function, object or array. */
static bool is_plain(const char *end)
{
	return !strchr("(.[", *text_skip(end)) && !string_starts_with(text_skip(end), "->") &&
	       !after_template(end);
}

/* Returns the end of "name", "object.member" or "object->member". */
static const char *after_member(const char *c)
{
	const char *end = c + text_word_length(c);

	while ((*end == '.' && text_word_length(end + 1)) ||
		(string_starts_with(end, "->") && text_word_length(end + 2))) {
		const char *word = end + (*end == '.' ? 1 : 2);

		end = word + text_word_length(word);
	}
	return end;
}

static bool translate_list(const struct site *site, const struct span *parts, size_t count,
	int depth, struct text *text)
{
	for (size_t i = 0; i < count; i++) {
		text_append(text, i ? ", " : "(");
		if (!translate(site, parts[i], depth, text))
			return false;
	}
	text_append_char(text, ')');
	return count > 0;
}

/* Recognises "CEIL_DIV", "iDivUp", "div_round_up", "cdiv" and similar names. */
static bool is_ceil_div(struct span name)
{
	CLEANUP(memory_free) char *word = span_copy(name);

	return strcasecmp(word, "cdiv") == 0 ||
	       (strcasestr(word, "div") && (strcasestr(word, "ceil") || strcasestr(word, "up")));
}

/* Translates min, max, a division that rounds up, or a function of the source. */
static const char *translate_call(
	const struct site *site, struct span name, int depth, struct text *text)
{
	static const char *const ceilings[] = {"ceil", "ceilf", NULL};
	const size_t length = (size_t)(name.end - name.begin);
	const char *open =
		after_template(name.end) ? after_template(name.end) : text_skip(name.end);
	const char *close = *open == '(' ? text_matching(open) : NULL;
	CLEANUP(text_release) struct text made = {0};
	struct span parts[SPAN_PARTS_MAX];
	size_t count;

	if (!close || depth <= 0)
		return NULL;
	count = span_list(open, "([{", parts);
	if (span_is(name, "min") || span_is(name, "max")) {
		text_append_bytes(text, name.begin, length);
	} else if (is_ceil_div(name) && count == 2) {
		text_append(text, "ceil_div");
	} else if (text_word_among(name.begin, length, ceilings) && count == 1) {
		const char *slash =
			memrchr(parts[0].begin, '/', (size_t)(parts[0].end - parts[0].begin));

		if (!slash)
			return NULL;
		parts[1] = (struct span){slash + 1, parts[0].end};
		parts[0].end = slash;
		count = 2;
		text_append(text, "ceil_div");
	} else {
		return call_inline(site->text, name, open, &made) &&
				       translate_inner(site, span_of(made.data), depth - 1, text)
			       ? close
			       : NULL;
	}
	return translate_list(site, parts, count, depth - 1, text) ? close : NULL;
}

static bool find_macro(const struct site *site, struct span name, struct span *value)
{
	for (const char *c = NULL; (c = span_next(site->text, name, c)) != NULL;) {
		const char *after = c + (name.end - name.begin);

		if (*after == '(' || !call_defines(site->text, c))
			continue;
		*value = (struct span){after, after + strcspn(after, "\n")};
		return value->begin < value->end;
	}
	return false;
}

/* Translates a name. Returns its end, or NULL if that is impossible. */
static const char *translate_name(
	const struct site *site, struct span name, int depth, struct text *text)
{
	static const char *const of_gpu[][2] = {
		{"multiProcessorCount", "sm_count"}, {"warpSize", "32"}, {"C10_WARP_SIZE", "32"}};
	const struct span object = {name.begin, after_member(name.begin)};
	const char *known = known_name(site, object);
	struct span member, value;

	if (known) {
		text_append(text, known);
		return object.end;
	}
	if (depth > 0 &&
		(find_definition(site, object, &value) || find_macro(site, object, &value)) &&
		translate_inner(site, value, depth - 1, text))
		return object.end;
	if (!is_plain(object.end))
		return translate_call(site, name, depth, text);
	/* translate a host variable or a member */
	member = span_word_before(object.begin, object.end);
	for (size_t i = 0; i < ARRAY_COUNT(of_gpu); i++)
		if (span_is(member, of_gpu[i][0])) {
			text_append(text, of_gpu[i][1]);
			return object.end;
		}
	text_append_bytes(text, member.begin, (size_t)(member.end - member.begin));
	return object.end;
}

/* Returns the position after "(int)" or "static_cast<int>", else c. */
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

static size_t bytes_of_type(const char *begin, const char *end)
{
	struct source_variable type = source_type_read(begin, end);
	const size_t bytes = source_type_bytes(&type);

	source_variable_release(&type);
	return bytes;
}

/* Translates sizeof. A template type is the launch's type, else float. */
static const char *translate_sizeof(const struct site *site, const char *c, struct text *text)
{
	const struct source_kernel *kernel = site->kernel;
	const char *open = text_skip(c + strlen("sizeof"));
	const char *close = *open == '(' ? text_matching(open) : NULL;
	size_t bytes = close ? bytes_of_type(open + 1, close - 1) : 0;

	for (size_t i = 0; i < kernel->template_count && close && !bytes; i++)
		if (span_is(span_bare((struct span){open, close}), kernel->templates[i].name)) {
			bytes = i < site->template_count ? bytes_of_type(site->templates[i].begin,
								   site->templates[i].end)
							 : 0;
			bytes = bytes ? bytes : sizeof(float);
		}
	text_appendf(text, "%zu", bytes);
	return bytes ? close : NULL;
}

/* Translates "a ? b : c" to "(b if a else c)". */
static bool translate_choice(
	const struct site *site, struct span span, int depth, struct text *text, bool *is_right)
{
	const char *question = NULL, *colon = NULL;
	int round = 0, open = 0;

	for (const char *c = span.begin; c < span.end && !colon; c++) {
		round += (*c == '(') - (*c == ')');
		if (round || (*c == ':' && (c[1] == ':' || c[-1] == ':')))
			continue;
		open += (*c == '?') - (*c == ':');
		if (*c == '?' && !question)
			question = c;
		else if (*c == ':' && question && !open)
			colon = c;
	}
	if (!colon)
		return false;
	text_append_char(text, '(');
	*is_right = translate(site, (struct span){question + 1, colon}, depth, text);
	text_append(text, " if ");
	*is_right &= translate(site, (struct span){span.begin, question}, depth, text);
	text_append(text, " else ");
	*is_right &= translate(site, (struct span){colon + 1, span.end}, depth, text);
	text_append_char(text, ')');
	return true;
}

/* Translates an operator; longer operators come first. */
static const char *translate_operator(const char *c, struct text *text)
{
	static const char *const operators[][2] = {{"&&", " and "}, {"||", " or "}, {"==", "=="},
		{"!=", "!="}, {"<=", "<="}, {">=", ">="}, {"<<", "<<"}, {">>", ">>"}, {"/", "//"},
		{"!", "not "}, {"+", "+"}, {"-", "-"}, {"*", "*"}, {"%", "%"}, {"<", "<"},
		{">", ">"}, {" ", " "}, {"\n", " "}, {"\t", " "}};

	for (size_t i = 0; i < ARRAY_COUNT(operators); i++)
		if (string_starts_with(c, operators[i][0])) {
			text_append(text, operators[i][1]);
			return c + strlen(operators[i][0]);
		}
	return NULL;
}

/* Translates a number, including e.g. "1024.f". */
static const char *translate_number(const char *c, struct text *text)
{
	for (; isdigit((unsigned char)*c); c++)
		text_append_char(text, *c);
	if (*c == '.')
		c += 1 + strspn(c + 1, "0");
	c += strspn(c, "uUlLfF");
	return *c == '.' || text_is_word(*c) ? NULL : c;
}

/* Returns false if the expression language lacks a construct. */
static bool translate(const struct site *site, struct span span, int depth, struct text *text)
{
	bool is_right = false;
	struct span parts[SPAN_PARTS_MAX];

	span = span_trim(span);
	if (translate_choice(site, span, depth, text, &is_right))
		return is_right;
	for (const char *c = span.begin; c && c < span.end;) {
		const size_t length = text_word_length(c);

		if (text->length > BYTES_MAX)
			return false;
		if (after_cast(c, span.end) != c)
			c = after_cast(c, span.end);
		else if (length && string_starts_with(c + length, "::"))
			c += length + strlen("::");
		else if (text_word_is(c, length, "sizeof"))
			c = translate_sizeof(site, c, text);
		else if (length)
			c = translate_name(site, (struct span){c, c + length}, depth, text);
		else if (isdigit((unsigned char)*c))
			c = translate_number(c, text);
		else if (*c == '(' && text_matching(c) &&
			 translate_list(site, parts, span_list(c, "([{", parts), depth, text))
			c = text_matching(c);
		else
			c = translate_operator(c, text);
		if (!c)
			return false;
	}
	return span.begin < span.end;
}

static char *translated(const struct site *site, struct span span)
{
	CLEANUP(text_release) struct text text = {0};

	if (!translate(site, span, DEPTH_MAX, &text))
		return NULL;
	return *text.data == '(' && is_whole(span_of(text.data))
		       ? string_copy_bytes(text.data + 1, text.length - 2)
		       : text_detach(&text);
}

/* Reads dimensions that "grid.x = ..." and "grid.y = ..." set. */
static size_t members_read(const struct site *site, struct span name, char **dimensions)
{
	size_t count = 0;
	struct span value;

	for (size_t i = 0; i < 3; i++) {
		CLEANUP(memory_free)
		char *member = string_format(
			"%.*s.%c", (int)(name.end - name.begin), name.begin, (int)('x' + i));

		if (!find_definition(site, (struct span){member, member + strlen(member)}, &value))
			continue;
		dimensions[i] = translated(site, value);
		for (; count < i; count++)
			dimensions[count] =
				dimensions[count] ? dimensions[count] : string_copy("1");
		count = i + 1;
	}
	return count;
}

/* Resolves names to e.g. "dim3(x, y)", and splits it into dimensions. */
static size_t dimensions_read(const struct site *site, struct span span, char **dimensions)
{
	struct span parts[SPAN_PARTS_MAX] = {{span.begin, span.end}}, value;
	size_t count = 1;

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		const size_t length = text_word_length(span.begin);
		const char *open = text_skip(span.begin + length);

		if (text_word_is(span.begin, length, "dim3") && strchr("({", *open)) {
			value = (struct span){open + 1, span.end - 1};
		} else if (*span.begin == '{') {
			value = (struct span){span.begin + 1, span.end - 1};
		} else if (span.begin + length != span.end || known_name(site, span) ||
			   !find_definition(site, span, &value) ||
			   (!is_dim3(site, span) && !string_starts_with(value.begin, "dim3"))) {
			break;
		}
		count = span_split(value, "([{", ',', parts);
		if (count != 1)
			break;
		span = parts[0];
	}
	if (count == 1 && !known_name(site, span) && is_dim3(site, span))
		return members_read(site, span, dimensions);
	for (size_t i = 0; i < count && i < 3; i++)
		dimensions[i] = translated(site, parts[i]);
	while (count > 1 && dimensions[count - 1] && strcmp(dimensions[count - 1], "1") == 0) {
		count--;
		free(dimensions[count]);
		dimensions[count] = NULL;
	}
	return count <= 3 ? count : 0;
}

/* ---- calls of the runtime ---- */
/* Returns the span without casts and `&`. */
static struct span stripped(struct span span)
{
	for (const char *c = NULL; c != span.begin;) {
		c = span.begin = text_skip(span.begin);
		if (*c == '&')
			span.begin++;
		else if (*c == '(' && text_matching(c) && text_matching(c) < span.end &&
			 (*text_skip(text_matching(c)) == '&' ||
				 text_is_word(*text_skip(text_matching(c)))))
			span.begin = text_matching(c);
		else if (string_starts_with(c, "static_cast<") ||
			 string_starts_with(c, "reinterpret_cast<"))
			span = (struct span){strchr(c, '(') ? strchr(c, '(') + 1 : c, span.end - 1};
	}
	return span.begin < span.end ? span_trim(span) : (struct span){span.end, span.end};
}

/* Reads a "cudaLaunchConfig_t config" that is set member by member or by a list. */
static size_t read_config(const struct site *site, struct span config, struct span *parts)
{
	static const char *const members[] = {"gridDim", "blockDim", "dynamicSmemBytes"};
	size_t count = 0;

	config = stripped(config);
	for (; count < ARRAY_COUNT(members); count++) {
		CLEANUP(memory_free)
		char *name = string_format(
			"%.*s.%s", (int)(config.end - config.begin), config.begin, members[count]);

		if (!find_definition(site, (struct span){name, name + strlen(name)}, &parts[count]))
			break;
	}
	if (count < 2 && find_definition(site, config, parts) && *parts[0].begin == '{')
		count = span_list(parts[0].begin, "([{", parts);
	return count;
}

/* Reads "cudaLaunchKernel(k, grid, block, arguments, smem, stream)", "cudaLaunchKernelEx(&config,
 * k, x, n)". */
static bool read_call(const char *name, struct site *site, struct span *parts, size_t *part_count)
{
	struct span all[SPAN_PARTS_MAX], list;
	int depth = 0;

	for (const char *c = name; c > site->text.begin && !strchr(";{}", *c); c--) {
		const char *word;
		size_t count;

		depth += (*c == ')') - (*c == '(');
		if (*c != '(' || depth >= 0)
			continue;
		depth = 0;
		word = span_word_before(site->text.begin, c).begin;
		if (!string_starts_with(word, "cudaLaunch"))
			continue;
		count = span_list(c, "([{<", all);
		if (string_starts_with(word, "cudaLaunchKernelEx") && count > 1) {
			*part_count = read_config(site, all[0], parts);
			site->argument_count = count - 2;
			memcpy(site->arguments, all + 2, (count - 2) * sizeof(*all));
		} else if (count > 4) {
			memcpy(parts, (struct span[]){all[1], all[2], all[4]}, 3 * sizeof(*all));
			*part_count = 3;
			if (find_definition(site, all[3], &list) && *list.begin == '{')
				site->argument_count =
					span_list(list.begin, "([{", site->arguments);
		}
		return *part_count >= 2;
	}
	return false;
}

static bool read_launch(
	const char *name, size_t length, struct site *site, struct span *parts, size_t *part_count)
{
	const char *open = text_skip(name + length);

	*part_count = 0;
	site->at = name;
	if (read_site(name + length, site, parts, part_count))
		return true;
	if (*open == '<')
		site->template_count = span_list(open, "([{<", site->templates);
	return read_call(name, site, parts, part_count);
}

/* Returns f in "auto f = &k<T>;". */
static struct span alias_of(const struct site *site, const char *name)
{
	const char *end = name;

	while (end > site->text.begin && strchr(" \t\n&", end[-1]))
		end--;
	if (end == site->text.begin || end[-1] != '=')
		return (struct span){name, name};
	end = span_trim((struct span){site->text.begin, end - 1}).end;
	return span_word_before(site->text.begin, end);
}

/* Reads the launch of the kernel's name, or of a variable with its value. */
static bool find_launch(
	const char *name, size_t length, struct site *site, struct span *parts, size_t *part_count)
{
	struct span alias;

	if (read_launch(name, length, site, parts, part_count))
		return true;
	alias = alias_of(site, name);
	for (const char *c = name; (c = span_next(site->text, alias, c)) != NULL;)
		if (read_launch(c, (size_t)(alias.end - alias.begin), site, parts, part_count))
			return true;
	return false;
}

static char *value_of(const struct site *site, struct span argument)
{
	static const char *const words[][2] = {
		{"NULL", "NULL"}, {"nullptr", "NULL"}, {"true", "1"}, {"false", "0"}};
	struct span value = stripped(argument);
	char *end;

	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (span_is(value, words[i][0]))
			return string_copy(words[i][1]);
	if (text_word_length(value.begin) && !find_definition(site, value, &value))
		return NULL;
	(void)strtod(value.begin, &end);
	if (end == value.begin || end + strspn(end, "fFuUlL") != value.end)
		return NULL;
	return string_copy_bytes(value.begin, (size_t)(end - value.begin));
}

/* Replaces an argument "p" by its members "p.n", "p.m". `names` owns the new text. */
static void flatten(struct site *site, struct name_set *names)
{
	struct span given[SPAN_PARTS_MAX];
	const size_t given_count = site->argument_count;

	memcpy(given, site->arguments, sizeof(given));
	site->argument_count = 0;
	for (size_t i = 0; i < site->kernel->argument_count && i < SPAN_PARTS_MAX; i++) {
		const struct source_variable *argument = &site->kernel->arguments[i];
		CLEANUP(memory_free) char *text = NULL;
		size_t at;

		if (argument->parameter >= given_count)
			return;
		text = string_format("%.*s%s",
			(int)(given[argument->parameter].end - given[argument->parameter].begin),
			given[argument->parameter].begin, argument->member ? argument->member : "");
		at = name_set_add(names, text, strlen(text));
		site->arguments[site->argument_count++] = span_of(names->items[at]);
	}
}

static void note_unclear(const struct site *site, const char *what, struct span written,
	char *const *dimensions, size_t count, struct text *unclear)
{
	for (size_t i = 0; i < count; i++)
		if (!dimensions[i])
			count = 0;
	if (count)
		return;
	(void)find_definition(site, written, &written);
	text_appendf(unclear, "the %s of the launch is not understood: ", what);
	for (const char *c = written.begin; c < written.end; c++)
		if (!isspace((unsigned char)*c))
			text_append_char(unclear, *c);
	text_append_char(unclear, '\n');
}

/* Reads the first launch of the kernel. A launch in a directive counts only if there is no
 * other. */
static bool find_first(struct site *site, struct span *parts, size_t *part_count)
{
	const struct span name = span_of(site->kernel->name);

	for (int pass = 0; pass < 2; pass++)
		for (const char *c = NULL; (c = span_next(site->text, name, c)) != NULL;)
			if (call_is_in_directive(site->text, c) == pass &&
				find_launch(c, strlen(site->kernel->name), site, parts, part_count))
				return true;
	return false;
}

bool launch_site_find(const char *text, const struct kernel_source *source,
	const struct source_kernel *kernel, struct launch_site *site)
{
	CLEANUP(memory_free) char *inlined = call_inline_launches(text);
	CLEANUP(name_set_release) struct name_set members = {0};
	struct site found = {.text = span_of(inlined), .source = source, .kernel = kernel};
	struct span parts[SPAN_PARTS_MAX], value;
	char *smem[3] = {NULL};
	size_t count;

	*site = (struct launch_site){0};
	if (!find_first(&found, parts, &count))
		return false;
	for (size_t i = 0; i < found.template_count && i < ARRAY_COUNT(site->templates); i++) {
		struct span *given = &found.templates[i];

		site->templates[i] = find_definition(&found, *given, &value) &&
						     isdigit((unsigned char)*value.begin)
					     ? span_copy(value)
					     : span_copy(*given);
	}
	for (size_t i = 0; i < found.argument_count; i++)
		found.arguments[i] = stripped(found.arguments[i]);
	if (kernel->is_flattened)
		flatten(&found, &members);
	for (size_t i = 0; i < found.argument_count && i < ARRAY_COUNT(site->values); i++)
		site->values[i] = value_of(&found, found.arguments[i]);
	site->grid_count = dimensions_read(&found, parts[0], site->grid);
	site->block_count = dimensions_read(&found, parts[1], site->block);
	note_unclear(&found, "grid", parts[0], site->grid, site->grid_count, &site->unclear);
	note_unclear(&found, "block", parts[1], site->block, site->block_count, &site->unclear);
	if (count > 2 && dimensions_read(&found, parts[2], smem) == 1)
		site->smem_bytes = smem[0];
	return true;
}

void launch_site_release(struct launch_site *site)
{
	for (size_t i = 0; i < ARRAY_COUNT(site->templates); i++)
		free(site->templates[i]);
	for (size_t i = 0; i < ARRAY_COUNT(site->values); i++)
		free(site->values[i]);
	for (size_t i = 0; i < 3; i++) {
		free(site->grid[i]);
		free(site->block[i]);
	}
	free(site->smem_bytes);
	text_release(&site->unclear);
	*site = (struct launch_site){0};
}
