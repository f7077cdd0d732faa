/* SPDX-License-Identifier: MIT */
#include "measure/runner.h"

#include <math.h>

#include "base/clock.h"
#include "base/statistics.h"

/* Least time of a sample: events resolve 0.5 us, and the gap between operations is about 1 us. */
static const double sample_target_us = 300;
/* Longer kernels need no untimed run to warm the instruction cache and the TLB. */
static const double untimed_run_max_us = 2000;
/* A GPU without work for this long may have lowered its clock. */
static const double idle_s = 0.2;
static const double warm_up_least_s = 0.03, warm_up_most_s = 0.2;
static const double estimate_least_us = 0.5;
/* Length of gapless work: longer than reading the energy counter (about 15 ms on an H200), or the
 * GPU idles; much shorter than the counter's interval. */
static const double piece_us = 20000;
/* A healthy card's clock after a warm-up, relative to its maximum. */
static const double clock_up_ratio = 0.85;

enum {
	GRAPH_OPERATIONS_MAX = 2048,
	SPACERS_PER_WARM_UP = 20,
	PIECE_SAMPLES_MAX = 80,
	EXTRA_RUNS = 4, /* runs in the shorter of two graphs */
	EXTRA_ROUNDS = 9,
};
/* a longer overhead is due to a disturbance */
static const double extra_most_us = 5;

unsigned runner_runs_per_sample(double estimate_us, size_t operations)
{
	unsigned runs = 1;

	while (runs * estimate_us < sample_target_us &&
		2 * (size_t)runs * operations <= GRAPH_OPERATIONS_MAX)
		runs *= 2;
	return runs;
}

static bool clock_is_up(const struct gpu_session *gpu)
{
	struct nvml_reading reading = nvml_read_clock(gpu->nvml);

	return !reading.valid ||
	       reading.clock_sm_hz >= clock_up_ratio * gpu->gpu.identity.clock_sm_max_hz;
}

bool runner_warm_up(struct gpu_session *gpu, double least_s, double most_s)
{
	double start = clock_seconds(), now;

	do {
		for (int i = 0; i < SPACERS_PER_WARM_UP; i++)
			if (!helper_spacer(gpu))
				return false;
		if (!gpu_synchronize(gpu, "warming up"))
			return false;
		now = clock_seconds();
	} while (now < start + least_s || (now < start + most_s && !clock_is_up(gpu)));
	return true;
}

static bool events_ensure(struct gpu_session *gpu, size_t count)
{
	if (gpu->event_count >= count)
		return true;
	gpu->events = memory_resize(gpu->events, count, sizeof(*gpu->events));
	for (; gpu->event_count < count; gpu->event_count++)
		if (!GPU_CALL(gpu, "making an event", cuEventCreate, &gpu->events[gpu->event_count],
			    CU_EVENT_DEFAULT))
			return false;
	return true;
}

static bool record(struct gpu_session *gpu, size_t event)
{
	return GPU_CALL(gpu, "recording an event", cuEventRecord, gpu->events[event], gpu->stream);
}

/* Computes times per run. Each interval between events has `runs` runs and an overhead of extra_us.
 */
static bool elapsed(
	struct gpu_session *gpu, unsigned count, double extra_us, double runs, double *times_us)
{
	CUresult result = gpu->cuda.cuEventSynchronize(gpu->events[count]);

	gpu->last_work_s = clock_seconds();
	if (!gpu_succeeded(gpu, result, "running the kernel"))
		return false;
	for (unsigned i = 0; i < count; i++) {
		float milliseconds = 0;

		if (!GPU_CALL(gpu, "reading an event", cuEventElapsedTime, &milliseconds,
			    gpu->events[i], gpu->events[i + 1]))
			return false;
		times_us[i] = fmax((double)milliseconds * 1e3 - extra_us, 0) / runs;
	}
	return true;
}

static bool graph_launch(struct gpu_session *gpu, CUgraphExec graph)
{
	return GPU_CALL(gpu, "replaying a graph", cuGraphLaunch, graph, gpu->stream);
}

static bool run_spacer(struct gpu_session *gpu, const void *context, size_t index)
{
	(void)context, (void)index;
	return helper_spacer(gpu);
}

/* Times a single run and graphs of two lengths of the spacer kernel. The difference between the
 * graphs is the time of the additional runs, the rest is overhead. */
