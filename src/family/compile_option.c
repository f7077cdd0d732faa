/* SPDX-License-Identifier: MIT */
#include "family/compile_option.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Option names without dashes, and the values allowed after `=`: words, "#" for any number, or NULL
 * for none. */
static const struct {
	const char *name, *values;
} options[] = {
	{"use_fast_math", NULL},
	{"extra-device-vectorization", NULL},
	{"restrict", NULL},
	{"device-int128", NULL},
	{"generate-line-info", NULL},
	{"lineinfo", NULL},
	{"std", "c++11 c++14 c++17 c++20"},
	{"ftz", "true false"},
	{"prec-sqrt", "true false"},
	{"prec-div", "true false"},
	{"fmad", "true false"},
	{"dopt", "on off"},
	{"maxrregcount", "#"},
	{"diag-suppress", "#"},
	{"ptxas-options", "-O0 -O1 -O2 -O3 --allow-expensive-optimizations=true "
			  "--allow-expensive-optimizations=false -dlcm=ca -dlcm=cg -dlcm=cs "
			  "-dscm=wb -dscm=cg -dscm=cs --register-usage-level=0 "
			  "--register-usage-level=1 --register-usage-level=2 "
			  "--register-usage-level=3 --register-usage-level=4 "
			  "--register-usage-level=5 --register-usage-level=6 "
			  "--register-usage-level=7 --register-usage-level=8 "
			  "--register-usage-level=9 --register-usage-level=10"},
	{"Xptxas", "-O0 -O1 -O2 -O3 -dlcm=ca -dlcm=cg -dlcm=cs -dscm=wb -dscm=cg -dscm=cs"},
};

static bool is_one_of(const char *value, const char *values)
{
	const size_t length = strlen(value);
	const char *at;

	if (!values || !length)
		return false;
	/* warning 47 reports a redefined macro, so it must not be suppressed */
	if (strcmp(values, "#") == 0)
		return length < 6 && strcmp(value, "47") != 0 &&
		       strspn(value, "0123456789") == length;
	for (at = values; (at = strstr(at, value)) != NULL; at++)
		if ((at == values || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return strcspn(value, " ") == length;
	return false;
}

static bool is_define(const char *option)
{
	static const char word[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	const size_t length = strspn(option + 2, word);
	const char *value = option + 2 + length;

	if (!length || strspn(option + 2, "0123456789") > 0)
		return false;
	return !*value || (option[1] == 'D' && *value == '=' && !strpbrk(value, "\n\r\\"));
}

const char *compile_option_controls(const char *option)
{
	return string_starts_with(option, COMPILE_OPTION_CONTROLS)
		       ? option + strlen(COMPILE_OPTION_CONTROLS)
		       : NULL;
}

static bool option_accepts(const char *option)
{
	const char *name = option + strspn(option, "-"),
		   *controls = compile_option_controls(option);
	const size_t dashes = (size_t)(name - option), length = strcspn(name, "=");

	if (controls)
		return *controls && !strpbrk(controls, " ,;\"\\");
	if (dashes == 1 && (name[0] == 'D' || name[0] == 'U'))
		return is_define(option);
	for (size_t i = 0; dashes >= 1 && dashes <= 2 && i < ARRAY_COUNT(options); i++)
		if (strlen(options[i].name) == length &&
			strncmp(options[i].name, name, length) == 0)
			return name[length] ? is_one_of(name + length + 1, options[i].values)
					    : !options[i].values;
	return false;
}

const struct record_rule compile_option_rule = {
	.expected = "an option that writes no file and leaves the architecture: "
		    "--use_fast_math, --std=c++11|14|17|20, --ftz=, --prec-sqrt=, --prec-div=, "
		    "--fmad= true|false, --maxrregcount=N, --restrict, "
		    "--extra-device-vectorization, --device-int128, --lineinfo, --dopt=on|off, "
		    "--diag-suppress=N, --ptxas-options=-O0..-O3|-dlcm=..|-dscm=..|"
		    "--allow-expensive-optimizations=..|--register-usage-level=0..10|"
		    "--apply-controls=FILE, -DNAME=VALUE, -UNAME",
	.accepts = option_accepts,
};

bool compile_option_is_standard(const char *option)
{
	option += strspn(option, "-");
	return strncmp(option, "std=", 4) == 0;
}

static const char macro_word[] = "macro ", option_word[] = "option ";

static bool is_macro(const char *text)
{
	return string_starts_with(text, macro_word) && name_is_valid(text + strlen(macro_word));
}

/* Accepts options with a number, a truth value or a file. The build of a kernel checks the
 * value. */
static bool is_option(const char *text)
{
	CLEANUP(memory_free) char *number = NULL, *truth = NULL;

	if (!string_starts_with(text, option_word))
		return false;
	text += strlen(option_word);
	number = string_format("%s=1", text);
	truth = string_format("%s=true", text);
	return text[0] == '-' && text[1] != 'D' &&
	       (option_accepts(number) || option_accepts(truth));
}

enum status compile_option_of(const char *name, const struct define_binding *binding,
	struct value value, char **option, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	*option = NULL;
	value_format(value, &text);
	if (!text.length)
		return STATUS_OK;
	*option = string_format("%s=%s", binding->option, text_string(&text));
	if (option_accepts(*option))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "%s: the compiler option %s has no value %s", name,
		binding->option, text_string(&text));
	free(*option);
	*option = NULL;
	return STATUS_BAD_INPUT;
}

/* of_constant distinguishes constants, which cannot be arguments, from keys and parameters. */
static enum status binding_read(const struct json_at *at, bool of_constant,
	struct define_binding *binding, const char *expected, struct error *err)
{
	static const char *const names[] = {[AS_DEFAULT] = "",
		[AS_CONSTANT] = "constant",
		[AS_ARGUMENT] = "argument",
		[AS_MACRO] = "",
		[AS_OPTION] = "",
		[AS_MODEL] = "model",
		NULL};
	const char *text;
	int found;

	TRY(json_get_string(at, &text, err));
	found = name_find(text, names);
	if (found == AS_DEFAULT || (found > 0 && (found == AS_MODEL) == of_constant))
		binding->as = (enum define_as)found;
	else if (is_macro(text))
		*binding = (struct define_binding){AS_MACRO, .macro = text + strlen(macro_word)};
	else if (!of_constant && is_option(text))
		*binding = (struct define_binding){AS_OPTION, .option = text + strlen(option_word)};
	else
		return json_error(at, err, "%s", expected);
	return STATUS_OK;
}

static enum status value_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	(void)context;
	return binding_read(at, false, field,
		"\"constant\" (a -D), \"argument\", \"macro NAME\" (a -D of that name) or "
		"\"option --OPTION\" (the compiler's --OPTION=VALUE)",
		err);
}

static enum status constant_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	(void)context;
	return binding_read(
		at, true, field, "\"model\" (no -D) or \"macro NAME\" (a -D of that name)", err);
}

