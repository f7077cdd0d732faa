/* SPDX-License-Identifier: MIT */
#include "check/check.h"

#include <inttypes.h>

#include "base/file.h"
#include "base/format_text.h"
#include "candidate/problem_reference.h"
#include "engine/kernel_check.h"

/* Appends "n=1024,layout=rows", with a value for each key without a default. */
static void invent_problem(const struct operation *operation, struct text *text)
{
	const int64_t usual = 1024;

	for (size_t i = 0; i < operation->key_count; i++) {
		const struct key *key = &operation->keys[i];

		if (key->default_value)
			continue;
		text_appendf(text, "%s%s=", text->length ? "," : "", key->name);
		if (key->values)
			text_append(text, key->values[0]);
		else
			text_appendf(text, "%" PRId64,
				key->is_real       ? 1
				: key->min > usual ? key->min
				: key->max < usual ? key->max
						   : usual);
	}
}

/* Finds a problem from the keys' defaults or an example, or invents one. The list may stay empty.
 */
static enum status some_problem(
	const struct family *family, struct problem_list *problems, struct error *err)
{
	const struct operation *operation = family->operation;
	const struct example_list *examples = &family->examples;
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(operation->key_count, sizeof(*values));
	CLEANUP(memory_free) bool *given = memory_zeroed(operation->key_count, sizeof(*given));
	CLEANUP(text_release) struct text text = {0};

	ARRAY_GROW(problems->items, problems->count, problems->capacity);
	if (problem_complete(operation, values, given, &problems->items[0], NULL) == STATUS_OK) {
		problems->count++;
		return STATUS_OK;
	}
	if (examples->legal_count)
		return problem_parse(operation, examples->legal[0].problem, problems, err);
	invent_problem(operation, &text);
	(void)problem_parse(operation, text_string(&text), problems, NULL);
	return STATUS_OK;
}

static enum status compile_reference(
	const struct problem *problem, const struct context *context, struct error *err)
{
	CLEANUP(reference_plan_release) struct reference_plan reference = {0};
	CLEANUP(build_release) struct build build = {0};
	const struct compile_result *kernel;

	TRY(problem_reference(problem, NULL, context->device->spec, &build, &reference, err));
	for (size_t i = 0; i < build.unit_count; i++)
		if (kernel_store_wait(context->store, &build.units[i], &kernel, err) != STATUS_OK) {
			err->status = STATUS_BAD_INPUT;
			return error_context(err, "%s: %s: its reference", problem->operation->file,
				problem->title);
		}
	return STATUS_OK;
}

static void find_missing(const struct trial *trial, const char *file, struct text *notices)
{
	for (size_t i = 0; i < trial->build.unit_count; i++) {
		const char *missing = strstr(trial->kernels[i]->log, COMPILER_MISSING);

		if (missing)
			format_put(notices, format_shown, "%s: %.*s\n", file,
				(int)strcspn(missing, "\n"), missing);
	}
}

enum {
	SAMPLED_MAX = 5 /* configurations of an own kernel */
};

/* Adds configurations with the first, last and intermediate values of all parameters to the default
 * configuration. */
static enum status add_spread(
	const struct bound_family *bound, struct evaluator *evaluator, struct error *err)
{
	const struct space *space = bound->space;

	for (size_t step = 0; step < SAMPLED_MAX - 1; step++) {
		struct value values[SPACE_PARAMETERS_MAX];
		struct candidate candidate = {.bound = evaluator->trials[0]->candidate.bound};
		struct trial *trial;
		bool found = false, known = false;

		for (size_t i = 0; i < space->parameter_count; i++) {
			const struct value_list *list = &space->parameters[i].values;

			values[i] = list->items[step * (list->count - 1) / (SAMPLED_MAX - 2)];
		}
		TRY(configuration_nearest(bound, values, NULL, candidate.choices, &found, err));
		for (size_t k = 0; k < evaluator->count; k++)
			known |= memcmp(evaluator->trials[k]->candidate.choices, candidate.choices,
					 space->parameter_count * sizeof(choice)) == 0;
		if (found && !known)
			TRY(evaluator_add(evaluator, &candidate, TRIAL_COMPILED, &trial, err));
	}
	return STATUS_OK;
}

