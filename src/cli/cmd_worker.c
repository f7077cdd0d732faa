/* SPDX-License-Identifier: MIT
 *
 * The hidden commands that worker processes are started with.
 */
#include "cli/command.h"
#include "compile/worker.h"
#include "measure/worker.h"

static const struct option no_options[] = {{0}};

static enum status run_compile(
	void *options, const struct string_list *positional, struct error *err)
{
	(void)options;
	(void)positional;
	(void)err;
	return compile_worker_main() == 0 ? STATUS_OK : STATUS_FAILED;
}

static enum status run_measure(
	void *options, const struct string_list *positional, struct error *err)
{
	(void)options;
	(void)positional;
	(void)err;
	return measure_worker_main() == 0 ? STATUS_OK : STATUS_FAILED;
}

const struct command command_worker_compile = {
	.name = "worker-compile",
	.summary = "Serve compilations to a parent process",
	.arguments = "",
	.options = no_options,
	.options_size = 1,
	.run = run_compile,
};

const struct command command_worker_measure = {
	.name = "worker-measure",
	.summary = "Serve measurements to a parent process",
	.arguments = "",
	.options = no_options,
	.options_size = 1,
	.run = run_measure,
};
