/* SPDX-License-Identifier: MIT */
#include "engine/candidates.h"

#include "base/format_text.h"
#include "compile/compiler.h"
#include "engine/row.h"

static choice *room_for_one(struct family_candidates *family)
{
	if (family->count == family->capacity) {
		family->capacity = family->capacity ? 2 * family->capacity : 1024;
		family->configurations = memory_resize(family->configurations, family->capacity,
			family->parameter_count * sizeof(choice));
	}
	return family->configurations + family->count * family->parameter_count;
}
static bool collect(const choice *configuration, void *context)
{
	struct family_candidates *family = context;

	if (family->count == CANDIDATES_LEGAL_MAX)
		return false;
	memcpy(room_for_one(family), configuration, family->parameter_count * sizeof(choice));
	family->count++;
	return true;
}

static bool list_is_ordered(const struct value_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].type != VALUE_INT && list->items[i].type != VALUE_REAL)
			return false;
	return true;
}

static void describe_parameters(struct family_candidates *family)
{
	struct space *space = family->bound->space;
	size_t parameters = space->parameter_count;

	family->parameter_count = parameters;
	family->product = space->tail[0];
	family->parameters = memory_zeroed(parameters, sizeof(*family->parameters));
	for (size_t i = 0; i < parameters; i++)
		family->parameters[i] = (struct search_parameter){
			.levels = (choice)space->parameters[i].values.count,
			.is_ordered = list_is_ordered(&space->parameters[i].values),
			.is_argument = family->bound->family->parameters[i].is_argument};
	family->removed.by_constraint = memory_zeroed(space->constraint_count, sizeof(double));
}

struct recorder {
	struct family_candidates *family;
	enum status status;
	struct error *err;
};

static void add_recorded(void *context, const char *name, const char *configuration)
{
	struct recorder *recorder = context;
	struct family_candidates *family = recorder->family;
	choice *choices;
	bool legal = false;

	if (recorder->status != STATUS_OK || strcmp(name, family->bound->family->name) != 0)
		return;
	choices = room_for_one(family);
	if (configuration_read(family->bound, configuration, choices))
		recorder->status =
			configuration_is_legal(family->bound, choices, &legal, recorder->err);
	family->count += legal;
}

