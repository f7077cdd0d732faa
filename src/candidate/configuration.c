/* SPDX-License-Identifier: MIT */
#include "candidate/configuration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"
#include "space/enumerate.h"

static struct value configuration_value(
	const struct bound_family *bound, const choice *configuration, size_t parameter)
{
	return bound->space->parameters[parameter].values.items[configuration[parameter]];
}

void configuration_format(
	const struct bound_family *bound, const choice *configuration, struct text *text)
{
	for (size_t i = 0; i < bound->family->parameter_count; i++) {
		text_appendf(text, "%s%s=", i ? "," : "", bound->family->parameters[i].name);
		value_format(configuration_value(bound, configuration, i), text);
	}
}

enum status configuration_refuse(
	const struct bound_family *bound, size_t parameter, const char *found, struct error *err)
{
	const struct value_list *list = &bound->space->parameters[parameter].values;
	CLEANUP(text_release) struct text known = {0};

	for (size_t i = 0; i < list->count; i++) {
		text_append(&known, i ? ", " : "");
		value_format(list->items[i], &known);
	}
	return error_set(err, STATUS_BAD_INPUT, "%s: expected one of %.300s, found \"%s\"",
		bound->family->parameters[parameter].name, text_string(&known), found);
}

/* Returns the choice whose value is printed as text, or -1. */
static ptrdiff_t find_value(const struct value_list *values, const char *text)
{
	CLEANUP(text_release) struct text printed = {0};
	ptrdiff_t found = -1;

	for (size_t i = 0; i < values->count && found < 0; i++) {
		text_clear(&printed);
		value_format(values->items[i], &printed);
		if (strcmp(text_string(&printed), text) == 0)
			found = (ptrdiff_t)i;
	}
	return found;
}

static enum status parse_value(const struct bound_family *bound, size_t parameter, const char *text,
	struct value *value, struct error *err)
{
	const struct value_list *list = &bound->space->parameters[parameter].values;
	const bool is_number = list->count > 0 && list->items[0].type != VALUE_STRING;
	const ptrdiff_t found = find_value(list, text);
	long long integer;
	double real;
	char *end;

	if (found >= 0) {
		*value = list->items[found];
		return STATUS_OK;
	}
	errno = 0;
	integer = strtoll(text, &end, 10);
	if (is_number && *text && !*end && errno == 0 && *text != ' ') {
		*value = value_int(integer);
		return STATUS_OK;
	}
	real = strtod(text, &end);
	if (is_number && *text && !*end && real - real == 0 && *text != ' ') {
		*value = value_real(real);
		return STATUS_OK;
	}
	return configuration_refuse(bound, parameter, text, err);
}

static const char **parameter_names(const struct family *family)
{
	const char **names = memory_zeroed(family->parameter_count + 1, sizeof(*names));

	for (size_t i = 0; i < family->parameter_count; i++)
		names[i] = family->parameters[i].name;
	return names;
}

/* One value per parameter while a configuration is read. Strings belong to the source. */
struct assignment {
	const struct bound_family *bound;
	struct value *values;
	bool *given;
};

/* Returns the index of a parameter. Returns -1 and sets an error if it is unknown or was named
 * before. */
static int take_parameter(const struct assignment *into, const char *name, struct error *err)
{
	CLEANUP(memory_free) const char **names = parameter_names(into->bound->family);
	const int found = name_find(name, names);

	if (found < 0) {
		error_set(err, STATUS_BAD_INPUT, "%s has no parameter \"%s\"",
			into->bound->family->name, name);
		name_hint_or_list(name, names, err);
	} else if (into->given[found]) {
		error_set(err, STATUS_BAD_INPUT, "%s: the parameter is given twice", name);
		return -1;
	} else {
		into->given[found] = true;
	}
	return found;
}

static enum status parse_piece(const struct assignment *into, char *piece, struct error *err)
{
	char *equals = strchr(piece, '=');
	int parameter;

	if (!equals || equals == piece)
		return error_set(err, STATUS_BAD_INPUT, "expected NAME=VALUE, found \"%s\"", piece);
	*equals = '\0';
	parameter = take_parameter(into, piece, err);
	if (parameter < 0)
		return STATUS_BAD_INPUT;
	return parse_value(
		into->bound, (size_t)parameter, equals + 1, &into->values[parameter], err);
}

enum status configuration_parse(const struct bound_family *bound, const char *text,
	struct value *values, bool *given, struct error *err)
{
	const struct assignment into = {bound, values, given};
	CLEANUP(memory_free) char *copy = string_copy(text);
	char *rest = copy, *piece;

	memset(given, 0, bound->family->parameter_count * sizeof(*given));
	while (*text && (piece = strsep(&rest, ",")) != NULL)
		if (parse_piece(&into, piece, err) != STATUS_OK)
			return error_context(err, "configuration \"%s\"", text);
	return STATUS_OK;
}

