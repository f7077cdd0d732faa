/* SPDX-License-Identifier: MIT
 *
 * The options of `advise`, which its two halves share: one problem (cmd_advise.c), a sweep
 * (advise_sweep.c).
 */
#ifndef CLI_ADVISE_OPTIONS_H
#define CLI_ADVISE_OPTIONS_H

#include "cli/common.h"

struct advise_command {
	struct common_options common;
	struct bench_options bench;
	struct string_list problems, families;
	const char *sweep, *config, *output, *csv;
	double budget_s;
};

enum status advise_sweep(const struct advise_command *command, struct context *bench,
	const struct operation *operation, struct error *err);

#endif
