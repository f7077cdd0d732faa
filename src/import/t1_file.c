/* SPDX-License-Identifier: MIT */
#include "import/t1_file.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"

const char *const t1_problem_keys[T1_DIMENSIONS] = {
	"problem_size_x", "problem_size_y", "problem_size_z"};

/* ---- members ---- */
/* A member that is there and not null. */
bool t1_find(const struct json_at *object, const char *key, struct json_at *member)
{
	return json_find(object, key, member) && json_type(member) != JSON_NULL;
}

enum status t1_list(
	const struct json_at *object, const char *key, struct json_at *list, struct error *err)
{
	TRY(json_member(object, key, list, err));
	return json_expect(list, JSON_ARRAY, err);
}

/* A member that is a string or a number, as text; NULL where it is not there. */
enum status t1_text(const struct json_at *object, const char *key, char **text, struct error *err)
{
	struct json_at member;
	const char *string;

	*text = NULL;
	if (!t1_find(object, key, &member))
		return STATUS_OK;
	if (json_type(&member) == JSON_NUMBER) {
		*text = json_print(member.node, false);
		return STATUS_OK;
	}
	TRY(json_get_string(&member, &string, err));
	*text = string_copy(string);
	return STATUS_OK;
}

/* One of names, or an error that lists them; absent: `otherwise`. */
enum status t1_name(const struct json_at *object, const char *key, const char *const *names,
	int otherwise, int *index, struct error *err)
{
	struct json_at member;
	const char *text;

	*index = otherwise;
	if (!t1_find(object, key, &member))
		return STATUS_OK;
	TRY(json_get_string(&member, &text, err));
	*index = name_find(text, names);
	if (*index < 0) {
		CLEANUP(text_release) struct text known = {0};

		for (; *names; names++)
			text_append_listed(&known, *names);
		return json_error(&member, err, "one of %s", text_string(&known));
	}
	return STATUS_OK;
}

/* ---- Python text ---- */
static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The parameter of this name; false: there is none. */
bool t1_parameter(const struct t1 *t1, const char *name, size_t length, struct json_at *parameter)
{
	struct json_at item = {0}, at;
	const char *found;

	while (json_next(&t1->parameters, &item)) {
		if (!json_find(&item, "Name", &at) ||
			json_get_string(&at, &found, NULL) != STATUS_OK ||
			strlen(found) != length || strncmp(found, name, length) != 0)
			continue;
		*parameter = item;
		return true;
	}
	return false;
}

/* "ProblemSize[1]" or "ProblemSize": how much of the text it is, and which; 0: it is neither. */
static size_t problem_reference(const char *text, size_t *axis)
{
	static const char word[] = "ProblemSize";
	const size_t length = strlen(word);

	*axis = 0;
	if (strncmp(text, word, length) != 0 || is_name(text[length]))
		return 0;
	if (text[length] != '[' || text[length + 1] < '0' ||
		text[length + 1] >= '0' + T1_DIMENSIONS || text[length + 2] != ']')
		return length;
	*axis = (size_t)(text[length + 1] - '0');
	return length + 3;
}

static void append_values(const struct json_at *parameter, struct text *text);

/* Text with `list(...)`, which our lists need not, taken away; with `sizes` also ProblemSize as
 * keys and parameters as the lists of their values; with `index`, `i` is called so. */
void t1_append_python(
	const struct t1 *t1, const char *python, bool sizes, const char *index, struct text *text)
{
	while (*python) {
		size_t length = 0, axis;
		struct json_at parameter;

		while (is_name(python[length]))
			length++;
		if (!length) {
			text_append_char(text, *python++);
		} else if (length == 4 && strncmp(python, "list", 4) == 0 && python[4] == '(') {
			python += length;
		} else if (sizes && problem_reference(python, &axis)) {
			text_append(text, t1_problem_keys[axis]);
			python += problem_reference(python, &axis);
		} else if (sizes && t1_parameter(t1, python, length, &parameter)) {
			append_values(&parameter, text);
			python += length;
		} else if (index && length == 1 && *python == 'i') {
			text_append(text, index);
			python++;
		} else {
			text_append_bytes(text, python, length);
			python += length;
		}
	}
}

static void append_values(const struct json_at *parameter, struct text *text)
{
	const struct t1 none = {0};
	struct json_at values;
	const char *python;

	if (!json_find(parameter, "Values", &values))
		return;
	text_append_char(text, '(');
	if (json_get_string(&values, &python, NULL) == STATUS_OK)
		t1_append_python(&none, python, false, NULL, text);
	else {
		CLEANUP(memory_free) char *printed = json_print(values.node, false);

		text_append(text, printed);
	}
	text_append_char(text, ')');
}

void t1_put_python(const struct t1 *t1, struct json *object, const char *key, const char *python,
	bool sizes, const char *index)
{
	CLEANUP(text_release) struct text text = {0};

	t1_append_python(t1, python, sizes, index, &text);
	json_put_string(object, key, text_string(&text));
}

/* A key that has one value. */
void t1_add_key(struct t1 *t1, const char *name, int64_t value)
{
	struct json *key = json_new_object();

	json_put_int(key, "min", value);
	json_put_int(key, "max", value);
	json_put_int(key, "default", value);
	json_put(t1->keys, name, key);
	t1->key_count++;
}
