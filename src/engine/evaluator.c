/* SPDX-License-Identifier: MIT */
#include "engine/evaluator.h"

#include <math.h>

#include "candidate/problem_reference.h"
#include "engine/rounds.h"
#include "engine/kernel_check.h"

enum {
	POLL_FDS = 64,
	POLL_MILLISECONDS = 200,
	POLL_SHARED_MILLISECONDS = 20, /* another GPU's thread may have taken what is waited for */
};

struct announced {
	const struct problem *problem;
	uint32_t number; /* device_problem()'s */
};

void evaluator_clear(struct evaluator *evaluator)
{
	while (evaluator->count)
		evaluator_free_trial(evaluator, evaluator->trials[evaluator->count - 1]);
}

void evaluator_release(struct evaluator *evaluator)
{
	evaluator_clear(evaluator);
	free(evaluator->trials);
	free(evaluator->announced);
	*evaluator = (struct evaluator){0};
}

static struct trial *add(struct evaluator *evaluator, enum trial_stage goal)
{
	struct trial *trial = memory_zeroed(1, sizeof(*trial));

	trial->goal = goal;
	ARRAY_GROW(evaluator->trials, evaluator->count, evaluator->capacity);
	evaluator->trials[evaluator->count++] = trial;
	return trial;
}

/* Loads it at once; on failure it goes again. */
static enum status load_now(
	struct evaluator *evaluator, struct trial *trial, struct trial **result, struct error *err)
{
	const enum status status = evaluator_load(evaluator, trial, err);

	if (status == STATUS_OK)
		*result = trial;
	else
		evaluator_free_trial(evaluator, trial);
	return status;
}

/* Without a compiler the model's estimate of registers has to do. */
static void take_estimate(struct trial *trial)
{
	double predicted_us = trial->evaluation.score.predicted_time_us;

	trial->stage = TRIAL_DONE;
	trial->evaluation.predicted = true;
	if (isfinite(predicted_us))
		evaluation_add_samples(&trial->evaluation, &predicted_us, 1);
	else
		trial->evaluation.outcome = OUTCOME_PRUNED_BY_MODEL;
}

enum status evaluator_add(struct evaluator *evaluator, const struct candidate *candidate,
	enum trial_stage goal, struct trial **result, struct error *err)
{
	struct kernel_store *store = evaluator->context->store;
	struct trial *trial = add(evaluator, goal);
	const enum status status = trial_start(trial, candidate, store, err);

	if (status != STATUS_OK) {
		evaluator_free_trial(evaluator, trial);
		return status;
	}
	if (!store && device_compiles(evaluator->context->device))
		take_estimate(trial);
	*result = trial;
	return STATUS_OK;
}

enum status evaluator_add_load(struct evaluator *evaluator, const struct trial *original,
	struct trial **result, struct error *err)
{
	struct trial *trial = add(evaluator, TRIAL_LOADED);

	trial->problem = original->problem;
	trial->original = original;
	return load_now(evaluator, trial, result, err);
}

enum status evaluator_add_binary(struct evaluator *evaluator, const struct problem *problem,
	const struct binary *binary, struct trial **result, struct error *err)
{
	struct trial *trial = add(evaluator, TRIAL_LOADED);

	trial->problem = problem;
	trial->binary = binary;
	return load_now(evaluator, trial, result, err);
}

struct trial *evaluator_add_handle(struct evaluator *evaluator, device_handle handle)
{
	struct trial *trial = add(evaluator, TRIAL_LOADED);

	trial->stage = TRIAL_LOADED;
	trial->handle = handle;
	return trial;
}

static uint32_t number_of(const struct evaluator *evaluator, const struct problem *problem)
{
	for (size_t i = 0; i < evaluator->announced_count; i++)
		if (evaluator->announced[i].problem == problem)
			return evaluator->announced[i].number;
	return 0;
}

static void wait_for_any(const struct context *context)
{
	struct pollfd fds[POLL_FDS];
	size_t count = device_poll_fds(context->device, fds, POLL_FDS);

	if (context->compiler)
		count += compiler_poll_fds(context->compiler, fds + count, POLL_FDS - count);
	team_leave(context->team);
	if (count)
		poll(fds, (nfds_t)count,
			context->team ? POLL_SHARED_MILLISECONDS : POLL_MILLISECONDS);
	team_enter(context->team);
}

