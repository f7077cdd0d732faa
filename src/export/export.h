/* SPDX-License-Identifier: MIT
 *
 * What other builds and tools read, made from a tuned file or, where a format holds every
 * evaluation, from a journal. A format is one file that ends in a `const struct export_format` and
 * one line in export.c.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "base/json.h"
#include "base/text.h"
#include "format/journal.h"
#include "format/tuned.h"

/* What is exported: entries of a tuned file, or a journal (the other is NULL). */
struct export_source {
	const char *name; /* of the file, for headings */
	const struct tuned *tuned;
	struct json_at *entries; /* those selected */
	size_t entry_count;
	const struct journal_record *journal;
};

struct export_format {
	const char *name; /* as --format has it */
	const char *summary;
	bool reads_journals;
	enum status (*write)(
		const struct export_source *source, struct text *text, struct error *err);
};
extern const struct export_format *const export_formats[]; /* NULL-terminated */
const struct export_format *export_format_find(const char *name);

/* ---- pieces that several formats share (export.c) ---- */
const char *export_string(
	const struct json_at *object, const char *key);              /* "" if it is not there */
double export_number(const struct json_at *object, const char *key); /* NaN */
/* A member's value as text, strings without quotes. */
void export_value(const struct json_at *at, struct text *text);
/* "M=4096,N=4096": the members of an object, in their order. */
void export_pairs(const struct json_at *object, const char *separator, struct text *text);
/* The same of the member `key` of an object; nothing if it has none. */
void export_member_pairs(
	const struct json_at *object, const char *key, const char *separator, struct text *text);
/* "-DBM=128 -DDTYPE_bf16=1"; nothing for composite families, whose steps have lists of their own.
 */
void export_defines(const struct json_at *winner, struct text *text);
/* What names an entry in lists of benchmarks: "gemm M=4096,N=4096,...". */
void export_name(const struct json_at *entry, struct text *text);
/* The winner's time; NaN: not known. */
struct export_time {
	bool predicted;
	double median_us, low_us, high_us; /* with its 95% interval, if measured */
};
struct export_time export_time(const struct json_at *entry);
/* "132 1 1" of a launch's grid, block or cluster. */
void export_dimensions(
	const struct json_at *launch, const char *key, const char *separator, struct text *text);
/* The launches of a winner. */
size_t export_launch_count(const struct json_at *winner);
struct json_at export_launch(const struct json_at *winner, size_t index);

#endif
