/* SPDX-License-Identifier: MIT
 *
 * Shared by tests of kernels: the catalogue of tests/data/kernel, a device, and a bound family.
 */
#ifndef TESTS_KERNEL_FIXTURE_H
#define TESTS_KERNEL_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "candidate/candidate.h"
#include "family/family.h"
#include "unit/space_builder.h"
#include "unit/unit.h"

#define KERNEL_TEMPLATES TEST_DATA "/kernel/templates"

struct fixture {
	struct catalogue catalogue;
	struct device_spec *device;
	const struct operation *operation;
	struct problem_list problems;
	struct bound_family *bound;
	struct value *values;
	choice choices[SPACE_PARAMETERS_MAX];
};

/* A NULL device selects the built-in one, and a NULL family binds none. configuration may be
 * partial: the family's defaults complete it ("" for all defaults). */
static inline void fixture_open(struct fixture *fixture, const char *templates,
	const char *operation, const char *family, const char *problem, const char *configuration,
	const char *device)
{
	const char *folders[] = {templates, "templates", NULL};
	const char *configs[] = {"configs", "tests/toy/configs", NULL};
	const struct family *found;
	struct error err = {0};
	bool given[SPACE_PARAMETERS_MAX];
	size_t parameters;

	*fixture = (struct fixture){0};
	assert_ok(catalogue_load(folders, operation, &fixture->catalogue, &err));
	assert_ok(device_spec_load(device, configs, &fixture->device, &err));
	assert_ok(catalogue_operation(&fixture->catalogue, operation, &fixture->operation, &err));
	if (problem)
		assert_ok(problem_parse(fixture->operation, problem, &fixture->problems, &err));
	if (!family)
		return;
	assert_ok(catalogue_family(&fixture->catalogue, fixture->operation, family, &found, &err));
	assert_ok(family_bind(
		found, fixture->problems.items[0], fixture->device, NULL, &fixture->bound, &err));
	fixture->values = memory_zeroed(fixture->bound->space->names->count, sizeof(struct value));
	parameters = fixture->bound->space->parameter_count;
	if (parameters) {
		bool has_default;

		assert_ok(configuration_default(
			fixture->bound, fixture->choices, &has_default, &err));
		assert_true(has_default);
	}
	assert_ok(space_values(fixture->bound->space, fixture->choices, fixture->values, &err));
	assert_ok(configuration_parse(fixture->bound, configuration,
		fixture->values + fixture->bound->space->fixed_count, given, &err));
	assert_ok(builder_derive(fixture->bound->space, fixture->values, &err));
}

static inline void fixture_close(struct fixture *fixture)
{
	free(fixture->values);
	bound_family_free(fixture->bound);
	problem_list_release(&fixture->problems);
	device_spec_free(fixture->device);
	catalogue_release(&fixture->catalogue);
}

/* Returns the text with the first `from` replaced by `to`; the caller frees it. */
static inline char *text_with(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	if (!at)
		fail_msg("\"%s\" does not stand in %s", from, text);
	return string_format("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

/* Like text_with(), for the content of a file. */
static inline char *file_with(const char *path, const char *from, const char *to)
{
	CLEANUP(text_release) struct text content = {0};
	struct error err = {0};

	assert_ok(file_read(path, &content, &err));
	return text_with(text_string(&content), from, to);
}

static const char small[] __attribute__((unused)) = "M=128,N=64,dtype=fp16";

/* The widget with one change in its JSON. */
struct changed {
	struct fixture fixture;
	struct family *family;
	struct bound_family *bound;
	struct value values[64];
};

static inline void changed_open(struct changed *changed, const char *from, const char *to)
{
	static const char path[] = KERNEL_TEMPLATES "/widget/f.json";
	char *text = file_with(KERNEL_TEMPLATES "/widget/full.json", from, to);
	struct json *tree;
	struct error err = {0};
	choice choices[SPACE_PARAMETERS_MAX] = {0}; /* for a space without a legal default */
	bool found;

	*changed = (struct changed){0};
	fixture_open(&changed->fixture, KERNEL_TEMPLATES, "widget", NULL, small, "", NULL);
	assert_ok(json_parse(text, strlen(text), path, &tree, &err));
	assert_ok(family_load(tree, path, NULL, "full", changed->fixture.operation, NULL,
		&changed->family, &err));
	assert_ok(family_bind(changed->family, changed->fixture.problems.items[0],
		changed->fixture.device, NULL, &changed->bound, &err));
	assert_ok(configuration_default(changed->bound, choices, &found, &err));
	assert_ok(space_values(changed->bound->space, choices, changed->values, &err));
	free(text);
}

static inline void changed_close(struct changed *changed)
{
	bound_family_free(changed->bound);
	family_free(changed->family);
	fixture_close(&changed->fixture);
}

/* Writes a file into a templates folder that only one test uses. */
static inline char *scratch_file(const char *folder, const char *name, const char *content)
{
	char *path = string_format("%s/%s", folder, name), *parent = path_parent(path);
	struct error err = {0};

	assert_ok(directory_make(parent, &err));
	assert_ok(file_write(path, content, strlen(content), &err));
	free(parent);
	return path;
}

#endif
