/* SPDX-License-Identifier: MIT */
#include "tune/run.h"

#include "tune/prefetch.h"
#include "tune/resume.h"
#include "tune/search.h"

void tune_notice(const struct tune_run *run, const char *text)
{
	if (text && run->options->observer.notice)
		run->options->observer.notice(run->options->observer.context, text);
}

enum status tune_interrupted(struct error *err)
{
	return error_set(
		err, STATUS_INTERRUPTED, "interrupted; run the same command again to resume");
}

enum status tune_save(struct tune_run *run, struct error *err)
{
	const char *path = run->options->tuned_path;
	enum status status = path ? tuned_save(run->tuned, path, run->run_id, err) : STATUS_OK;

	run->unsaved = status != STATUS_OK;
	return status;
}

enum status tune_put_entry(struct tune_run *run, struct tuned_entry *entry,
	const struct tuned_judge *judge, const char **kept, struct error *err)
{
	/* saving the file reports errors */
	if (run->options->tuned_path)
		tuned_refresh(run->tuned, run->options->tuned_path, run->run_id, NULL);
	tuned_put_entry(run->tuned, entry, judge, kept);
	return tune_save(run, err);
}

static enum status tune_problem(
	struct tune_run *run, size_t number, struct prefetch **prefetch, struct error *err)
{
	CLEANUP(search_free) struct search *search = NULL;
	bool done;

	TRY(resume_entry(run, number, &done, err));
	if (done)
		return STATUS_OK;
	TRY(prefetch_search(prefetch, run, number, &search, err));
	return search_run(search, err);
}

static bool ends_run(const struct tune_run *run, enum status status)
{
	return status == STATUS_INTERRUPTED || status == STATUS_NO_DEVICE ||
	       !run->options->keep_going;
}

enum status tune_problems(struct tune_run *run, struct error *err)
{
	const struct tune_observer *observer = &run->options->observer;
	const struct problem_list *problems = run->problems;
	struct prefetch *prefetch = NULL;
	enum status status = STATUS_OK;
	struct error first = {0};
	size_t failed = 0;

	for (size_t i = 0; i < problems->count; i++) {
		struct error reason = {0};

		status = tune_problem(run, i, &prefetch, &reason);
		if (status == STATUS_OK)
			continue;
		if (ends_run(run, status)) {
			prefetch_drop(&prefetch);
			*err = reason;
			return status;
		}
		if (observer->failed)
			observer->failed(observer->context, problems->items[i], &reason);
		if (failed++ == 0)
			first = reason;
	}
	prefetch_drop(&prefetch);
	if (!failed)
		return STATUS_OK;
	*err = first;
	if (run->problems->count > 1)
		error_context(err, "%zu of %zu problems were not tuned; the first is", failed,
			run->problems->count);
	return first.status;
}
