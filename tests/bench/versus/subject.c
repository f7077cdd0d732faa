/* SPDX-License-Identifier: MIT */
#include "bench/versus/subject.h"

#include <stdlib.h>
#include <string.h>

#include "bench/json_numbers.h"
#include "base/memory.h"
#include "candidate/problem_reference.h"
#include "candidate/candidate.h"
#include "problem_json.h"
#include "row_json.h"

/* The winner, or the row of the family that was asked for. */
static bool find_result(const struct json_at *entry, const char *family, struct json_at *list,
	struct json_at *result)
{
	if (!family)
		return json_find(entry, "winner", result);
	if (!json_find(entry, "families", list))
		return false;
	for (size_t i = 0; i < json_count(list); i++) {
		const char *name;

		*result = json_item(list, i);
		if (json_member_string(result, "family", &name, NULL) == STATUS_OK &&
			strcmp(name, family) == 0)
			return true;
	}
	return false;
}

static const char *get_string(const struct json_at *object, const char *key)
{
	const char *value;

	return json_member_string(object, key, &value, NULL) == STATUS_OK ? value : "";
}

static enum status read_shape(
	const struct json_at *problem, struct lt_shape *shape, struct error *err)
{
	const struct {
		const char *key;
		int64_t *value;
	} sizes[] = {{"M", &shape->m}, {"N", &shape->n}, {"K", &shape->k}, {"lda", &shape->lda},
		{"ldb", &shape->ldb}, {"ldc", &shape->ldc}};
	int in = dtype_find(get_string(problem, "dtype"));
	int out = dtype_find(get_string(problem, "out_dtype"));
	enum status status = STATUS_OK;

	for (size_t i = 0; i < ARRAY_COUNT(sizes) && status == STATUS_OK; i++)
		status = json_member_int(problem, sizes[i].key, sizes[i].value, err);
	if (status != STATUS_OK)
		return status;
	if (in < 0 || out < 0)
		return json_error(problem, err, "known types of input and output");
	shape->in = (enum dtype)in;
	shape->out = (enum dtype)out;
	shape->b_is_kn = strcmp(get_string(problem, "b_layout"), "kn") == 0;
	shape->fast_accumulation = strcmp(get_string(problem, "accum"), "promoted") != 0;
	return STATUS_OK;
}

/* Keys that an older file or the operation does not have are at their defaults; the act is between
 * two products. NULL: all is understood. */
static char *read_rest(const struct json_at *problem, struct lt_shape *shape)
{
	const char *bias = get_string(problem, "bias"), *scale = get_string(problem, "scale");
	int act = name_find(get_string(problem, "act"), lt_act_names);
	double alpha = 1, beta = 0, residual = 0, batch = 1;

	json_member_double(problem, "alpha", &alpha, NULL);
	json_member_double(problem, "beta", &beta, NULL);
	json_member_double(problem, "residual", &residual, NULL);
	json_member_double(problem, "batch", &batch, NULL);
	if (act < 0)
		return string_copy("has an activation that cuBLASLt has not");
	if (batch != 1)
		return string_copy("is a batch of products");
	if (alpha != 1 || beta != 0 || residual != 0 || shape->out == DTYPE_FP8_E4M3 ||
		strcmp(bias, "row_fp32") == 0)
		return string_copy("has factors, a residual, a bias or an output of another kind");
	shape->act = (enum lt_act)act;
	shape->has_bias = strcmp(bias, "row") == 0;
	shape->scale = *scale ? (enum lt_scale)name_find(scale, lt_scale_names) : LT_SCALE_NONE;
	return NULL;
}

/* m,k times k,n times n,p: the weights as they lie. */
static enum status read_chain(
	const struct json_at *problem, struct lt_shape shapes[PRODUCTS_MAX], struct error *err)
{
	int64_t m, k, n, p;
	const int dtype = dtype_find(get_string(problem, "dtype"));

	TRY(json_member_int(problem, "m", &m, err));
	TRY(json_member_int(problem, "k", &k, err));
	TRY(json_member_int(problem, "n", &n, err));
	TRY(json_member_int(problem, "p", &p, err));
	if (dtype < 0)
		return json_error(problem, err, "a known type");
	shapes[0] = (struct lt_shape){.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n};
	shapes[1] = (struct lt_shape){.m = m, .n = p, .k = n, .lda = n, .ldb = p, .ldc = p};
	for (size_t i = 0; i < PRODUCTS_MAX; i++) {
		shapes[i].b_is_kn = shapes[i].fast_accumulation = true;
		shapes[i].in = shapes[i].out = (enum dtype)dtype;
	}
	return STATUS_OK;
}

