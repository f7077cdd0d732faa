/* SPDX-License-Identifier: MIT
 *
 * When is it worth fusing two products? Every problem of a suite of gemm_chain: kernels that fuse,
 * our two products, two calls of cuBLASLt, side by side (versus/chain_comparison.h).
 *
 *	chain_vs_cublaslt --choose [options] SUITE.json -o CHOICES.json     needs no GPU
 *	chain_vs_cublaslt [options] CHOICES.json -o RESULTS.json
 *	chain_vs_cublaslt --once [options] CHOICES.json -o COUNTED.json     for a profiler
 *
 *	--compile         after --choose: fill the compile cache as well
 *	--sheet NAME      the device that choices are made for (model:h200-sxm)
 *	--rounds N        of the interleaved timing, at most (15)       --seconds S   for the
 *interleaved timing (0.15)
 *	--limit S         stop after so many seconds: what is not measured is left out (1e9)
 *	--device N|UUID   the GPU (0)                      --path DIR    holds templates/, configs/
 *	--cache-dir DIR   of compiled kernels
 *
 * Exit: 0 done, 1 a result that differs or is missing, 2 usage, 5 no GPU or library.
 */
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/versus/chain_choice.h"
#include "bench/versus/chain_once.h"
#include "bench/versus/chain_comparison.h"
#include "compile/compiler.h"
#include "compile/worker.h"

struct options {
	const char *device, *sheet, *path, *cache_folder, *output, *input;
	bool choose, compile, once;
	double limit_s;
	struct chain_options chain;
};

static void usage(void)
{
	fprintf(stderr, "usage: chain_vs_cublaslt [--choose [--compile] [--sheet NAME] | --once] "
			"[--rounds N] [--seconds S] [--limit S] [--device N] [--path DIR] "
			"[--cache-dir DIR] INPUT.json -o OUTPUT.json\n");
	exit(STATUS_BAD_INPUT);
}

static void options_parse(struct options *options, int argc, char **argv)
{
	*options = (struct options){.device = "0",
		.sheet = "model:h200-sxm",
		.path = ".",
		.limit_s = 1e9,
		.chain = {.rounds = 15, .seconds = 0.15}};
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;
		const struct {
			const char *name;
			const char **target;
		} names[] = {{"--device", &options->device}, {"--sheet", &options->sheet},
			{"--path", &options->path}, {"--cache-dir", &options->cache_folder},
			{"-o", &options->output}};
		size_t k = 0;

		while (k < ARRAY_COUNT(names) && strcmp(argv[i], names[k].name) != 0)
			k++;
		if (strcmp(argv[i], "--choose") == 0) {
			options->choose = true;
			continue;
		}
		if (strcmp(argv[i], "--compile") == 0) {
			options->compile = true;
			continue;
		}
		if (strcmp(argv[i], "--once") == 0) {
			options->once = true;
			continue;
		}
		if (argv[i][0] != '-' && !options->input) {
			options->input = argv[i];
			continue;
		}
		if (!value)
			usage();
		if (k < ARRAY_COUNT(names))
			*names[k].target = value;
		else if (strcmp(argv[i], "--rounds") == 0)
			options->chain.rounds = strtoul(value, NULL, 10);
		else if (strcmp(argv[i], "--seconds") == 0)
			options->chain.seconds = strtod(value, NULL);
		else if (strcmp(argv[i], "--limit") == 0)
			options->limit_s = strtod(value, NULL);
		else
			usage();
		i++;
	}
	if (!options->input || !options->output)
		usage();
}

/* ---- choosing ---- */
static enum status choose_one(struct context *context, const struct options *options,
	const struct json_at *item, struct json *list, struct error *err)
{
	const char *text;
	struct problem *problem = NULL;
	struct json *chosen = NULL;
	enum status status = json_get_string(item, &text, err);

	if (status == STATUS_OK)
		status = chain_problem(&context->catalogue, "gemm_chain", text, &problem, err);
	if (status == STATUS_OK)
		status = chain_choose(context, problem, &chosen, err);
	if (status == STATUS_OK) {
		json_push(list, chosen);
	}
	if (status == STATUS_OK && options->compile) {
		struct json_at at = json_root(chosen, "choice");

		status = chain_request(
			&context->catalogue, context->device->spec, context->store, &at, err);
	}
	problem_free(problem);
	return status;
}

static enum status choose(const struct options *options, struct error *err)
{
	const char *const roots[] = {options->path, NULL};
	const struct context_options bench_options = {.roots = roots,
		.operation = "gemm_chain",
		.device = options->sheet,
		.need_compiler = options->compile,
		.compiler.cache_folder = options->cache_folder};
	struct json *suite = NULL, *json = json_new_object(), *list = json_new_array();
	struct context context = {0};
	struct json_at root, problems;
	enum status status = json_load(options->input, &suite, err);

