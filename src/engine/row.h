/* SPDX-License-Identifier: MIT
 *
 * A candidate as a row of a tuned file: "winner", or one of "families".
 */
#ifndef ENGINE_ROW_H
#define ENGINE_ROW_H

#include "candidate/candidate.h"
#include "format/evaluation.h"

enum status row_to_json(const struct bound_family *bound, const choice *choices,
	const struct evaluation *evaluation, struct json **row, struct error *err);

#endif
