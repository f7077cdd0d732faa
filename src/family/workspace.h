/* SPDX-License-Identifier: MIT
 *
 * Workspaces of a family: memory that its launches share.
 */
#ifndef FAMILY_WORKSPACE_H
#define FAMILY_WORKSPACE_H

#include "family/tensor.h"

struct workspace {
	const char *name;
	struct expression *bytes;
	enum buffer_init init;
	/* for tensor maps over it; where nothing is said, the key `dtype`, or fp32 */
	struct expression *dtype_text; /* NULL: dtype */
	enum dtype dtype;
};

enum status workspace_read(const struct json_at *at, const struct name_table *names,
	struct workspace *workspace, struct error *err);
void workspace_release(struct workspace *workspace);
enum status workspace_evaluate(const struct workspace *workspace, const struct value *values,
	struct plan_buffer *buffer, struct error *err);

#endif