	root = json_root(suite, options->input);
	if (status == STATUS_OK)
		status = json_member(&root, "problems", &problems, err);
	if (status == STATUS_OK)
		status = context_open(&bench_options, &context, err);
	for (size_t i = 0; status == STATUS_OK && i < json_count(&problems); i++) {
		struct json_at item = json_item(&problems, i);

		status = choose_one(&context, options, &item, list, err);
		fprintf(stderr, "%zu of %zu\r", i + 1, json_count(&problems));
	}
	json_put(json, "choices", list);
	while (status == STATUS_OK && context.compiler && compiler_pending(context.compiler))
		compiler_poll(context.compiler, INFINITY);
	if (status == STATUS_OK)
		status = setup_write(options->output, json, err);
	json_free(json);
	json_free(suite);
	context_release(&context);
	return status;
}

/* ---- measuring ---- */
static void print_head(void)
{
	printf("%-44s", "m,k,n,p");
	for (size_t i = 0; i < CHAIN_FAMILIES; i++)
		printf(" %14s", chain_families[i]);
	printf(" %9s %9s %6s %6s\n", "separate", "cuBLASLt", "gain", "/Lt");
}

static void print_times(const char *text, const struct chain_times *times, const struct error *err)
{
	const char *end = strstr(text, ",dtype");

	printf("%-44.*s", end ? (int)(end - text) : (int)strlen(text), text);
	for (size_t i = 0; !err->message[0] && i < CHAIN_FAMILIES; i++)
		printf(" %14.1f", times->fused_us[i]);
	if (err->message[0])
		printf(" %s\n", err->message);
	else
		printf(" %9.1f %9.1f %6.2f %6.2f%s\n", times->separate_us, times->cublaslt_us,
			times->gain, times->gain_over_cublaslt, times->agrees ? "" : " DIFFERS");
	fflush(stdout);
}

/* Every kernel once: its counts are pushed to entries. */
static enum status run_all(struct setup *setup, const struct json_at *choices, struct json *entries,
	bool *fatal, struct error *err)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < json_count(choices); i++) {
		struct json_at chosen = json_item(choices, i);

		status = chain_once(setup, &chosen, entries, fatal, err);
	}
	return status;
}

static enum status compare_each(const struct options *options, struct setup *setup,
	const struct json_at *choices, struct json *entries, bool *fatal, struct error *err)
{
	double end = clock_seconds() + options->limit_s;
	enum status status = STATUS_OK, worst = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < json_count(choices); i++) {
		struct json_at chosen = json_item(choices, i);

		status = chain_request(&setup->catalogue, setup->spec, setup->store, &chosen, err);
	}
	print_head();
	for (size_t i = 0; status == STATUS_OK && !*fatal && i < json_count(choices); i++) {
		struct json_at chosen = json_item(choices, i);
		struct chain_times times;
		struct json *json;
		struct error reason = {0};
		const char *text = "";

		if (clock_seconds() > end) {
			printf("stopped: %zu of %zu measured\n", i, json_count(choices));
			return STATUS_FAILED;
		}
		if (chain_comparison(setup, &chosen, &options->chain, &times, &json, fatal,
			    &reason) != STATUS_OK ||
			!times.agrees)
			worst = STATUS_FAILED;
		json_push(entries, json);
		json_member_string(&chosen, "problem", &text, NULL);
		print_times(text, &times, &reason);
	}
	return status == STATUS_OK ? worst : status;
}

static enum status measure(const struct options *options, struct error *err)
{
	const struct setup_options setup_options = {.path = options->path,
		.operation = "gemm_chain",
		.device = options->device,
		.cache_folder = options->cache_folder};
	struct json *file = NULL, *entries = json_new_array(), *json;
	struct json_at root, choices;
	struct setup setup = {.lock_fd = -1};
	double start = 0;
	bool fatal = false;
	enum status status = json_load(options->input, &file, err), written;

	root = json_root(file, options->input);
	if (status == STATUS_OK)
		status = json_member(&root, "choices", &choices, err);
	if (status == STATUS_OK)
		status = setup_open(&setup_options, &setup, err);
	if (status != STATUS_OK) {
		json_free(entries);
	} else {
		setup_print(stdout, &setup);
		start = clock_seconds();
		status = options->once
				 ? run_all(&setup, &choices, entries, &fatal, err)
				 : compare_each(options, &setup, &choices, entries, &fatal, err);
		json = setup_json(&setup,
			options->once ? "tiletune.chain_counted/1" : "tiletune.chain_map/1",
			clock_seconds() - start);
		json_put(json, "entries", entries);
		written = setup_write(options->output, json, err);
		json_free(json);
		status = status == STATUS_OK ? written : status;
		printf("%.1f s\n", clock_seconds() - start);
	}
	setup_release(&setup, fatal);
	json_free(file);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	struct error err = {0};
	enum status status;

	if (argc == 2 && strcmp(argv[1], "worker-compile") == 0)
		return compile_worker_main();
	options_parse(&options, argc, argv);
	status = options.choose ? choose(&options, &err) : measure(&options, &err);
	if (err.message[0])
		fprintf(stderr, "chain_vs_cublaslt: %s\n%s%s", err.message, err.hint,
			err.hint[0] ? "\n" : "");
	return (int)status;
}