static bool is_compiled(const struct trial *trial)
{
	return trial->result.outcome == OUTCOME_OK ||
	       trial->result.outcome == OUTCOME_PRUNED_BY_MODEL;
}

/* Expects that the default configuration (the first trial) and half of all compile. A source may
 * reject some, for example with static_assert. */
static enum status expect_compiled(
	const struct evaluator *evaluator, const struct problem *problem, struct error *err)
{
	struct trial *const *trials = evaluator->trials;
	CLEANUP(text_release) struct text title = {0};
	const struct result *first = NULL;
	size_t failed = 0;

	for (size_t i = evaluator->count; i-- > 0;)
		if (!is_compiled(trials[i])) {
			first = &trials[i]->result;
			failed++;
		}
	if (is_compiled(trials[0]) && 2 * failed <= evaluator->count)
		return STATUS_OK;
	text_appendf(&title, "%s: %s: ", trials[0]->candidate.bound->family->file, problem->title);
	if (is_compiled(trials[0]))
		text_appendf(&title, "%zu of %zu sampled configurations do not compile; the first",
			failed, evaluator->count);
	else
		text_append(&title, first->outcome == OUTCOME_LAUNCH_FAILED
					    ? "the kernel cannot be launched"
					    : "the kernel does not compile");
	error_set(err, STATUS_BAD_INPUT, "%s%s%s: ", text_string(&title),
		first->configuration[0] ? " with " : "", first->configuration);
	return error_lines(err, first->detail);
}

/* Compiles a sample, which is larger for an own kernel. of_operation: only the reference. */
static enum status compile_some(const struct family *family, bool of_operation, bool is_own,
	struct context *context, struct text *notices, struct error *err)
{
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	CLEANUP(bound_family_drop) struct bound_family *bound = NULL;
	CLEANUP(evaluator_release)
	struct evaluator evaluator = {.context = context, .keeps_pruned = true};
	struct candidate candidate = {0};
	struct trial *trial;
	bool found = false;

	TRY(some_problem(family, &problems, err));
	if (problems.count)
		TRY(compile_reference(problems.items[0], context, err));
	if (of_operation)
		return STATUS_OK;
	if (problems.count)
		TRY(family_bind_if_applies(
			family, problems.items[0], context->device->spec, NULL, &bound, NULL, err));
	if (bound && configuration_default(bound, candidate.choices, &found, err) != STATUS_OK)
		return error_context(err, "%s", family->file);
	if (!found && bound && is_own)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: %s: no configuration can be launched on %s", family->file,
			bound->problem->title, bound->device->title);
	if (!found) {
		format_put(notices, format_shown, "%s: there is no configuration to compile%s\n",
			family->file, problems.count ? "" : "; add a problem to \"examples\"");
		return STATUS_OK;
	}
	candidate.bound = bound;
	TRY(evaluator_add(&evaluator, &candidate, TRIAL_COMPILED, &trial, err));
	if (is_own)
		TRY(add_spread(bound, &evaluator, err));
	TRY(evaluator_run(&evaluator, err));
	if (trial->result.outcome == OUTCOME_OK) {
		find_missing(trial, family->file, notices);
		TRY(kernel_sources_check(family, &trial->plan, err));
	}
	return expect_compiled(&evaluator, problems.items[0], err);
}

static bool is_meant(const struct family *family, const char *only)
{
	return !only || strcmp(strrchr(family->name, '/') + 1, only) == 0;
}

static enum status compile_families(
	struct context *context, const char *only, struct text *notices, struct error *err)
{
	CLEANUP(memory_free) char *cache = NULL;
	struct compiler_options options = {.workers = only ? 1 : 0};
	const bool of_operation = only && strcmp(only, "operation") == 0;
	struct error reason = {0};

