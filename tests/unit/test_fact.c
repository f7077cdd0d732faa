/* SPDX-License-Identifier: MIT
 *
 * Members of operations and families beyond launches: facts and examples.
 */
#include <math.h>

#include "unit/unit.h"
#include "candidate/bound_family.h"
#include "unit/kernel_fixture.h"

static void open_widget(struct fixture *fixture, const char *problem, const char *configuration)
{
	fixture_open(fixture, KERNEL_TEMPLATES, "widget", "full", problem, configuration, NULL);
}

static void assert_near(double found, double expected)
{
	assert_true(fabs(found - expected) <= 1e-9 * (1 + fabs(expected)));
}

TEST(facts_read_work_rates_and_earlier_facts)
{
	struct fixture fixture;
	const struct device_spec *device;
	const struct value_list *rates;
	struct fact_list list;
	const struct fact *facts;
	struct error err = {0};

	open_widget(&fixture, small, "BM=32,REPEATS=4");
	device = fixture.device;
	assert_ok(candidate_facts(fixture.bound, fixture.values, 1000, 3, &list, &err));
	facts = list.items;
	assert_int_equal(list.count, 6);
	assert_string_equal(facts[0].name, "rows per block");
	assert_int_equal(facts[0].value.integer, 128);
	assert_string_equal(facts[1].name, "resident bytes");
	assert_string_equal(facts[1].unit, "bytes");
	assert_int_equal(facts[1].value.integer, 3000);
	/* a fact reads the previous fact by name, and rates of the sheet */
	assert_int_equal(facts[2].value.integer, 2 * 128 * 64);
	assert_near(facts[3].value.real, 2 * 128 * 64 / device->dram_bytes_per_s * 1e6);
	rates = facts[4].value.list;
	assert_int_equal(rates->count, 4);
	assert_near(rates->items[0].real, device->l2_bytes_per_clock * device->clock_hz);
	assert_near(rates->items[1].real,
		device->rate[PIPE_TENSOR_MMA][DTYPE_FP16] * 132 * device->tensor_clock_hz);
	assert_near(rates->items[2].real,
		device->rate[PIPE_TENSOR_WGMMA][DTYPE_FP16] * 132 * device->tensor_clock_hz);
	assert_near(rates->items[3].real, device->launch_us);
	assert_string_equal(facts[5].value.string, "large");
	fact_list_release(&list);
	fixture_close(&fixture);
	open_widget(&fixture, "M=9,N=64,dtype=fp16", "BM=16");
	assert_ok(candidate_facts(fixture.bound, fixture.values, 0, 1, &list, &err));
	facts = list.items;
	assert_int_equal(list.count, 7);
	assert_string_equal(facts[2].name, "when small");
	assert_string_equal(facts[6].value.string, "small");
	fact_list_release(&list);
	fixture_close(&fixture);
}
