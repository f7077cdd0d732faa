/* SPDX-License-Identifier: MIT */
#include "measure/throttle.h"

#include "base/clock.h"

static const double read_interval_s = 0.002;
/* Dense tensor work under the power cap was seen down to 0.7 of the highest clock. */
static const double slow_clock_ratio = 0.6;
static const unsigned long long held_down = NVML_THROTTLE_HW_SLOWDOWN | NVML_THROTTLE_SW_THERMAL |
					    NVML_THROTTLE_HW_THERMAL | NVML_THROTTLE_HW_POWER_BRAKE;

enum throttle throttle_judge(const struct nvml_reading *reading, double clock_sm_max_hz)
{
	if (!reading->valid)
		return THROTTLE_NONE;
	if (reading->throttle_reasons & held_down)
		return THROTTLE_HELD_DOWN;
	if (clock_sm_max_hz > 0 && reading->clock_sm_hz > 0 &&
		reading->clock_sm_hz < slow_clock_ratio * clock_sm_max_hz)
		return THROTTLE_SLOW_CLOCK;
	return THROTTLE_NONE;
}

enum throttle throttle_check(const struct gpu_session *gpu, struct throttle_watch *watch)
{
	double now = clock_seconds();
	struct nvml_reading reading;

	if (!gpu->nvml || (watch->last_read_s > 0 && now - watch->last_read_s < read_interval_s))
		return watch->last;
	reading = nvml_read_clock(gpu->nvml);
	watch->last = throttle_judge(&reading, gpu->gpu.identity.clock_sm_max_hz);
	watch->last_read_s = now;
	return watch->last;
}
