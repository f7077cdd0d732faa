/* SPDX-License-Identifier: MIT
 *
 * Today's model against recorded timings: every candidate that a journal measured is scored anew
 * from the families as they are now, and for each problem the rank correlation, the rank of the
 * best, the regret of the model's first 1, 4, 8 and 16 kernels and the median of predicted /
 * measured are printed. What the constants of the model and of the device sheet are fitted with.
 * Of configurations that share a kernel (they differ in launch arguments only) the model's first
 * counts, as in search/order.h; -a takes all of them one by one.
 *
 *	model_quality [-v] [-a] [-c] [-f FAMILY] ROOT DEVICE JOURNAL...
 *
 * -c judges the model with what timings taught of the device (score/learned.h).
 * -v adds how far off the predictions are by parameter value; -f takes one family only. Journals
 * of one problem are put together: what was measured several times counts once, with the geometric
 * mean. Configurations that are no longer in the space are counted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/statistics.h"
#include "base/text.h"
#include "candidate/configuration.h"
#include "family/family.h"
#include "format/journal.h"
#include "engine/candidates.h"
#include "engine/context.h"

struct sample {
	const struct family *family;
	char *configuration;
	double predicted_us, measured_us;
};

struct measured_problem {
	struct problem *problem;
	struct sample *samples;
	size_t count, capacity, stale;
};

struct report {
	struct context context;
	const char *only_family; /* or NULL */
	bool verbose, all_launches, learned;
	struct measured_problem *problems;
	size_t count, capacity;
	double log_regret[4]; /* sums over problems */
	double rank_correlation;
	size_t problems_summed, within_1_percent;
};

static const size_t tops[4] = {1, 4, 8, 16};

enum {
	FEWEST_SAMPLES = 10 /* of a problem that counts in the summary */
};

static enum status find_problem(struct report *report, const struct journal_problem *recorded,
	struct measured_problem **found, struct error *err)
{
	const struct operation *operation;
	struct problem_list list = {0};
	enum status status = catalogue_operation(
		&report->context.catalogue, recorded->operation, &operation, err);

	for (size_t i = 0; i < report->count; i++) {
		*found = &report->problems[i];
		if ((*found)->problem->operation == operation &&
			strcmp((*found)->problem->text, recorded->problem) == 0)
			return status;
	}
	if (status == STATUS_OK)
		status = problem_parse(operation, recorded->problem, &list, err);
	if (status != STATUS_OK)
		return status;
	ARRAY_GROW(report->problems, report->count, report->capacity);
	*found = &report->problems[report->count++];
	**found = (struct measured_problem){.problem = list.items[0]};
	free(list.items);
	return STATUS_OK;
}

/* Scores as the search does, before compilation. *legal false: no longer in the space. */
static enum status predict_text(struct predictor *predictor, const char *configuration, bool *legal,
	double *predicted_us, struct error *err)
{
	struct prediction prediction = {0};
	choice choices[SPACE_PARAMETERS_MAX];
	enum status status = STATUS_OK;

	*legal = configuration_read(predictor->bound, configuration, choices);
	if (*legal)
		status = configuration_is_legal(predictor->bound, choices, legal, err);
	if (status == STATUS_OK && *legal)
		status = predict_choices(predictor, choices, &prediction, err);
	*predicted_us = prediction.time_us;
	return status;
}