struct named_values configuration_named_values(
	const struct bound_family *bound, const choice *configuration)
{
	const struct family *family = bound->family;
	struct named_values values = named_values_new(family->parameter_count);

	for (size_t i = 0; i < family->parameter_count; i++)
		named_values_put(&values, i, family->parameters[i].name,
			configuration_value(bound, configuration, i));
	return values;
}

/* Returns the choice for configurations written before the parameter existed, or -1. */
static ptrdiff_t absent_choice(const struct bound_family *bound, size_t parameter)
{
	const struct family *family = bound->family;
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(family->scope.all.count, sizeof(*values));
	const struct expression *absent = family->parameters[parameter].absent_value;
	struct value value;

	space_fixed(bound->space, values);
	if (!absent || expression_evaluate(absent, values, NULL, &value, NULL) != STATUS_OK)
		return -1;
	return space_choice_find(bound->space, parameter, value);
}

/* Finds the choices. A missing parameter gets its value for absence. */
static enum status configuration_choose(
	const struct assignment *into, choice *choices, struct error *err)
{
	const struct bound_family *bound = into->bound;

	for (size_t i = 0; i < bound->family->parameter_count; i++) {
		const struct value value = into->values[i];
		const ptrdiff_t found = into->given[i] ? space_choice_find(bound->space, i, value)
						       : absent_choice(bound, i);
		CLEANUP(text_release) struct text text = {0};

		if (found < 0 && !into->given[i])
			return error_set(err, STATUS_BAD_INPUT,
				"%s: the configuration gives no value of %s", bound->family->name,
				bound->family->parameters[i].name);
		if (found < 0) {
			value_format(value, &text);
			return configuration_refuse(bound, i, text_string(&text), err);
		}
		choices[i] = (choice)found;
	}
	return STATUS_OK;
}

enum status configuration_from_named_values(const struct bound_family *bound,
	const struct named_values *values, choice *configuration, struct error *err)
{
	struct value chosen[SPACE_PARAMETERS_MAX];
	bool given[SPACE_PARAMETERS_MAX] = {false};
	const struct assignment into = {bound, chosen, given};

	for (size_t i = 0; i < values->count; i++) {
		const int parameter = take_parameter(&into, values->items[i].name, err);

		if (parameter < 0)
			return STATUS_BAD_INPUT;
		chosen[parameter] = values->items[i].value;
	}
	return configuration_choose(&into, configuration, err);
}

bool configuration_read(const struct bound_family *bound, const char *text, choice *choices)
{
	struct value values[SPACE_PARAMETERS_MAX];
	bool given[SPACE_PARAMETERS_MAX];

	return configuration_parse(bound, text, values, given, NULL) == STATUS_OK &&
	       configuration_choose(&(struct assignment){bound, values, given}, choices, NULL) ==
		       STATUS_OK;
}

static enum status examine(
	const struct bound_family *bound, const choice *choices, int *violated, struct error *err)
{
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(bound->space->names->count + 1, sizeof(*values));

	return space_examine(bound->space, choices, values, violated, err);
}

enum status configuration_is_legal(
	const struct bound_family *bound, const choice *choices, bool *legal, struct error *err)
{
	int violated = -1;
	enum status status = examine(bound, choices, &violated, err);

	*legal = status == STATUS_OK && violated < 0;
	return status;
}

enum status configuration_expect_legal(
	const struct bound_family *bound, const choice *choices, struct error *err)
{
	int violated = -1;

	TRY(examine(bound, choices, &violated, err));
	if (violated < 0)
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT, "%s: the configuration violates \"%s\" (%s)",
		bound->family->name, space_constraint_text(bound->space, (size_t)violated),
		bound->space->constraints[(size_t)violated].why);
}

/* ---- defaults, and the nearest legal configuration ---- */
/* Computes the constants that the expression reads, each after the constants that it reads
 * itself. */
static enum status derive_for(const struct family *family, const struct expression *expression,
	struct value *values, struct error *err)
{
	size_t count;
	const int *reads = expression_indices(expression, &count);

	for (size_t i = 0; i < count; i++) {
		const size_t index = (size_t)reads[i];
		const struct expression *constant;

		if (index < family->scope.constant_at || values[index].type != VALUE_NONE)
			continue;
		constant = family->constants[index - family->scope.constant_at].expression;
		TRY(derive_for(family, constant, values, err));
		TRY(expression_evaluate(constant, values, NULL, &values[index], err));
	}
	return STATUS_OK;
}

