/* SPDX-License-Identifier: MIT */
#include "learn/training.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "candidate/configuration.h"
#include "learn/features.h"

enum {
	FOLDS = 5,
	FEWEST = 64,            /* timings of a family */
	FEWEST_OF_PROBLEM = 10, /* for left_out */
};
static const double FAR = 4; /* times the best: slower ones tell nothing */

struct training_sample {
	const struct family *family;
	char *problem, *configuration;
	double best_us, measured_us, predicted_us;
	float *features;
	size_t fold;
	double learned; /* from the other folds: ln(measured / predicted) */
};

static const struct record_member timings_members[] = {
	RECORD_VALUE(struct timings, operation, "operation", "of the problem"),
	RECORD_VALUE(struct timings, problem, "problem", "canonical text"),
	RECORD_VALUE(struct timings, family, "family", "that was measured"),
	RECORD_STRINGS(struct timings, configurations, "configurations", "canonical texts"),
	RECORD_VALUES(
		struct timings, times_us, count, "times_us", "medians", .low = 0, .high = INFINITY),
};
RECORD_DEFINE(struct timings, timings_record, timings_members, .name = "timings");

static void sample_release(struct training_sample *sample)
{
	free(sample->problem);
	free(sample->configuration);
	free(sample->features);
}

void training_release(struct training *training)
{
	for (size_t i = 0; i < training->count; i++)
		sample_release(&training->samples[i]);
	free(training->samples);
	training->samples = NULL;
	training->count = training->capacity = 0;
}

/* ---- from timings to samples ---- */
static enum status add_one(struct training *training, struct predictor *predictor,
	size_t feature_count, const char *configuration, double time_us, struct error *err)
{
	const struct bound_family *bound = predictor->bound;
	struct prediction prediction = {.time_us = INFINITY};
	choice choices[SPACE_PARAMETERS_MAX];
	struct training_sample *sample;
	bool legal = configuration_read(bound, configuration, choices);

	if (legal)
		TRY(configuration_is_legal(bound, choices, &legal, err));
	if (legal)
		TRY(predict_choices(predictor, choices, &prediction, err));
	if (!isfinite(prediction.time_us) || !(time_us > 0)) {
		training->passed_over++;
		return STATUS_OK;
	}
	ARRAY_GROW(training->samples, training->count, training->capacity);
	sample = &training->samples[training->count++];
	*sample = (struct training_sample){.family = bound->family,
		.problem = string_format(
			"%s %s", bound->problem->operation->name, bound->problem->text),
		.configuration = string_copy(configuration),
		.measured_us = time_us,
		.predicted_us = prediction.time_us,
		.features = memory_zeroed(feature_count + 1, sizeof(float))};
	features_values(bound->family, predictor->slots, &predictor->score, sample->features);
	return STATUS_OK;
}

static enum status add_all(struct training *training, struct bound_family *bound,
	const struct timings *timings, struct error *err)
{
	CLEANUP(predictor_close) struct predictor predictor = {0};
	CLEANUP(name_set_release) struct name_set names = features_names(bound->family);

	predictor_open(&predictor, bound);
	for (size_t i = 0; i < timings->count && timings->configurations[i]; i++)
		TRY(add_one(training, &predictor, names.count, timings->configurations[i],
			timings->times_us[i], err));
	return STATUS_OK;
}

enum status training_add(
	struct training *training, const struct timings *timings, struct error *err)
{
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	CLEANUP(bound_family_drop) struct bound_family *bound = NULL;
	const struct family *family;

	/* what is gone since then is no error */
	if (catalogue_family(training->catalogue, NULL, timings->family, &family, NULL) !=
			STATUS_OK ||
		family->step_count ||
		problem_parse(family->operation, timings->problem, &problems, NULL) != STATUS_OK) {
		training->passed_over += timings->count;
		return STATUS_OK;
	}
	TRY(family_bind_if_applies(
		family, problems.items[0], training->device, NULL, &bound, NULL, err));
	if (bound)
		return add_all(training, bound, timings, err);
	training->passed_over += timings->count;
	return STATUS_OK;
}

struct timings timings_of(
	const char *operation, const char *problem, const char *family, size_t most)
{
	return (struct timings){.operation = string_copy(operation),
		.problem = string_copy(problem),
		.family = string_copy(family),
		.configurations = memory_zeroed(most + 1, sizeof(char *)),
		.times_us = memory_zeroed(most + 1, sizeof(double))};
}

