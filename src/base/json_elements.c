/* SPDX-License-Identifier: MIT */
#include "base/json_elements.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"

/* What is wrong in a file up to this size is said by its line. */
static const long long whole_size_max = 16 << 20;
/* Of one element, or of all that is around the list. */
static const size_t part_size_max = (size_t)1 << 30;
/* Pipes may have no end. */
static const uint64_t file_size_max = (uint64_t)1 << 36;

/* ---- text that is not parsed ---- */
/* What cJSON takes for space. */
static const char *skip_space(const char *at, const char *end)
{
	while (at<end && * at> 0 && *at <= ' ')
		at++;
	return at;
}

/* The end of the string whose quote is at; NULL: it does not end. */
static inline const char *string_end(const char *at, const char *end)
{
	static const bool stops[256] = {['\0'] = true, ['"'] = true, ['\\'] = true};

	for (at++; at < end; at += at < end && *at ? 2 : 1) {
		while (!stops[(unsigned char)*at])
			at++;
		if (at < end && *at == '"')
			return at + 1;
	}
	return NULL;
}

/* The end of the value that begins at; NULL: it does not end, or there is none. Brackets are
 * counted, not paired: the parser looks closer. Most of a file's bytes are seen here alone. */
static const char *value_end(const char *at, const char *end)
{
	static const bool stops[256] = {['\0'] = true,
		['"'] = true,
		['['] = true,
		['{'] = true,
		[']'] = true,
		['}'] = true};
	static const char scalar[] =
		"+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t depth = 0;

	if (at < end && *at != '"' && *at != '[' && *at != '{') {
		const size_t length = strspn(at, scalar);

		return length && length < (size_t)(end - at) ? at + length : NULL;
	}
	while (at && at < end) {
		if (*at == '"') {
			at = string_end(at, end);
		} else {
			depth += *at == '[' || *at == '{' ? 1 : *at ? (size_t)-1 : 0;
			at++;
		}
		if (!at || !depth)
			return at;
		while (!stops[(unsigned char)*at])
			at++;
	}
	return NULL;
}

/* Moves rest to where the next value begins, past its key. */
static bool next_start(struct json_text *rest, struct json_text *key)
{
	const char *start, *after;

	*key = (struct json_text){rest->at, rest->at};
	if (rest->at == rest->end || !strchr("[{,", *rest->at))
		return false;
	start = skip_space(rest->at + 1, rest->end);
	after = start < rest->end && *start == '"' ? string_end(start, rest->end) : NULL;
	rest->at = start;
	if (!after)
		return start < rest->end;
	start = skip_space(after, rest->end);
	if (start == rest->end || *start != ':')
		return true;
	*key = (struct json_text){rest->at, after};
	rest->at = skip_space(start + 1, rest->end);
	return rest->at < rest->end;
}

bool json_text_next(struct json_text *rest, struct json_text *key, struct json_text *value)
{
	if (!next_start(rest, key))
		return false;
	*value = (struct json_text){rest->at, value_end(rest->at, rest->end)};
	if (!value->end)
		return false;
	rest->at = skip_space(value->end, rest->end);
	return true;
}

bool json_text_is(const struct json_text *text, const char *string)
{
	const size_t length = strlen(string);

	return (size_t)(text->end - text->at) == length + 2 && *text->at == '"' &&
	       memcmp(text->at + 1, string, length) == 0;
}

/* ---- elements ---- */
enum place {
	BEFORE_LIST,
	BEFORE_ELEMENT, /* the first one, or after a comma */
	AFTER_ELEMENT,
	AFTER_LIST,
};

struct reading {
	const char *path;
	const struct json_elements *elements;
	enum place place;
	size_t count;
	uint64_t size;      /* of the file so far */
	struct text window; /* what was read and is in no element yet */
	size_t worthwhile;  /* length of the window at which it is looked at again */
	struct text around; /* the list */
};

static enum status visit(
	const struct reading *reading, const struct json_text *text, struct error *err)
{
	const struct json_elements *elements = reading->elements;
	const struct json_at root = {.file = reading->path};
	const struct json_at list = {.file = reading->path, .parent = &root, .key = elements->list};
	struct json_at element = {.file = reading->path, .parent = &list, .index = reading->count};
	CLEANUP(text_release) struct text name = {0};
	CLEANUP(json_release) struct json *tree = NULL;

	if (elements->wants && !elements->wants(text, elements->context))
		return STATUS_OK;
	text_appendf(&name, "%s: ", reading->path);
	json_path(&element, &name);
	TRY(json_parse(text->at, (size_t)(text->end - text->at), name.data, &tree, err));
	element.node = tree;
	elements->visit(&element, elements->context);
	return STATUS_OK;
}