enum status configuration_defaults(
	const struct bound_family *bound, struct value *values, struct error *err)
{
	const struct family *family = bound->family;
	CLEANUP(memory_free)
	struct value *known = memory_zeroed(family->scope.all.count, sizeof(*known));

	space_fixed(bound->space, known);
	for (size_t i = 0; i < family->parameter_count; i++) {
		const struct expression *chosen = family->parameters[i].default_value;
		const struct value_list *list = &bound->space->parameters[i].values;

		if (chosen) {
			TRY(derive_for(family, chosen, known, err));
			TRY(expression_evaluate(chosen, known, NULL, &values[i], err));
		} else if (list->count) {
			values[i] = list->items[0];
		}
		known[family->scope.parameter_at + i] = values[i];
	}
	return STATUS_OK;
}

enum status configuration_from_json(const struct bound_family *bound, const struct json_at *config,
	struct value *values, bool *given, struct error *err)
{
	const struct family *family = bound->family;
	CLEANUP(memory_free) const char **names = parameter_names(family);
	struct json_at at;

	TRY(json_expect_keys(config, names, err));
	TRY(configuration_defaults(bound, values, err));
	for (size_t i = 0; i < family->parameter_count; i++) {
		given[i] = json_find(config, names[i], &at);
		if (given[i])
			TRY(value_from_json(&at, &values[i], err));
	}
	return STATUS_OK;
}

/* Returns the distance of two values: log2 of their ratio, or 1 for different names. */
static double value_distance(struct value a, struct value b)
{
	double x, y;

	if (value_equal(a, b))
		return 0;
	if (!value_as_real(a, &x) || !value_as_real(b, &y))
		return 1;
	if (x > 0 && y > 0)
		return fabs(log2(x / y));
	return 1 + fabs(x - y);
}

struct nearest {
	const struct bound_family *bound;
	const bool *fixed;
	double **distances;
	choice *best;
	double best_distance;
	double sums[SPACE_PARAMETERS_MAX + 1]; /* sums over the leading parameters */
};

static bool may_be_nearer(const choice *configuration, size_t count, void *context)
{
	struct nearest *nearest = context;
	const size_t last = count - 1;
	const double one = nearest->distances[last][configuration[last]];

	if (one > 0 && nearest->fixed && nearest->fixed[last])
		return false;
	nearest->sums[count] = nearest->sums[last] + one;
	return nearest->sums[count] < nearest->best_distance;
}

static bool visit_configuration(const choice *configuration, void *context)
{
	struct nearest *nearest = context;
	const size_t count = nearest->bound->family->parameter_count;

	nearest->best_distance = nearest->sums[count];
	memcpy(nearest->best, configuration, count * sizeof(*configuration));
	return nearest->best_distance > 0;
}

enum status configuration_examine(const struct bound_family *bound, const struct value *values,
	choice *configuration, const char **violated, struct error *err)
{
	int constraint = -1;

	*violated = "a value that is not in its parameter's list";
	for (size_t i = 0; i < bound->family->parameter_count; i++) {
		const int found = space_choice_find(bound->space, i, values[i]);

		if (found < 0)
			return STATUS_OK;
		configuration[i] = (choice)found;
	}
	TRY(examine(bound, configuration, &constraint, err));
	*violated = constraint < 0 ? NULL : bound->space->constraints[constraint].why;
	return STATUS_OK;
}

enum status configuration_nearest(const struct bound_family *bound, const struct value *values,
	const bool *fixed, choice *configuration, bool *found, struct error *err)
{
	size_t count = bound->family->parameter_count;
	struct nearest nearest = {
		.bound = bound, .fixed = fixed, .best = configuration, .best_distance = INFINITY};
	const char *violated;
	enum status status;

	TRY(configuration_examine(bound, values, configuration, &violated, err));
	*found = !violated;
	if (*found)
		return STATUS_OK;
	nearest.distances = memory_zeroed(count + 1, sizeof(*nearest.distances));
	for (size_t i = 0; i < count; i++) {
		const struct value_list *list = &bound->space->parameters[i].values;

		nearest.distances[i] = memory_zeroed(list->count + 1, sizeof(double));
		for (size_t k = 0; k < list->count; k++)
			nearest.distances[i][k] = value_distance(values[i], list->items[k]);
	}
	status = space_enumerate_some(
		bound->space, may_be_nearer, visit_configuration, &nearest, err);
	*found = status == STATUS_OK && nearest.best_distance < (double)INFINITY;
	for (size_t i = 0; i < count; i++)
		free(nearest.distances[i]);
	free(nearest.distances);
	return status;
}

enum status configuration_default(
	const struct bound_family *bound, choice *configuration, bool *found, struct error *err)
{
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(bound->family->parameter_count + 1, sizeof(*values));

	TRY(configuration_defaults(bound, values, err));
	*found = false;
	return configuration_nearest(bound, values, NULL, configuration, found, err);
}
