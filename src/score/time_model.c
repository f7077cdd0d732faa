/* SPDX-License-Identifier: MIT */
#include "score/time_model.h"

#include <math.h>

#include "score/block_model.h"

/* From the start of a launch to full speed, and from the first idle SM to its end. */
static const double RAMP_US = 1.0;

/* Dense tensor work draws so much power that the clock sinks: in proportion to how busy the tensor
 * cores are, down to the sheet's tensor_clock_hz. */
static double clock_under_load(
	const struct time_model_input *input, const struct block_model *model, double clocks)
{
	const struct device_spec *device = input->device;
	const double per_unit = model->steps_mean * model->step.clocks[BOUND_TENSOR] +
				model->prologue.clocks[BOUND_TENSOR] +
				model->epilogue.clocks[BOUND_TENSOR];
	const double busy = per_unit * input->launch->units / (clocks * (double)device->sm_count);

	if (device->tensor_clock_hz <= 0 || !(busy > 0))
		return device->clock_hz;
	return device->clock_hz + fmin(1, busy) * (device->tensor_clock_hz - device->clock_hz);
}

struct time_model_result time_model_launch(const struct time_model_input *input)
{
	const struct device_spec *device = input->device;
	const struct launch_work *launch = input->launch;
	const struct block_model model = block_model_of(input);
	struct time_model_result result = {INFINITY, BOUND_LATENCY};
	double sm_us, dram_us = 0;
	struct wave_time time;

	if (!(input->slots->per_wave > 0) || !(launch->units > 0))
		return result;
	time = wave_model_clocks(&model, input->slots, launch->units, launch->schedule);
	if (!isfinite(time.clocks))
		return result;
	sm_us = time.clocks / clock_under_load(input, &model, time.clocks) * 1e6;
	if (device->dram_bytes_per_s > 0)
		dram_us = input->traffic->dram_bytes / device->dram_bytes_per_s * 1e6;
	if (dram_us > 0)
		dram_us +=
			model.copy_path->dram_idle * time.exposed_clocks / device->clock_hz * 1e6;
	result.bound = dram_us > sm_us ? BOUND_DRAM : time.bound;
	result.time_us = device->launch_us + RAMP_US + fmax(sm_us, dram_us) +
			 model.copy_path->dram_overlap_loss * fmin(sm_us, dram_us);
	return result;
}