void timings_put(struct timings *timings, const struct evaluation *evaluation, double time_us)
{
	if (evaluation->outcome != OUTCOME_OK || evaluation->predicted || !evaluation->family ||
		strcmp(evaluation->family, timings->family) != 0)
		return;
	timings->configurations[timings->count] = string_copy(evaluation->configuration);
	timings->times_us[timings->count++] = time_us;
}

static enum status visit_problem(const struct journal_problem *problem, timings_visit *visit,
	void *context, struct error *err)
{
	const size_t count = problem->evaluation_count;

	for (size_t f = 0; f < problem->family_count; f++) {
		struct timings timings = timings_of(
			problem->operation, problem->problem, problem->families[f].name, count);
		enum status status = STATUS_OK;

		for (size_t i = 0; i < count; i++)
			timings_put(&timings, &problem->evaluations[i],
				problem->evaluations[i].time.median);
		if (timings.count)
			status = visit(context, &timings, err);
		record_release(&timings_record, &timings);
		TRY(status);
	}
	return STATUS_OK;
}

enum status timings_of_journal(
	const struct journal_record *record, timings_visit *visit, void *context, struct error *err)
{
	for (size_t i = 0; i < record->run_count; i++)
		for (size_t k = 0; k < record->runs[i].problem_count; k++)
			TRY(visit_problem(&record->runs[i].problems[k], visit, context, err));
	return STATUS_OK;
}

/* ---- put together ---- */
static int compare_problems(const void *a, const void *b)
{
	const struct training_sample *x = a, *y = b;
	const int problems = strcmp(x->problem, y->problem);

	return problems ? problems : strcmp(x->configuration, y->configuration);
}

static int compare_families(const void *a, const void *b)
{
	const struct training_sample *x = a, *y = b;
	const int families = strcmp(x->family->name, y->family->name);

	return families ? families : compare_problems(a, b);
}

static void find_bests(struct training *training)
{
	struct training_sample *samples = training->samples;

	qsort(samples, training->count, sizeof(*samples), compare_problems);
	for (size_t begin = 0, end; begin < training->count; begin = end) {
		double best_us = INFINITY;

		for (end = begin; end < training->count &&
				  strcmp(samples[end].problem, samples[begin].problem) == 0;
			end++)
			best_us = fmin(best_us, samples[end].measured_us);
		for (size_t i = begin; i < end; i++)
			samples[i].best_us = best_us;
	}
}

/* What was measured more than once becomes one (mean of the logarithms), what is far from the best
 * goes. The order then does not depend on that in which timings came. */
static void put_together(struct training *training)
{
	struct training_sample *samples = training->samples;
	size_t kept = 0;

	find_bests(training);
	qsort(samples, training->count, sizeof(*samples), compare_families);
	for (size_t i = 0, next; i < training->count; i = next) {
		struct training_sample sample = samples[i];
		double logs = 0;

		for (next = i; next < training->count &&
			       compare_families(&samples[next], &samples[i]) == 0;
			next++)
			logs += log(samples[next].measured_us);
		sample.measured_us = exp(logs / (double)(next - i));
		for (size_t again = i + 1; again < next; again++)
			sample_release(&samples[again]);
		if (sample.measured_us < FAR * sample.best_us)
			samples[kept++] = sample;
		else
			sample_release(&sample);
	}
	training->count = kept;
}

/* ---- learning ---- */
/* The samples of a family, and what trees see of them. */
struct lesson {
	struct training_sample *samples;
	struct tree_sample *seen;
	size_t count, problem_count;
	struct name_set names; /* of features */
};

static void lesson_release(struct lesson *lesson)
{
	name_set_release(&lesson->names);
	free(lesson->seen);
}

/* Where the samples of the problem end that begins at `begin`. */
static size_t problem_end(const struct lesson *lesson, size_t begin)
{
	size_t end = begin;

	while (end < lesson->count &&
		strcmp(lesson->samples[end].problem, lesson->samples[begin].problem) == 0)
		end++;
	return end;
}

/* All problems count the same; each fold gets one of FOLDS problems that follow each other. */
static struct lesson lesson_of(struct training_sample *samples, size_t count)
{
	struct lesson lesson = {.samples = samples,
		.seen = memory_zeroed(count, sizeof(*lesson.seen)),
		.count = count,
		.names = features_names(samples->family)};
	size_t folds[FOLDS];
	struct random_state random;

