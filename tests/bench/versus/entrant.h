/* SPDX-License-Identifier: MIT
 *
 * A row of a tuned file ("family", "configuration", "steps") as a contender: bound, compiled,
 * loaded over a problem's tensors. What cannot run has a time of infinity, and is no error.
 */
#ifndef VERSUS_ENTRANT_H
#define VERSUS_ENTRANT_H

#include "bench/versus/race.h"
#include "bench/versus/stand.h"
#include "measure/loaded.h"
#include "engine/candidates.h"

struct entrant {
	struct candidates pool; /* of this one */
	const char *family;     /* borrowed from the catalogue */
	char *configuration;
	struct loaded loaded;
	struct contender contender;
	double us;      /* median of its last race; infinite: it cannot run */
	char *left_out; /* why, or NULL */
};

/* Binds, compiles and loads. Errors: a row that is not one. Where failure->fatal the context is
 * lost. */
enum status entrant_load(struct stand *stand, const struct problem *problem,
	struct problem_data *data, const struct json_at *row, struct entrant *entrant,
	struct failure *failure, struct error *err);
/* The same, and its first runs. */
enum status entrant_open(struct stand *stand, const struct problem *problem,
	struct problem_data *data, const struct json_at *row, struct entrant *entrant,
	struct failure *failure, struct error *err);
void entrant_release(struct stand *stand, struct entrant *entrant);

/* A few rounds of all that can run; what takes more than `far` times the fastest is left at its
 * first time. */
bool entrants_race(struct stand *stand, struct entrant *entrants, size_t count, double far,
	struct failure *failure);
/* The fastest of a family (NULL: of all), or NULL. */
struct entrant *entrants_best(struct entrant *entrants, size_t count, const char *family);
/* {"family", "configuration", "us", "left_out"} */
struct json *entrant_json(const struct entrant *entrant);

/* The problem's tensors, to be filled when the first entrant is loaded. */
enum status entrant_data(struct stand *stand, const struct problem *problem,
	struct problem_data *data, struct error *err);

#endif
