/* SPDX-License-Identifier: MIT */
#include "family/family.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "source/words.h"
#include "space/space.h"

/* ---- parameters and constants: later ones may read earlier ones ---- */
static enum status name_check(const struct json_at *at, struct family *family, struct error *err)
{
	const struct operation *operation = family->operation;

	if (!scope_frees(&family->scope, at->key))
		return json_invalid(at, err,
			"this name is already used by a key, a device value, a parameter or a "
			"constant");
	for (size_t i = 0; i < operation->tensor_count; i++)
		if (strcmp(operation->tensors[i].buffer.name, at->key) == 0)
			return json_invalid(at, err, "this name is already used by a tensor");
	return STATUS_OK;
}

static void name_add(const struct json_at *at, struct family *family)
{
	name_table_add(&family->scope.all, at->key);
	name_table_add(&family->names, at->key);
}

static enum status parameter_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct expression_reading *reading = context;
	struct family *family = reading->family;
	struct parameter *parameter = value;
	struct value list;

	parameter->is_argument = parameter->binding.as == AS_ARGUMENT;
	TRY(name_check(at, family, err));
	if (expression_constant(parameter->values, &list) && list.type == VALUE_LIST &&
		!list.list->count)
		return json_invalid(at, err, "\"values\" is an empty list");
	name_add(at, family);
	family->scope.constant_at = family->scope.all.count;
	return STATUS_OK;
}

static const struct record_member parameter_members[] = {
	RECORD_VALUE(struct parameter, name, "name", .rule = &name_rule),
	RECORD_CUSTOM(struct parameter, values, &expression_fixed_member, "values"),
	RECORD_CUSTOM(
		struct parameter, binding, &define_binding_member, "as", .flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(struct parameter, absent_value, &expression_fixed_member, "absent",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUE(
		struct parameter, bitwise_neutral, "bitwise_neutral", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct parameter, help, "help", .flags = RECORD_OPTIONAL),
	EXPRESSION(struct parameter, default_value, "default", .flags = RECORD_NOT_JSON),
};
static RECORD_DEFINE(struct parameter, parameter_record, parameter_members, .name = "parameter",
	.short_form = "values", .check = parameter_check);

static enum status constant_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct family *family = ((const struct expression_reading *)context)->family;
	struct constant *constant = value;

	constant->is_for_model = constant->binding.as == AS_MODEL;
	TRY(name_check(at, family, err));
	name_add(at, family);
	return STATUS_OK;
}

static const struct record_member constant_members[] = {
	RECORD_VALUE(struct constant, name, "name", .rule = &name_rule),
	RECORD_CUSTOM(struct constant, binding, &define_constant_member, "as"),
	EXPRESSION(struct constant, expression, "value"),
	RECORD_COMMENT("help"),
};
static RECORD_DEFINE(struct constant, constant_record, constant_members, .name = "constant",
	.short_form = "value", .check = constant_check);

/* Hides constants that read hidden names, directly or indirectly. */
static void hide_constants(const struct family *family, struct name_table *names)
{
	for (size_t i = 0; i < family->constant_count; i++) {
		const size_t index = family->scope.constant_at + i;
		size_t count;
		const int *reads = expression_indices(family->constants[i].expression, &count);

		while (count--)
			if (!names->names[reads[count]])
				names->names[index] = NULL;
	}
}

/* If list and default are constant, the default must be in the list. */
static enum status default_check(
	const struct parameter *parameter, const struct json_at *at, struct error *err)
{
	struct value list, value;

	if (!expression_constant(parameter->values, &list) || list.type != VALUE_LIST ||
		!expression_constant(parameter->default_value, &value))
		return STATUS_OK;
	for (size_t i = 0; i < list.list->count; i++)
		if (value_equal(list.list->items[i], value))
			return STATUS_OK;
	return json_error(at, err, "one of the parameter's values");
}

/* A default may read earlier parameters, and constants that read only those parameters. */
static enum status defaults_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct family *family = field;
	CLEANUP(memory_free)
	const char **known = memory_zeroed(family->parameter_count + 1, sizeof(*known));
	struct json_at text;

	(void)context;
	for (size_t i = 0; i < family->parameter_count; i++)
		known[i] = family->parameters[i].name;
	TRY(json_expect_keys(at, known, err));
	for (size_t i = 0; i < family->parameter_count; i++) {
		CLEANUP(name_table_release)
		struct name_table names = scope_table(&family->scope, SCOPE_PLAIN);

		if (!json_find(at, known[i], &text))
			continue;
		for (size_t k = i; k < family->parameter_count; k++)
			names.names[family->scope.parameter_at + k] = NULL;
		hide_constants(family, &names);
		TRY(expression_json_compile(
			&text, &names, &family->parameters[i].default_value, err));
		TRY(default_check(&family->parameters[i], &text, err));
	}
	return STATUS_OK;
}

