/* SPDX-License-Identifier: MIT
 *
 * A row of a tuned file ("family", "configuration", "steps") as a timed_run: bound, compiled,
 * loaded over a problem's tensors. What cannot run has a time of infinity, and is no error.
 */
#ifndef VERSUS_LOADED_ROW_H
#define VERSUS_LOADED_ROW_H

#include "bench/versus/interleaved.h"
#include "bench/versus/setup.h"
#include "measure/loaded.h"
#include "engine/candidates.h"

struct loaded_row {
	struct candidate candidate;
	const char *family; /* borrowed from the catalogue */
	char *configuration;
	struct loaded loaded;
	struct timed_run timed_run;
	double us;      /* median of its last timing; infinite: it cannot run */
	char *left_out; /* why, or NULL */
};

/* Binds, compiles and loads. Errors: a row that is not one. Where gpu.failure is fatal the context
 * is lost. */
enum status loaded_row_load(struct setup *setup, const struct problem *problem,
	struct problem_data *data, const struct json_at *row, struct loaded_row *loaded_row,
	struct error *err);
/* The same, and its first runs. */
enum status loaded_row_open(struct setup *setup, const struct problem *problem,
	struct problem_data *data, const struct json_at *row, struct loaded_row *loaded_row,
	struct error *err);
void loaded_row_release(struct setup *setup, struct loaded_row *loaded_row);

/* A few rounds of all that can run; what takes more than `far` times the fastest is left at its
 * first time. */
bool loaded_rows_interleave(
	struct setup *setup, struct loaded_row *loaded_rows, size_t count, double far);
/* The fastest of a family (NULL: of all), or NULL. */
struct loaded_row *loaded_rows_best(
	struct loaded_row *loaded_rows, size_t count, const char *family);
/* {"family", "configuration", "us", "left_out"} */
struct json *loaded_row_json(const struct loaded_row *loaded_row);

/* The problem's tensors, to be filled when the first loaded_row is loaded. */
enum status loaded_row_data(struct setup *setup, const struct problem *problem,
	struct problem_data *data, struct error *err);

#endif
