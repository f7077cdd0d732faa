/* SPDX-License-Identifier: MIT */
#include "format/evaluation.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *const outcome_names[OUTCOME_COUNT + 1] = {
#define OUTCOME(id, name, summary) [OUTCOME_##id] = name,
#include "format/outcome.def"
#undef OUTCOME
};

const char *outcome_name(enum outcome outcome)
{
	return outcome_names[outcome];
}

const char *outcome_summary(enum outcome outcome)
{
	static const char *const summaries[OUTCOME_COUNT] = {
#define OUTCOME(id, name, summary) [OUTCOME_##id] = summary,
#include "format/outcome.def"
#undef OUTCOME
	};

	return summaries[outcome];
}

int outcome_find(const char *name)
{
	return name_find(name, outcome_names);
}

void evaluation_release(struct evaluation *evaluation)
{
	free(evaluation->family);
	free(evaluation->configuration);
	free(evaluation->detail);
	free(evaluation->resources);
	free(evaluation->samples_us);
	score_release(&evaluation->score);
	*evaluation = (struct evaluation){0};
}

void evaluation_add_samples(struct evaluation *evaluation, const double *samples_us, size_t count)
{
	if (count == 0)
		return;
	evaluation->samples_us = memory_resize(evaluation->samples_us,
		evaluation->sample_count + count, sizeof(*evaluation->samples_us));
	memcpy(evaluation->samples_us + evaluation->sample_count, samples_us,
		count * sizeof(*samples_us));
	evaluation->sample_count += count;
	evaluation->time = statistics_summary(evaluation->samples_us, evaluation->sample_count);
}
