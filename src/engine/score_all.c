/* SPDX-License-Identifier: MIT */
#include "engine/score_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

enum {
	CHILDREN_MAX = 32,
	CANDIDATES_PER_CHILD = 20000, /* fewer are scored sooner than a child is made */
};

static enum status score_one(const struct candidates *candidates,
	const struct family_candidates *family, size_t index, struct value *slots,
	double *predicted_us, struct error *err)
{
	struct work work = {0};
	struct score score = {0};
	enum status status = space_values(family->bound->space,
		family->configurations + index * family->parameter_count, slots, err);

	if (status == STATUS_OK)
		status = candidate_work(family->bound, slots, &work, err);
	if (status == STATUS_OK) {
		score_compute(candidates->device, &work, NULL, &score);
		*predicted_us = score.predicted_time_us;
		score_release(&score);
	}
	work_release(&work);
	return status;
}

/* Scores the candidates from..to-1 of all families. */
static enum status score_range(const struct candidates *candidates, size_t from, size_t to,
	double *predicted_us, struct error *err)
{
	enum status status = STATUS_OK;

	for (size_t f = 0; f < candidates->family_count && status == STATUS_OK; f++) {
		const struct family_candidates *family = &candidates->families[f];
		size_t first = from > family->first ? from : family->first;
		size_t end = family->first + family->count;
		struct value *slots;

		end = to < end ? to : end;
		if (first >= end)
			continue;
		slots = memory_zeroed(space_slot_count(family->bound->space), sizeof(*slots));
		for (size_t i = first; i < end && status == STATUS_OK; i++)
			status = score_one(candidates, family, i - family->first, slots,
				&predicted_us[i], err);
		free(slots);
		if (status != STATUS_OK)
			error_context(err, "scoring %s", family_name(family->bound->family));
	}
	return status;
}

static bool reap(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* False where children cannot be had or one of them failed: the caller scores alone then, and
 * meets the error itself. */
static bool score_with_children(struct candidates *candidates, size_t children)
{
	size_t bytes = candidates->count * sizeof(double);
	double *shared =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[CHILDREN_MAX];
	size_t started = 0;
	bool all_well = true;

	if (shared == MAP_FAILED)
		return false;
	for (; started < children && all_well; started++) {
		size_t from = candidates->count * started / children;
		size_t to = candidates->count * (started + 1) / children;
		pid_t pid = fork();

		if (pid == 0)
			_exit(score_range(candidates, from, to, shared, NULL) == STATUS_OK ? 0 : 1);
		if (pid < 0)
			break;
		pids[started] = pid;
	}
	all_well = started == children;
	for (size_t i = 0; i < started; i++)
		all_well &= reap(pids[i]);
	if (all_well)
		memcpy(candidates->predicted_us, shared, bytes);
	munmap(shared, bytes);
	return all_well;
}

enum status score_all(struct candidates *candidates, struct error *err)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t children = candidates->count / CANDIDATES_PER_CHILD;

	if (cores > 0 && children > (size_t)cores)
		children = (size_t)cores;
	if (children > CHILDREN_MAX)
		children = CHILDREN_MAX;
	if (children > 1 && score_with_children(candidates, children))
		return STATUS_OK;
	return score_range(candidates, 0, candidates->count, candidates->predicted_us, err);
}
