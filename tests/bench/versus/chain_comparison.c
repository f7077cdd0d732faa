/* SPDX-License-Identifier: MIT */
#include "bench/versus/chain_comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/json_numbers.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "bench/versus/agree.h"
#include "bench/versus/chain_choice.h"
#include "bench/versus/loaded_row.h"
#include "problem_json.h"

enum {
	TENSOR_A = 0,
	TENSOR_B = 1,
	TENSOR_C = 2,
	TENSOR_Y = 3,
	STEPS = 2,
	PICK_ROUNDS = 5,
	ROUNDS_LEAST = 7,
	REMEASURED = CHAIN_FAMILIES + 3,
};
const char *const chain_families[CHAIN_FAMILIES] = {"fused", "fused_resident", "fused_wgmma"};
static const double pick_seconds = 0.1;
/* What is that much slower than another in its first run is not timed further. */
static const double far_ratio = 3;

/* A product as cuBLASLt computes it, between buffers of the chain's tensors or the intermediate. */
struct lt_step {
	struct lt_product product;
	int pick, fastest;
	bool reads_intermediate;
	double pick_us[LT_PICKS_MAX]; /* infinite: refused */
};

struct field {
	struct setup *setup;
	struct problem *problem;
	struct problem_data data;
	struct loaded_row *loaded_rows; /* all that fuse, then the two products */
	size_t count;
	struct loaded_row separate;
	struct json *separate_row;
	struct lt_step steps[STEPS];
	CUdeviceptr intermediate;
};

struct lt_side {
	const struct field *field;
	int step; /* -1: both */
	int picks[STEPS];
};

static bool run_lt(const void *context, struct gpu_session *gpu, size_t set)
{
	const struct lt_side *side = context;
	const struct field *field = side->field;
	CUdeviceptr tensors[TENSOR_Y + 1];
	int result = 0;

	for (size_t i = 0; i <= TENSOR_Y; i++)
		tensors[i] = problem_tensor(&field->data, set, i);
	if (side->step != 1)
		result = lt_product_run(&field->steps[0].product, side->picks[0],
			&(struct lt_tensors){.a = tensors[TENSOR_A],
				.b = tensors[TENSOR_B],
				.c = field->intermediate},
			gpu->stream);
	if (result == 0 && side->step != 0)
		result = lt_product_run(&field->steps[1].product, side->picks[1],
			&(struct lt_tensors){.a = field->intermediate,
				.b = tensors[TENSOR_C],
				.c = tensors[TENSOR_Y]},
			gpu->stream);
	return result == 0 ? true
			   : gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "cuBLASLt: status %d", result);
}

static enum status failed(const struct setup *setup, struct error *err)
{
	const struct failure *failure = &setup->gpu.failure;

	return error_set(
		err, STATUS_FAILED, "%s: %s", outcome_name(failure->outcome), failure->detail);
}

/* ---- ours ---- */
/* Opens and times the rows at `at`; loaded_rows is as long as the list. */
static enum status compare_rows(struct setup *setup, const struct problem *problem,
	struct problem_data *data, const struct json_at *rows, struct loaded_row *loaded_rows,
	struct error *err)
{
	size_t count = json_count(rows);
	enum status status = STATUS_OK;

	for (size_t i = 0; i < count && status == STATUS_OK && !setup->gpu.failure.fatal; i++) {
		struct json_at row = json_item(rows, i);

		status = loaded_row_open(setup, problem, data, &row, &loaded_rows[i], err);
	}
	if (status != STATUS_OK)
		return status;
	if (setup->gpu.failure.fatal ||
		!loaded_rows_interleave(setup, loaded_rows, count, far_ratio))
		return failed(setup, err);
	return STATUS_OK;
}

static void release_rows(struct setup *setup, struct loaded_row *loaded_rows, size_t count)
{
	for (size_t i = 0; loaded_rows && i < count; i++)
		loaded_row_release(setup, &loaded_rows[i]);
	free(loaded_rows);
}