static enum status rebuild(struct subject *subject, const struct catalogue *catalogue,
	const struct device_spec *device, const struct problem *problem,
	const struct json_at *result, struct error *err)
{
	struct candidate candidate = {0};
	struct build reference_build = {0};
	struct value *slots = NULL;
	struct text text = {0};
	enum status status =
		row_candidate_from_json(catalogue, problem, device, result, &candidate, err);

	if (status == STATUS_OK && candidate.bound->family->step_count)
		status = error_set(err, STATUS_BAD_INPUT, "a composite family");
	if (status == STATUS_OK)
		status = problem_flop(problem, &subject->flop, err);
	if (status == STATUS_OK) {
		slots = candidate_values(&candidate, err);
		status = slots ? candidate_plan(candidate.bound, slots, &subject->plan, err)
			       : STATUS_BAD_INPUT;
	}
	if (status == STATUS_OK)
		status = candidate_build(candidate.bound, slots, &subject->build, err);
	if (status == STATUS_OK) {
		configuration_format(candidate.bound, candidate.choices, &text);
		subject->configuration = text_detach(&text);
		subject->kernel_changed =
			strcmp(get_string(result, "kernel_hash"), subject->build.kernel_hash) != 0;
		status = problem_reference(
			problem, NULL, device, &reference_build, &subject->reference, err);
	}
	build_release(&reference_build);
	candidate_release(&candidate);
	free(slots);
	return status;
}

static char *init(const struct catalogue *catalogue, const struct device_spec *device,
	const struct json_at *entry, const char *family, struct subject *subject,
	struct problem **problem)
{
	const char *name = get_string(entry, "operation");
	const bool is_chain = strcmp(name, "gemm_chain") == 0;
	const struct operation *operation;
	struct json_at problem_at, list, result;
	struct error err = {0};
	char *rest;

	if (!is_chain && strcmp(name, "gemm") != 0)
		return string_format("operation %s", name);
	if (json_member(entry, "problem", &problem_at, &err) != STATUS_OK ||
		catalogue_operation(catalogue, name, &operation, &err) != STATUS_OK ||
		problem_from_json(operation, &problem_at, problem, &err) != STATUS_OK)
		return string_copy(err.message);
	subject->problem = string_copy((*problem)->text);
	subject->product_count = is_chain ? 2 : 1;
	if ((is_chain ? read_chain(&problem_at, subject->shapes, &err)
		      : read_shape(&problem_at, &subject->shapes[0], &err)) != STATUS_OK)
		return string_copy(err.message);
	rest = read_rest(&problem_at, &subject->shapes[0]);
	if (rest)
		return rest;
	if (!find_result(entry, family, &list, &result))
		return string_format("no result of %s", family ? family : "a winner");
	subject->family = string_copy(get_string(&result, "family"));
	if (rebuild(subject, catalogue, device, *problem, &result, &err) != STATUS_OK)
		return string_copy(err.message);
	return NULL;
}

void subject_init(const struct catalogue *catalogue, const struct device_spec *device,
	const struct json_at *entry, const char *family, struct subject *subject)
{
	struct problem *problem = NULL;

	*subject = (struct subject){0};
	subject->skipped = init(catalogue, device, entry, family, subject, &problem);
	problem_free(problem);
}

void subject_release(struct subject *subject)
{
	free(subject->problem);
	free(subject->family);
	free(subject->configuration);
	free(subject->skipped);
	plan_release(&subject->plan);
	build_release(&subject->build);
	reference_plan_release(&subject->reference);
	*subject = (struct subject){0};
}

enum status subject_request(
	const struct subject *subject, struct kernel_store *store, struct error *err)
{
	const struct compile_result *kernel;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < subject->build.unit_count && status == STATUS_OK; i++)
		status = kernel_store_request(store, &subject->build.units[i], &kernel, err);
	return status;
}
