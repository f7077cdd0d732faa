/* SPDX-License-Identifier: MIT
 *
 * Why a variant is faster than the asked problem: differences between the winners of both.
 */
#ifndef ADVISE_ADVICE_REASONS_H
#define ADVISE_ADVICE_REASONS_H

#include "advise/advise.h"

/* Fills in the reasons of a row, both of which have an entry. */
void advice_explain(const struct device_spec *device, const struct catalogue *catalogue,
	const struct advice *asked, struct advice *row);

/* From the first element to the last, with gaps between rows. */
double tensor_bytes(const struct plan_buffer *tensor);

#endif
