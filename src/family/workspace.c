/* SPDX-License-Identifier: MIT
 *
 * Reading and evaluating workspaces.
 */
#include "family/workspace.h"

#include <inttypes.h>
#include <string.h>

static const char *const keys[] = {"name", "bytes", "init", "dtype", "help", NULL};

static enum status read_init(const struct json_at *at, enum buffer_init *init, struct error *err)
{
	static const char *const names[] = {"none", "once", "each"};
	static const enum buffer_init inits[] = {
		BUFFER_INIT_NONE, BUFFER_INIT_ONCE, BUFFER_INIT_EACH};
	struct json_at member;
	const char *name;

	*init = BUFFER_INIT_NONE;
	if (!json_find(at, "init", &member))
		return STATUS_OK;
	if (json_get_string(&member, &name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (size_t i = 0; i < 3; i++) {
		if (strcmp(names[i], name) == 0) {
			*init = inits[i];
			return STATUS_OK;
		}
	}
	return json_error(&member, err, "\"none\", \"once\" or \"each\"");
}

enum status workspace_read(const struct json_at *at, const struct name_table *names,
	struct workspace *workspace, struct error *err)
{
	struct json_at name, dtype;

	if (json_expect_keys(at, keys, err) != STATUS_OK ||
		json_member(at, "name", &name, err) != STATUS_OK ||
		json_get_string(&name, &workspace->name, err) != STATUS_OK ||
		name_json_check(&name, workspace->name, err) != STATUS_OK ||
		expression_json_member(at, "bytes", names, &workspace->bytes, err) != STATUS_OK ||
		read_init(at, &workspace->init, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	workspace->dtype = DTYPE_FP32;
	if (json_find(at, "dtype", &dtype))
		return dtype_json_read(
			&dtype, names, &workspace->dtype_text, &workspace->dtype, err);
	if (name_table_find(names, "dtype") == NAME_UNKNOWN)
		return STATUS_OK;
	return expression_compile("dtype", at->file, names, &workspace->dtype_text, err);
}

void workspace_release(struct workspace *workspace)
{
	expression_free(workspace->bytes);
	expression_free(workspace->dtype_text);
	*workspace = (struct workspace){0};
}

enum status workspace_evaluate(const struct workspace *workspace, const struct value *values,
	struct plan_buffer *buffer, struct error *err)
{
	int64_t bytes;
	enum status status = expression_int(workspace->bytes, values, &bytes, err);

	if (status != STATUS_OK)
		return status;
	if (bytes < 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a size of at least 0, found %" PRId64,
			expression_where(workspace->bytes), bytes);
	*buffer = (struct plan_buffer){.role = BUFFER_WORKSPACE,
		.init = workspace->init,
		.dtype = workspace->dtype,
		.bytes = (uint64_t)bytes};
	string_put(buffer->name, sizeof(buffer->name), workspace->name);
	if (!workspace->dtype_text)
		return STATUS_OK;
	return dtype_evaluate(workspace->dtype_text, values, &buffer->dtype, err);
}
