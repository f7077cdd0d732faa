/* SPDX-License-Identifier: MIT
 *
 * Predictions for a recorded space of a problem: physics, alone or times what the timings of all
 * other problems teach (learn/training.h). Nothing of the problem itself is learned from.
 */
#ifndef BENCH_LEFT_OUT_H
#define BENCH_LEFT_OUT_H

#include "bench/recorded_space.h"
#include "candidate/configuration.h"
#include "learn/training.h"

struct teacher {
	struct catalogue catalogue;
	struct device_spec *device;
	const struct journal_record *records;
	size_t record_count;
};

static const char *const teacher_folders[] = {"templates", NULL}, *const teacher_configs[] = {
									  "configs", NULL};

static enum status teacher_open(struct teacher *teacher, struct error *err)
{
	TRY(device_spec_load("h200-sxm", teacher_configs, &teacher->device, err));
	return catalogue_load(teacher_folders, NULL, &teacher->catalogue, err);
}

static void teacher_close(struct teacher *teacher)
{
	device_spec_free(teacher->device);
	catalogue_release(&teacher->catalogue);
}

/* As the problem is written today; NULL: there is none. */
static struct problem_list today(
	const struct teacher *teacher, const char *operation_name, const char *text)
{
	const struct operation *operation;
	struct problem_list list = {0};

	if (catalogue_operation(&teacher->catalogue, operation_name, &operation, NULL) == STATUS_OK)
		problem_parse(operation, text, &list, NULL);
	return list;
}

struct lesson {
	const struct teacher *teacher;
	struct training training;
	const struct problem *left_out;
};

static enum status learn_other(void *context, const struct timings *timings, struct error *err)
{
	struct lesson *lesson = context;
	CLEANUP(problem_list_release)
	struct problem_list list = today(lesson->teacher, timings->operation, timings->problem);

	if (!list.count || strcmp(list.items[0]->text, lesson->left_out->text) == 0)
		return STATUS_OK;
	return training_add(&lesson->training, timings, err);
}

static enum status learn_others(const struct teacher *teacher, const struct problem *left_out,
	struct learned_file *file, struct error *err)
{
	struct lesson lesson = {
		teacher, {.catalogue = &teacher->catalogue, .device = teacher->device}, left_out};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < teacher->record_count && status == STATUS_OK; i++)
		status = timings_of_journal(&teacher->records[i], learn_other, &lesson, err);
	if (status == STATUS_OK)
		training_fit(&lesson.training, false, file);
	training_release(&lesson.training);
	return status;
}

/* predicted_us: of all candidates; infinite: not legal any more. */
static enum status predict_all(const struct recorded_space *space, struct bound_family *bound,
	double *predicted_us, struct error *err)
{
	CLEANUP(predictor_close) struct predictor predictor = {0};

	predictor_open(&predictor, bound);
	for (size_t i = 0; i < space->view.count; i++) {
		struct prediction prediction = {.time_us = INFINITY};
		choice choices[SPACE_PARAMETERS_MAX];
		bool legal = configuration_read(bound, space->texts[i], choices);

		if (legal)
			TRY(configuration_is_legal(bound, choices, &legal, err));
		if (legal)
			TRY(predict_choices(&predictor, choices, &prediction, err));
		predicted_us[i] = prediction.time_us;
	}
	return STATUS_OK;
}

/* What physics predicts of a recorded space times what was learned (NULL: nothing); caller frees.
 * Errors: a family that is not known. */
static enum status teacher_predict(const struct teacher *teacher,
	const struct journal_problem *problem, const char *family_name,
	const struct learned *learned, const struct recorded_space *space, double **predicted_us,
	struct error *err)
{
	CLEANUP(problem_list_release)
	struct problem_list list = today(teacher, problem->operation, problem->problem);
	CLEANUP(bound_family_drop) struct bound_family *bound = NULL;
	const struct family *family;
	enum status status;

	TRY(catalogue_family(&teacher->catalogue, NULL, family_name, &family, err));
	if (!list.count)
		return error_set(err, STATUS_BAD_INPUT, "%s: no problem today", problem->problem);
	*predicted_us = memory_zeroed(space->view.count, sizeof(double));
	teacher->device->learned = learned;
	status = family_bind_applicable(family, list.items[0], teacher->device, &bound, err);
	if (status == STATUS_OK)
		status = predict_all(space, bound, *predicted_us, err);
	teacher->device->learned = NULL;
	return status;
}

/* Both ways: alone, and with what the other problems teach. */
static enum status teacher_predict_both(const struct teacher *teacher,
	const struct journal_problem *problem, const char *family, struct recorded_space *space,
	struct error *err)
{
	CLEANUP(problem_list_release)
	struct problem_list list = today(teacher, problem->operation, problem->problem);
	CLEANUP(learned_release) struct learned learned = {0};

	if (list.count)
		TRY(learn_others(teacher, list.items[0], &learned.layers[0], err));
	TRY(teacher_predict(teacher, problem, family, NULL, space,
		&space->predicted_us[PREDICTED_PHYSICS], err));
	return teacher_predict(teacher, problem, family, &learned, space,
		&space->predicted_us[PREDICTED_LEARNED], err);
}

#endif
