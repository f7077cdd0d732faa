/* SPDX-License-Identifier: MIT */
#include "check/kernel_judgement.h"

const char *const kernel_verdict_names[KERNEL_VERDICT_COUNT + 1] = {
	[KERNEL_RIGHT] = "right",
	[KERNEL_WRONG] = "wrong",
	[KERNEL_TOO_FAST] = "too fast",
	[KERNEL_UNSTABLE] = "unstable",
	[KERNEL_UNDECIDED] = "undecided",
};

static enum status choose_configuration(struct bound_family *bound, const char *config,
	struct candidate *candidate, struct error *err)
{
	struct value values[SPACE_PARAMETERS_MAX];
	bool given[SPACE_PARAMETERS_MAX] = {false}, found = false;

	TRY(configuration_defaults(bound, values, err));
	if (config)
		TRY(configuration_parse(bound, config, values, given, err));
	TRY(configuration_nearest(bound, values, given, candidate->choices, &found, err));
	if (found)
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT, "%s: no configuration%s%s is legal for %s",
		bound->family->file, config ? " with " : "", config ? config : "",
		bound->problem->title);
}

static enum status kernel_open(const struct kernel_judgement *judgement,
	const struct family *family, const char *config, struct judged_kernel *kernel,
	struct error *err)
{
	if (family->program) {
		error_set(err, STATUS_BAD_INPUT,
			"%s: a program verifies and times itself, so it cannot be judged",
			family->file);
		return error_hint(err, "a kernel has \"source\" and \"launches\"");
	}
	kernel->family = family;
	kernel->file = family->file;
	TRY(family_bind_applicable(family, judgement->problem, judgement->context->device->spec,
		&kernel->candidate.bound, err));
	TRY(bound_family_expect_memory(kernel->candidate.bound, err));
	return choose_configuration(kernel->candidate.bound, config, &kernel->candidate, err);
}

static double floor_us(const struct context *context, const struct problem *problem, bool is_warm)
{
	const struct time_floor floor = time_floor_of(problem, context->device->spec, is_warm);

	return time_floor_us(&floor);
}

enum status kernel_judgement_open(struct context *context, const struct problem *problem,
	const struct family *family, const struct family *baseline,
	const struct kernel_judgement_options *options, struct kernel_judgement *judgement,
	struct error *err)
{
	*judgement = (struct kernel_judgement){.context = context,
		.problem = problem,
		.options = *options,
		.has_baseline = baseline != NULL,
		.floor_us = floor_us(context, problem, context->l2_warm),
		.operation = problem->operation->name,
		.nvrtc = context->compiler ? compiler_identity(context->compiler) : NULL,
		.keys = problem_named_values(problem),
		.device = gpu_model_of(context->device->spec, context->device->identity.name),
		.evaluator = {.context = context,
			.keeps_pruned = true,
			.interrupted = options->interrupted}};
	if (!context->device->kind->measures) {
		error_set(err, STATUS_BAD_INPUT,
			"judge: a device that verifies and times is needed, "
			"but %s only predicts",
			context->device->identity.name);
		return error_hint(err, "--device cuda:0");
	}
	TRY(kernel_open(judgement, family, options->config, &judgement->kernel, err));
	if (baseline)
		TRY(kernel_open(judgement, baseline, NULL, &judgement->baseline, err));
	judgement->kernel.contender = &judgement->contenders[0];
	judgement->baseline.contender = &judgement->contenders[1];
	return STATUS_OK;
}

static enum kernel_verdict verdict_of(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_OK:
		return KERNEL_RIGHT;
	case OUTCOME_TOO_FAST:
		return KERNEL_TOO_FAST;
	case OUTCOME_NONDETERMINISTIC:
	case OUTCOME_TOO_NOISY:
		return KERNEL_UNSTABLE;
	case OUTCOME_OUT_OF_MEMORY:
		return KERNEL_UNDECIDED;
	default:
		return KERNEL_WRONG;
	}
}

/* Takes ownership of the reason. */
static void decide(struct kernel_judgement *judgement, enum kernel_verdict verdict, char *reason)
{
	free(judgement->reason);
	judgement->reason = reason;
	judgement->verdict = verdict;
}

static bool has_failed(const struct contender *contender)
{
	return !contender->load_count || contender->outcome != OUTCOME_OK;
}

