/* SPDX-License-Identifier: MIT
 *
 * From timings to what they teach (learn/learned.h).
 *
 *	training_add ... -> training_fit -> training_release
 *
 * Trees learn ln(measured / predicted), predicted with what the device's sheet knows to be learned
 *already. All problems count the same, and within one what is near its best counts most: a search
 *asks which is first, not how slow the slow ones are. Nothing of a problem may tell of the same
 *problem, so the figures of `left_out` come from folds of whole problems.
 */
#ifndef LEARN_TRAINING_H
#define LEARN_TRAINING_H

#include "format/journal.h"
#include "learn/prediction.h"

struct training_sample;

struct training {
	const struct catalogue *catalogue;
	const struct device_spec *device;
	struct training_sample *samples;
	size_t count, capacity;
	size_t passed_over; /* of families or configurations that are no longer there */
};

/* What was measured of a problem in one family: a line of a file of timings (own.h). */
struct timings {
	char *operation, *problem, *family;
	char **configurations; /* canonical texts, NULL-terminated */
	double *times_us;
	size_t count;
};
RECORD_DECLARE(struct timings, timings_record);

enum status training_add(
	struct training *training, const struct timings *timings, struct error *err);
/* Families in the order of their names; those with few timings are left out. left_out: find these
 * figures, too, which takes six times as long. */
void training_fit(struct training *training, bool left_out, struct learned_file *file);
void training_release(struct training *training);

/* Calls visit for each family of each problem of a journal. */
typedef enum status timings_visit(void *context, const struct timings *timings, struct error *err);
enum status timings_of_journal(const struct journal_record *record, timings_visit *visit,
	void *context, struct error *err);

/* Empty, with room for `most`; caller releases with the record. */
struct timings timings_of(
	const char *operation, const char *problem, const char *family, size_t most);
/* Adds one of that family that was measured. */
void timings_put(struct timings *timings, const struct evaluation *evaluation, double time_us);

#endif