static bool extra_measure(struct gpu_session *gpu)
{
	double times_us[3][EXTRA_ROUNDS], round_us[3], run_us;
	CUgraphExec graphs[2] = {NULL};
	bool done = gpu_graph_make(gpu, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, run_spacer, NULL,
			    EXTRA_RUNS, &graphs[0]) &&
		    gpu_graph_make(gpu, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, run_spacer, NULL,
			    2 * EXTRA_RUNS, &graphs[1]);

	for (size_t i = 0; done && i < EXTRA_ROUNDS; i++) {
		done = helper_spacer(gpu) && record(gpu, 0) && helper_spacer(gpu) &&
		       record(gpu, 1) && graph_launch(gpu, graphs[0]) && record(gpu, 2) &&
		       graph_launch(gpu, graphs[1]) && record(gpu, 3) &&
		       elapsed(gpu, 3, 0, 1, round_us);
		for (size_t k = 0; done && k < 3; k++)
			times_us[k][i] = round_us[k];
	}
	for (size_t i = 0; i < 2; i++)
		if (graphs[i])
			gpu->cuda.cuGraphExecDestroy(graphs[i]);
	if (!done)
		return false;
	for (size_t k = 0; k < 3; k++)
		round_us[k] = statistics_quantile(times_us[k], EXTRA_ROUNDS, 0.5);
	run_us = (round_us[2] - round_us[1]) / EXTRA_RUNS;
	gpu->single_extra_us = fmin(fmax(round_us[0] - run_us, 0), extra_most_us);
	gpu->graph_extra_us = fmin(fmax(round_us[1] - EXTRA_RUNS * run_us, 0), extra_most_us);
	return true;
}

static bool run_next(struct gpu_session *gpu, struct runner *runner)
{
	size_t set = runner->next_set;

	runner->next_set = (set + 1) % runner->loaded->set_count;
	return loaded_run(gpu, runner->loaded, set);
}

/* Restores sets in the order of the runs. */
bool runner_restore(struct gpu_session *gpu, const struct runner *runner)
{
	const size_t sets = runner->loaded->set_count;
	const size_t first = runner->runs_per_sample > 1
				     ? runner->next_graph * runner->runs_per_sample
				     : runner->next_set;

	for (size_t i = 0; runner->restores_inputs && i < sets; i++)
		if (!problem_data_restore_inputs(gpu, runner->loaded->problem, (first + i) % sets))
			return false;
	return true;
}

/* Uses another set than the timed runs, whose data must not enter the cache. */
static bool run_untimed(struct gpu_session *gpu, struct runner *runner)
{
	size_t sets = runner->loaded->set_count;

	if (runner->runs_per_sample == 1)
		return run_next(gpu, runner);
	return loaded_run(gpu, runner->loaded,
		(runner->next_graph * runner->runs_per_sample + sets - 1) % sets);
}

static bool estimate(
	struct gpu_session *gpu, struct runner *runner, double estimates_us[RUNNER_ESTIMATES])
{
	const unsigned batch = runner->restores_inputs ? 1 : RUNNER_ESTIMATES;
	bool done = true;

	for (unsigned i = 0; done && i < RUNNER_ESTIMATES; i += batch) {
		done = runner_restore(gpu, runner) && helper_spacer(gpu) && record(gpu, 0);
		for (unsigned k = 0; done && k < batch; k++)
			done = run_next(gpu, runner) && record(gpu, k + 1);
		done = done && elapsed(gpu, batch, gpu->single_extra_us, 1, &estimates_us[i]);
	}
	return done;
}

/* Limits runs_per_sample, to leave a set for the untimed run. */
static void limit_to_sets(struct runner *runner)
{
	while (runner->runs_per_sample > 1 &&
		2 * (size_t)runner->runs_per_sample > runner->loaded->set_count)
		runner->runs_per_sample /= 2;
}

static void graphs_allocate(struct runner *runner)
{
	const size_t sets = runner->loaded->set_count;

	if (runner->runs_per_sample == 1)
		return;
	runner->graph_count = sets > runner->runs_per_sample ? sets / runner->runs_per_sample : 1;
	runner->graphs = memory_zeroed(runner->graph_count, sizeof(*runner->graphs));
}

