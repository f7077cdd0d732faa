/* SPDX-License-Identifier: MIT */
#include "measure/energy.h"

#include <math.h>

/* A counter that has not moved twice by then does not move. */
static const double patience = 3;

struct counting {
	const struct gpu_session *gpu;
	double seconds;
	double elapsed_s, runs;      /* of the whole */
	double read_j;               /* what the counter said last; 0: there is none */
	double first_j, first_s;     /* at its first step */
	double last_j, last_s;       /* at its last one; last_s 0: it moved once at most */
	double read_s, gap_s;        /* time of the last reading; the longest between two */
	double sum_w, low_w, high_w; /* power, where there is no counter */
	double samples;
};

static bool count_energy(struct counting *counting, double elapsed_s)
{
	const double now_j = nvml_energy_j(counting->gpu->nvml);

	if (now_j > counting->read_j && counting->first_s <= 0) {
		counting->first_j = now_j;
		counting->first_s = elapsed_s;
	} else if (now_j > counting->read_j) {
		counting->last_j = now_j;
		counting->last_s = elapsed_s;
	}
	counting->gap_s = fmax(counting->gap_s, elapsed_s - counting->read_s);
	counting->read_s = elapsed_s;
	counting->read_j = now_j;
	return counting->last_s < counting->first_s + counting->seconds;
}

static bool count_power(struct counting *counting, double elapsed_s)
{
	const double now_w = nvml_read(counting->gpu->nvml).power_w;

	counting->low_w = counting->samples > 0 ? fmin(counting->low_w, now_w) : now_w;
	counting->high_w = fmax(counting->high_w, now_w);
	counting->sum_w += now_w;
	counting->samples++;
	return elapsed_s < counting->seconds;
}

static bool observe(void *context, double elapsed_s, double runs)
{
	struct counting *counting = context;

	counting->elapsed_s = elapsed_s;
	counting->runs = runs;
	return (counting->read_j > 0 ? count_energy(counting, elapsed_s)
				     : count_power(counting, elapsed_s)) &&
	       elapsed_s < patience * counting->seconds;
}

bool energy_measure(struct gpu_session *gpu, struct runner *runner, double seconds,
	struct measured *measured, struct failure *failure)
{
	struct counting counting = {
		.gpu = gpu, .seconds = seconds, .read_j = nvml_energy_j(gpu->nvml)};
	double power_w = 0, resolution_ratio = 0;

	if (!runner_repeat(gpu, runner, observe, &counting, failure))
		return false;
	if (counting.last_s > counting.first_s) {
		power_w =
			(counting.last_j - counting.first_j) / (counting.last_s - counting.first_s);
		/* a step is seen at the reading after it */
		resolution_ratio = counting.gap_s / (counting.last_s - counting.first_s);
	} else if (counting.sum_w > 0) {
		power_w = counting.sum_w / counting.samples;
		resolution_ratio = (counting.high_w - counting.low_w) / power_w;
	}
	if (power_w > 0)
		*measured = (struct measured){
			.energy_j = power_w * counting.elapsed_s / counting.runs,
			.power_w = power_w,
			.energy_resolution_ratio = resolution_ratio,
		};
	return true;
}