static enum status add_family(struct report *report, struct measured_problem *measured,
	const struct family *family, const struct journal_problem *recorded, struct error *err)
{
	struct bound_family *bound = NULL;
	struct predictor predictor;
	bool applies = false;
	const struct device_spec *device = report->context.device->spec;
	enum status status = family_applies(family, measured->problem, device, &applies, NULL, err);

	if (status == STATUS_OK && applies)
		status = family_bind(family, measured->problem, device, NULL, &bound, err);
	if (status != STATUS_OK || !applies)
		return status;
	predictor_open(&predictor, bound);
	predictor.is_physics = !report->learned;
	for (size_t i = 0; i < recorded->evaluation_count && status == STATUS_OK; i++) {
		const struct evaluation *evaluation = &recorded->evaluations[i];
		struct sample sample = {.family = family, .measured_us = evaluation->time.median};
		bool legal;

		if (evaluation->outcome != OUTCOME_OK || evaluation->predicted ||
			strcmp(evaluation->family, family->name) != 0)
			continue;
		status = predict_text(
			&predictor, evaluation->configuration, &legal, &sample.predicted_us, err);
		measured->stale += !legal;
		if (status != STATUS_OK || !legal || !isfinite(sample.predicted_us))
			continue;
		sample.configuration = memory_copy(
			evaluation->configuration, strlen(evaluation->configuration) + 1);
		ARRAY_GROW(measured->samples, measured->count, measured->capacity);
		measured->samples[measured->count++] = sample;
	}
	predictor_close(&predictor);
	bound_family_free(bound);
	return status;
}

static enum status add_journal(struct report *report, const char *path, struct error *err)
{
	const struct catalogue *catalogue = &report->context.catalogue;
	struct journal_record record = {0};
	enum status status = journal_read(path, &record, err);

	for (size_t i = 0; i < record.run_count; i++) {
		for (size_t j = 0; j < record.runs[i].problem_count && status == STATUS_OK; j++) {
			const struct journal_problem *recorded = &record.runs[i].problems[j];
			struct measured_problem *measured;

			status = find_problem(report, recorded, &measured, err);
			for (size_t f = 0; f < catalogue->family_count && status == STATUS_OK;
				f++) {
				const struct family *family = catalogue->families[f];
				const char *name = family->name;

				if (family->operation != measured->problem->operation ||
					family->step_count ||
					(report->only_family &&
						strcmp(name, report->only_family) != 0))
					continue;
				status = add_family(report, measured, family, recorded, err);
			}
		}
	}
	journal_record_release(&record);
	return status;
}

static int compare_predicted(const void *a, const void *b)
{
	const double x = ((const struct sample *)a)->predicted_us;
	const double y = ((const struct sample *)b)->predicted_us;

	return (x > y) - (x < y);
}

static int compare_configuration(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	const int families = strcmp(x->family->name, y->family->name);

	return families ? families : strcmp(x->configuration, y->configuration);
}

static void merge_repeated(struct measured_problem *measured)
{
	struct sample *samples = measured->samples;
	size_t kept = 0;

	if (measured->count)
		qsort(samples, measured->count, sizeof(*samples), compare_configuration);
	for (size_t i = 0, next; i < measured->count; i = next) {
		double sum = 0;

		for (next = i; next < measured->count &&
			       compare_configuration(&samples[i], &samples[next]) == 0;
			next++) {
			sum += log(samples[next].measured_us);
			if (next > i)
				free(samples[next].configuration);
		}
		samples[kept] = samples[i];
		samples[kept++].measured_us = exp(sum / (double)(next - i));
	}
	measured->count = kept;
}

/* "BM=128,...": whether the parameters that are constants of the kernel agree. */
static bool same_kernel(const struct sample *a, const struct sample *b)
{
	const char *x = a->configuration, *y = b->configuration;

	if (a->family != b->family)
		return false;
	for (size_t i = 0; i < a->family->parameter_count && *x && *y; i++) {
		const size_t width = strcspn(x, ","), other = strcspn(y, ",");

		if (!a->family->parameters[i].is_argument &&
			(width != other || strncmp(x, y, width) != 0))
			return false;
		x += width + (x[width] == ',');
		y += other + (y[other] == ',');
	}
	return true;
}

