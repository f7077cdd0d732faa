/* SPDX-License-Identifier: MIT
 *
 * What a problem's outputs are compared with, as numbers.
 */
#ifndef PLAN_REFERENCE_PLAN_H
#define PLAN_REFERENCE_PLAN_H

#include "expr/named_values.h"
#include "plan/plan.h"

/* What a tensor is filled with that is neither random nor simple; one of these is there. */
struct plan_contents {
	uint32_t tensor;
	char *expression; /* over `index` (linear, without pitch) and the keys */
	char *file;       /* path */
};

/* What an output is compared with, strongest first. */
enum verified {
	VERIFIED_REFERENCE,     /* a kernel of the operation's */
	VERIFIED_FILE,          /* values in a file */
	VERIFIED_CONFIGURATION, /* a configuration that the author trusts */
	VERIFIED_SELF,          /* none is given: the default configuration */
};
/* As JSON has them, and as texts for people; NULL-terminated. */
extern const char *const verified_names[], *const verified_texts[];
/* Who compared it: we, or the program that also timed it. */
extern const char *const verified_by_names[];
/* "verified: file (compared with the file)"; NULL for our reference. The caller frees it. */
char *verified_words(enum verified verified, bool by_program);

/* How the expected values of an output are known, and how near is near enough. */
struct reference_output {
	uint32_t tensor; /* its index */
	enum verified verified;
	/* Of a reference kernel, over any list of units of the output (elements or rows). grid[0]
	 * is set by the worker: ceil(count / units_per_block). NULL: not by a kernel. */
	struct plan_launch *launch;
	uint32_t units_per_block;
	bool unit_is_row;
	char *file; /* path; NULL: not from a file */
	double tolerance_abs, tolerance_rel;
	bool abs_scales;     /* tolerance_abs is times the largest expected value */
	double differ_ratio; /* of the points, that may be beyond the tolerance */
};

/* What a problem's outputs are compared with. */
struct reference_plan {
	bool may_vary;               /* two runs on the same inputs may differ in bits */
	struct plan_buffer *tensors; /* the operation's */
	size_t tensor_count;
	struct reference_output *outputs;
	size_t output_count;
	struct plan_contents *contents; /* of tensors with an expression or a file */
	size_t contents_count;
	struct named_values keys; /* of the problem, for expressions */
	struct plan *trusted; /* run once for the outputs that no kernel and no file serves; NULL */
};

RECORD_DECLARE(struct reference_plan, reference_plan_record);

void reference_plan_release(struct reference_plan *reference);

#endif
