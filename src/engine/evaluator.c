/* SPDX-License-Identifier: MIT */
#include "engine/evaluator.h"

#include <math.h>

#include "base/clock.h"
#include "candidate/problem_reference.h"
#include "engine/floor.h"
#include "engine/kernel_check.h"

/* longest wait, so that interrupts are noticed */
static const double wait_s = 0.2;
/* Trials on the device may exceed the time limit by this much. */
static const double overtime_s = 2;

enum {
	ATTEMPTS_MAX = 16 /* configurations that are tried as the reference */
};

struct prepared_problem {
	const struct problem *problem; /* borrowed */
	struct build build;
	struct device_problem description; /* owns the reference; the code belongs to the store */
	size_t attempt;                    /* index of the configuration tried as the reference */
	char *chosen;                      /* its text; NULL: the operation names its reference */
	bool has_failed;                   /* replaced, but jobs may still refer to it */
};

static void prepared_problem_free(struct prepared_problem *prepared)
{
	build_release(&prepared->build);
	reference_plan_release(&prepared->description.reference);
	free(prepared->description.cubins);
	free(prepared->chosen);
	free(prepared);
}

void evaluator_clear(struct evaluator *evaluator)
{
	while (evaluator->count)
		evaluator_free_trial(evaluator, evaluator->trials[evaluator->count - 1]);
}

void evaluator_release(struct evaluator *evaluator)
{
	evaluator_clear(evaluator);
	free(evaluator->trials);
	for (size_t i = 0; i < evaluator->prepared_count; i++)
		prepared_problem_free(evaluator->prepared[i]);
	free(evaluator->prepared);
	*evaluator = (struct evaluator){0};
}

static struct trial *add_trial(struct evaluator *evaluator, enum trial_stage goal)
{
	struct trial *trial = memory_zeroed(1, sizeof(*trial));

	trial->goal = goal;
	ARRAY_GROW(evaluator->trials, evaluator->count, evaluator->capacity);
	evaluator->trials[evaluator->count++] = trial;
	return trial;
}

static enum status take_estimate(struct trial *trial, struct error *err)
{
	double predicted_us;

	TRY(trial_predict(trial, &predicted_us, err));
	trial->stage = TRIAL_DONE;
	trial->result.predicted = true;
	if (isfinite(predicted_us))
		result_add_samples(&trial->result, &predicted_us, 1);
	else
		trial->result.outcome = OUTCOME_PRUNED_BY_MODEL;
	return STATUS_OK;
}

enum status evaluator_add(struct evaluator *evaluator, const struct candidate *candidate,
	enum trial_stage goal, struct trial **result, struct error *err)
{
	struct kernel_store *store = evaluator->context->store;
	struct trial *trial = add_trial(evaluator, goal);
	enum status status = trial_start(trial, candidate, store, err);

	if (status == STATUS_OK && !store && evaluator->context->device->kind->compiles)
		status = take_estimate(trial, err);
	if (status != STATUS_OK) {
		evaluator_free_trial(evaluator, trial);
		return status;
	}
	*result = trial;
	return STATUS_OK;
}

enum status evaluator_add_job(struct evaluator *evaluator, const struct problem *problem,
	const struct device_job *job, struct trial **result, struct error *err)
{
	struct trial *trial = add_trial(evaluator, TRIAL_LOADED);
	enum status status;

	trial->problem = problem;
	trial->job = *job;
	trial->job.load = 0;
	for (size_t i = 0; i < evaluator->count; i++)
		trial->job.load += evaluator->trials[i]->job.plan == job->plan;
	status = evaluator_submit(evaluator, trial, err);
	if (status == STATUS_OK)
		*result = trial;
	else
		evaluator_free_trial(evaluator, trial);
	return status;
}

struct trial *evaluator_add_anchor(struct evaluator *evaluator)
{
	struct trial *trial = add_trial(evaluator, TRIAL_LOADED);

	trial->stage = TRIAL_LOADED;
	trial->job = evaluator->context->device->anchor;
	return trial;
}

/* Sets the names of the reference's entries to those in the code. */
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

