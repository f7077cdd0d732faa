/* SPDX-License-Identifier: MIT
 *
 * Device functions that need no GPU, on the CPU (tests/checks/functions.sh): stream-K's schedule up to the
 * largest sizes that its family's constraint allows, the cubic polynomial for 2^x, and rounding to tf32. Prints
 * each error and exits with 1 if there is one.
 */
#include "device.h"

using std::max;
using std::min;
#define __cvta_generic_to_shared(pointer) (uintptr_t)(pointer)
#define BM                                64
#define BN                                64
#define BK                                64
#define CLUSTER_M                         1
#define CLUSTER_N                         1
#define BATCHED                           0
#define STREAM_K                          1
#include "gemm/wgmma_schedule.cuh"

static float max_or_nan(float x, float y) /* max.NaN.f32 */
{
	return std::isnan(x) || std::isnan(y) ? NAN : x > y ? x : y;
}
#include "exp2_cubic.inc" /* extracted from flash_wgmma_rows.cuh by functions.sh */
#include "tf32.inc"	  /* from common/convert.cuh */

/* Checks that the workers' runs have equal lengths and together cover all steps of all divided units, that
 * owner and last worker of each unit have its first and last step, and that each whole unit is taken once. */
static bool schedule_is_right(i32 units_m, i32 units_n, i32 steps, i32 workers)
{
	std::vector<i32> first_worker, last_worker;
	std::vector<int> whole((size_t)units_m * units_n);
	i64 at = 0, total = 0;

	for (i32 worker = 0; worker < workers; worker++) {
		schedule list(
			1, units_m * BM, units_n * BN, steps * BK - 1, 0, 1, worker, workers, 0, 0);
		work item;
		i64 all = (i64)list.shared_units * steps;

		total = all;
		first_worker.resize(list.shared_units, -1);
		last_worker.resize(list.shared_units, -1);
		if (list.at != at || list.end < list.at || list.end - list.at > all / workers + 1 ||
			list.end - list.at < all / workers)
			return false;
		while (list.at < list.end) {
			i32 unit = list.at / steps;

			list.next(item);
			if (item.first_step != at - (i64)unit * steps || item.steps < 1 ||
				item.first_worker > worker || item.last_worker < worker)
				return false;
			if (first_worker[unit] < 0)
				first_worker[unit] = worker;
			last_worker[unit] = worker;
			if ((item.first_step == 0 && item.first_worker != worker) ||
				(item.first_step + item.steps == steps &&
					item.last_worker != worker))
				return false;
			at += item.steps;
		}
		for (i32 unit = list.next_unit; unit < list.units; unit += workers)
			whole[unit]++;
	}
	for (size_t unit = 0; unit < whole.size(); unit++)
		if (whole[unit] != (unit >= first_worker.size()))
			return false;
	return at == total;
}

static int check_schedule()
{
	int wrong = 0;
	uint64_t random = 1;
	auto below = [&](i64 limit) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		return (i32)((random >> 33) % (uint64_t)limit);
	};

	for (int i = 0; i < 3000; i++) {
		i32 workers = 2 + below(i % 2 ? 8 : 300);
		/* within the constraint 2 * workers^2 * steps < 2^32, with few steps and with the maximum */
		i64 most = min<i64>(4294967295ll / (2ll * workers * workers), 2147483647 / BK);
		i32 steps = i % 3 ? (i32)most - below(min<i64>(most, 3))
				  : 1 + below(min<i64>(most, 100));
		i32 units_m = 1 + below(40), units_n = 1 + below(40);

		if (!schedule_is_right(units_m, units_n, steps, workers)) {
			printf("schedule of %d x %d units of %d steps for %d workers\n", units_m,
				units_n, steps, workers);
			wrong++;
		}
	}
	/* a schedule beyond the constraint must fail, otherwise this test detects nothing */
	if (schedule_is_right(17, 31, 2097152 / BK, 264)) {
		printf("a schedule beyond 32 bits is taken for right\n");
		wrong++;
	}
	return wrong;
}

static int check_exp2()
{
	int wrong = 0;

	for (float x = -125.0f; x <= 8.0f; x += 0.000977f)
		if (!(fabs(exp2_cubic(x) / exp2((double)x) - 1) < 7.6e-5)) {
			printf("exp2_cubic(%.9g) is %.9g\n", x, exp2_cubic(x));
			wrong++;
		}
	if (!std::isnan(exp2_cubic(NAN))) {
		printf("exp2_cubic hides a NaN\n");
		wrong++;
	}
	if (exp2_cubic(-INFINITY) != exp2_cubic(-126.0f) || !(exp2_cubic(-1e30f) < 1.2e-38f)) {
		printf("exp2_cubic of little is %g\n", exp2_cubic(-INFINITY));
		wrong++;
	}
	return wrong;
}

/* Rounds to 10 bits behind the point, ties away from zero. */
static int check_tf32()
{
	int wrong = 0;

	for (uint32_t bits = 0x30000000; bits < 0x50000000; bits += 0x0fff)
		for (int sign = 0; sign < 2; sign++) {
			const float value = __uint_as_float(bits | (uint32_t)sign << 31);
			const double place = ldexp(1, ilogb(value) - 10);
			const float rounded = (float)(round(value / place) * place);

			if (tf32::store(value) != rounded) {
				printf("tf32 of %.9g is %.9g\n", value, tf32::store(value));
				wrong++;
			}
		}
	return wrong;
}

int main()
{
	return check_schedule() + check_exp2() + check_tf32() > 0;
}
