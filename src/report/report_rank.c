/* SPDX-License-Identifier: MIT
 *
 * Ranks of candidates by clock and by model, and how good the model was.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/report.h"

struct report_candidate **report_sorted(
	const struct report_entry *entry, int (*compare)(const void *, const void *))
{
	struct report_candidate **list =
		memory_zeroed(entry->candidate_count + 1, sizeof(struct report_candidate *));

	for (size_t i = 0; i < entry->candidate_count; i++)
		list[i] = &entry->candidates[i];
	qsort(list, entry->candidate_count, sizeof(struct report_candidate *), compare);
	return list;
}

static int compare_doubles(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_measured(const void *a_, const void *b_)
{
	const struct report_candidate *a = *(const struct report_candidate *const *)a_;
	const struct report_candidate *b = *(const struct report_candidate *const *)b_;
	int order = compare_doubles(report_time_us(a), report_time_us(b));

	return order ? order : (a > b) - (a < b);
}

static double predicted_us(const struct report_candidate *candidate)
{
	return candidate->evaluation->score.launch_count
		       ? candidate->evaluation->score.predicted_time_us
		       : INFINITY;
}

static int compare_model(const void *a_, const void *b_)
{
	const struct report_candidate *a = *(const struct report_candidate *const *)a_;
	const struct report_candidate *b = *(const struct report_candidate *const *)b_;
	/* those without a time last */
	int order = isinf(report_time_us(a)) - isinf(report_time_us(b));

	order = order ? order : compare_doubles(predicted_us(a), predicted_us(b));
	return order ? order : (a > b) - (a < b);
}

/* Of what has both a time and a prediction, where the entry does not say it. */
static void judge_model(struct report_entry *entry, struct report_candidate **by_model)
{
	struct report_quality *quality = &entry->quality;
	double *times = memory_zeroed(entry->ok_count + 1, sizeof(double));
	double *predictions = memory_zeroed(entry->ok_count + 1, sizeof(double));
	double best = report_time_us(&entry->candidates[entry->best]), so_far = INFINITY;
	size_t count = 0, top = 0;

	for (; count < entry->ok_count; count++) {
		times[count] = report_time_us(by_model[count]);
		predictions[count] = predicted_us(by_model[count]);
		if (!isfinite(predictions[count]))
			break;
		so_far = fmin(so_far, times[count]);
		if (times[count] <= best && !quality->rank_of_best)
			quality->rank_of_best = count + 1;
		while (top < REPORT_TOPS && count + 1 == report_tops[top])
			quality->regret[top++] = so_far / best - 1;
	}
	while (top < REPORT_TOPS && count)
		quality->regret[top++] = so_far / best - 1;
	quality->measured = count;
	quality->rank_correlation = statistics_rank_correlation(predictions, times, count);
	free(times);
	free(predictions);
}

void report_rank(struct report_entry *entry)
{
	struct report_candidate **by_time = report_sorted(entry, compare_measured);
	struct report_candidate **by_model = report_sorted(entry, compare_model);

	for (size_t i = 0; i < entry->ok_count; i++) {
		by_time[i]->measured_rank = i + 1;
		by_model[i]->model_rank = i + 1;
	}
	entry->best = entry->ok_count ? (size_t)(by_time[0] - entry->candidates) : SIZE_MAX;
	if (entry->ok_count && !entry->quality.measured && !entry->predicted)
		judge_model(entry, by_model);
	free(by_time);
	free(by_model);
}
