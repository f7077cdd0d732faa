/* SPDX-License-Identifier: MIT
 *
 * Spaces built from texts, for tests and benchmarks. builder_close() frees the names and
 * expressions.
 */
#ifndef TESTS_UNIT_SPACE_BUILDER_H
#define TESTS_UNIT_SPACE_BUILDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "space/space.h"

/* Data that a space of the builder borrows, including its table of names. */
struct builder {
	struct name_table names; /* must be first: the space points to it */
	struct expression **expressions;
	size_t expression_count, expression_capacity;
	char **strings;
	size_t string_count, string_capacity;
};

static inline char *builder_keep(struct builder *builder, const char *string)
{
	ARRAY_GROW(builder->strings, builder->string_count, builder->string_capacity);
	return builder->strings[builder->string_count++] = string_copy(string);
}

static inline struct builder *builder_of(const struct space *space)
{
	return (struct builder *)(uintptr_t)space->names;
}

static inline struct space *builder_open(const char *const *fixed, size_t count)
{
	struct builder *builder = memory_zeroed(1, sizeof(*builder));
	for (size_t i = 0; i < count; i++)
		name_table_add(&builder->names, builder_keep(builder, fixed[i]));
	return space_new(&builder->names, count);
}

static inline void builder_close(struct space *space)
{
	struct builder *builder = space ? builder_of(space) : NULL;
	if (!space)
		return;
	space_free(space);
	for (size_t i = 0; i < builder->expression_count; i++)
		expression_free(builder->expressions[i]);
	for (size_t i = 0; i < builder->string_count; i++)
		free(builder->strings[i]);
	name_table_release(&builder->names);
	free(builder->expressions);
	free(builder->strings);
	free(builder);
}

static inline enum status builder_compile(struct space *space, const char *text, const char *where,
	size_t known, struct expression **expression, struct error *err)
{
	struct builder *builder = builder_of(space);
	const struct name_table names = {.names = builder->names.names, .count = known};
	const enum status status = expression_compile(text, where, &names, expression, err);
	if (status != STATUS_OK)
		return status;
	ARRAY_GROW(builder->expressions, builder->expression_count, builder->expression_capacity);
	builder->expressions[builder->expression_count++] = *expression;
	return STATUS_OK;
}

static inline enum status builder_parameter(struct space *space, const char *name, const char *list,
	const char *where, struct error *err)
{
	struct builder *builder = builder_of(space);
	struct expression *made;
	TRY(builder_compile(space, list, where, space->fixed_count, &made, err));
	name_table_add(&builder->names, builder_keep(builder, name));
	space_add_parameter(space, made);
	return STATUS_OK;
}

static inline enum status builder_derived(struct space *space, const char *name, const char *text,
	const char *where, struct error *err)
{
	struct builder *builder = builder_of(space);
	struct expression *made;
	TRY(builder_compile(space, text, where, builder->names.count, &made, err));
	name_table_add(&builder->names, builder_keep(builder, name));
	space_add_derived(space, made);
	return STATUS_OK;
}

static inline enum status builder_constraint(struct space *space, const char *text, const char *why,
	const char *where, struct error *err)
{
	struct builder *builder = builder_of(space);
	struct expression *made;
	TRY(builder_compile(space, text, where, builder->names.count, &made, err));
	space_add_constraint(space, made, builder_keep(builder, why));
	return STATUS_OK;
}

/* Evaluates derived constants for given values, which need not be in the parameter lists. */
static inline enum status builder_derive(
	const struct space *space, struct value *values, struct error *err)
{
	struct value *derived = values + space->fixed_count + space->parameter_count;
	for (size_t d = 0; d < space->derived_count; d++)
		TRY(expression_evaluate(
			space->derived[d].expression, values, NULL, &derived[d], err));
	return STATUS_OK;
}

/* Names and texts alternate. Each list ends with NULL and may be omitted. */
struct space_description {
	const char *fixed[8];
	const char *parameters[24];
	const char *derived[16];
	const char *constraints[16]; /* only texts; the reasons become "why 0", "why 1", ... */
};

static inline enum status space_build(
	const struct space_description *description, struct space **built, struct error *err)
{
	enum status status = STATUS_OK;
	struct space *space;
	size_t fixed_count = 0;
	while (description->fixed[fixed_count])
		fixed_count++;
	*built = space = builder_open(description->fixed, fixed_count);
	for (size_t i = 0; description->parameters[i] && !status; i += 2)
		status = builder_parameter(space, description->parameters[i],
			description->parameters[i + 1], "list", err);
	for (size_t i = 0; description->derived[i] && !status; i += 2)
		status = builder_derived(space, description->derived[i],
			description->derived[i + 1], "derived", err);
	for (size_t i = 0; description->constraints[i] && !status; i++) {
		char why[16];
		snprintf(why, sizeof(why), "why %zu", i);
		status = builder_constraint(
			space, description->constraints[i], why, "constraint", err);
	}
	return status;
}

#endif