bool runner_prepare(
	struct gpu_session *gpu, struct runner *runner, double estimates_us[RUNNER_ESTIMATES])
{
	bool done = events_ensure(gpu, RUNNER_VISIT_SAMPLES_MAX + 1);

	if (done && clock_seconds() - gpu->last_work_s > idle_s)
		done = runner_warm_up(gpu, warm_up_least_s, warm_up_most_s);
	runner->restores_inputs =
		runner->loaded->problem && problem_data_restores_inputs(runner->loaded->problem);
	runner->runs_per_sample = 1;
	if (done && isnan(gpu->single_extra_us))
		done = extra_measure(gpu);
	/* modules load lazily, and the kernel may crash */
	done = done && runner_restore(gpu, runner) && run_next(gpu, runner) &&
	       gpu_synchronize(gpu, "running the kernel");
	if (done)
		gpu_progress(gpu, 0, false);
	if (!done || !estimate(gpu, runner, estimates_us))
		return false;
	runner->estimate_us = fmax(fmin(estimates_us[0], estimates_us[1]), estimate_least_us);
	runner->runs_per_sample =
		runner_runs_per_sample(runner->estimate_us, loaded_operations(runner->loaded));
	runner->group_size_variants =
		runner->loaded->problem ? problem_data_group_size_variants(runner->loaded->problem)
					: 1;
	while (runner->group_size_variants > 1 &&
		runner->runs_per_sample < runner->loaded->set_count &&
		2 * runner->runs_per_sample * loaded_operations(runner->loaded) <=
			GRAPH_OPERATIONS_MAX)
		runner->runs_per_sample *= 2;
	if (runner->restores_inputs)
		limit_to_sets(runner);
	graphs_allocate(runner);
	return true;
}

void runner_prepare_once(const struct runner *prepared, struct runner *once)
{
	*once = (struct runner){.loaded = prepared->loaded,
		.restores_inputs = prepared->restores_inputs,
		.estimate_us = prepared->estimate_us,
		.runs_per_sample = prepared->runs_per_sample,
		.group_size_variants = prepared->group_size_variants};
	limit_to_sets(once);
	graphs_allocate(once);
}

static bool sample_start(struct gpu_session *gpu, struct runner *runner)
{
	size_t index = runner->next_graph;

	if (runner->runs_per_sample == 1)
		return run_next(gpu, runner);
	runner->next_graph = (index + 1) % runner->graph_count;
	return graph_launch(gpu, runner->graphs[index]);
}

/* All graphs together cover all sets, because all numbers are powers of two. */
struct run_sets {
	const struct loaded *loaded;
	size_t first;
};

static bool run_set(struct gpu_session *gpu, const void *context, size_t index)
{
	const struct run_sets *sets = context;

	return loaded_run(gpu, sets->loaded, (sets->first + index) % sets->loaded->set_count);
}

static bool graphs_ensure(struct gpu_session *gpu, struct runner *runner, unsigned count)
{
	for (size_t i = 0; runner->graphs && i < count; i++) {
		size_t index = (runner->next_graph + i) % runner->graph_count;

		struct run_sets runs = {runner->loaded, index * runner->runs_per_sample};

		if (!runner->graphs[index] &&
			!gpu_graph_make(gpu, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, run_set, &runs,
				runner->runs_per_sample, &runner->graphs[index]))
			return false;
	}
	return true;
}

/* Returns the most samples that leave a set for the untimed run. */
static unsigned samples_with_restored_inputs(const struct runner *runner)
{
	const size_t samples = runner->loaded->set_count / runner->runs_per_sample;

	return samples > 2 ? (unsigned)samples - 1 : 1;
}

bool runner_start(struct gpu_session *gpu, struct runner *runner, unsigned count)
{
	const bool warms = runner->estimate_us <= untimed_run_max_us &&
			   !(runner->restores_inputs && runner->loaded->set_count == 1);

	if (runner->restores_inputs && count > samples_with_restored_inputs(runner))
		count = samples_with_restored_inputs(runner);
	if (!graphs_ensure(gpu, runner, count) || !runner_restore(gpu, runner) ||
		!helper_spacer(gpu) || (warms && !run_untimed(gpu, runner)) || !record(gpu, 0))
		return false;
	for (unsigned i = 0; i < count; i++)
		if (!sample_start(gpu, runner) || !record(gpu, i + 1))
			return false;
	runner->batch_samples = count;
	return true;
}

