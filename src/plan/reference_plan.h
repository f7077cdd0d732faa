/* SPDX-License-Identifier: MIT
 *
 * Plan that computes or reads the expected outputs of a problem.
 */
#ifndef PLAN_REFERENCE_PLAN_H
#define PLAN_REFERENCE_PLAN_H

#include "expr/named_values.h"
#include "plan/plan.h"

/* Exactly one of expression and file is set. */
struct plan_contents {
	uint32_t tensor;
	char *expression; /* reads keys and `index`, which counts elements without padding */
	char *file;
};

/* Sources of expected outputs, the most trustworthy first. */
enum verified {
	VERIFIED_REFERENCE, /* a reference kernel of the operation */
	VERIFIED_FILE,
	VERIFIED_CONFIGURATION, /* a configuration that the author trusts */
	VERIFIED_SELF,          /* the default configuration, if the operation has no reference */
};
extern const char *const verified_names[], *const verified_texts[];
extern const char *const verified_by_names[];
/* Returns text that the caller frees, or NULL for a reference kernel. */
char *verified_words(enum verified verified, bool by_program);

struct reference_output {
	uint32_t tensor;
	enum verified verified;
	/* Kernel that computes any subset of units, or NULL. The worker sets grid[0] to ceil(count
	 * / units_per_block). */
	struct plan_launch *launch;
	uint32_t units_per_block;
	bool unit_is_row;
	char *file;
	double tolerance_abs, tolerance_rel;
	bool abs_scales;     /* tolerance_abs is relative to the largest value */
	double differ_ratio; /* fraction of points that may exceed the tolerance */
};

struct reference_plan {
	bool may_vary; /* outputs of two runs may differ bitwise */
	struct plan_buffer *tensors;
	size_t tensor_count;
	struct reference_output *outputs;
	size_t output_count;
	struct plan_contents *contents;
	size_t contents_count;
	struct named_values keys;
	struct plan *trusted; /* run once for outputs without another reference; may be NULL */
};

RECORD_DECLARE(struct reference_plan, reference_plan_record);

void reference_plan_release(struct reference_plan *reference);

#endif
