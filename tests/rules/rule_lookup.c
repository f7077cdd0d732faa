/* SPDX-License-Identifier: MIT
 *
 * Lookup in a tuned file of the toy operation, whose space is small enough to list.
 */
#include "advise/lookup.h"
#include "candidate/problem_reference.h"
#include "base/memory.h"
#include "engine/candidates.h"
#include "rules/rules.h"

struct toy {
	struct catalogue catalogue;
	struct device_spec *device;
	const struct operation *operation;
};

static struct toy *toy_open(void)
{
	static struct toy toy;
	static const char *const templates[] = {"tests/toy/templates", NULL};
	static const char *const configs[] = {"tests/toy/configs", NULL};
	struct error err = {0};

	if (toy.operation)
		return &toy;
	rule_expect(catalogue_load(templates, "row_softmax", &toy.catalogue, &err), &err);
	rule_expect(device_spec_load("toy", configs, &toy.device, &err), &err);
	rule_expect(catalogue_operation(&toy.catalogue, "row_softmax", &toy.operation, &err), &err);
	return &toy;
}

static const struct problem *problem_of(const struct json_at *in)
{
	struct problem_list list = {0};
	struct error err = {0};

	rule_expect(problem_parse(toy_open()->operation, rule_string(in, "problem"), &list, &err),
		&err);
	return list.items[0];
}

/* Predicts each legal configuration: {"ROW_THREADS=32,...": us}. */
RULE(toy_predictions)
{
	const struct candidates_options options = {.score = true};
	struct json *out = json_new_object();
	struct candidates pool;
	struct error err = {0};

	rule_expect(candidates_open(&toy_open()->catalogue, problem_of(in), toy_open()->device,
			    &options, &pool, &err),
		&err);
	for (size_t i = 0; i < pool.count; i++) {
		struct tuned_row row = {
			.configuration = configuration_named_values(
				pool.families[0].bound, candidates_configuration(&pool, i))};

		json_put_double(out, tuned_row_configuration(&row), pool.predicted_us[i]);
	}
	return out;
}

/* Sets the toy's corrections, which double the predicted time of two rows per block. */
static struct learned *learned_of(struct toy *toy)
{
	static const char *const configs[] = {"tests/data/score/configs", NULL};
	static struct learned learned;
	struct error err = {0};

	unsetenv("TILETUNE_LEARNED");
	rule_expect(learned_open(&(struct learned_choice){0}, configs, "toy", &toy->catalogue,
			    &learned, &err),
		&err);
	return &learned;
}

RULE(lookup)
{
	struct toy *toy = toy_open();
	const struct json_at at = rule_member(in, "tuned");
	const struct problem *problem = problem_of(in);
	struct tuned tuned;
	struct text content = {0};
	struct lookup_request request = {.catalogue = &toy->catalogue,
		.device = toy->device,
		.tuned = &tuned,
		.objective = rule_flag(in, "energy") ? OBJECTIVE_ENERGY : OBJECTIVE_TIME,
		.bits = rule_flag(in, "bits"),
		.assume = rule_flag(in, "assume")};
	struct lookup_answer answer;
	struct json *out = json_new_object();
	struct error err = {0};

	json_append(at.node, false, &content);
	rule_expect(tuned_parse(&content, "tuned", &tuned, &err), &err);
	tuned_complete(&tuned, &toy->catalogue);
	toy->device->learned = rule_flag(in, "learned") ? learned_of(toy) : NULL;
	rule_expect(lookup_find(&request, problem, &answer, &err), &err);
	toy->device->learned = NULL;
	json_put_string(out, "grade", lookup_grade_names[answer.grade]);
	json_put_string(out, "why", answer.why);
	if (answer.from) {
		json_put_string(out, "configuration", tuned_row_configuration(&answer.result));
		json_put_int(out, "blocks", answer.result.launches[0].shape.grid[0]);
		json_put(out, "told", json_copy(lookup_entry(&answer, problem).winner.why));
	}
	json_put_double(out, "predicted", answer.predicted_us);
	json_put_double(out, "default", answer.default_us);
	json_put_double(out, "best", answer.model_best_us);
	json_put_double(out, "loss", answer.expected_loss_ratio);
	json_put_int(out, "considered", answer.considered);
	json_put_int(out, "legal", answer.legal);
	return out;
}

RULE(verification_hash)
{
	char digits[HASH_SIZE];

	problem_verification_hash(problem_of(in), &toy_open()->catalogue, toy_open()->device,
		rule_size(in, "seed"), digits);
	return json_new_string(digits);
}
