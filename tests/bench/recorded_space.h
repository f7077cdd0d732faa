/* SPDX-License-Identifier: MIT
 *
 * One family of a recorded problem as a space that strategies search: all that was recorded, with
 * its parameters' values as numbers where they are.
 */
#ifndef BENCH_RECORDED_SPACE_H
#define BENCH_RECORDED_SPACE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "format/journal.h"
#include "report/format.h"
#include "search/strategy.h"

enum {
	RECORDED_SMALLEST = 100, /* candidates of a space that is worth a search */
};

/* What strategies know beforehand. */
enum predicted {
	PREDICTED_NOTHING,
	PREDICTED_PHYSICS,
	PREDICTED_LEARNED, /* from the other problems, times physics */
	PREDICTED_COUNT,
};

/* One family of a problem with what was recorded of it. */
struct recorded_space {
	struct search_view view;
	struct search_family family;
	const char **texts;                    /* configurations, of the journal */
	double *predicted_us[PREDICTED_COUNT]; /* NULL: not that */
	double *time_us, best_us;
};

/* The values of one parameter, in the order in which a space has them: numbers by size. */
struct values {
	char **texts;
	size_t count, capacity;
	bool are_numbers;
};

static bool number_of(const char *text, double *number)
{
	char *end;

	*number = strtod(text, &end);
	return end != text && !*end;
}

static int compare_values(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	double p, q;

	if (number_of(x, &p) && number_of(y, &q))
		return (p > q) - (p < q);
	return strcmp(x, y);
}

static size_t value_index(const struct values *values, const char *text)
{
	for (size_t i = 0; i < values->count; i++)
		if (strcmp(values->texts[i], text) == 0)
			return i;
	return values->count;
}

static size_t read_values(
	const struct journal_problem *problem, const char *family, struct values *values)
{
	size_t parameters = 0;

	for (size_t i = 0; i < problem->evaluation_count; i++) {
		const char *list = problem->evaluations[i].configuration;
		struct pair pair;

		if (strcmp(problem->evaluations[i].family, family) != 0)
			continue;
		for (size_t p = 0; p < SPACE_PARAMETERS_MAX && pair_next(&list, &pair); p++) {
			char *text = string_copy_bytes(pair.value, (size_t)pair.value_length);

			if (p >= parameters)
				parameters = p + 1;
			if (value_index(&values[p], text) < values[p].count) {
				free(text);
				continue;
			}
			ARRAY_GROW(values[p].texts, values[p].count, values[p].capacity);
			values[p].texts[values[p].count++] = text;
		}
	}
	for (size_t p = 0; p < parameters; p++) {
		double number;

		qsort(values[p].texts, values[p].count, sizeof(char *), compare_values);
		values[p].are_numbers = true;
		for (size_t i = 0; i < values[p].count; i++)
			values[p].are_numbers &= number_of(values[p].texts[i], &number);
	}
	return parameters;
}

struct row {
	choice choices[SPACE_PARAMETERS_MAX];
	const char *text;
	double time_us;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	for (size_t p = 0; p < SPACE_PARAMETERS_MAX; p++)
		if (x->choices[p] != y->choices[p])
			return x->choices[p] < y->choices[p] ? -1 : 1;
	return 0;
}

static struct row *read_rows(const struct journal_problem *problem, const char *family,
	const struct values *values, size_t *count)
{
	struct row *rows = memory_zeroed(problem->evaluation_count + 1, sizeof(*rows));
	size_t kept = 0;

	*count = 0;
	for (size_t i = 0; i < problem->evaluation_count; i++) {
		const struct evaluation *evaluation = &problem->evaluations[i];
		const char *list = evaluation->configuration;
		struct row *row = &rows[*count];
		struct pair pair;

		if (strcmp(evaluation->family, family) != 0)
			continue;
		for (size_t p = 0; p < SPACE_PARAMETERS_MAX && pair_next(&list, &pair); p++) {
			CLEANUP(memory_free)
			char *text = string_copy_bytes(pair.value, (size_t)pair.value_length);

			row->choices[p] = (choice)value_index(&values[p], text);
		}
		row->text = evaluation->configuration;
		row->time_us =
			evaluation->outcome == OUTCOME_OK ? evaluation->time.median : INFINITY;
		(*count)++;
	}
	qsort(rows, *count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < *count; i++) /* what was recorded twice counts once */
		if (!kept || compare_rows(&rows[kept - 1], &rows[i]) != 0)
			rows[kept++] = rows[i];
	*count = kept;
	return rows;
}

static bool space_open(
	const struct journal_problem *problem, const char *family, struct recorded_space *space)
{
	struct values values[SPACE_PARAMETERS_MAX] = {0};
	const size_t parameters = read_values(problem, family, values);
	choice *configurations;
	struct search_parameter *described = memory_zeroed(parameters + 1, sizeof(*described));
	size_t count;
	CLEANUP(memory_free) struct row *rows = read_rows(problem, family, values, &count);

	*space = (struct recorded_space){.best_us = INFINITY};
	space->time_us = memory_zeroed(count + 1, sizeof(double));
	space->predicted_us[PREDICTED_NOTHING] = memory_zeroed(count + 1, sizeof(double));
	space->texts = memory_zeroed(count + 1, sizeof(char *));
	configurations = memory_zeroed(count * parameters + 1, sizeof(choice));
	for (size_t i = 0; i < count; i++) {
		memcpy(configurations + i * parameters, rows[i].choices,
			parameters * sizeof(choice));
		space->predicted_us[PREDICTED_NOTHING][i] = 1;
		space->texts[i] = rows[i].text;
		space->time_us[i] = rows[i].time_us;
		space->best_us = fmin(space->best_us, rows[i].time_us);
	}
	for (size_t p = 0; p < parameters; p++) {
		described[p] = (struct search_parameter){
			(choice)values[p].count, values[p].are_numbers, false};
		for (size_t i = 0; i < values[p].count; i++)
			free(values[p].texts[i]);
		free(values[p].texts);
	}
	space->family = (struct search_family){.count = count,
		.parameter_count = parameters,
		.configurations = configurations,
		.parameters = described};
	space->view = (struct search_view){.count = count,
		.family = memory_zeroed(count + 1, sizeof(uint32_t)),
		.family_count = 1,
		.families = &space->family};
	return count >= RECORDED_SMALLEST && isfinite(space->best_us);
}

static void space_close(struct recorded_space *space)
{
	free(space->time_us);
	for (int i = 0; i < PREDICTED_COUNT; i++)
		free(space->predicted_us[i]);
	free(space->texts);
	free((void *)(uintptr_t)space->view.family);
	free((void *)(uintptr_t)space->family.configurations);
	free((void *)(uintptr_t)space->family.parameters);
}

#endif