/* The model's order, with the first of each of the first kernels in front. */
static void put_in_order(struct measured_problem *measured, bool all_launches)
{
	struct sample *samples = measured->samples;
	size_t chosen = 0;

	if (measured->count)
		qsort(samples, measured->count, sizeof(*samples), compare_predicted);
	for (size_t i = 0; i < measured->count && chosen < tops[3] && !all_launches; i++) {
		const struct sample sample = samples[i];
		bool known = false;

		for (size_t k = 0; k < chosen && !known; k++)
			known = same_kernel(&samples[k], &sample);
		if (known)
			continue;
		memmove(&samples[chosen + 1], &samples[chosen], (i - chosen) * sizeof(sample));
		samples[chosen++] = sample;
	}
}

struct deviation {
	char name[64]; /* "BM=128" */
	double sum, squares;
	size_t count;
};

static int compare_deviation(const void *a, const void *b)
{
	return strcmp(((const struct deviation *)a)->name, ((const struct deviation *)b)->name);
}

/* ln(predicted / measured) less the problem's mean, by parameter value: mean and spread. */
static void print_deviations(
	const struct sample *samples, size_t count, const struct family *family, double mean)
{
	struct deviation *found = NULL;
	size_t found_count = 0, capacity = 0;

	for (size_t i = 0; i < count; i++) {
		const double error = log(samples[i].predicted_us / samples[i].measured_us) - mean;
		const char *at = samples[i].configuration;

		while (samples[i].family == family && *at) {
			const size_t length = strcspn(at, ",");
			size_t k = 0;

			while (k < found_count && (strncmp(found[k].name, at, length) != 0 ||
							  found[k].name[length] != '\0'))
				k++;
			if (k == found_count && length < sizeof(found->name)) {
				ARRAY_GROW(found, found_count, capacity);
				found[found_count] = (struct deviation){0};
				memcpy(found[found_count++].name, at, length);
			}
			if (k < found_count) {
				found[k].sum += error;
				found[k].squares += error * error;
				found[k].count++;
			}
			at += length + (at[length] == ',');
		}
	}
	if (found_count)
		qsort(found, found_count, sizeof(*found), compare_deviation);
	for (size_t k = 0; k < found_count; k++)
		if (found[k].count >= 4 && fabs(found[k].sum) > 0.04 * (double)found[k].count)
			printf("    %s %-14s %+5.1f%% (spread %4.1f%%, %zu)\n", family->name,
				found[k].name, 100 * found[k].sum / (double)found[k].count,
				100 * sqrt(found[k].squares / (double)found[k].count),
				found[k].count);
	free(found);
}

static void print_order(const struct measured_problem *measured)
{
	for (size_t i = 0; i < measured->count; i++) {
		const struct sample *sample = &measured->samples[i];
		size_t rank = 1;

		for (size_t k = 0; k < measured->count; k++)
			rank += measured->samples[k].measured_us < sample->measured_us;
		if (i < 8 || rank <= 8)
			printf("    model %3zu, measured %3zu: %8.2f predicted %8.2f us  %s %s\n",
				i + 1, rank, sample->measured_us, sample->predicted_us,
				sample->family->name, sample->configuration);
	}
}