static enum status prepare_problem(
	struct context *context, struct prepared_problem *prepared, struct error *err)
{
	const struct problem *problem = prepared->problem;
	const bool runs = context->store && context->device->kind->measures;
	struct build *build = &prepared->build;
	CLEANUP(memory_free) const struct compile_result **kernels = NULL;

	prepared->description.operation = problem->operation->name;
	prepared->description.text = problem->text;
	TRY(problem_reference_attempt(problem, runs ? &context->catalogue : NULL,
		context->device->spec, prepared->attempt, build, &prepared->description.reference,
		&prepared->chosen, err));
	prepared->description.cubins =
		memory_zeroed(build->unit_count + 1, sizeof(*prepared->description.cubins));
	kernels = memory_zeroed(build->unit_count + 1, sizeof(*kernels));
	for (size_t i = 0; runs && i < build->unit_count; i++) {
		TRY(kernel_store_wait(context->store, &build->units[i], &kernels[i], err));
		prepared->description.cubins[prepared->description.cubin_count++] =
			kernels[i]->path;
		TRY(take_entries(kernels[i], i, &prepared->description.reference, err));
	}
	return runs && prepared->description.reference.trusted
		       ? kernel_take_symbols(kernels, prepared->description.reference.trusted, err)
		       : STATUS_OK;
}

static struct prepared_problem *prepared_problem_find(
	const struct evaluator *evaluator, const struct problem *problem)
{
	for (size_t i = 0; i < evaluator->prepared_count; i++)
		if (evaluator->prepared[i]->problem == problem &&
			!evaluator->prepared[i]->has_failed)
			return evaluator->prepared[i];
	return NULL;
}

static void say_attempt(const struct evaluator *evaluator, const struct prepared_problem *prepared,
	const char *failed, const char *why)
{
	CLEANUP(memory_free)
	char *words = string_format(
		"%s: %s cannot be the reference (%.*s), so results are compared with %s; name a "
		"correct configuration with \"reference\": {\"configuration\": {...}}",
		prepared->problem->title, failed, (int)strcspn(why, "\n"), why, prepared->chosen);

	if (evaluator->notice)
		evaluator->notice(evaluator->notice_context, words);
}

/* `failed` is the previous attempt, which failed because of `why`, or NULL. */
static enum status prepare_attempt(struct evaluator *evaluator, const struct problem *problem,
	size_t attempt, const char *failed, const char *why, struct error *err)
{
	CLEANUP(memory_free) char *last = failed ? string_copy(failed) : NULL;
	struct error first = {0}, found = {0};
	enum status status = STATUS_FAILED;

	if (why)
		error_set(&first, STATUS_FAILED, "%s", why);
	for (; attempt < ATTEMPTS_MAX; attempt++) {
		struct prepared_problem *prepared = memory_zeroed(1, sizeof(*prepared));

		prepared->problem = problem;
		prepared->attempt = attempt;
		status = prepare_problem(evaluator->context, prepared, &found);
		if (status == STATUS_OK) {
			if (last)
				say_attempt(evaluator, prepared, last, first.message);
			ARRAY_GROW(evaluator->prepared, evaluator->prepared_count,
				evaluator->prepared_capacity);
			evaluator->prepared[evaluator->prepared_count++] = prepared;
			return STATUS_OK;
		}
		if (!first.message[0])
			first = found;
		if (!last && prepared->chosen)
			last = string_copy(prepared->chosen);
		status = prepared->chosen ? status : STATUS_NO_DEVICE;
		prepared_problem_free(prepared);
		if (status == STATUS_NO_DEVICE)
			break;
	}
	*err = first;
	return first.status;
}

enum status evaluator_prepare_problem(
	struct evaluator *evaluator, const struct problem *problem, struct error *err)
{
	if (prepared_problem_find(evaluator, problem))
		return STATUS_OK;
	return prepare_attempt(evaluator, problem, 0, NULL, NULL, err);
}