static void decide_failed(struct kernel_judgement *judgement, const char *who,
	enum kernel_verdict verdict, const struct contender *contender)
{
	decide(judgement, verdict,
		string_format("%s%s: %s", who, outcome_name(contender->outcome),
			contender->detail ? contender->detail
					  : outcome_summary(contender->outcome)));
}

/* The kernel's own failure outranks the baseline's. */
static bool take_failures(struct kernel_judgement *judgement)
{
	const struct contender *kernel = judgement->kernel.contender;
	const struct contender *baseline = judgement->baseline.contender;

	judgement->outcome = kernel->outcome;
	if (kernel->outcome != OUTCOME_OK)
		decide_failed(judgement, "", verdict_of(kernel->outcome), kernel);
	else if (judgement->has_baseline && baseline->outcome != OUTCOME_OK)
		decide_failed(judgement, "the baseline is not right: ", KERNEL_UNDECIDED, baseline);
	return judgement->verdict != KERNEL_RIGHT;
}

static enum status expect_device(const struct kernel_judgement *judgement, struct error *err)
{
	TRY(contender_expect_device(judgement->kernel.contender, err));
	return contender_expect_device(judgement->baseline.contender, err);
}

static enum status add_kernel(
	struct kernel_judgement *judgement, struct judged_kernel *kernel, struct error *err)
{
	return kernel->family ? evaluator_add(&judgement->evaluator, &kernel->candidate,
					TRIAL_VERIFIED, &kernel->contender->loads[0], err)
			      : STATUS_OK;
}

/* Loads the kernel several times if it may be short. */
static enum status add_loads(
	struct kernel_judgement *judgement, struct judged_kernel *kernel, struct error *err)
{
	const size_t loads = judgement->floor_us < CHECK_SEVERAL_LOADS_BELOW_US ? CHECK_LOADS : 1;
	struct contender *contender = kernel->contender;
	struct trial *first = contender->loads[0];

	if (!kernel->family)
		return STATUS_OK;
	contender->outcome = first->result.outcome;
	contender->detail = first->result.detail;
	if (first->stage != TRIAL_VERIFIED)
		return STATUS_OK;
	contender->load_count = loads;
	for (size_t i = 1; i < loads; i++)
		TRY(evaluator_add_job(&judgement->evaluator, judgement->problem, &first->job,
			&contender->loads[i], err));
	return STATUS_OK;
}

static enum check_verdict kernel_judgement_compare(
	const struct kernel_judgement *judgement, struct interval *slowdown)
{
	return check_judge_pair(judgement->kernel.contender, judgement->baseline.contender,
		judgement->options.threshold_ratio, slowdown);
}

/* The stop rule of contenders_time(). */
static bool is_known(struct contender *contenders, size_t count, void *context)
{
	const struct kernel_judgement *judgement = context;
	const double wanted_ratio = CHECK_KNOWN_PART * judgement->options.threshold_ratio;
	struct interval estimate;

	if (has_failed(&contenders[0]) || !contenders[0].round_count)
		return true;
	if (count < 2) {
		estimate = statistics_interval(
			contenders[0].round_us, contenders[0].round_count, CONFIDENCE_99);
		return check_estimate_half_ratio(&estimate) <= wanted_ratio;
	}
	return has_failed(&contenders[1]) || !contenders[1].round_count ||
	       (kernel_judgement_compare(judgement, &estimate) != CHECK_SLOWER &&
		       check_estimate_half_ratio(&estimate) <= wanted_ratio);
}

static double median_us(const struct contender *contender)
{
	return contender->round_count ? round_times_median(contender_times(contender)) : 0;
}

static enum status time_kernels(
	struct kernel_judgement *judgement, double *first_us, struct error *err)
{
	const size_t count = judgement->has_baseline ? 2 : 1;
	const double budget_s = judgement->options.budget_s;
	const struct timing_limits limits = {
		.seconds = budget_s > 0 ? budget_s : KERNEL_JUDGEMENT_SECONDS,
		.warm_up_rounds = CHECK_WARM_UP_ROUNDS,
		.first_look = CHECK_ROUNDS_MIN,
		.last_look = CHECK_ROUNDS_MAX,
		.is_enough = is_known,
		.context = judgement};

	TRY(contenders_time(&judgement->evaluator, judgement->contenders, count, &limits, err));
	*first_us = median_us(judgement->kernel.contender);
	return contenders_verify(&judgement->evaluator, judgement->contenders, count, err);
}