	random_seed(&random, 1);
	for (size_t k = 0; k < FOLDS; k++)
		folds[k] = k;
	for (size_t begin = 0, end; begin < count; begin = end, lesson.problem_count++) {
		double sum = 0;

		end = problem_end(&lesson, begin);
		if (lesson.problem_count % FOLDS == 0)
			random_shuffle(&random, folds, FOLDS);
		for (size_t i = begin; i < end; i++) {
			const double speed = samples[i].best_us / samples[i].measured_us;

			samples[i].fold = folds[lesson.problem_count % FOLDS];
			lesson.seen[i] = (struct tree_sample){.features = samples[i].features,
				.wanted = log(samples[i].measured_us / samples[i].predicted_us),
				.weight = speed * speed};
			sum += lesson.seen[i].weight;
		}
		for (size_t i = begin; i < end; i++)
			lesson.seen[i].weight /= sum;
	}
	for (size_t i = 0; i < count; i++)
		lesson.seen[i].weight *= (double)count / (double)lesson.problem_count;
	return lesson;
}

/* From all samples but those of a fold (FOLDS: all). */
static void learn(struct lesson *lesson, size_t fold, struct trees *trees)
{
	const char *const *names = (const char *const *)lesson->names.items;

	for (size_t i = 0; i < lesson->count; i++)
		lesson->seen[i].used = lesson->samples[i].fold != fold;
	trees_fit(lesson->seen, lesson->count, names, trees);
	trees_bind(trees, names);
}

static void learn_folds(struct lesson *lesson)
{
	for (size_t fold = 0; fold < FOLDS; fold++) {
		CLEANUP(trees_release) struct trees trees;

		learn(lesson, fold, &trees);
		for (size_t i = 0; i < lesson->count; i++)
			if (!lesson->seen[i].used)
				lesson->samples[i].learned =
					trees_sum(&trees, lesson->seen[i].features);
	}
}

/* The best of a problem over what is predicted first. */
static double reached(const struct lesson *lesson, size_t begin, size_t end, bool is_learned)
{
	double best = INFINITY, first = INFINITY, reached = 0;

	for (size_t i = begin; i < end; i++) {
		const struct training_sample *sample = &lesson->samples[i];
		const double predicted =
			log(sample->predicted_us) + (is_learned ? sample->learned : 0);

		best = fmin(best, sample->measured_us);
		if (predicted < first) {
			first = predicted;
			reached = sample->measured_us;
		}
	}
	return best / reached;
}

static void judge(const struct lesson *lesson, bool is_learned, uint64_t *problems, double *mean,
	double *lowest)
{
	*problems = 0;
	*lowest = 1;
	for (size_t begin = 0, end; begin < lesson->count; begin = end) {
		double share;

		end = problem_end(lesson, begin);
		if (end - begin < FEWEST_OF_PROBLEM)
			continue;
		share = reached(lesson, begin, end, is_learned);
		++*problems;
		*mean += (share - *mean) / (double)*problems;
		*lowest = fmin(*lowest, share);
	}
}

void training_fit(struct training *training, bool left_out, struct learned_file *file)
{
	*file = (struct learned_file){.device = string_copy(training->device->name),
		.families = memory_zeroed(
			training->catalogue->family_count + 1, sizeof(*file->families))};
	put_together(training);
	for (size_t begin = 0, end; begin < training->count; begin = end) {
		struct training_sample *samples = &training->samples[begin];
		CLEANUP(lesson_release) struct lesson lesson = {0};
		struct learned_family *learned;
		struct left_out *left;

		for (end = begin;
			end < training->count && training->samples[end].family == samples->family;
			end++)
			;
		if (end - begin < FEWEST)
			continue;
		lesson = lesson_of(samples, end - begin);
		learned = &file->families[file->family_count++];
		*learned = (struct learned_family){.name = string_copy(samples->family->name),
			.timings = lesson.count,
			.problems = lesson.problem_count,
			.family = samples->family,
			.feature_count = lesson.names.count};
		left = &learned->left_out;
		if (left_out && lesson.problem_count > 1) {
			learn_folds(&lesson);
			judge(&lesson, false, &left->problems, &left->physics_mean,
				&left->physics_lowest);
			judge(&lesson, true, &left->problems, &left->learned_mean,
				&left->learned_lowest);
		}
		learn(&lesson, FOLDS, &learned->trees);
	}
}