/* The fastest of a step's candidates becomes a row of "steps". */
static enum status time_step(struct field *field, const struct json_at *step, struct json *steps,
	struct json *tried, struct error *err)
{
	struct setup *setup = field->setup;
	struct problem *problem = NULL;
	struct problem_data data = {0};
	struct loaded_row *loaded_rows = NULL;
	const struct loaded_row *best;
	struct json_at rows;
	const char *text;
	size_t count = 0;
	enum status status = json_member_string(step, "problem", &text, err);

	if (status == STATUS_OK)
		status = json_member(step, "candidates", &rows, err);
	if (status == STATUS_OK)
		status = chain_problem(&setup->catalogue, "gemm", text, &problem, err);
	if (status == STATUS_OK)
		status = loaded_row_data(setup, problem, &data, err);
	if (status == STATUS_OK) {
		count = json_count(&rows);
		loaded_rows = memory_zeroed(count + 1, sizeof(*loaded_rows));
		status = compare_rows(setup, problem, &data, &rows, loaded_rows, err);
	}
	best = status == STATUS_OK ? loaded_rows_best(loaded_rows, count, NULL) : NULL;
	if (status == STATUS_OK && !best)
		status = error_set(err, STATUS_FAILED, "%s: nothing runs", text);
	if (best) {
		struct json_at row = json_item(&rows, (size_t)(best - loaded_rows));
		struct json *served = json_copy(row.node);

		json_put_string(served, "operation", "gemm");
		json_put(served, "problem", problem_to_json(problem));
		json_push(steps, served);
	}
	for (size_t i = 0; i < count && status == STATUS_OK; i++)
		json_push(tried, loaded_row_json(&loaded_rows[i]));
	if (!setup->gpu.failure.fatal) {
		release_rows(setup, loaded_rows, count);
		problem_data_release(&setup->gpu, &data);
	}
	problem_free(problem);
	return status;
}

static enum status time_steps(
	struct field *field, const struct json_at *chosen, struct json *tried, struct error *err)
{
	struct json *steps = json_new_array();
	struct json_at list;
	enum status status = json_member(chosen, "steps", &list, err);

	for (size_t i = 0; status == STATUS_OK && i < STEPS; i++) {
		struct json_at step = json_item(&list, i);

		status = time_step(field, &step, steps, tried, err);
	}
	field->separate_row = json_new_object();
	json_put_string(field->separate_row, "family", "gemm_chain/separate");
	json_put(field->separate_row, "configuration", json_new_object());
	json_put(field->separate_row, "steps", steps);
	return status;
}

static enum status open_separate(struct field *field, struct error *err)
{
	struct json_at row = json_root(field->separate_row, "steps");
	const struct plan *plan;
	enum status status = loaded_row_open(
		field->setup, field->problem, &field->data, &row, &field->separate, err);

	if (status != STATUS_OK)
		return status;
	if (field->separate.left_out)
		return failed(field->setup, err);
	plan = &field->separate.loaded.plan;
	for (size_t i = plan->tensor_count; i < plan->buffer_count; i++)
		if (strcmp(plan->buffers[i].name, "intermediate") == 0)
			field->intermediate = field->separate.loaded.buffers[i];
	return field->intermediate ? STATUS_OK
				   : error_set(err, STATUS_FAILED, "no buffer \"intermediate\"");
}

