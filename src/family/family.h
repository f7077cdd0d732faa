/* SPDX-License-Identifier: MIT
 *
 * A family as loaded from templates/<operation>/<family>.json. Strings are borrowed from the JSON
 * tree, which lives as long as the family. Every expression is compiled against the family's scope
 * when the file is loaded; values are those of a bound space (family/scope.h).
 */
#ifndef FAMILY_FAMILY_H
#define FAMILY_FAMILY_H

#include "family/catalogue.h"
#include "family/launch.h"
#include "family/operation.h"
#include "family/parameter.h"
#include "family/rule.h"
#include "family/scope.h"
#include "family/step.h"
#include "family/tensor_map.h"
#include "family/workspace.h"

/* One translation unit that launches name. */
struct family_source {
	char *name; /* "gemm/mma.cu" */
	char *text; /* includes expanded; NULL until loaded */
};

/* An operation's fact, compiled for the family; expression NULL: it names what the family lacks. */
struct family_fact {
	const char *name, *unit, *source;
	struct expression *expression, *when;
	size_t slot; /* where later facts read it; 0: it has no name of its own */
};

/* A configuration that the author says is legal, or not. */
struct example {
	const char *problem; /* text */
	bool is_legal;
	size_t index; /* in examples.legal or examples.illegal */
};

struct family {
	struct json *tree;
	char *file;
	char *name; /* "gemm/mma" */
	const char *summary;
	const struct operation *operation;
	struct scope scope;
	struct name_table names; /* SCOPE_PLAIN, all slots */
	struct expression_list requires;
	struct parameter *parameters;
	size_t parameter_count;
	struct constant *constants;
	size_t constant_count;
	struct condition_list constraints, prune;
	struct workspace *workspaces;
	size_t workspace_count;
	struct tensor_map *tensor_maps;
	size_t tensor_map_count;
	struct family_source *sources;
	size_t source_count;
	struct launch *launches;
	size_t launch_count;
	struct family_fact *facts;
	size_t fact_count, named_fact_count;
	struct rule *rules;
	size_t rule_count;
	struct step *steps; /* of a composite family */
	size_t step_count;
	struct example *examples;
	size_t example_count;
};

/* name: "mma", as the file is called. */
enum status family_load(const char *folder, const char *name, const struct operation *operation,
	const char *const *template_folders, struct family **family, struct error *err);
/* The same from a tree that is already there, without sources; takes the tree. */
enum status family_from_json(struct json *tree, const char *file, const char *name,
	const struct operation *operation, struct family **family, struct error *err);
void family_free(struct family *family);

/* ---- parts of loading ---- */
enum status family_parameters_read(/* parameters, defaults, constants; fills the scope */
	const struct json_at *root, struct family *family, struct error *err);
enum status family_buffers_read(/* workspaces, tensor maps */
	const struct json_at *root, struct family *family, struct error *err);
enum status family_launches_read(
	const struct json_at *root, struct family *family, struct error *err);
enum status family_facts_read(struct family *family, struct error *err);
enum status family_rules_read(struct family *family, struct error *err);
enum status family_steps_read(const struct json_at *root, struct family *family, struct error *err);
enum status family_examples_read(
	const struct json_at *root, struct family *family, struct error *err);

/* Names of tensors, then workspaces, NULL-terminated: a plan's buffers. Caller frees the array. */
const char **family_buffer_names(const struct family *family);

/* Compares every example with what the constraints say on a device; examples for problems that the
 * family's `requires` exclude there are passed over. The first that is wrong is the error. */
enum status family_examples_check(
	const struct family *family, const struct device_spec *device, struct error *err);

#endif