static int compare_choices(const void *a, const void *b, void *context)
{
	const choice *x = a, *y = b;
	const size_t *count = context;

	for (size_t i = 0; i < *count; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static enum status take_recorded(const struct problem *problem, const struct device *device,
	struct family_candidates *family, struct error *err)
{
	struct recorder recorder = {.family = family, .err = err};

	family->recorded = device->kind->recorded != NULL;
	if (family->recorded)
		device->kind->recorded(
			device, problem->operation->name, problem->text, add_recorded, &recorder);
	if (family->count)
		qsort_r(family->configurations, family->count,
			family->parameter_count * sizeof(choice), compare_choices,
			&family->parameter_count);
	return recorder.status;
}

/* Returns false, with the reason in left_out, if the family cannot be launched, for example because
 * an argument's type is too small for a size. */
static bool can_launch(const struct family_candidates *family, struct text *left_out)
{
	struct candidate candidate = {.bound = family->bound};
	struct plan plan = {0};
	struct error reason = {0};
	CLEANUP(memory_free) struct value *values = NULL;

	if (!family->count)
		return true; /* explain_empty() reports the constraint */
	memcpy(candidate.choices, family->configurations,
		family->parameter_count * sizeof(*candidate.choices));
	values = candidate_values(&candidate, &reason);
	if (values && candidate_plan(family->bound, values, &plan, &reason) == STATUS_OK) {
		plan_release(&plan);
		return true;
	}
	text_appendf(left_out, "%s is left out: %s\n", family->bound->family->name, reason.message);
	return false;
}

static void family_candidates_release(struct family_candidates *family)
{
	bound_family_free(family->bound);
	free(family->configurations);
	free(family->parameters);
	free(family->removed.by_constraint);
}

/* Appends conditions such as "BM == 128" and "KIND == 'x'", one per line, and `where`. */
static enum status config_condition(const struct bound_family *bound,
	const struct candidates_options *options, bool *given, struct text *condition,
	struct error *err)
{
	const struct space *space = bound->space;
	struct value values[SPACE_PARAMETERS_MAX] = {0};

	TRY(configuration_parse(bound, options->config, values, given, err));
	for (size_t i = 0; i < space->parameter_count; i++) {
		const struct value value = values[i];
		const char *quote = value.type == VALUE_STRING ? "'" : "";
		CLEANUP(text_release) struct text found = {0};

		if (!given[i])
			continue;
		value_format(value, &found);
		if (space_choice_find(space, i, value) < 0)
			return configuration_refuse(bound, i, text_string(&found), err);
		text_appendf(condition, "%s%s == %s%s%s", condition->length ? "\n" : "",
			space_parameter_name(space, i), quote, text_string(&found), quote);
	}
	if (options->where)
		text_appendf(condition, "\n%s", options->where);
	return STATUS_OK;
}

/* Sets *bound to NULL if no requested configuration exists. */
static enum status restrict_family(const struct candidates_options *options,
	struct bound_family **bound, bool *given, struct text *left_out, struct error *err)
{
	const struct bound_family whole = **bound;
	CLEANUP(text_release) struct text condition = {0};
	struct error reason = {0};
	enum status status = config_condition(*bound, options, given, &condition, &reason);

	bound_family_free(*bound);
	*bound = NULL;
	if (status == STATUS_OK)
		return family_bind(whole.family, whole.problem, whole.device,
			text_string(&condition), bound, err);
	format_put(left_out, format_shown, "%s is left out: %s%s%s%s\n", whole.family->name,
		reason.message, reason.hint[0] ? " (" : "", reason.hint, reason.hint[0] ? ")" : "");
	return STATUS_OK;
}

static enum status add_family(struct candidates *pool, const struct family *family,
	const struct candidates_options *options, struct text *left_out, struct error *err)
{
	struct family_candidates *added;
	struct bound_family *bound;
	bool given[SPACE_PARAMETERS_MAX] = {false};
	enum status status = STATUS_OK;

	TRY(family_bind_if_applies(
		family, pool->problem, pool->device, options->where, &bound, left_out, err));
	if (bound && options->config)
		TRY(restrict_family(options, &bound, given, left_out, err));
	if (!bound)
		return STATUS_OK;
	status = bound_family_expect_memory(bound, err);
	if (status != STATUS_OK) {
		bound_family_free(bound);
		return status;
	}
	pool->families =
		memory_resize(pool->families, pool->family_count + 1, sizeof(*pool->families));
	added = &pool->families[pool->family_count++];
	*added = (struct family_candidates){.bound = bound, .first = pool->count};
	memcpy(added->given, given, sizeof(given));
	describe_parameters(added);
	if (options->device)
		TRY(take_recorded(pool->problem, options->device, added, err));
	bound->space->interrupted = options->interrupted;
	if (!added->recorded && (status = space_enumerate(bound->space, collect, added,
					 &added->removed, err)) != STATUS_OK)
		return status == STATUS_BAD_INPUT ? error_context(err, "%s", family->name) : status;
	if (added->count == CANDIDATES_LEGAL_MAX) {
		error_set(err, STATUS_BAD_INPUT,
			"%s: the space has %d legal configurations or more, too many to search "
			"(%.3g with illegal ones)",
			family->name, CANDIDATES_LEGAL_MAX, added->product);
		return error_hint(err, "restrict the space with --where 'EXPR'");
	}
	if (!can_launch(added, left_out)) {
		family_candidates_release(added);
		pool->family_count--;
		return STATUS_OK;
	}
	pool->count += added->count;
	return STATUS_OK;
}

/* Names the constraint that removed the last configurations. */
static enum status explain_empty(const struct candidates *pool, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	for (size_t f = 0; f < pool->family_count; f++) {
		const struct family_candidates *family = &pool->families[f];
		const struct space *space = family->bound->space;
		size_t worst = 0, count = space->constraint_count;

		uint64_t last = 0;

		/* the user's condition comes last and always removes configurations */
		for (size_t i = 0; i < count; i++)
			if (family->removed.by_constraint[i] > 0 &&
				space->constraints[i].parameters >= last + (i + 1 == count)) {
				last = space->constraints[i].parameters;
				worst = i;
			}
		format_put(&text, format_shown, "\n  %s: ", family->bound->family->name);
		if (family->recorded)
			text_append(&text, "the recording has no configuration for this problem");
		else if (count && family->product > 0)
			format_put(&text, format_shown,
				"no configuration satisfies \"%s\" (%s) and the other constraints",
				space_constraint_text(space, worst), space->constraints[worst].why);
		else
			text_append(&text, "a parameter has no value for this problem");
	}
	for (const char *line = pool->left_out; line && *line; line = strchr(line, '\n') + 1)
		format_put(&text, format_shown, "\n  %.*s", (int)strcspn(line, "\n"), line);
	error_set(err, STATUS_BAD_INPUT, "%s: no configuration can serve this problem on %s",
		pool->problem->title, pool->device->title);
	return error_lines(err, text_string(&text));
}

static void describe_view(struct candidates *pool)
{
	pool->search_families = memory_zeroed(pool->family_count, sizeof(*pool->search_families));
	pool->family_of = memory_zeroed(pool->count, sizeof(*pool->family_of));
	for (size_t f = 0; f < pool->family_count; f++) {
		const struct family_candidates *family = &pool->families[f];

		pool->search_families[f] = (struct search_family){.first = family->first,
			.count = family->count,
			.parameter_count = family->parameter_count,
			.configurations = family->configurations,
			.parameters = family->parameters};
		for (size_t i = 0; i < family->count; i++)
			pool->family_of[family->first + i] = (uint32_t)f;
	}
	pool->view = (struct search_view){.count = pool->count,
		.predicted_us = pool->predicted_us,
		.family = pool->family_of,
		.family_count = pool->family_count,
		.families = pool->search_families};
}

static bool is_named(const struct family *family, const char *const *names)
{
	const char *slash = strchr(family->name, '/');

	for (; *names; names++)
		if (strcmp(*names, family->name) == 0 || (slash && strcmp(*names, slash + 1) == 0))
			return true;
	return false;
}

static bool is_only_family(const struct catalogue *catalogue, const struct family *family)
{
	for (size_t i = 0; i < catalogue->family_count; i++)
		if (catalogue->families[i] != family &&
			catalogue->families[i]->operation == family->operation)
			return false;
	return true;
}

static bool has_tile_compiler(
	const struct family *family, struct compiler *compiler, struct text *left_out)
{
	struct error missing = {0};

	if (!compiler)
		return false;
	if (compiler_find_tile(compiler, NULL, &missing) == STATUS_OK)
		return true;
	text_appendf(left_out, "%s is left out: %.*s (tiletune devices gives the details)\n",
		family->name, (int)strcspn(missing.message, "\n"), missing.message);
	return false;
}

/* An operation's only family takes part unless the user named others. */
static enum status is_wanted(const struct catalogue *catalogue, const struct family *family,
	const struct candidates_options *options, const struct candidates *pool, bool *wanted,
	struct text *left_out, struct error *err)
{
	const char *const *names = options->families;

	*wanted = family->operation == pool->problem->operation &&
		  (!names || !*names || is_named(family, names)) &&
		  !(options->excluded && is_named(family, options->excluded));
	if (!*wanted || (names && *names) || is_only_family(catalogue, family))
		return STATUS_OK;
	TRY(family_competes(family, pool->problem, pool->device, wanted, err));
	if (family->language == LANGUAGE_TILE && *wanted)
		*wanted = has_tile_compiler(family, options->compiler, left_out);
	return STATUS_OK;
}

static enum status fill(const struct catalogue *catalogue, const struct candidates_options *options,
	struct candidates *pool, struct error *err)
{
	CLEANUP(text_release) struct text left_out = {0};

	for (size_t i = 0; i < catalogue->family_count; i++) {
		const struct family *family = catalogue->families[i];
		bool wanted;

		TRY(is_wanted(catalogue, family, options, pool, &wanted, &left_out, err));
		if (wanted)
			TRY(add_family(pool, family, options, &left_out, err));
	}
	pool->left_out = left_out.length ? text_detach(&left_out) : NULL;
	if (pool->count == 0) {
		explain_empty(pool, err);
		return options->config ? error_hint(err, "without --config, `tiletune explain` "
							 "prints a configuration of each family")
				       : STATUS_BAD_INPUT;
	}
	pool->predicted_us = memory_zeroed(pool->count, sizeof(*pool->predicted_us));
	describe_view(pool);
	return options->score ? score_all(pool, options->interrupted, err) : STATUS_OK;
}

enum status candidates_open(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, const struct candidates_options *options,
	struct candidates *pool, struct error *err)
{
	enum status status;

	*pool = (struct candidates){.problem = problem, .device = device};
	status = fill(catalogue, options, pool, err);
	if (status == STATUS_INTERRUPTED)
		error_set(err, status, "interrupted");
	if (status != STATUS_OK)
		candidates_release(pool);
	return status;
}

void candidates_release(struct candidates *pool)
{
	for (size_t f = 0; f < pool->family_count; f++)
		family_candidates_release(&pool->families[f]);
	free(pool->families);
	free(pool->predicted_us);
	free(pool->family_of);
	free(pool->left_out);
	free(pool->search_families);
	*pool = (struct candidates){0};
}

const struct family_candidates *candidates_family_of(
	const struct candidates *pool, size_t candidate)
{
	if (candidate >= pool->count)
		BUG("candidate %zu of %zu", candidate, pool->count);
	return &pool->families[pool->family_of[candidate]];
}

const choice *candidates_configuration(const struct candidates *pool, size_t candidate)
{
	const struct family_candidates *family = candidates_family_of(pool, candidate);

	return family->configurations + (candidate - family->first) * family->parameter_count;
}

struct candidate candidates_at(const struct candidates *pool, size_t candidate)
{
	const struct family_candidates *family = candidates_family_of(pool, candidate);
	struct candidate result = {
		.bound = family->bound, .prediction.time_us = pool->predicted_us[candidate]};

	memcpy(result.choices, candidates_configuration(pool, candidate),
		family->parameter_count * sizeof(choice));
	return result;
}

static const struct family_candidates *family_named(const struct candidates *pool, const char *name)
{
	for (size_t f = 0; f < pool->family_count; f++)
		if (strcmp(pool->families[f].bound->family->name, name) == 0)
			return &pool->families[f];
	return NULL;
}

static ptrdiff_t find_choices(const struct candidates *pool, const struct family_candidates *family,
	const choice *choices)
{
	return search_view_find(&pool->view, (size_t)(family - pool->families), choices);
}

ptrdiff_t candidates_find(
	const struct candidates *pool, const char *family, const char *configuration)
{
	const struct family_candidates *found = family_named(pool, family);
	choice choices[SPACE_PARAMETERS_MAX];

	return found && configuration_read(found->bound, configuration, choices)
		       ? find_choices(pool, found, choices)
		       : -1;
}

ptrdiff_t candidates_find_named(
	const struct candidates *pool, const char *family, const struct named_values *configuration)
{
	const struct family_candidates *found = family_named(pool, family);
	choice choices[SPACE_PARAMETERS_MAX];

	return found && configuration_from_named_values(
				found->bound, configuration, choices, NULL) == STATUS_OK
		       ? find_choices(pool, found, choices)
		       : -1;
}

size_t candidates_rank(const struct candidates *pool, size_t candidate)
{
	size_t before = 0;

	for (size_t i = 0; i < pool->count; i++)
		before += pool->predicted_us[i] < pool->predicted_us[candidate];
	return before;
}
