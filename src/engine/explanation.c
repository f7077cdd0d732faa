/* SPDX-License-Identifier: MIT */
#include "engine/explanation.h"

#include <math.h>

#include "compile/cubin.h"
#include "engine/evaluator.h"

static double total_units(const struct work *work)
{
	double units = 0;

	for (size_t i = 0; i < work->launch_count; i++)
		units += work->launches[i].units;
	return units;
}

/* Returns whether the parameter changes the number of units, with all others at their defaults. */
static bool changes_units(struct predictor *predictor, const choice *defaults, size_t parameter)
{
	const struct space *space = predictor->bound->space;
	choice configuration[SPACE_PARAMETERS_MAX];
	struct prediction prediction;
	double first = -1;

	memcpy(configuration, defaults, space->parameter_count * sizeof(*defaults));
	for (size_t i = 0; i < space->parameters[parameter].values.count; i++) {
		double units;

		configuration[parameter] = (choice)i;
		if (predict_choices(predictor, configuration, &prediction, NULL) != STATUS_OK)
			continue;
		units = total_units(predictor->work);
		if (first >= 0 && fabs(units - first) > 0.5)
			return true;
		first = units;
	}
	return false;
}

static enum status find_kept(
	const struct family_candidates *family, choice *defaults, bool *kept, struct error *err)
{
	CLEANUP(bound_family_drop)
	struct bound_family *whole = NULL; /* must outlive the predictor */
	CLEANUP(predictor_close) struct predictor predictor = {0};
	const struct bound_family *bound = family->bound;
	bool has_defaults = false, any_given = false;

	for (size_t i = 0; i < family->parameter_count; i++)
		any_given |= family->given[i];
	if (!any_given)
		return STATUS_OK;
	/* bind the whole space, as the default may conflict with the given values */
	TRY(family_bind(bound->family, bound->problem, bound->device, NULL, &whole, err));
	TRY(configuration_default(whole, defaults, &has_defaults, err));
	predictor_open(&predictor, whole);
	for (size_t i = 0; i < family->parameter_count && has_defaults; i++)
		kept[i] = !family->given[i] && changes_units(&predictor, defaults, i);
	return STATUS_OK;
}

static bool has_kept(const choice *configuration, const choice *defaults, const bool *kept,
	size_t parameter_count)
{
	for (size_t i = 0; i < parameter_count; i++)
		if (kept[i] && configuration[i] != defaults[i])
			return false;
	return true;
}

enum status explanation_choose(
	const struct candidates *pool, size_t f, size_t *candidate, bool *found, struct error *err)
{
	const struct family_candidates *family = &pool->families[f];
	choice defaults[SPACE_PARAMETERS_MAX] = {0};
	bool kept[SPACE_PARAMETERS_MAX] = {false}, best_is_kept = false;

	*found = family->count > 0;
	*candidate = family->first;
	TRY(find_kept(family, defaults, kept, err));
	for (size_t i = family->first; i < family->first + family->count; i++) {
		const bool is_kept = has_kept(
			candidates_configuration(pool, i), defaults, kept, family->parameter_count);

		if (is_kept < best_is_kept ||
			(is_kept == best_is_kept &&
				!(pool->predicted_us[i] < pool->predicted_us[*candidate])))
			continue;
		*candidate = i;
		best_is_kept = is_kept;
	}
	return STATUS_OK;
}

static void put_instructions(
	const struct compile_result *kernel, const char *symbol, struct json *json)
{
	CLEANUP(text_release) struct text stored = {0};
	CLEANUP(text_release) struct text text = {0};
	const struct text *code = &kernel->cubin;
	uint32_t counts[CUBIN_INSTRUCTIONS];
	const char *name = symbol;
	struct cubin cubin;

	for (size_t i = 0; i < kernel->entry_count; i++)
		if (strcmp(kernel->entries[i].symbol, symbol) == 0)
			name = kernel->entries[i].name;
	if (kernel->path && kernel_code_read(kernel->path, &stored, NULL) == STATUS_OK)
		code = &stored;
	if (cubin_open(&cubin, code->data, code->length, NULL) != STATUS_OK)
		return;
	cubin_instructions(&cubin, symbol, counts);
	for (size_t i = 0; i < CUBIN_INSTRUCTIONS; i++)
		if (counts[i])
			text_appendf(&text, "%s%u %s", text.length ? ", " : "", counts[i],
				cubin_instruction_names[i]);
	if (text.length)
		json_put_string(json, name, text.data);
}

