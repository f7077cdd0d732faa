/* SPDX-License-Identifier: MIT
 *
 * Facts: an operation's formulas about a candidate, compiled for each family that has the names. A
 * fact with "as" has a name by which those after it read its value.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

static enum status read_fact(const struct json_at *at, const struct name_table *names,
	struct family_fact *fact, struct error *err)
{
	struct json_at when, expression;
	bool has_when = json_find(at, "when", &when);
	enum status status = STATUS_OK;

	if (json_member_string(at, "name", &fact->name, err) != STATUS_OK ||
		json_member_string(at, "unit", &fact->unit, err) != STATUS_OK ||
		json_member_string(at, "source", &fact->source, err) != STATUS_OK ||
		json_member(at, "expression", &expression, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (has_when)
		status = expression_json_compile_optional(&when, names, &fact->when, err);
	if (status != STATUS_OK || (has_when && !fact->when))
		return status;
	return expression_json_compile_optional(&expression, names, &fact->expression, err);
}

/* Its value gets a slot behind those of the scope. */
static enum status name_fact(const struct json_at *at, struct family *family,
	struct name_table *names, struct family_fact *fact, struct error *err)
{
	struct json_at as;
	const char *name;

	if (!fact->expression || !json_find(at, "as", &as))
		return STATUS_OK;
	if (json_get_string(&as, &name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (scope_find(&family->scope, name) >= 0 || name_table_find(names, name) != NAME_UNKNOWN)
		return json_error(&as, err, "a name that is not in use");
	fact->slot = family->scope.count + family->named_fact_count++;
	name_table_add(names, name);
	return STATUS_OK;
}

enum status family_facts_read(struct family *family, struct error *err)
{
	const struct operation *operation = family->operation;
	struct json_at root = json_root(operation->tree, operation->file), list;
	struct name_table names;
	enum status status = STATUS_OK;

	if (!json_find(&root, "facts", &list))
		return STATUS_OK;
	names = scope_table(&family->scope, SCOPE_FACT, SIZE_MAX, NULL);
	family->facts = memory_zeroed(json_count(&list) + 1, sizeof(*family->facts));
	family->fact_count = json_count(&list);
	for (size_t i = 0; i < family->fact_count && status == STATUS_OK; i++) {
		struct json_at at = json_item(&list, i);

		status = read_fact(&at, &names, &family->facts[i], err);
		if (status == STATUS_OK)
			status = name_fact(&at, family, &names, &family->facts[i], err);
	}
	name_table_release(&names);
	return status;
}