/* kernel_store_wait(), in which other GPUs' threads have their turns. */
static enum status wait_for_kernel(const struct context *context, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err)
{
	TRY(kernel_store_request(context->store, unit, kernel, err));
	while (context->team && !kernel_is_ready(*kernel))
		if (!kernel_store_poll(context->store, 0))
			wait_for_any(context);
	return kernel_store_wait(context->store, unit, kernel, err);
}

/* The names that the code of a unit has for its entries; whether they get what they take. */
static enum status take_entries(const struct compile_result *kernel, size_t unit,
	struct reference_plan *reference, struct error *err)
{
	for (size_t i = 0; i < reference->output_count; i++) {
		struct plan_launch *launch = reference->outputs[i].launch;

		if (!launch || launch->unit != unit)
			continue;
		(void)kernel_take_entry(kernel, launch);
		if (kernel_arguments_check(kernel, launch, reference->tensors, NULL, err) !=
			STATUS_OK)
			return error_context(err, "the reference");
	}
	for (size_t i = 0; reference->trusted && i < reference->trusted->launch_count; i++)
		if (reference->trusted->launches[i].unit == unit)
			(void)kernel_take_entry(kernel, &reference->trusted->launches[i]);
	return STATUS_OK;
}

enum status evaluator_announce(
	struct evaluator *evaluator, const struct problem *problem, struct error *err)
{
	struct context *context = evaluator->context;
	CLEANUP(reference_plan_release) struct reference_plan reference = {0};
	CLEANUP(build_release) struct build build = {0};
	CLEANUP(memory_free) struct text *cubins = NULL;
	const bool runs = context->store && device_measures(context->device);
	uint32_t number = 0;

	if (number_of(evaluator, problem))
		return STATUS_OK;
	TRY(problem_reference(problem, runs ? &context->catalogue : NULL,
		device_spec(context->device), &build, &reference, err));
	cubins = memory_zeroed(build.unit_count + 1, sizeof(*cubins));
	for (size_t i = 0; runs && i < build.unit_count; i++) {
		const struct compile_result *kernel;

		TRY(wait_for_kernel(context, &build.units[i], &kernel, err));
		cubins[i] = kernel->cubin; /* borrowed for the call */
		TRY(take_entries(kernel, i, &reference, err));
	}
	TRY(device_problem(context->device, problem->operation->name, problem->text, &reference,
		cubins, runs ? build.unit_count : 0, &number, err));
	ARRAY_GROW(evaluator->announced, evaluator->announced_count, evaluator->announced_capacity);
	evaluator->announced[evaluator->announced_count++] =
		(struct announced){.problem = problem, .number = number};
	return STATUS_OK;
}

enum status evaluator_load(struct evaluator *evaluator, struct trial *trial, struct error *err)
{
	struct context *context = evaluator->context;
	const struct trial *source = trial->original ? trial->original : trial;
	size_t units = context->store ? source->build.unit_count : 0;
	CLEANUP(memory_free) struct text *cubins = memory_zeroed(units + 1, sizeof(*cubins));
	struct device_load_request request = {.family = source->evaluation.family,
		.configuration = source->evaluation.configuration,
		.plan = &source->plan,
		.cubins = cubins,
		.cubin_count = units,
		.resources = source->evaluation.resources,
		.predicted_time_us = source->evaluation.score.predicted_time_us};

	for (size_t i = 0; i < units; i++)
		cubins[i] = source->kernels[i]->cubin; /* borrowed for the call */
	if (trial->binary) {
		request.family = request.configuration = "";
		request.plan = &trial->binary->plan;
		request.cubins = trial->binary->cubins;
		request.cubin_count = trial->binary->cubin_count;
	}
	trial->stage = TRIAL_LOADING;
	evaluator->moved = true;
	TRY(evaluator_announce(evaluator, trial->problem, err));
	request.problem = number_of(evaluator, trial->problem);
	return device_load(context->device, &request, &trial->handle, err);
}

static bool has_room(const struct evaluator *evaluator)
{
	return !evaluator->on_device_max ||
	       evaluator_count(evaluator, TRIAL_LOADING, TRIAL_SAMPLING) < evaluator->on_device_max;
}

/* compile -> score again -> load */
static enum status advance(struct evaluator *evaluator, struct error *err)
{
	for (size_t i = 0; i < evaluator->count; i++) {
		struct trial *trial = evaluator->trials[i];

		if (trial->stage == TRIAL_COMPILING) {
			TRY(trial_take_compiled(trial, !evaluator->keeps_pruned, err));
			evaluator->moved |= trial->stage != TRIAL_COMPILING;
		}
		if (trial->stage == TRIAL_COMPILED && trial->goal > TRIAL_COMPILED &&
			has_room(evaluator))
			TRY(evaluator_load(evaluator, trial, err));
	}
	return STATUS_OK;
}

