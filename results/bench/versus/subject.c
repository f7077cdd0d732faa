/* SPDX-License-Identifier: MIT */
#include "bench/versus/subject.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/problem_reference.h"
#include "candidate/candidate.h"
#include "engine/row.h"

/* Returns the winner or the row of the requested family, or NULL. */
static const struct tuned_row *find_row(const struct tuned_entry *entry, const char *family)
{
	if (!family || strcmp(entry->winner.result.family, family) == 0)
		return &entry->winner;
	for (size_t i = 0; i < entry->family_count; i++)
		if (strcmp(entry->families[i].result.family, family) == 0)
			return &entry->families[i];
	return NULL;
}

static struct value value_of(const struct problem *problem, const char *key)
{
	const struct operation *operation = problem->operation;

	for (size_t i = 0; i < operation->key_count; i++)
		if (strcmp(operation->keys[i].name, key) == 0)
			return problem->values[i];
	return value_string("");
}

static int64_t size_of(const struct problem *problem, const char *key)
{
	return value_of(problem, key).integer;
}

static bool is(const struct problem *problem, const char *key, const char *value)
{
	return strcmp(value_of(problem, key).string, value) == 0;
}

/* Returns the key's value, or 0 if the problem lacks the key. */
static double number_of(const struct problem *problem, const char *key)
{
	double number = 0;

	return value_as_real(value_of(problem, key), &number) ? number : 0;
}

/* Returns the reason for refusing the problem, or NULL. */
static char *read_gemm(const struct problem *problem, struct lt_shape *shape)
{
	*shape = (struct lt_shape){.m = size_of(problem, "M"),
		.n = size_of(problem, "N"),
		.k = size_of(problem, "K"),
		.lda = size_of(problem, "lda"),
		.ldb = size_of(problem, "ldb"),
		.ldc = size_of(problem, "ldc"),
		.b_is_kn = is(problem, "b_layout", "kn"),
		.in = (enum dtype)dtype_find(value_of(problem, "dtype").string),
		.out = (enum dtype)dtype_find(value_of(problem, "out_dtype").string),
		.fast_accumulation = !is(problem, "accum", "promoted"),
		.has_bias = is(problem, "bias", "row"),
		.scale = (enum lt_scale)name_find(
			value_of(problem, "scale").string, lt_scale_names)};
	if (number_of(problem, "batch") != 1)
		return string_copy("is a batch of products");
	if (number_of(problem, "alpha") != 1 || number_of(problem, "beta") != 0 ||
		number_of(problem, "residual") != 0 || shape->out == DTYPE_FP8_E4M3 ||
		is(problem, "bias", "row_fp32"))
		return string_copy("has factors, a residual, a bias or an output of another kind");
	return NULL;
}

/* Reads m,k times k,n times n,p; the weights are in memory in this order. */
static void read_chain(const struct problem *problem, struct lt_shape shapes[PRODUCTS_MAX])
{
	const int64_t m = size_of(problem, "m"), k = size_of(problem, "k");
	const int64_t n = size_of(problem, "n"), p = size_of(problem, "p");

	shapes[0] = (struct lt_shape){.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n};
	shapes[1] = (struct lt_shape){.m = m, .n = p, .k = n, .lda = n, .ldb = p, .ldc = p};
	for (size_t i = 0; i < PRODUCTS_MAX; i++) {
		shapes[i].b_is_kn = shapes[i].fast_accumulation = true;
		shapes[i].in = shapes[i].out =
			(enum dtype)dtype_find(value_of(problem, "dtype").string);
	}
}

/* Returns the reason for refusing the problem, or NULL. The activation is between the two
 * products. */
static char *read_products(const struct problem *problem, struct subject *subject)
{
	const int act = name_find(value_of(problem, "act").string, lt_act_names);

	if (act < 0)
		return string_copy("has an activation that cuBLASLt has not");
	if (subject->product_count > 1) {
		read_chain(problem, subject->shapes);
	} else {
		char *rest = read_gemm(problem, &subject->shapes[0]);

		if (rest)
			return rest;
	}
	subject->shapes[0].act = (enum lt_act)act;
	return NULL;
}

static enum status rebuild(struct subject *subject, const struct catalogue *catalogue,
	const struct device_spec *device, const struct problem *problem,
	const struct tuned_row *row, struct error *err)
{
	struct candidate candidate = {0};
	struct build reference_build = {0};
	struct value *values = NULL;
	struct text text = {0};
	enum status status = row_candidate(catalogue, problem, device, row, &candidate, NULL, err);

	if (status == STATUS_OK)
		status = problem_flop(problem, &subject->flop, err);
	if (status == STATUS_OK) {
		values = candidate_values(&candidate, err);
		status = values ? candidate_plan(candidate.bound, values, &subject->plan, err)
				: STATUS_BAD_INPUT;
	}
	if (status == STATUS_OK)
		status = candidate_build(candidate.bound, values, &subject->build, err);
	if (status == STATUS_OK) {
		configuration_format(candidate.bound, candidate.choices, &text);
		subject->configuration = text_detach(&text);
		subject->kernel_changed =
			strcmp(row->result.kernel_hash, subject->build.kernel_hash) != 0;
		status = problem_reference(
			problem, NULL, device, &reference_build, &subject->reference, err);
	}
	build_release(&reference_build);
	candidate_release(&candidate);
	free(values);
	return status;
}

static char *init(const struct catalogue *catalogue, const struct device_spec *device,
	const struct tuned_entry *entry, const char *family, struct subject *subject)
{
	const bool is_chain = strcmp(entry->operation, "gemm_chain") == 0;
	const struct tuned_row *row = find_row(entry, family);
	const struct operation *operation;
	CLEANUP(problem_cleanup) struct problem *problem = NULL;
	struct error err = {0};
	char *rest;

	if (!is_chain && strcmp(entry->operation, "gemm") != 0)
		return string_format("operation %s", entry->operation);
	if (catalogue_operation(catalogue, entry->operation, &operation, &err) != STATUS_OK ||
		problem_from_named_values(operation, &entry->problem, &problem, &err) != STATUS_OK)
		return string_copy(err.message);
	subject->problem = string_copy(problem->text);
	subject->product_count = is_chain ? 2 : 1;
	rest = read_products(problem, subject);
	if (rest)
		return rest;
	if (!row)
		return string_format("no result of %s", family);
	subject->family = string_copy(row->result.family);
	return rebuild(subject, catalogue, device, problem, row, &err) == STATUS_OK
		       ? NULL
		       : string_copy(err.message);
}

void subject_init(const struct catalogue *catalogue, const struct device_spec *device,
	const struct tuned_entry *entry, const char *family, struct subject *subject)
{
	*subject = (struct subject){0};
	subject->skipped = init(catalogue, device, entry, family, subject);
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
