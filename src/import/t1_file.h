/* SPDX-License-Identifier: MIT
 *
 * A T1 file while it is converted: its members, its Python text, and what came of it so far.
 */
#ifndef IMPORT_T1_FILE_H
#define IMPORT_T1_FILE_H

#include "base/json.h"

enum {
	T1_DIMENSIONS = 3
};
extern const char *const t1_problem_keys[T1_DIMENSIONS];

/* A file under way. */
struct t1 {
	struct json_at root, specification, space, parameters;
	bool has_problem; /* Kernel Tuner's dialect */
	size_t problem_rank;
	char *grid[T1_DIMENSIONS], *block[T1_DIMENSIONS];
	struct json *own, *keys, *tensors, *symbols, *arguments, *references;
	size_t key_count, output_count;
};

/* ---- members ---- */
/* One that is there and not null. */
bool t1_find(const struct json_at *object, const char *key, struct json_at *member);
enum status t1_list(
	const struct json_at *object, const char *key, struct json_at *list, struct error *err);
/* A string or a number, as text that the caller frees; NULL where there is none. */
enum status t1_text(const struct json_at *object, const char *key, char **text, struct error *err);
/* One of names, or an error that lists them; absent: `otherwise`. */
enum status t1_name(const struct json_at *object, const char *key, const char *const *names,
	int otherwise, int *index, struct error *err);

/* ---- Python text ---- */
/* The parameter of this name; false: there is none. */
bool t1_parameter(const struct t1 *t1, const char *name, size_t length, struct json_at *parameter);
/* Text with `list(...)`, which our lists need not, taken away; with `sizes` also ProblemSize as
 * keys and parameters as the lists of their values; with `index`, `i` is called so. */
void t1_append_python(
	const struct t1 *t1, const char *python, bool sizes, const char *index, struct text *text);
void t1_put_python(const struct t1 *t1, struct json *object, const char *key, const char *python,
	bool sizes, const char *index);

/* ---- what came of it ---- */
/* A key that has one value. */
void t1_add_key(struct t1 *t1, const char *name, int64_t value);
/* Arguments and ReferenceArguments (import/t1_arguments.c). */
enum status t1_arguments(struct t1 *t1, struct error *err);

#endif