/* ---- jobs of the device ---- */
static enum status submit_jobs(struct evaluator *evaluator, struct trial *const *trials,
	size_t count, bool verify, const struct sampling *sampling, struct error *err)
{
	struct context *context = evaluator->context;
	CLEANUP(memory_free) struct device_job *jobs = memory_zeroed(count + 1, sizeof(*jobs));
	struct sampling limited = *sampling;

	if (evaluator->until_s > 0)
		limited.until_s = fmax(evaluator->until_s, clock_seconds()) + overtime_s;
	for (size_t i = 0; i < count; i++) {
		struct device_job *job = &trials[i]->job;

		if (trials[i]->problem) {
			TRY(evaluator_prepare_problem(evaluator, trials[i]->problem, err));
			job->problem =
				&prepared_problem_find(evaluator, trials[i]->problem)->description;
		}
		job->verify = verify;
		job->ticket = ++context->tickets;
		jobs[i] = *job;
	}
	evaluator->moved = true;
	return device_submit(context->device, jobs, count, &limited, err);
}

enum status evaluator_submit(struct evaluator *evaluator, struct trial *trial, struct error *err)
{
	const struct sampling none = {0};

	if (!evaluator->context->device->kind->measures && trial->candidate.bound)
		TRY(trial_predict(trial, &trial->job.predicted_time_us, err));
	trial->stage = TRIAL_ON_DEVICE;
	return submit_jobs(evaluator, &trial, 1, trial->goal >= TRIAL_VERIFIED,
		trial->goal == TRIAL_DONE ? &evaluator->first_look : &none, err);
}

static enum status advance_trials(struct evaluator *evaluator, struct error *err)
{
	for (size_t i = 0; i < evaluator->count; i++) {
		struct trial *trial = evaluator->trials[i];

		if (trial->stage == TRIAL_COMPILING) {
			TRY(trial_take_compiled(trial, !evaluator->keeps_pruned, err));
			evaluator->moved |= trial->stage != TRIAL_COMPILING;
		}
		if (trial->stage == TRIAL_COMPILED && trial->goal > TRIAL_COMPILED &&
			(!evaluator->on_device_max ||
				evaluator_count(evaluator, TRIAL_ON_DEVICE, TRIAL_ON_DEVICE) <
					evaluator->on_device_max))
			TRY(evaluator_submit(evaluator, trial, err));
	}
	return STATUS_OK;
}

static struct prepared_problem *prepared_problem_of(
	const struct evaluator *evaluator, const struct trial *trial)
{
	for (size_t i = 0; i < evaluator->prepared_count; i++)
		if (&evaluator->prepared[i]->description == trial->job.problem)
			return evaluator->prepared[i];
	return NULL;
}

/* Returns whether another configuration could become the reference. */
static bool replace_reference(
	struct evaluator *evaluator, struct trial *trial, const struct result *found)
{
	struct prepared_problem *prepared = prepared_problem_of(evaluator, trial);
	struct error ignored = {0};
	CLEANUP(memory_free) char *why = NULL;

	if (!prepared || !prepared->chosen || found->outcome == OUTCOME_DEVICE_LOST)
		return false;
	if (!prepared->has_failed) {
		why = string_format("%s: %s", outcome_name(found->outcome),
			found->detail ? found->detail : outcome_summary(found->outcome));
		prepared->has_failed = true;
		if (prepare_attempt(evaluator, trial->problem, prepared->attempt + 1,
			    prepared->chosen, why, &ignored) != STATUS_OK)
			prepared->has_failed = false;
	}
	return prepared->has_failed && prepared_problem_find(evaluator, trial->problem);
}

/* Fails the trial, and also the call unless the caller accepts failing references. */
static enum status take_failed_reference(const struct evaluator *evaluator, struct trial *trial,
	const struct result *found, struct error *err)
{
	CLEANUP(memory_free)
	char *words = string_format("%s %s: the reference failed (%s): %s",
		trial->problem->operation->name, trial->problem->title,
		outcome_name(found->outcome),
		found->detail ? found->detail : outcome_summary(found->outcome));

	trial_finish(trial, found->outcome, words);
	if (evaluator->outlives_references)
		return STATUS_OK;
	error_set(err, STATUS_FAILED, "%s", words);
	if (!trial->problem->operation->references.count)
		error_hint(err,
			"name a correct configuration: \"reference\": {\"configuration\": {...}}");
	return STATUS_FAILED;
}