static enum status submit(struct evaluator *evaluator, const device_handle *handles, size_t count,
	const struct sampling *sampling, struct error *err)
{
	const struct device_sample_request request = {
		.handles = handles, .handle_count = count, .sampling = *sampling};

	return count ? device_sample(evaluator->context->device, &request, err) : STATUS_OK;
}

/* load -> verify -> sample */
static enum status go_on(struct evaluator *evaluator, struct trial *trial, struct error *err)
{
	if (trial->stage == TRIAL_LOADED && trial->goal > TRIAL_LOADED) {
		trial->stage = TRIAL_VERIFYING;
		return device_verify(evaluator->context->device, trial->handle, err);
	}
	if (trial->stage == TRIAL_VERIFIED && trial->goal > TRIAL_VERIFIED) {
		trial->stage = TRIAL_SAMPLING;
		return submit(evaluator, &trial->handle, 1, &evaluator->first_look, err);
	}
	return STATUS_OK;
}

/* Nothing of the problem can be verified. */
static enum status take_reference(struct evaluator *evaluator, struct trial *trial,
	const struct device_event *event, struct error *err)
{
	CLEANUP(memory_free)
	char *words = string_format("%s %s: expected its reference to run, found %s: %s",
		trial->problem->operation->name, trial->problem->title,
		outcome_name(event->outcome),
		event->detail ? event->detail : outcome_summary(event->outcome));

	trial_finish(trial, event->outcome, words);
	return evaluator->outlives_references ? STATUS_OK
					      : error_set(err, STATUS_FAILED, "%s", words);
}

static enum status take_event(struct evaluator *evaluator, struct trial *trial,
	struct device_event *event, struct error *err)
{
	struct evaluation *evaluation = &trial->evaluation;

	evaluation->flags |= event->flags;
	if (event->kind == DEVICE_EVENT_SAMPLED && trial->series) {
		round_series_take(trial->series, event);
		return STATUS_OK;
	}
	if (event->kind == DEVICE_EVENT_LOADED)
		trial_take_resources(trial, event);
	if (event->kind == DEVICE_EVENT_VERIFIED) {
		evaluation->verified = event->verified;
		evaluation->by_program = event->by_program;
	}
	if (event->kind == DEVICE_EVENT_VERIFIED || event->verification.done)
		evaluation->verification = event->verification;
	if (event->kind == DEVICE_EVENT_SAMPLED) {
		evaluation->measured = event->measured;
		if (event->sample_count) {
			evaluation->predicted = event->predicted;
			evaluation_add_samples(evaluation, event->samples_us, event->sample_count);
		}
	}
	if (event->reference)
		return take_reference(evaluator, trial, event, err);
	if (event->outcome != OUTCOME_OK || event->kind == DEVICE_EVENT_SAMPLED ||
		trial->stage == TRIAL_CHECKING) {
		trial_finish(trial, event->outcome, event->detail);
		return STATUS_OK;
	}
	trial->stage = event->kind == DEVICE_EVENT_LOADED ? TRIAL_LOADED : TRIAL_VERIFIED;
	return go_on(evaluator, trial, err);
}

static struct trial *find(const struct evaluator *evaluator, device_handle handle)
{
	for (size_t i = 0; i < evaluator->count; i++)
		if (evaluator->trials[i]->handle == handle)
			return evaluator->trials[i];
	return NULL;
}

/* A worker that is gone or hangs is seen to here, which may take seconds. */
static bool poll_device(const struct context *context, struct device_event *event)
{
	bool any;

	team_leave(context->team);
	any = device_poll(context->device, 0, event);
	team_enter(context->team);
	return any;
}

/* verify -> measure */
static enum status take_events(struct evaluator *evaluator, struct error *err)
{
	struct device_event event;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && poll_device(evaluator->context, &event)) {
		struct trial *trial = find(evaluator, event.handle);

		evaluator->moved = true;
		if (event.kind == DEVICE_EVENT_LOST)
			status = error_set(err, STATUS_NO_DEVICE, "the device is lost: %s",
				event.detail ? event.detail : "it stopped answering");
		else if (trial && trial->stage != TRIAL_DONE)
			status = take_event(evaluator, trial, &event, err);
		device_event_release(&event);
	}
	return status;
}

