/* SPDX-License-Identifier: MIT
 *
 * What a correction is fitted to (learn/correction.h): of every candidate of one family that
 * journals measured, the features, the model's time without correction and the measured one.
 *
 *	correction_data ROOT DEVICE CORRECTION.json JOURNAL... > DATA.csv
 *
 * CORRECTION.json gives family and features; its trees, if it has any, are not looked at. A line
 * has the problem and the configuration (in quotes), the best time of any family for the problem,
 * measured_us, predicted_us, then the features.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/configuration.h"
#include "family/family.h"
#include "format/journal.h"
#include "learn/correction.h"
#include "engine/context.h"
#include "learn/prediction.h"

struct collection {
	struct context context;
	struct correction *correction;
	const struct family *family;
	double *features;
};

static bool is_measured(const struct evaluation *evaluation)
{
	return evaluation->outcome == OUTCOME_OK && !evaluation->predicted;
}

static enum status print_sample(const struct collection *collection, struct bound_family *bound,
	const struct evaluation *evaluation, double best_us, struct error *err)
{
	struct predictor predictor;
	struct prediction prediction;
	choice choices[SPACE_PARAMETERS_MAX];
	bool legal = configuration_read(bound, evaluation->configuration, choices);
	enum status status = STATUS_OK;

	predictor_open(&predictor, bound, NULL);
	if (legal)
		status = configuration_is_legal(bound, choices, &legal, err);
	if (status == STATUS_OK && legal)
		status = predict_choices(&predictor, choices, &prediction, err);
	if (status == STATUS_OK && legal)
		status = correction_features(collection->correction, predictor.slots,
			&predictor.score, collection->features, err);
	if (status == STATUS_OK && legal && isfinite(prediction.time_us)) {
		printf("\"%s\",\"%s\",%.7g,%.7g,%.7g", bound->problem->text,
			evaluation->configuration, best_us, evaluation->time.median,
			prediction.time_us);
		for (size_t i = 0; i < collection->correction->feature_count; i++)
			printf(",%.9g", collection->features[i]);
		putchar('\n');
	}
	predictor_close(&predictor);
	return status;
}

static enum status print_problem(const struct collection *collection,
	const struct journal_problem *recorded, struct error *err)
{
	const struct device_spec *device = device_spec(collection->context.device);
	const struct operation *operation = collection->family->operation;
	struct problem_list list = {0};
	struct bound_family *bound = NULL;
	double best_us = INFINITY;
	bool applies = false;
	enum status status = problem_parse(operation, recorded->problem, &list, err);

	if (status == STATUS_OK)
		status = family_applies(
			collection->family, list.items[0], device, &applies, NULL, err);
	if (status == STATUS_OK && applies)
		status = family_bind(collection->family, list.items[0], device, NULL, &bound, err);
	for (size_t i = 0; i < recorded->evaluation_count; i++)
		if (is_measured(&recorded->evaluations[i]))
			best_us = fmin(best_us, recorded->evaluations[i].time.median);
	for (size_t i = 0; i < recorded->evaluation_count && bound && status == STATUS_OK; i++) {
		const struct evaluation *evaluation = &recorded->evaluations[i];

		if (is_measured(evaluation) &&
			strcmp(evaluation->family, collection->family->name) == 0)
			status = print_sample(collection, bound, evaluation, best_us, err);
	}
	bound_family_free(bound);
	problem_list_release(&list);
	return status;
}

static enum status print_journal(
	const struct collection *collection, const char *path, struct error *err)
{
	const char *operation = collection->family->operation->name;
	struct journal_record record = {0};
	enum status status = journal_read(path, &record, err);

	for (size_t i = 0; i < record.run_count; i++)
		for (size_t k = 0; k < record.runs[i].problem_count && status == STATUS_OK; k++)
			if (strcmp(record.runs[i].problems[k].operation, operation) == 0)
				status =
					print_problem(collection, &record.runs[i].problems[k], err);
	journal_record_release(&record);
	return status;
}

static enum status run(
	struct collection *collection, char **arguments, int count, struct error *err)
{
	const char *const roots[] = {arguments[0], NULL};
	const struct context_options options = {
		.roots = roots, .device = arguments[1], .no_cache = true};
	enum status status = context_open(&options, &collection->context, err);

	if (status == STATUS_OK)
		status = correction_load(arguments[2], NULL, &collection->context.catalogue,
			&collection->correction, err);
	if (status != STATUS_OK)
		return status;
	collection->family = collection->correction->family;
	collection->features =
		memory_zeroed(collection->correction->feature_count + 1, sizeof(double));
	printf("problem,configuration,best_us,measured_us,predicted_us");
	for (size_t i = 0; i < collection->correction->feature_count; i++)
		printf(",%s", collection->correction->features[i].name);
	putchar('\n');
	for (int i = 3; i < count && status == STATUS_OK; i++)
		status = print_journal(collection, arguments[i], err);
	return status;
}

int main(int count, char **arguments)
{
	struct collection collection = {0};
	struct error err = {0};
	enum status status;

	if (count < 5) {
		fprintf(stderr, "usage: correction_data ROOT DEVICE CORRECTION.json JOURNAL...\n");
		return STATUS_BAD_INPUT;
	}
	status = run(&collection, arguments + 1, count - 1, &err);
	if (status != STATUS_OK)
		fprintf(stderr, "%s\n", err.message);
	free(collection.features);
	correction_free(collection.correction);
	context_release(&collection.context);
	return (int)status;
}