/* ---- cuBLASLt ---- */
static bool time_picks(struct field *field, int step)
{
	struct gpu_session *gpu = &field->setup->gpu;
	struct lt_step *lt = &field->steps[step];
	struct lt_side sides[LT_PICKS_MAX];
	struct timed_run timed_runs[LT_PICKS_MAX] = {0}, *running[LT_PICKS_MAX];
	size_t count = 0;
	bool done = true;

	lt->fastest = -1;
	for (int i = 0; done && i < lt->product.pick_count; i++) {
		sides[i] = (struct lt_side){field, step, {i, i}};
		timed_runs[i] = (struct timed_run){
			.run = run_lt, .context = &sides[i], .set_count = field->data.set_count};
		if (interleaved_prepare(gpu, &timed_runs[i]))
			running[count++] = &timed_runs[i];
		done = !field->setup->gpu.failure.fatal;
	}
	done = done && interleaved_rounds(gpu, running, count, 3, PICK_ROUNDS, pick_seconds);
	for (int i = 0; i < lt->product.pick_count; i++) {
		lt->pick_us[i] = done && timed_runs[i].sample_count
					 ? interleaved_median_us(&timed_runs[i])
					 : INFINITY;
		if (isfinite(lt->pick_us[i]) &&
			(lt->fastest < 0 || lt->pick_us[i] < lt->pick_us[lt->fastest]))
			lt->fastest = i;
		if (!field->setup->gpu.failure.fatal)
			timed_run_release(gpu, &timed_runs[i]);
	}
	return done;
}

static enum status open_lt(
	struct field *field, const int64_t sizes[4], enum dtype dtype, struct error *err)
{
	int64_t m = sizes[0], k = sizes[1], n = sizes[2], p = sizes[3];
	const struct lt_shape shapes[STEPS] = {{.m = m,
						       .n = n,
						       .k = k,
						       .lda = k,
						       .ldb = n,
						       .ldc = n,
						       .b_is_kn = true,
						       .in = dtype,
						       .out = dtype,
						       .fast_accumulation = true},
		{.m = m,
			.n = p,
			.k = n,
			.lda = n,
			.ldb = p,
			.ldc = p,
			.b_is_kn = true,
			.in = dtype,
			.out = dtype,
			.fast_accumulation = true}};
	enum status status = STATUS_OK;

	for (int i = 0; i < STEPS && status == STATUS_OK; i++) {
		status = lt_product_init(
			&field->setup->lt, &shapes[i], LT_PICKS, &field->steps[i].product, err);
		if (status == STATUS_OK && !time_picks(field, i))
			return failed(field->setup, err);
		if (status == STATUS_OK && field->steps[i].fastest < 0)
			status = error_set(
				err, STATUS_FAILED, "cuBLASLt has no kernel for product %d", i + 1);
	}
	return status;
}

/* ---- the interleaved timing ---- */
static double median_of_ratios(
	const struct timed_run *ours, const struct timed_run *a, const struct timed_run *b)
{
	size_t count = ours->sample_count;
	double *ratios = memory_zeroed(count + 1, sizeof(*ratios)), median;

	for (size_t i = 0; i < count; i++)
		ratios[i] = fmin(a->samples_us[i], b->samples_us[i]) / ours->samples_us[i];
	median = statistics_quantile(ratios, count, 0.5);
	free(ratios);
	return median;
}

static double timed_us(const struct loaded_row *loaded_row)
{
	return loaded_row ? interleaved_median_us(&loaded_row->timed_run) : INFINITY;
}

static bool agree(struct field *field, const struct timed_run *ours, const struct timed_run *theirs,
	enum dtype dtype, struct chain_times *times)
{
	double difference = NAN;

	if (!agree_measure(&field->setup->gpu, ours, theirs,
		    &field->data.told.reference.tensors[TENSOR_Y],
		    problem_tensor(&field->data, 0, TENSOR_Y), &difference))
		return false;
	times->difference = isnan(difference) ? NAN : fmax(times->difference, difference);
	times->agrees = times->agrees && difference <= 2 * agree_limit(dtype, dtype);
	return true;
}

static bool time_interleaved(struct field *field, const struct chain_options *options,
	enum dtype dtype, struct chain_times *times, struct json *json)
{
	struct gpu_session *gpu = &field->setup->gpu;
	struct loaded_row *fused[CHAIN_FAMILIES], *best = NULL;
	struct lt_side sides[2] = {{field, -1, {field->steps[0].fastest, field->steps[1].fastest}},
		{field, -1, {0, 0}}};
	struct timed_run lt[2] = {0}, *running[REMEASURED];
	size_t count = 0;
	bool done = true;