static void print_problem(struct report *report, struct measured_problem *measured)
{
	const size_t capacity = measured->count + 1;
	double *predicted = memory_zeroed(capacity, sizeof(*predicted));
	double *times = memory_zeroed(capacity, sizeof(*times));
	double *ratios = memory_zeroed(capacity, sizeof(*ratios));
	double best = INFINITY, so_far = INFINITY, mean = 0, regret[4] = {0}, correlation;
	size_t rank_of_best = 0, count;

	merge_repeated(measured);
	put_in_order(measured, report->all_launches);
	count = measured->count;
	for (size_t i = 0; i < count; i++) {
		predicted[i] = measured->samples[i].predicted_us;
		times[i] = measured->samples[i].measured_us;
		ratios[i] = predicted[i] / times[i];
		mean += log(ratios[i]) / (double)count;
		best = fmin(best, times[i]);
	}
	for (size_t i = 0, top = 0; i < count; i++) {
		so_far = fmin(so_far, times[i]);
		if (times[i] <= best && !rank_of_best)
			rank_of_best = i + 1;
		while (top < 4 && (i + 1 == tops[top] || i + 1 == count))
			regret[top++] = so_far / best - 1;
	}
	correlation = count ? statistics_rank_correlation(predicted, times, count) : 0;
	if (count)
		printf("%4zu rank %5.2f best %4zu regret %5.1f %5.1f %5.1f %5.1f%% ratio %4.2f  "
		       "%s (%zu stale)\n",
			count, correlation, rank_of_best, 100 * regret[0], 100 * regret[1],
			100 * regret[2], 100 * regret[3], statistics_quantile(ratios, count, 0.5),
			measured->problem->text, measured->stale);
	if (count >= FEWEST_SAMPLES) {
		for (size_t top = 0; top < 4; top++)
			report->log_regret[top] += log(1 + regret[top]);
		report->rank_correlation += correlation;
		report->within_1_percent += regret[2] <= 0.01;
		report->problems_summed++;
	}
	if (report->verbose) {
		print_order(measured);
		for (size_t f = 0; f < report->context.catalogue.family_count; f++)
			print_deviations(measured->samples, count,
				report->context.catalogue.families[f], mean);
	}
	free(ratios);
	free(times);
	free(predicted);
}

static void print_summary(const struct report *report)
{
	const double problems = (double)report->problems_summed;

	if (report->problems_summed)
		printf("%zu problems: mean rank correlation %.2f, mean regret of the first 1, 4, "
		       "8, "
		       "16: %.1f %.1f %.1f %.1f%%, first 8 within 1%% of the best in %zu\n",
			report->problems_summed, report->rank_correlation / problems,
			100 * expm1(report->log_regret[0] / problems),
			100 * expm1(report->log_regret[1] / problems),
			100 * expm1(report->log_regret[2] / problems),
			100 * expm1(report->log_regret[3] / problems), report->within_1_percent);
}

static void report_release(struct report *report)
{
	for (size_t i = 0; i < report->count; i++) {
		for (size_t k = 0; k < report->problems[i].count; k++)
			free(report->problems[i].samples[k].configuration);
		free(report->problems[i].samples);
		problem_free(report->problems[i].problem);
	}
	free(report->problems);
	context_release(&report->context);
}

static enum status run(struct report *report, char **arguments, int count, struct error *err)
{
	const char *const roots[] = {arguments[0], NULL};
	const struct context_options options = {
		.roots = roots, .device = arguments[1], .no_cache = true};
	enum status status = context_open(&options, &report->context, err);

	for (int i = 2; i < count && status == STATUS_OK; i++)
		status = add_journal(report, arguments[i], err);
	for (size_t i = 0; i < report->count && status == STATUS_OK; i++)
		print_problem(report, &report->problems[i]);
	if (status == STATUS_OK)
		print_summary(report);
	report_release(report);
	return status;
}

int main(int count, char **arguments)
{
	struct report report = {0};
	struct error err = {0};
	enum status status;
	int at = 1;

	while (at < count && arguments[at][0] == '-') {
		if (strcmp(arguments[at], "-f") == 0 && at + 1 < count)
			report.only_family = arguments[++at];
		else if (strcmp(arguments[at], "-v") == 0)
			report.verbose = true;
		else if (strcmp(arguments[at], "-a") == 0)
			report.all_launches = true;
		else if (strcmp(arguments[at], "-c") == 0)
			report.learned = true;
		at++;
	}
	if (count - at < 3) {
		fprintf(stderr,
			"usage: model_quality [-v] [-a] [-c] [-f FAMILY] ROOT DEVICE JOURNAL...\n");
		return STATUS_BAD_INPUT;
	}
	status = run(&report, arguments + at, count - at, &err);
	if (status != STATUS_OK)
		fprintf(stderr, "%s\n", err.message);
	return (int)status;
}
