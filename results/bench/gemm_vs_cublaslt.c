/* SPDX-License-Identifier: MIT
 *
 * The winners of tuned files against cuBLASLt, on the GPU that they were tuned for. Every gemm
 * entry is rebuilt, compiled (or taken from the cache), loaded into this process and timed in turn
 * with cuBLASLt's first pick and its best pick, on the same random inputs. The results are
 * compared, too.
 *
 *	gemm_vs_cublaslt [options] TUNED.json...
 *
 *	--family NAME     the best of this family ("gemm/mma") instead of the winner
 *	--only TEXT       only problems whose canonical text contains this
 *	--rounds N        of the interleaved timing, at most (60)
 *	--seconds S       for the interleaved timing (0.5)
 *	--picks N         number of cuBLASLt's picks to try, 1 to 100 (8)
 *	--gaps S          seconds for additional single runs with random gaps (default 0)
 *	--device N|UUID   the GPU (0)                      --path DIR    of templates/, configs/ (.)
 *	--cache-dir DIR   of compiled kernels              -o FILE       the results as JSON
 *
 * Exit codes: 0 all promises kept, 1 one missed or a result that differs, 2 usage, 5 no GPU or
 * library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/versus/setup.h"
#include "bench/versus/summary.h"
#include "compile/worker.h"
#include "format/tuned.h"

struct options {
	const char *device, *path, *cache_folder, *output, *family, *only;
	struct lt_comparison_options lt_comparison;
	const char **files;
	int file_count;
};

struct versus {
	struct options options;
	struct setup setup;
	struct subject *subjects;
	size_t subject_count, subject_capacity;
	struct lt_comparison *comparisons;
	size_t lt_comparison_count;
};

static void options_parse(struct options *options, int argc, char **argv)
{
	bool understood = true;

	*options = (struct options){.device = "0",
		.path = ".",
		.lt_comparison = {.rounds = 60, .seconds = 0.5, .picks = LT_PICKS}};
	options->files = memory_zeroed((size_t)argc + 1, sizeof(*options->files));
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;
		struct {
			const char *name;
			const char **target;
		} names[] = {{"--device", &options->device}, {"--path", &options->path},
			{"--cache-dir", &options->cache_folder}, {"--family", &options->family},
			{"--only", &options->only}, {"-o", &options->output}};
		size_t k = 0;

		if (argv[i][0] != '-') {
			options->files[options->file_count++] = argv[i];
			continue;
		}
		while (k < ARRAY_COUNT(names) && strcmp(argv[i], names[k].name) != 0)
			k++;
		if (k < ARRAY_COUNT(names) && value)
			*names[k].target = value;
		else if (strcmp(argv[i], "--rounds") == 0 && value)
			options->lt_comparison.rounds = strtoul(value, NULL, 10);
		else if (strcmp(argv[i], "--seconds") == 0 && value)
			options->lt_comparison.seconds = strtod(value, NULL);
		else if (strcmp(argv[i], "--picks") == 0 && value)
			options->lt_comparison.picks = atoi(value);
		else if (strcmp(argv[i], "--gaps") == 0 && value)
			options->lt_comparison.gap_seconds = strtod(value, NULL);
		else
			understood = false;
		i++;
	}
	if (!understood || options->file_count == 0 || options->lt_comparison.rounds < 1 ||
		options->lt_comparison.picks < 1 || options->lt_comparison.picks > LT_PICKS_MAX) {
		fprintf(stderr,
			"usage: gemm_vs_cublaslt [--family NAME] [--only TEXT] [--rounds N] "
			"[--seconds S] [--picks N] [--gaps S] [--device N] [--path DIR] "
			"[--cache-dir DIR] [-o FILE] "
			"TUNED.json...\n");
		exit(STATUS_BAD_INPUT);
	}
}

static enum status read_file(struct versus *versus, int index, struct error *err)
{
	struct tuned tuned;
	struct gpu_model device =
		gpu_model_of(versus->setup.spec, versus->setup.gpu.gpu.facts.name);
	enum status status = tuned_load(versus->options.files[index], &tuned, err);

	if (status != STATUS_OK) {
		gpu_model_release(&device);
		return status;
	}
	status = tuned_expect_device(&tuned, &device, err);
	gpu_model_release(&device);
	for (size_t i = 0; status == STATUS_OK && i < tuned.entry_count; i++) {
		struct subject subject;

		subject_init(&versus->setup.catalogue, versus->setup.spec, &tuned.entries[i],
			versus->options.family, &subject);
		if (versus->options.only &&
			!(subject.problem && strstr(subject.problem, versus->options.only))) {
			subject_release(&subject);
			continue;
		}
		ARRAY_GROW(versus->subjects, versus->subject_count, versus->subject_capacity);
		versus->subjects[versus->subject_count++] = subject;
		/* all compilers start at once, long before their results are needed */
		if (!subject.skipped)
			status = subject_request(&subject, versus->setup.store, err);
	}
	tuned_release(&tuned);
	return status;
}