bool runner_warm_on(
	struct gpu_session *gpu, struct runner *runner, size_t set, size_t *first, size_t *count)
{
	const size_t sets = runner->loaded->set_count, runs = runner->runs_per_sample;
	const bool warms = runner->estimate_us <= untimed_run_max_us && runs < sets;

	if (runs > 1)
		runner->next_graph = set / runs % runner->graph_count;
	else
		runner->next_set = set;
	*first = runs > 1 ? runner->next_graph * runs : set;
	*count = runs < sets ? runs : sets;
	runner->batch_samples = 1;
	return graphs_ensure(gpu, runner, 1) &&
	       (!warms || (runner_restore(gpu, runner) &&
				  loaded_run(gpu, runner->loaded, (*first + sets - 1) % sets)));
}

bool runner_start_chosen(struct gpu_session *gpu, struct runner *runner)
{
	return helper_spacer(gpu) && record(gpu, 0) && sample_start(gpu, runner) && record(gpu, 1);
}

bool runner_finish(struct gpu_session *gpu, struct runner *runner, double *samples_us)
{
	const double extra_us =
		runner->runs_per_sample == 1 ? gpu->single_extra_us : gpu->graph_extra_us;

	return elapsed(gpu, runner->batch_samples, extra_us, runner->runs_per_sample, samples_us);
}

void runner_release(struct gpu_session *gpu, struct runner *runner)
{
	for (size_t i = 0; i < runner->graph_count; i++)
		if (runner->graphs[i])
			gpu->cuda.cuGraphExecDestroy(runner->graphs[i]);
	free(runner->graphs);
	*runner = (struct runner){0};
}

static unsigned piece_samples(const struct runner *runner)
{
	const double sample_us = runner->estimate_us * runner->runs_per_sample;

	return (unsigned)fmin(piece_us / sample_us, PIECE_SAMPLES_MAX) + 1;
}

static bool piece_start(
	struct gpu_session *gpu, struct runner *runner, unsigned samples, size_t event)
{
	for (unsigned i = 0; i < samples; i++)
		if (!sample_start(gpu, runner))
			return false;
	return record(gpu, event);
}

static bool piece_finish(struct gpu_session *gpu, size_t first, size_t last, double *seconds)
{
	float milliseconds = 0;

	if (!GPU_CALL(gpu, "running the kernel", cuEventSynchronize, gpu->events[last]) ||
		!GPU_CALL(gpu, "reading an event", cuEventElapsedTime, &milliseconds,
			gpu->events[first], gpu->events[last]))
		return false;
	*seconds = (double)milliseconds * 1e-3;
	return true;
}

/* Pieces use two pairs of events in turn. */
static size_t sustained_event(size_t piece)
{
	return 2 * (piece % 2);
}

static bool sustained_start(
	struct gpu_session *gpu, struct runner *runner, unsigned samples, size_t piece)
{
	return runner_restore(gpu, runner) && record(gpu, sustained_event(piece)) &&
	       piece_start(gpu, runner, samples, sustained_event(piece) + 1);
}

bool runner_sustain(struct gpu_session *gpu, struct runner *runner, double seconds, double *time_us)
{
	unsigned samples = piece_samples(runner);
	double busy_s = 0, timed_s = 0, runs = 0;

	if (runner->restores_inputs && samples > samples_with_restored_inputs(runner))
		samples = samples_with_restored_inputs(runner);
	/* make all graphs, because pieces use all sets in turn */
	if (!graphs_ensure(gpu, runner, (unsigned)runner->graph_count) ||
		!sustained_start(gpu, runner, samples, 0))
		return false;
	for (size_t piece = 0; busy_s < seconds; piece++) {
		const size_t event = sustained_event(piece);
		double piece_s;

		if (!sustained_start(gpu, runner, samples, piece + 1) ||
			!piece_finish(gpu, event, event + 1, &piece_s))
			return false;
		busy_s += piece_s;
		if (busy_s <= seconds / 2)
			continue;
		timed_s += piece_s;
		runs += (double)samples * runner->runs_per_sample;
	}
	*time_us = timed_s * 1e6 / runs;
	gpu->last_work_s = clock_seconds();
	return gpu_synchronize(gpu, "running the kernel");
}