static const struct record_custom defaults_custom = {defaults_read, NULL, NULL};

static bool symbol_name_accepts(const char *name)
{
	for (;;) {
		const size_t length = text_word_length(name);

		if (!length || !name[length])
			return length > 0;
		if (!string_starts_with(name + length, "::"))
			return false;
		name += length + 2;
	}
}

static const struct record_rule symbol_name_rule = {
	.expected = "the name of a variable, such as \"table\" or \"a::table\"",
	.accepts = symbol_name_accepts,
};

static enum status symbol_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct operation *operation = ((const struct expression_reading *)context)->operation;
	const struct family_symbol *symbol = value;

	return symbol->buffer < operation->tensor_count
		       ? STATUS_OK
		       : json_error(at, err, "a tensor of the operation");
}

static const struct record_member symbol_members[] = {
	RECORD_VALUE(struct family_symbol, name, "name", .rule = &symbol_name_rule),
	RECORD_CUSTOM(struct family_symbol, buffer, &buffer_member, ""),
};
static RECORD_DEFINE(struct family_symbol, family_symbol_record, symbol_members,
	.name = "family_symbol", .check = symbol_check);

EXPRESSION_CUSTOM(static, prune_expression, reading_names(reading, SCOPE_PRUNE));
static const struct record_member prune_members[] = {
	RECORD_CUSTOM(struct condition, expression, &prune_expression, "expr"),
	RECORD_VALUE(struct condition, why, "why"),
};
static RECORD_DEFINE(struct condition, prune_record, prune_members, .name = "prune_condition");

/* Place of a computed member: its list of computed members, and the struct or list item. */
struct place {
	struct computed_list *computed;
	ptrdiff_t list; /* member of struct computed */
	size_t size;    /* bytes of an item */
	size_t offset;  /* offset of the member; same meaning as in struct computed */
};

/* Sets the place of a member of `count` items. Returns false if it does not lie in the items. */
static bool is_in(const void *items, size_t count, size_t size, ptrdiff_t list,
	struct computed_list *computed, const char *member, struct place *place)
{
	const char *first = items;

	if (member < first || member >= first + count * size)
		return false;
	*place = (struct place){computed, list, size, (size_t)(member - first)};
	return true;
}
#define IS_IN(items, count, list, computed)                                                        \
	is_in((items), (count), sizeof(*(items)), (list), (computed), member, &place)

static struct place find_place(const struct expression_reading *reading, const void *member)
{
	const struct operation *operation = reading->operation;
	struct family *family = reading->family;
	struct place place;

	for (size_t i = 0; i < operation->tensor_count; i++)
		if (IS_IN(&operation->tensors[i], 1, COMPUTED_DIRECT,
			    &operation->tensors[i].computed))
			return place;
	for (size_t i = 0; i < operation->references.count; i++)
		if (IS_IN(&operation->references.items[i], 1, COMPUTED_DIRECT,
			    &operation->references.items[i].computed))
			return place;
	for (size_t i = 0; family && i < family->launch_count; i++) {
		struct computed_list *computed = &family->launches[i].computed;
		const struct launch_work *work = &family->launches[i].work;

		if (IS_IN(work, 1, COMPUTED_DIRECT, computed) ||
			IS_IN(work->smem_accesses, work->smem_access_count,
				offsetof(struct launch_work, smem_accesses), computed) ||
			IS_IN(work->tiles, work->tile_count, offsetof(struct launch_work, tiles),
				computed))
			return place;
	}
	if (family && IS_IN(family->tensor_maps, family->tensor_map_count,
			      offsetof(struct plan, tensor_maps), &family->computed))
		return place;
	if (!family || !IS_IN(family->workspaces, family->workspace_count,
			       offsetof(struct plan, buffers), &family->computed))
		BUG("a computed member outside of the family");
	place.offset += operation->tensor_count * place.size; /* tensors precede workspaces */
	return place;
}

enum status family_computed_read(const struct json_at *at, const struct record_member *member,
	void *item, void *context, struct error *err)
{
	struct expression_reading *reading = context;
	const struct place place = find_place(reading, item);
	const enum scope_context scope = (enum scope_context)(member->computed - 1);
	const struct name_table *names = reading_names(reading, scope);
	const struct computed *before;
	struct computed *added;
	struct expression *expression;

	if (expression_json_compile(at, names, &expression, err) != STATUS_OK)
		return member->names == dtype_names ? dtype_list_types(err) : STATUS_BAD_INPUT;
	added = computed_add(place.computed, expression, member);
	added->list = place.list;
	added->offset = place.offset;
	added->repeat = scope == SCOPE_SMEM ? WORK_LANES : 1;
	added->is_condition = member->kind == RECORD_KIND_BOOL;
	before = added > place.computed->items ? added - 1 : added;
	added->is_conditional = !added->is_condition && before->list == place.list &&
				before->offset / place.size == place.offset / place.size &&
				(before->is_condition || before->is_conditional);
	return STATUS_OK;
}

