/* SPDX-License-Identifier: MIT
 *
 * Releasing a family and its parts.
 */
#include <stdlib.h>

#include "family/family.h"

static void release_lists(struct family *family)
{
	for (size_t i = 0; i < family->parameter_count; i++) {
		expression_free(family->parameters[i].values);
		expression_free(family->parameters[i].default_value);
	}
	for (size_t i = 0; i < family->constant_count; i++)
		expression_free(family->constants[i].expression);
	for (size_t i = 0; i < family->workspace_count; i++)
		workspace_release(&family->workspaces[i]);
	for (size_t i = 0; i < family->tensor_map_count; i++)
		tensor_map_release(&family->tensor_maps[i]);
	for (size_t i = 0; i < family->source_count; i++) {
		free(family->sources[i].name);
		free(family->sources[i].text);
	}
	for (size_t i = 0; i < family->launch_count; i++)
		launch_release(&family->launches[i]);
	for (size_t i = 0; i < family->fact_count; i++) {
		expression_free(family->facts[i].expression);
		expression_free(family->facts[i].when);
	}
	for (size_t i = 0; i < family->rule_count; i++)
		rule_release(&family->rules[i]);
	for (size_t i = 0; i < family->step_count; i++)
		step_release(&family->steps[i]);
}

void family_free(struct family *family)
{
	if (!family)
		return;
	release_lists(family);
	scope_release(&family->scope);
	name_table_release(&family->names);
	expression_list_release(&family->requires);
	condition_list_release(&family->constraints);
	condition_list_release(&family->prune);
	free(family->parameters);
	free(family->constants);
	free(family->workspaces);
	free(family->tensor_maps);
	free(family->sources);
	free(family->launches);
	free(family->facts);
	free(family->rules);
	free(family->steps);
	free(family->examples);
	json_free(family->tree);
	free(family->file);
	free(family->name);
	free(family);
}