	for (size_t i = 0; i < CHAIN_FAMILIES; i++) {
		char *name = string_format("gemm_chain/%s", chain_families[i]);

		fused[i] = loaded_rows_best(field->loaded_rows, field->count, name);
		best = fused[i] ? fused[i] : best;
		free(name);
	}
	if (!best)
		return gpu_fail(gpu, OUTCOME_LAUNCH_FAILED, "nothing that fuses runs");
	for (size_t i = 0; done && i < 2; i++) {
		lt[i] = (struct timed_run){
			.run = run_lt, .context = &sides[i], .set_count = field->data.set_count};
		/* the default pick of either product may be refused */
		done = interleaved_prepare(gpu, &lt[i]) ||
		       (i == 1 && !field->setup->gpu.failure.fatal);
		if (done && lt[i].runs)
			running[count++] = &lt[i];
	}
	if (done) {
		running[count++] = &field->separate.timed_run;
		for (size_t i = 0; i < CHAIN_FAMILIES; i++)
			if (fused[i])
				running[count++] = &fused[i]->timed_run;
		for (size_t i = 0; i < count; i++)
			interleaved_restart(running[i]);
		done = interleaved_rounds(
			gpu, running, count, ROUNDS_LEAST, options->rounds, options->seconds);
	}
	if (done) {
		for (size_t i = 0; i < CHAIN_FAMILIES; i++) {
			times->fused_us[i] = timed_us(fused[i]);
			if (times->fused_us[i] < timed_us(best))
				best = fused[i];
			json_put_string(
				json, chain_families[i], fused[i] ? fused[i]->configuration : NULL);
		}
		times->separate_us = timed_us(&field->separate);
		times->cublaslt_us = interleaved_median_us(&lt[0]);
		times->cublaslt_default_us =
			lt[1].sample_count ? interleaved_median_us(&lt[1]) : INFINITY;
		times->gain =
			median_of_ratios(&best->timed_run, &lt[0], &field->separate.timed_run);
		times->gain_over_cublaslt = median_of_ratios(&best->timed_run, &lt[0], &lt[0]);
		times->agrees = true;
		for (size_t i = 0; done && i < CHAIN_FAMILIES; i++)
			done = !fused[i] ||
			       agree(field, &fused[i]->timed_run, &lt[0], dtype, times);
		done = done && agree(field, &field->separate.timed_run, &lt[0], dtype, times);
		json_put_int(json, "rounds", (int64_t)best->timed_run.sample_count);
	}
	for (size_t i = 0; !field->setup->gpu.failure.fatal && i < 2; i++)
		timed_run_release(gpu, &lt[i]);
	return done;
}

static void put_times(struct json *json, const struct chain_times *times)
{
	for (size_t i = 0; i < CHAIN_FAMILIES; i++) {
		char *name = string_format("%s_us", chain_families[i]);

		json_put_double(json, name, times->fused_us[i]);
		free(name);
	}
	json_put_double(json, "separate_us", times->separate_us);
	json_put_double(json, "cublaslt_us", times->cublaslt_us);
	json_put_double(json, "cublaslt_default_us", times->cublaslt_default_us);
	json_put_double(json, "gain", times->gain);
	json_put_double(json, "gain_over_cublaslt", times->gain_over_cublaslt);
	json_put_double(json, "relative_difference", times->difference);
	json_put_bool(json, "agrees", times->agrees);
}

static void put_lt(struct json *json, const struct field *field)
{
	struct json *list = json_new_array();

	for (int i = 0; i < STEPS; i++) {
		struct json *step = json_new_object(), *picks = json_new_array();

		for (int k = 0; k < field->steps[i].product.pick_count; k++)
			json_push(picks, json_new_double(field->steps[i].pick_us[k]));
		json_put(step, "picks_us", picks);
		json_put_int(step, "fastest", field->steps[i].fastest);
		json_push(list, step);
	}
	json_put(json, "cublaslt_products", list);
}