static enum status take_reply(struct evaluator *evaluator, struct trial *trial,
	struct device_reply *reply, struct error *err)
{
	if (evaluator->context->device->kind->measures)
		time_floor_apply(trial->problem, evaluator->context->device->spec, &reply->result);
	if (reply->reference_failed && replace_reference(evaluator, trial, &reply->result)) {
		trial->stage = TRIAL_COMPILED;
		return STATUS_OK;
	}
	trial_take_reply(trial, reply, evaluator->bits);
	return reply->reference_failed
		       ? take_failed_reference(evaluator, trial, &reply->result, err)
		       : STATUS_OK;
}

static struct trial *find_trial(const struct evaluator *evaluator, uint64_t ticket)
{
	for (size_t i = 0; i < evaluator->count; i++)
		if (evaluator->trials[i]->job.ticket == ticket)
			return evaluator->trials[i];
	return NULL;
}

static enum status take_replies(struct evaluator *evaluator, struct error *err)
{
	struct device_reply reply;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && device_poll(evaluator->context->device, 0, &reply)) {
		struct trial *trial = find_trial(evaluator, reply.ticket);

		evaluator->moved = true;
		if (reply.lost) {
			error_set(err, STATUS_NO_DEVICE, "the device was lost: ");
			status = error_lines(err,
				reply.result.detail ? reply.result.detail : "it stopped answering");
		} else if (trial && trial->stage != TRIAL_DONE)
			status = take_reply(evaluator, trial, &reply, err);
		device_reply_release(&reply);
	}
	return status;
}

enum status evaluator_step(struct evaluator *evaluator, struct error *err)
{
	evaluator->moved = false;
	if (evaluator->context->store)
		evaluator->moved = kernel_store_poll(evaluator->context->store, 0);
	TRY(advance_trials(evaluator, err));
	return take_replies(evaluator, err);
}

void evaluator_wait(const struct evaluator *evaluator)
{
	const struct context *context = evaluator->context;
	const struct device *device = context->device;
	struct pool *pools[DEVICE_POOLS_MAX + 1];
	size_t count = 0;

	if (evaluator->moved ||
		(!device_pending(device) &&
			!(context->compiler && compiler_pending(context->compiler))))
		return;
	for (; count < device->pool_count; count++)
		pools[count] = device->pools[count];
	if (context->compiler)
		pools[count++] = compiler_pool(context->compiler);
	pool_wait(pools, count, wait_s);
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
	struct trial **sampled = memory_zeroed(count + 1, sizeof(struct trial *));
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct trial *trial = trials[i];

		if (trial->stage != TRIAL_LOADED && trial->stage != TRIAL_VERIFIED)
			continue;
		sampled[kept++] = trial;
		trial->goal = trial->stage;
		trial->stage = TRIAL_ON_DEVICE;
	}
	return submit_jobs(evaluator, sampled, kept, false, sampling, err);
}

enum status evaluator_check(
	struct evaluator *evaluator, struct trial *const *trials, size_t count, struct error *err)
{
	const struct sampling none = {0};

	for (size_t i = 0; i < count && evaluator->context->device->kind->measures; i++) {
		const enum outcome outcome = trials[i]->result.outcome;

		if (!trials[i]->job.ticket ||
			(outcome != OUTCOME_OK && outcome != OUTCOME_TOO_NOISY))
			continue;
		trials[i]->stage = TRIAL_ON_DEVICE;
		trials[i]->goal = TRIAL_DONE;
		trials[i]->is_checked_again = true;
		TRY(submit_jobs(evaluator, &trials[i], 1, true, &none, err));
	}
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

static void forget_trial(struct evaluator *evaluator, const struct trial *trial)
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
			forget_trial(evaluator, trial);
			return trial;
		}
	}
	return NULL;
}

void evaluator_free_trial(struct evaluator *evaluator, struct trial *trial)
{
	if (!trial)
		return;
	forget_trial(evaluator, trial);
	trial_release(trial);
	free(trial);
}
