/* SPDX-License-Identifier: MIT
 *
 * Candidates from JSON that names a family and a configuration, as tuned files do.
 */
#ifndef TESTS_ROW_JSON_H
#define TESTS_ROW_JSON_H

#include "record/record_read.h"
#include "engine/row.h"

static inline enum status row_candidate_from_json(const struct catalogue *catalogue,
	const struct problem *problem, const struct device_spec *device, const struct json_at *at,
	struct candidate *candidate, struct error *err)
{
	struct tuned_row row = {0};
	enum status status = record_from_json(&tuned_choice_record, at, &row, NULL, err);

	if (status == STATUS_OK)
		status = row_candidate(catalogue, problem, device, &row, candidate, NULL, err);
	tuned_row_release(&row);
	return status;
}

#endif
