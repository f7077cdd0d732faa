/* SPDX-License-Identifier: MIT
 *
 * What both forms of a chart share.
 */
#include "figure/chart.h"

#include <math.h>

double chart_tick(double low, double high, size_t wanted)
{
	static const double nice[] = {1, 2, 5, 10};
	double raw = (high - low) / (double)(wanted ? wanted : 1);
	double power;

	if (!(raw > 0))
		return 1;
	power = pow(10, floor(log10(raw)));
	for (size_t i = 0; i < sizeof(nice) / sizeof(nice[0]); i++)
		if (nice[i] * power >= raw * (1 - 1e-9))
			return nice[i] * power;
	return 10 * power;
}

bool chart_range(const struct chart *chart, double *low, double *high)
{
	const double margin_ratio = 0.05;
	double least = INFINITY, most = -INFINITY;

	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->count; i++) {
			double y = chart->series[s].y[i];

			if (!isfinite(y))
				continue;
			least = y < least ? y : least;
			most = y > most ? y : most;
		}
	if (!isfinite(least))
		return false;
	*high = most + margin_ratio * fabs(most);
	*low = least > most / 2 ? least - 2 * margin_ratio * most : 0;
	if (least < 0)
		*low = least - margin_ratio * fabs(least);
	if (!(*high > *low))
		*high = *low + 1;
	return true;
}