static struct json *trial_instructions(const struct trial *trial)
{
	struct json *json = json_new_object();

	/* a device that compiles nothing has no kernels */
	for (size_t i = 0;
		trial->kernels && trial->stage == TRIAL_COMPILED && i < trial->plan.launch_count;
		i++) {
		const struct plan_launch *launch = &trial->plan.launches[i];

		put_instructions(trial->kernels[launch->unit], launch->entry, json);
	}
	return json;
}

enum status explanation_make(struct context *context, const struct candidates *pool,
	size_t candidate, struct explanation *explanation, struct error *err)
{
	CLEANUP(evaluator_release)
	struct evaluator evaluator = {.context = context, .keeps_pruned = true};
	struct result *result = &explanation->result;
	const struct launch_score *longest;
	struct trial *trial;

	*explanation = (struct explanation){.candidate = candidates_at(pool, candidate),
		.given = candidates_family_of(pool, candidate)->given};
	TRY(evaluator_add(&evaluator, &explanation->candidate, TRIAL_COMPILED, &trial, err));
	TRY(evaluator_run(&evaluator, err));
	TRY(trial_predict(trial, &explanation->candidate.prediction.time_us, err));
	explanation->instructions = trial_instructions(trial);
	*result = trial->result;
	trial->result = (struct result){0};
	if (result->outcome != OUTCOME_OK && !result->resources && context->store)
		explanation->compile_problem = string_format("the kernel does not compile (%s): %s",
			outcome_name(result->outcome),
			result->detail ? result->detail : "no message");
	result->predicted = true;
	result_add_samples(result, &explanation->candidate.prediction.time_us, 1);
	longest = &result->score.launches[result->score.longest];
	return candidate_facts(explanation->candidate.bound, trial->values, longest->smem_bytes,
		longest->blocks_per_sm, &explanation->facts, err);
}

void explanation_release(struct explanation *explanation)
{
	result_release(&explanation->result);
	free(explanation->compile_problem);
	json_free(explanation->instructions);
	fact_list_release(&explanation->facts);
	*explanation = (struct explanation){0};
}

static struct json *facts_json(const struct fact_list *facts)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < facts->count; i++) {
		const struct fact *fact = &facts->items[i];
		struct json *json = json_new_object();

		json_put_string(json, "name", fact->name);
		json_put(json, "value", value_to_json(fact->value));
		json_put_string(json, "unit", fact->unit);
		json_put_string(json, "source", fact->source);
		json_push(list, json);
	}
	return list;
}

struct json *explanation_why(const struct explanation *explanation)
{
	const struct bound_family *bound = explanation->candidate.bound;
	const struct prediction_basis basis = prediction_basis(bound);
	const struct score *score = &explanation->result.score;
	struct json *why = json_new_object(), *filled_in = json_new_array();
	double l2_bytes = 0, dram_bytes = 0;

	for (size_t i = 0; i < bound->space->parameter_count; i++)
		if (!explanation->given[i])
			json_push(
				filled_in, json_new_string(space_parameter_name(bound->space, i)));
	for (size_t i = 0; i < score->launch_count; i++) {
		l2_bytes += score->launches[i].l2_bytes;
		dram_bytes += score->launches[i].dram_bytes;
	}
	json_put(why, "filled_in", filled_in);
	json_put(why, "prediction", record_to_json(&prediction_basis_record, &basis));
	json_put_double(why, "l2_bytes", l2_bytes);
	json_put_double(why, "dram_bytes", dram_bytes);
	if (explanation->compile_problem)
		json_put_string(why, "compile_problem", explanation->compile_problem);
	if (explanation->result.warnings)
		json_put_string(why, "warnings", explanation->result.warnings);
	json_put(why, "instructions", json_copy(explanation->instructions));
	json_put(why, "facts", facts_json(&explanation->facts));
	return why;
}