static enum status open_all(struct versus *versus, struct error *err)
{
	struct setup_options options = {.path = versus->options.path,
		.device = versus->options.device,
		.cache_folder = versus->options.cache_folder};
	enum status status = setup_open(&options, &versus->setup, err);

	for (int i = 0; status == STATUS_OK && i < versus->options.file_count; i++)
		status = read_file(versus, i, err);
	return status;
}

static enum status write_json(const struct versus *versus, double seconds, struct error *err)
{
	struct json *json = setup_json(&versus->setup, "tiletune.versus/1", seconds);
	enum status status;

	json_put(json, "groups",
		summary_groups_json(versus->comparisons, versus->lt_comparison_count));
	json_put(json, "entries",
		summary_entries_json(versus->comparisons, versus->lt_comparison_count));
	status = setup_write(versus->options.output, json, err);
	json_free(json);
	return status;
}

/* Writes the file after each entry, so that an early end loses no measurement. */
static void compare_all(struct versus *versus)
{
	const double start = clock_seconds();
	struct error err = {0};

	versus->comparisons =
		memory_zeroed(versus->subject_count + 1, sizeof(*versus->comparisons));
	summary_print_head(stdout);
	for (size_t i = 0; i < versus->subject_count; i++) {
		struct lt_comparison *lt_comparison =
			&versus->comparisons[versus->lt_comparison_count++];

		lt_comparison_run(&versus->setup.gpu, &versus->setup.lt, versus->setup.store,
			&versus->subjects[i], &versus->options.lt_comparison, lt_comparison);
		summary_print_comparison(stdout, lt_comparison);
		if (versus->options.output)
			(void)write_json(versus, clock_seconds() - start, &err);
		if (lt_comparison->fatal)
			return;
	}
}

static enum status verdict(const struct versus *versus)
{
	enum status status = STATUS_OK;
	size_t compared = 0;

	for (size_t i = 0; i < versus->lt_comparison_count; i++) {
		const struct lt_comparison *lt_comparison = &versus->comparisons[i];

		compared += !lt_comparison->skipped;
		if (lt_comparison->fatal || (!lt_comparison->skipped && !lt_comparison->agrees))
			status = STATUS_FAILED;
	}
	printf("\n");
	summary_print_groups(stdout, versus->comparisons, versus->lt_comparison_count);
	if (summary_print_promises(stdout, versus->comparisons, versus->lt_comparison_count,
		    versus->options.family))
		status = STATUS_FAILED;
	return compared ? status : STATUS_FAILED;
}

static void versus_release(struct versus *versus)
{
	bool fatal = versus->lt_comparison_count &&
		     versus->comparisons[versus->lt_comparison_count - 1].fatal;

	for (size_t i = 0; i < versus->lt_comparison_count; i++)
		lt_comparison_release(&versus->comparisons[i]);
	for (size_t i = 0; i < versus->subject_count; i++)
		subject_release(&versus->subjects[i]);
	setup_release(&versus->setup, fatal);
	free(versus->comparisons);
	free(versus->subjects);
	free(versus->options.files);
}

int main(int argc, char **argv)
{
	struct versus versus = {0};
	struct error err = {0};
	double start;
	enum status status;

	if (argc == 2 && strcmp(argv[1], "worker-compile") == 0)
		return compile_worker_main();
	options_parse(&versus.options, argc, argv);
	status = open_all(&versus, &err);
	if (status == STATUS_OK) {
		setup_print(stdout, &versus.setup);
		start = clock_seconds();
		compare_all(&versus);
		status = verdict(&versus);
		printf("%zu entries in %.1f s\n", versus.lt_comparison_count,
			clock_seconds() - start);
		if (versus.options.output &&
			write_json(&versus, clock_seconds() - start, &err) != STATUS_OK)
			status = err.status;
	}
	if (err.message[0])
		fprintf(stderr, "gemm_vs_cublaslt: %s\n%s%s", err.message, err.hint,
			err.hint[0] ? "\n" : "");
	versus_release(&versus);
	return (int)status;
}