static enum status read_problem(struct field *field, const struct json_at *chosen,
	struct json *json, int64_t sizes[4], enum dtype *dtype, struct error *err)
{
	static const char *const names[] = {"m", "k", "n", "p"};
	const char *text, *name;
	struct json *values;
	struct json_at at;
	enum status status = json_member_string(chosen, "problem", &text, err);

	if (status == STATUS_OK)
		status = chain_problem(
			&field->setup->catalogue, "gemm_chain", text, &field->problem, err);
	if (status != STATUS_OK)
		return status;
	values = problem_to_json(field->problem);
	at = json_root(values, text);
	for (size_t i = 0; i < ARRAY_COUNT(names) && status == STATUS_OK; i++)
		status = json_member_int(&at, names[i], &sizes[i], err);
	if (status == STATUS_OK)
		status = json_member_string(&at, "dtype", &name, err);
	if (status == STATUS_OK)
		*dtype = (enum dtype)dtype_find(name);
	json_put(json, "problem", values);
	json_put_string(json, "text", field->problem->text);
	return status;
}

static enum status compare_interleaved(struct field *field, const struct json_at *chosen,
	const struct chain_options *options, struct chain_times *times, struct json *json,
	struct error *err)
{
	struct json *tried = json_new_array();
	struct json_at rows;
	int64_t sizes[4];
	enum dtype dtype = DTYPE_BF16;
	enum status status = read_problem(field, chosen, json, sizes, &dtype, err);

	json_put(json, "tried", tried);
	if (status == STATUS_OK)
		status = json_member(chosen, "candidates", &rows, err);
	if (status == STATUS_OK)
		status = time_steps(field, chosen, tried, err);
	if (status == STATUS_OK)
		status = loaded_row_data(field->setup, field->problem, &field->data, err);
	if (status != STATUS_OK)
		return status;
	field->count = json_count(&rows);
	field->loaded_rows = memory_zeroed(field->count + 1, sizeof(*field->loaded_rows));
	status = compare_rows(
		field->setup, field->problem, &field->data, &rows, field->loaded_rows, err);
	for (size_t i = 0; i < field->count && status == STATUS_OK; i++)
		json_push(tried, loaded_row_json(&field->loaded_rows[i]));
	if (status == STATUS_OK)
		status = open_separate(field, err);
	if (status == STATUS_OK)
		status = open_lt(field, sizes, dtype, err);
	if (status == STATUS_OK && !time_interleaved(field, options, dtype, times, json))
		status = failed(field->setup, err);
	if (status != STATUS_OK)
		return status;
	put_times(json, times);
	put_lt(json, field);
	json_put(json, "separate", json_copy(field->separate_row));
	return STATUS_OK;
}

enum status chain_comparison(struct setup *setup, const struct json_at *chosen,
	const struct chain_options *options, struct chain_times *times, struct json **json,
	bool *fatal, struct error *err)
{
	struct field *field = memory_zeroed(1, sizeof(*field));
	enum status status;

	*json = json_new_object();
	*times = (struct chain_times){0};
	field->setup = setup;
	status = compare_interleaved(field, chosen, options, times, *json, err);
	if (status != STATUS_OK)
		json_put_string(*json, "no_result", err->message);
	*fatal = field->setup->gpu.failure.fatal;
	/* a lost context releases nothing any more */
	if (!*fatal) {
		for (int i = 0; i < STEPS; i++)
			lt_product_release(&field->steps[i].product);
		loaded_row_release(setup, &field->separate);
		release_rows(setup, field->loaded_rows, field->count);
		problem_data_release(&setup->gpu, &field->data);
	}
	json_free(field->separate_row);
	problem_free(field->problem);
	free(field);
	return status;
}