/* Where the list's first element stands; NULL: it was not found. */
static const char *find_list(const struct reading *reading)
{
	struct json_text key,
		rest = {reading->window.data, reading->window.data + reading->window.length};

	rest.at = skip_space(rest.at, rest.end);
	while (next_start(&rest, &key)) {
		const char *end;

		if (json_text_is(&key, reading->elements->list))
			return *rest.at == '[' ? rest.at + 1 : NULL;
		end = value_end(rest.at, rest.end);
		if (!end)
			return NULL;
		rest.at = skip_space(end, rest.end);
	}
	return NULL;
}

static enum status refuse_list(const struct reading *reading, struct error *err)
{
	return error_set(err, STATUS_BAD_INPUT, "%s: $.%s[%zu]: expected valid JSON", reading->path,
		reading->elements->list, reading->count);
}

/* Takes elements off the window's front; *at: how far. False: more of the file must be read. */
static bool take_next(
	struct reading *reading, const char **at, enum status *status, struct error *err)
{
	struct json_text element = {.end = reading->window.data + reading->window.length};

	element.at = skip_space(*at, element.end);
	*at = element.at;
	if (element.at == element.end)
		return false;
	if (*element.at == ']' && (reading->place == AFTER_ELEMENT || !reading->count)) {
		reading->place = AFTER_LIST;
	} else if (reading->place == AFTER_ELEMENT && *element.at == ',') {
		reading->place = BEFORE_ELEMENT;
		++*at;
	} else if (reading->place == AFTER_ELEMENT || strchr("]},:", *element.at)) {
		*status = refuse_list(reading, err);
	} else {
		element.end = value_end(element.at, element.end);
		if (!element.end)
			return false;
		*status = visit(reading, &element, err);
		reading->place = AFTER_ELEMENT;
		reading->count++;
		*at = element.end;
	}
	return *status == STATUS_OK && reading->place != AFTER_LIST;
}

static enum status look(struct reading *reading, struct error *err)
{
	struct text *window = &reading->window;
	const char *at = window->data, *end = window->data + window->length;
	enum status status = STATUS_OK;

	if (reading->place == BEFORE_LIST) {
		at = find_list(reading);
		if (at) {
			text_append_bytes(
				&reading->around, window->data, (size_t)(at - window->data));
			reading->place = BEFORE_ELEMENT;
		}
	}
	while (at && take_next(reading, &at, &status, err)) {
	}
	if (reading->place == AFTER_LIST) {
		text_append_bytes(&reading->around, at, (size_t)(end - at));
		text_clear(window);
	} else if (at) {
		memmove(window->data, at, (size_t)(end - at));
		text_cut(window, (size_t)(end - at));
	}
	/* what is longer than a piece is not looked at with every piece */
	reading->worthwhile = 2 * window->length;
	return status;
}

static enum status take(const char *data, size_t size, void *context, struct error *err)
{
	struct reading *reading = context;
	struct text *to = reading->place == AFTER_LIST ? &reading->around : &reading->window;

	reading->size += size;
	if (reading->size > file_size_max || to->length + size > part_size_max) {
		error_set(err, STATUS_BAD_INPUT, "%s: expected at most %s, found more",
			reading->path,
			reading->size > file_size_max ? "64 GiB"
						      : "1 GiB in an element, and around the list");
		return error_hint(err, "divide the file");
	}
	text_append_bytes(to, data, size);
	return to == &reading->window && to->length >= reading->worthwhile ? look(reading, err)
									   : STATUS_OK;
}

static void reading_release(struct reading *reading)
{
	text_release(&reading->window);
	text_release(&reading->around);
}

static enum status read_elements(struct reading *reading, struct json **root, struct error *err)
{
	const struct text *around;

	TRY(file_read_pieces(reading->path, take, reading, err));
	if (reading->window.length)
		TRY(look(reading, err));
	if (reading->place != AFTER_LIST && reading->place != BEFORE_LIST)
		return refuse_list(reading, err);
	around = reading->place == AFTER_LIST ? &reading->around : &reading->window;
	return json_parse(text_string(around), around->length, reading->path, root, err);
}

enum status json_load_elements(const char *path, const struct json_elements *elements,
	struct json **root, struct error *err)
{
	CLEANUP(reading_release) struct reading reading = {.path = path, .elements = elements};
	CLEANUP(json_release) struct json *whole = NULL;
	const enum status status = read_elements(&reading, root, err);
	struct error precise = {0};
	struct stat info;

	/* the same with lines of the file and without a place in the list */
	if (status != STATUS_OK && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
		info.st_size <= whole_size_max && json_load(path, &whole, &precise) != STATUS_OK &&
		err)
		*err = precise;
	return status;
}