static void take_result(struct judged_kernel *kernel)
{
	const struct contender *contender = kernel->contender;

	if (!contender->loads[0])
		return;
	kernel->result = contender->loads[0]->result;
	contender->loads[0]->result = (struct result){0};
	result_set_samples(&kernel->result, contender->round_us, contender->round_count);
}

static void take_comparison(struct kernel_judgement *judgement)
{
	judgement->is_compared = true;
	judgement->comparison = kernel_judgement_compare(judgement, &judgement->slowdown);
	if (judgement->comparison == CHECK_UNCLEAR)
		decide(judgement, KERNEL_RIGHT,
			string_format("noise hides whether it is slower by %.3g%%; --budget gives "
				      "more time",
				100 * judgement->options.threshold_ratio));
}

/* first_us is the time before the retest, which may have lengthened it. */
static void take_times(struct kernel_judgement *judgement, double first_us)
{
	const double time_us = median_us(judgement->kernel.contender);

	judgement->floor_us = floor_us(judgement->context, judgement->problem,
		judgement->kernel.contender->flags & FLAG_MASK(WARM_L2));
	if (take_failures(judgement))
		return;
	if (!(time_us > 0))
		decide(judgement, KERNEL_UNDECIDED, string_copy("there was no time to measure it"));
	else if (time_us > first_us)
		decide(judgement, KERNEL_RIGHT,
			string_format("the kernel is only fast on known data: %.4g us; on fresh "
				      "inputs and with cleared outputs it takes %.4g us, which "
				      "counts",
				first_us, time_us));
	if (time_us > 0 && judgement->has_baseline)
		take_comparison(judgement);
}

static enum status verify_kernels(struct kernel_judgement *judgement, struct error *err)
{
	TRY(evaluator_prepare_problem(&judgement->evaluator, judgement->problem, err));
	TRY(add_kernel(judgement, &judgement->kernel, err));
	TRY(add_kernel(judgement, &judgement->baseline, err));
	return evaluator_run(&judgement->evaluator, err);
}

static enum status load_kernels(struct kernel_judgement *judgement, struct error *err)
{
	const enum status status = verify_kernels(judgement, err);

	/* a failing reference is an error in the task */
	if (status != STATUS_OK)
		return err->status = status == STATUS_FAILED ? STATUS_BAD_INPUT : status;
	TRY(add_loads(judgement, &judgement->kernel, err));
	TRY(add_loads(judgement, &judgement->baseline, err));
	return evaluator_run(&judgement->evaluator, err);
}

static enum status run_kernels(struct kernel_judgement *judgement, struct error *err)
{
	double first_us = 0;

	TRY(load_kernels(judgement, err));
	TRY(expect_device(judgement, err));
	if (take_failures(judgement))
		return STATUS_OK;
	TRY(time_kernels(judgement, &first_us, err));
	TRY(expect_device(judgement, err));
	take_times(judgement, first_us);
	return STATUS_OK;
}

enum status kernel_judgement_run(struct kernel_judgement *judgement, struct error *err)
{
	TRY(run_kernels(judgement, err));
	take_result(&judgement->kernel);
	take_result(&judgement->baseline);
	return STATUS_OK;
}

enum status kernel_judgement_status(const struct kernel_judgement *judgement)
{
	if (judgement->verdict == KERNEL_WRONG || judgement->verdict == KERNEL_TOO_FAST)
		return STATUS_FAILED;
	if (judgement->verdict != KERNEL_RIGHT)
		return STATUS_INCONCLUSIVE;
	if (!judgement->is_compared)
		return STATUS_OK;
	return judgement->comparison == CHECK_SLOWER    ? STATUS_REGRESSION
	       : judgement->comparison == CHECK_UNCLEAR ? STATUS_INCONCLUSIVE
							: STATUS_OK;
}

void kernel_judgement_release(struct kernel_judgement *judgement)
{
	evaluator_release(&judgement->evaluator);
	for (size_t i = 0; i < ARRAY_COUNT(judgement->contenders); i++)
		contender_release(&judgement->contenders[i]);
	bound_family_free(judgement->kernel.candidate.bound);
	bound_family_free(judgement->baseline.candidate.bound);
	result_release(&judgement->kernel.result);
	result_release(&judgement->baseline.result);
	named_values_release(&judgement->keys);
	gpu_model_release(&judgement->device);
	free(judgement->reason);
	*judgement = (struct kernel_judgement){0};
}