enum status evaluator_step(struct evaluator *evaluator, struct error *err)
{
	evaluator->moved = false;
	if (evaluator->context->store)
		evaluator->moved = kernel_store_poll(evaluator->context->store, 0);
	TRY(advance(evaluator, err));
	return take_events(evaluator, err);
}

void evaluator_wait(const struct evaluator *evaluator)
{
	const struct context *context = evaluator->context;
	const struct compiler *compiler = context->compiler;

	if (evaluator->moved ||
		(!device_pending(context->device) && !(compiler && compiler_pending(compiler))))
		return;
	wait_for_any(context);
}

static bool is_busy(const struct evaluator *evaluator)
{
	for (size_t i = 0; i < evaluator->count; i++)
		if (evaluator->trials[i]->stage < evaluator->trials[i]->goal)
			return true;
	return false;
}

enum status evaluator_run(struct evaluator *evaluator, struct error *err)
{
	while (is_busy(evaluator)) {
		if (evaluator->interrupted && *evaluator->interrupted)
			return error_set(err, STATUS_INTERRUPTED, "interrupted");
		TRY(evaluator_step(evaluator, err));
		evaluator_wait(evaluator);
	}
	return STATUS_OK;
}

enum status evaluator_sample(struct evaluator *evaluator, struct trial *const *trials, size_t count,
	const struct sampling *sampling, struct error *err)
{
	CLEANUP(memory_free)
	device_handle *handles = memory_zeroed(count + 1, sizeof(*handles));
	size_t loaded = 0;

	for (size_t i = 0; i < count; i++) {
		struct trial *trial = trials[i];

		if (trial->stage != TRIAL_LOADED && trial->stage != TRIAL_VERIFIED)
			continue;
		handles[loaded++] = trial->handle;
		if (trial->series)
			continue; /* it stays as it is: more rounds follow */
		trial->stage = TRIAL_SAMPLING;
		trial->goal = TRIAL_DONE;
	}
	return submit(evaluator, handles, loaded, sampling, err);
}

enum status evaluator_check(
	struct evaluator *evaluator, struct trial *const *trials, size_t count, struct error *err)
{
	struct device *device = evaluator->context->device;

	for (size_t i = 0; i < count && device_measures(device); i++) {
		if (!trials[i]->handle || trials[i]->evaluation.outcome != OUTCOME_OK)
			continue;
		trials[i]->stage = TRIAL_CHECKING;
		trials[i]->goal = TRIAL_DONE;
		TRY(device_verify(device, trials[i]->handle, err));
	}
	return STATUS_OK;
}

enum status evaluator_compare(
	struct evaluator *evaluator, const struct sampling *sampling, struct error *err)
{
	TRY(evaluator_run(evaluator, err));
	TRY(evaluator_sample(evaluator, evaluator->trials, evaluator->count, sampling, err));
	TRY(evaluator_run(evaluator, err));
	for (size_t i = 0; i < evaluator->count; i++)
		evaluator_unload(evaluator, evaluator->trials[i]);
	return STATUS_OK;
}

size_t evaluator_count(
	const struct evaluator *evaluator, enum trial_stage from, enum trial_stage to)
{
	size_t count = 0;

	for (size_t i = 0; i < evaluator->count; i++)
		count += evaluator->trials[i]->stage >= from && evaluator->trials[i]->stage <= to;
	return count;
}

static void forget(struct evaluator *evaluator, const struct trial *trial)
{
	size_t kept = 0;

	for (size_t i = 0; i < evaluator->count; i++)
		if (evaluator->trials[i] != trial)
			evaluator->trials[kept++] = evaluator->trials[i];
	evaluator->count = kept;
}

struct trial *evaluator_take(struct evaluator *evaluator)
{
	for (size_t i = 0; i < evaluator->count; i++) {
		struct trial *trial = evaluator->trials[i];

		if (trial->stage == TRIAL_DONE) {
			forget(evaluator, trial);
			return trial;
		}
	}
	return NULL;
}

void evaluator_unload(struct evaluator *evaluator, struct trial *trial)
{
	if (trial->handle)
		device_unload(evaluator->context->device, trial->handle);
	trial->handle = 0;
}

void evaluator_free_trial(struct evaluator *evaluator, struct trial *trial)
{
	if (!trial)
		return;
	forget(evaluator, trial);
	evaluator_unload(evaluator, trial);
	trial_release(trial);
	free(trial);
}