#define EXAMPLE(id, why_flags)                                                                     \
	static const struct record_member id##_members[] = {                                       \
		RECORD_VALUE(struct example, problem, "problem"),                                  \
		RECORD_VALUE(struct example, config, "config"),                                    \
		RECORD_VALUE(struct example, why, "why", .flags = (why_flags)),                    \
	};                                                                                         \
	static RECORD_DEFINE(struct example, id##_record, id##_members, .name = #id "_example")
EXAMPLE(legal, RECORD_OPTIONAL);
EXAMPLE(illegal, 0);
static const struct record_member example_members[] = {
	RECORD_RECORDS(struct example_list, legal, legal_count, legal_record, "legal",
		.flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct example_list, illegal, illegal_count, illegal_record, "illegal",
		.flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(struct example_list, example_record, example_members, .name = "examples");

static enum status refuse_members(
	const struct json_at *at, const char *const *names, const char *what, struct error *err)
{
	struct json_at member;

	for (; *names; names++)
		if (json_find(at, *names, &member))
			return json_invalid(
				&member, err, "\"%s\" is not allowed in a family %s", *names, what);
	return STATUS_OK;
}

/* A family with a program must not have members that describe kernels. */
static enum status family_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	static const char *const not_of_program[] = {"source", "include_paths", "options",
		"language", "prune", "workspaces", "tensor_maps", "launches", "symbols", NULL};
	const struct family *family = value;
	const struct expression_reading *reading = context;

	if (family->program)
		return refuse_members(at, not_of_program, "with a program", err);
	if (!family->launch_count)
		return json_invalid(at, err, "a family needs \"launches\" or a \"program\"");
	return reading->operation->tensor_count
		       ? STATUS_OK
		       : json_invalid(at, err,
				 "the operation declares no \"tensors\", which kernels need");
}

static const char *const language_names[] = {
	[LANGUAGE_CUDA] = "cuda", [LANGUAGE_TILE] = "tile", NULL};

#define LIST(items, count, id, key)                                                                \
	RECORD_RECORDS(struct family, items, count, id, key, .flags = RECORD_OPTIONAL)
static const struct record_member family_members[] = {
	RECORD_CONSTANT("format", "tiletune.family/1"),
	{.name = "operation", .kind = RECORD_KIND_COMMENT},
	RECORD_COMMENT("name"),
	RECORD_VALUE(struct family, summary, "summary"),
	RECORD_COMMENT("help"),
	RECORD_VALUE(struct family, source, "source", .flags = RECORD_OPTIONAL),
	RECORD_STRINGS(struct family, program, "program", .flags = RECORD_OPTIONAL, .count_min = 1),
	RECORD_STRINGS(struct family, include_paths, "include_paths", .flags = RECORD_OPTIONAL),
	RECORD_STRINGS(struct family, options, "options", .flags = RECORD_OPTIONAL,
		.rule = &compile_option_rule),
	RECORD_ENUM(struct family, language, language_names, "language", .flags = RECORD_OPTIONAL),
	RECORD_CUSTOMS(struct family, requires.items, requires.count, &expression_fixed_member,
		"requires", .flags = RECORD_OPTIONAL),
	RECORD_CUSTOMS(struct family, competes.items, competes.count, &expression_fixed_member,
		"competes", .flags = RECORD_OPTIONAL),
	RECORD_MAP(struct family, parameters, parameter_count, parameter_record, "parameters",
		.flags = RECORD_OPTIONAL, .count_max = SPACE_PARAMETERS_MAX),
	RECORD_MAP(struct family, constants, constant_count, constant_record, "constants",
		.flags = RECORD_OPTIONAL),
	RECORD_DERIVED(struct family, &defaults_custom, "defaults", .flags = RECORD_OPTIONAL),
	LIST(constraints.items, constraints.count, condition_record, "constraints"),
	LIST(prune.items, prune.count, prune_record, "prune"),
	LIST(workspaces, workspace_count, workspace_record, "workspaces"),
	LIST(tensor_maps, tensor_map_count, tensor_map_record, "tensor_maps"),
	LIST(launches, launch_count, launch_record, "launches"),
	RECORD_MAP(struct family, symbols, symbol_count, family_symbol_record, "symbols",
		.flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(struct family, computed, &computed_list_member, "", .flags = RECORD_NOT_JSON),
	RECORD_NESTED(
		struct family, examples, example_record, "examples", .flags = RECORD_OPTIONAL),
};
#undef LIST
RECORD_DEFINE(
	struct family, family_record, family_members, .name = "family", .check = family_check);

static enum status compile_fact(struct family *family, const struct json_at *at,
	struct name_table *names, struct error *err)
{
	const struct fact_text *fact = &family->operation->facts[at->index];
	struct family_fact *compiled = &family->facts[at->index];

	TRY(expression_compile_member(at, "when", names, &compiled->when, err));
	if (compiled->when || !fact->when)
		TRY(expression_compile_member(at, "expression", names, &compiled->expression, err));
	if (!compiled->expression || !fact->as)
		return STATUS_OK;
	if (name_table_find(&family->scope.all, fact->as) >= 0 ||
		name_table_find(names, fact->as) != NAME_UNKNOWN)
		return json_invalid_of(at, "as", err, "this name is already in use");
	/* The index of the fact's value follows the indices of the scope. */
	compiled->name_index = family->scope.all.count + family->named_fact_count++;
	name_table_add(names, fact->as);
	return STATUS_OK;
}

static enum status compile_facts(struct family *family, struct error *err)
{
	CLEANUP(name_table_release)
	struct name_table names = scope_table(&family->scope, SCOPE_FACT);
	const struct operation *operation = family->operation;
	const struct json_at root = json_root(operation->tree, operation->file);
	struct json_at facts, fact = {0};

	family->facts = memory_zeroed(operation->fact_count + 1, sizeof(*family->facts));
	if (json_find(&root, "facts", &facts))
		while (json_next(&facts, &fact))
			TRY(compile_fact(family, &fact, &names, err));
	return STATUS_OK;
}

static void free_facts(struct family *family)
{
	for (size_t i = 0; family->facts && i < family->operation->fact_count; i++) {
		expression_free(family->facts[i].expression);
		expression_free(family->facts[i].when);
	}
	free(family->facts);
}

/* A file in the wrong folder would cause misleading errors later. */
static enum status place_check(const struct json_at *root, const char *name,
	const struct family *family, struct error *err)
{
	const char *const expected[] = {family->operation->name, name};
	static const char *const members[] = {"operation", "name"}, *const places[] = {
									    "folder", "file"};

	for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
		const char *found = json_string_of(root, members[i]);

		if (found && strcmp(found, expected[i]) != 0)
			return json_error_of(root, members[i], err, "\"%s\", the name of the %s",
				expected[i], places[i]);
	}
	return STATUS_OK;
}

static enum status read_root(
	const struct json_at *root, const char *name, struct family *family, struct error *err)
{
	const struct name_table *keys = &family->operation->key_names;
	CLEANUP(reading_release)
	struct expression_reading reading = {.operation = family->operation,
		.family = family,
		.scope = &family->scope,
		.names = &family->names};

	scope_init(&family->scope, keys->names, keys->count);
	TRY(place_check(root, name, family, err));
	family->names = scope_table(&family->scope, SCOPE_PLAIN);
	reading.fixed = scope_table(&family->scope, SCOPE_PLAIN);
	return record_from_json_computed(
		&family_record, root, family, family_computed_read, &reading, err);
}

enum status family_load(struct json *tree, const char *file, const struct source_place *place,
	const char *name, const struct operation *operation, const char *const *template_folders,
	struct family **family, struct error *err)
{
	struct family *made = memory_zeroed(1, sizeof(*made));
	struct json_at root;
	enum status status;

	made->tree = tree;
	made->file = string_copy(file);
	made->name = string_format("%s/%s", operation->name, name);
	made->operation = operation;
	root = json_root(tree, made->file);
	*family = NULL;
	status = read_root(&root, name, made, err);
	if (status == STATUS_OK && place)
		status = compile_facts(made, err);
	if (status == STATUS_OK && place)
		status = family_load_sources(made, place, template_folders, err);
	if (status == STATUS_OK)
		*family = made;
	else
		family_free(made);
	return status;
}

void family_free(struct family *family)
{
	if (!family)
		return;
	for (size_t i = 0; i < family->source_count; i++) {
		free(family->sources[i].name);
		free(family->sources[i].text);
		free(family->sources[i].device_code);
	}
	free(family->sources);
	free_facts(family);
	record_release(&family_record, family);
	scope_release(&family->scope);
	name_table_release(&family->names);
	json_free(family->tree);
	free(family->file);
	free(family->name);
	free(family);
}