const struct record_custom define_binding_member = {value_read, NULL, NULL},
			   define_constant_member = {constant_read, NULL, NULL};

/* Characters allowed in name expressions. None of them can end a string or begin a directive. */
static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
			      " :<>,()*&+-.";

static bool is_plain(const char *text, size_t length)
{
	return length > 0 && strspn(text, allowed) >= length;
}

static enum status entry_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	const struct expression_reading *reading = context;
	struct entry *entry = field;
	const char *text, *close;
	size_t capacity = 0;

	TRY(json_get_string(at, &entry->text, err));
	if (!*entry->text || strspn(entry->text, " 0123456789") > 0 ||
		strcspn(entry->text, " ") < strcspn(entry->text, "<{"))
		return json_error(at, err, "the name of a kernel");
	for (text = entry->text; *text;) {
		const size_t length = strcspn(text, "{");
		CLEANUP(memory_free) char *expression = NULL;

		close = text[length] ? strchr(text + length, '}') : NULL;
		if ((length && !is_plain(text, length)) || (text[length] && !close))
			return json_error(at, err,
				"the name of a kernel such as \"gemm\" or \"gemm<{BM}, float>\"");
		if (!close)
			break;
		text += length + 1;
		expression = string_copy_bytes(text, (size_t)(close - text));
		ARRAY_GROW(entry->values.items, entry->values.count, capacity);
		entry->values.items[entry->values.count] = NULL;
		TRY(expression_text_compile(at, expression, reading->names,
			&entry->values.items[entry->values.count], err));
		entry->values.count++;
		text = close + 1;
	}
	return STATUS_OK;
}

static void entry_release(void *field)
{
	struct entry *entry = field;

	for (size_t i = 0; i < entry->values.count; i++)
		expression_free(entry->values.items[i]);
	free(entry->values.items);
	*entry = (struct entry){0};
}

const struct record_custom entry_member = {entry_read, NULL, entry_release};

static enum status append_value(const struct expression *expression, struct value value,
	struct text *name, struct error *err)
{
	switch (value.type) {
	case VALUE_INT:
		text_appendf(name, "%" PRId64, value.integer);
		return STATUS_OK;
	case VALUE_BOOL:
		text_append(name, value.boolean ? "true" : "false");
		return STATUS_OK;
	case VALUE_STRING:
		if (!is_plain(value.string, strlen(value.string)))
			break;
		text_append(name, value.string);
		return STATUS_OK;
	case VALUE_REAL:
	case VALUE_NONE:
	case VALUE_LIST:
		break;
	}
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected an integer, a boolean or a word for {%s}, found %s",
		expression_where(expression), expression_text(expression),
		value_type_name(value.type));
}

enum status entry_evaluate(
	const struct entry *entry, const struct value *values, char **name, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};
	const char *from = entry->text;

	for (size_t i = 0; i < entry->values.count; i++) {
		const struct expression *expression = entry->values.items[i];
		const size_t length = strcspn(from, "{");
		CLEANUP(value_arena_release) struct value_arena arena = {0};
		struct value value;

		text_append_bytes(&text, from, length);
		from = strchr(from + length, '}') + 1;
		TRY(expression_evaluate(expression, values, &arena, &value, err));
		TRY(append_value(expression, value, &text, err));
	}
	text_append(&text, from);
	*name = text_detach(&text);
	return STATUS_OK;
}