	if (path_cache_folder(NULL, &cache, &reason) == STATUS_OK)
		options.cache_folder = cache;
	if (compiler_open(&options, &context->compiler, &reason) != STATUS_OK) {
		format_put(notices, format_shown, "nothing was compiled: %.*s\n",
			(int)strcspn(reason.message, "\n"), reason.message);
		return STATUS_OK;
	}
	context->store = kernel_store_new(context->compiler, context->device->spec->arch);
	for (size_t i = 0; i < context->catalogue.family_count; i++) {
		const struct family *family = context->catalogue.families[i];

		if (family->launch_count && (of_operation || is_meant(family, only)))
			TRY(compile_some(family, of_operation, !only, context, notices, err));
	}
	return STATUS_OK;
}

static void list_unread(const struct family *family, const char *name,
	const struct define_binding *binding, size_t index, struct text *list)
{
	if (binding->as != AS_OPTION &&
		(binding->as != AS_DEFAULT || !family_entries_read(family, index)) &&
		!family_reads_macro(family, binding->as == AS_MACRO ? binding->macro : name))
		text_append_listed(list, name);
}

/* Only notices macros that no source reads, because a header of the toolkit may read them. */
static void find_unread(const struct family *family, struct text *notices)
{
	CLEANUP(text_release) struct text list = {0};

	for (size_t i = 0; i < family->parameter_count; i++)
		if (!family->parameters[i].is_argument)
			list_unread(family, family->parameters[i].name,
				&family->parameters[i].binding, family->scope.parameter_at + i,
				&list);
	for (size_t i = 0; i < family->constant_count; i++)
		if (!family->constants[i].is_for_model)
			list_unread(family, family->constants[i].name,
				&family->constants[i].binding, family->scope.constant_at + i,
				&list);
	if (list.length)
		text_appendf(notices,
			"%s: no source uses the macro of %s, but each value compiles the kernel "
			"again; if only launches use it, set \"as\": \"argument\" (for a constant, "
			"\"as\": \"model\")\n",
			family->file, list.data);
}

/* `only`: a family's name, or "operation" for the reference; NULL: all. */
static enum status try_all(
	struct context *context, const char *only, struct text *notices, struct error *err)
{
	TRY(device_open("model:", &(struct device_options){0}, &context->device, err));
	for (size_t i = 0; i < context->catalogue.family_count; i++) {
		const struct family *family = context->catalogue.families[i];

		if (!is_meant(family, only))
			continue;
		TRY(family_examples_check(family, context->device->spec, err));
		if (!family->program)
			find_unread(family, notices);
	}
	return compile_families(context, only, notices, err);
}

/* Loads a folder as the catalogue does. */
static enum status load_folder(const char *path, const char *const *templates,
	struct catalogue *catalogue, struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(path);
	CLEANUP(memory_free) char *resolved = realpath(folder, NULL);
	CLEANUP(memory_free)
	char *own = strcmp(folder, ".") == 0 ? string_copy("..") : path_parent(folder);
	CLEANUP(memory_free) const char **places = NULL;
	size_t count = 0;

	while (templates[count])
		count++;
	places = memory_zeroed(count + 2, sizeof(*places));
	places[0] = own;
	for (size_t i = 0; i < count; i++)
		places[i + 1] = templates[i];
	return catalogue_load(places, path_name(resolved ? resolved : folder), catalogue, err);
}

enum status families_check(const char *path, bool is_own, const char *const *templates,
	bool form_only, struct text *notices, struct error *err)
{
	CLEANUP(context_release) struct context context = {0};
	CLEANUP(memory_free) char *stem = string_copy(path_name(path));

	stem[strcspn(stem, ".")] = 0;
	TRY(is_own ? catalogue_load(templates, path, &context.catalogue, err)
		   : load_folder(path, templates, &context.catalogue, err));
	return form_only ? STATUS_OK : try_all(&context, is_own ? NULL : stem, notices, err);
}
