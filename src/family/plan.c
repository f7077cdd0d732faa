/* SPDX-License-Identifier: MIT
 *
 * Releasing plans.
 */
#include "family/plan.h"

#include <stdlib.h>

static void launch_release_plan(struct plan_launch *launch)
{
	free(launch->entry);
	free(launch->arguments);
	*launch = (struct plan_launch){0};
}

void plan_release(struct plan *plan)
{
	for (size_t i = 0; i < plan->launch_count; i++)
		launch_release_plan(&plan->launches[i]);
	free(plan->launches);
	free(plan->buffers);
	free(plan->tensor_maps);
	*plan = (struct plan){0};
}

void reference_plan_release(struct reference_plan *reference)
{
	launch_release_plan(&reference->launch);
	free(reference->tensors);
	*reference = (struct reference_plan){0};
}