/* The power is the energy between the first and last observed change of the counter, divided by the
 * time between them; without a counter, NVML's power reading.
 *
 * No measurement takes longer than this multiple of the requested time.
 */
static const double energy_time_limit_ratio = 3;

struct counting {
	struct gpu_session *gpu;
	double seconds;
	double elapsed_s, runs;  /* totals so far */
	double read_j;           /* last reading; 0 without a counter */
	double first_j, first_s; /* at the counter's first change */
	double last_j, last_s;   /* at the counter's last change; last_s is 0 if there was none */
	double read_s, gap_s;
	double sum_w, low_w, high_w; /* power readings, used without a counter */
	double samples;              /* number of power readings */
	/* sums over the second half of the measurement */
	double clock_sum_hz, clock_readings, at_power_cap;
};

static void count_clock(struct counting *counting)
{
	const struct nvml_reading reading = nvml_read_clock(counting->gpu->nvml);

	if (!reading.valid || counting->elapsed_s < counting->seconds / 2)
		return;
	counting->clock_sum_hz += reading.clock_sm_hz;
	counting->at_power_cap += (reading.throttle_reasons & NVML_THROTTLE_POWER_CAP) != 0;
	counting->clock_readings++;
}

static bool count_energy(struct counting *counting)
{
	const double elapsed_s = counting->elapsed_s;
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

static bool count_power(struct counting *counting)
{
	const double now_w = nvml_read(counting->gpu->nvml).power_w;

	counting->low_w = counting->samples > 0 ? fmin(counting->low_w, now_w) : now_w;
	counting->high_w = fmax(counting->high_w, now_w);
	counting->sum_w += now_w;
	counting->samples++;
	return counting->elapsed_s < counting->seconds;
}

static bool observe(struct counting *counting)
{
	count_clock(counting);
	return (counting->read_j > 0 ? count_energy(counting) : count_power(counting)) &&
	       counting->elapsed_s < energy_time_limit_ratio * counting->seconds;
}

static bool repeat(struct counting *counting, struct runner *runner)
{
	struct gpu_session *gpu = counting->gpu;
	const unsigned samples = piece_samples(runner);

	if (!graphs_ensure(gpu, runner, (unsigned)runner->graph_count) || !record(gpu, 0) ||
		!piece_start(gpu, runner, samples, 1))
		return false;
	for (size_t piece = 0;; piece++) {
		const size_t end = 1 + piece % 2;

		if (!piece_start(gpu, runner, samples, 3 - end) ||
			!piece_finish(gpu, 0, end, &counting->elapsed_s))
			return false;
		counting->runs += (double)samples * runner->runs_per_sample;
		if (!observe(counting))
			return gpu_synchronize(gpu, "running the kernel");
	}
}

bool energy_measure(
	struct gpu_session *gpu, struct runner *runner, double seconds, struct measured *measured)
{
	struct counting counting = {
		.gpu = gpu, .seconds = seconds, .read_j = nvml_energy_j(gpu->nvml)};
	double power_w = 0, resolution_ratio = 0;

	/* NaN marks requested values that the card does not report */
	*measured = (struct measured){.energy_j = NAN,
		.power_w = NAN,
		.energy_resolution_ratio = NAN,
		.clock_hz = NAN,
		.power_cap_ratio = NAN};
	if (runner->restores_inputs) /* runs would read earlier outputs */
		return true;
	if (!repeat(&counting, runner))
		return false;
	if (counting.last_s > counting.first_s) {
		power_w =
			(counting.last_j - counting.first_j) / (counting.last_s - counting.first_s);
		/* a change is observed up to one reading late */
		resolution_ratio = counting.gap_s / (counting.last_s - counting.first_s);
	} else if (counting.sum_w > 0) {
		power_w = counting.sum_w / counting.samples;
		resolution_ratio = (counting.high_w - counting.low_w) / power_w;
	}
	if (power_w > 0) {
		measured->energy_j = power_w * counting.elapsed_s / counting.runs;
		measured->power_w = power_w;
		measured->energy_resolution_ratio = resolution_ratio;
	}
	if (counting.clock_readings > 0) {
		measured->clock_hz = counting.clock_sum_hz / counting.clock_readings;
		measured->power_cap_ratio = counting.at_power_cap / counting.clock_readings;
	}
	return true;
}
