/* SPDX-License-Identifier: MIT
 *
 * Expected outputs of a problem, as numbers.
 */
#ifndef PLAN_REFERENCE_PLAN_H
#define PLAN_REFERENCE_PLAN_H

#include "expr/named_values.h"
#include "plan/plan.h"

/* Contents of a tensor from an expression or a file; exactly one of them is set. */
struct plan_contents {
	uint32_t tensor;
	char *expression; /* of `index` (linear, without pitch) and the problem's keys */
	char *file;
};

/* Sources of expected outputs, the most trustworthy first. */
enum verified {
	VERIFIED_REFERENCE, /* a reference kernel of the operation */
	VERIFIED_FILE,
	VERIFIED_CONFIGURATION, /* a configuration that the author trusts */
	VERIFIED_SELF,          /* the default configuration, if nothing else is given */
};
/* Names in JSON and descriptions for people, NULL-terminated. */
extern const char *const verified_names[], *const verified_texts[];
/* Names of the verifier: tiletune, or the program that also timed the kernel. */
extern const char *const verified_by_names[];
/* Returns e.g. "verified: file (compared with the file)", or NULL for our reference kernel. The
 * caller frees it. */
char *verified_words(enum verified verified, bool by_program);

/* Where an output's expected values come from, and its tolerance. */
struct reference_output {
	uint32_t tensor;
	enum verified verified;
	/* The reference kernel, which computes any list of output units (elements or rows). The
	 * worker sets grid[0] to ceil(count / units_per_block). NULL if the values come from
	 * elsewhere. */
	struct plan_launch *launch;
	uint32_t units_per_block;
	bool unit_is_row;
	char *file; /* NULL if the values do not come from a file */
	double tolerance_abs, tolerance_rel;
	bool abs_scales;     /* tolerance_abs is a fraction of the largest expected value */
	double differ_ratio; /* fraction of the points that may exceed the tolerance */
};

/* Expected outputs of a problem, and how to fill its inputs. */
struct reference_plan {
	bool may_vary; /* repeated runs on the same inputs may differ in bits */
	struct plan_buffer *tensors;
	size_t tensor_count;
	struct reference_output *outputs;
	size_t output_count;
	struct plan_contents *contents; /* of tensors with an expression or a file */
	size_t contents_count;
	struct named_values keys;
	struct plan *trusted; /* run once to produce outputs that have no reference kernel and no
				 file; may be NULL */
};

RECORD_DECLARE(struct reference_plan, reference_plan_record);

void reference_plan_release(struct reference_plan *reference);

#endif
