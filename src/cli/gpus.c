/* SPDX-License-Identifier: MIT */
#include "cli/gpus.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "device/selection.h"
#include "process/host_limits.h"
#include "process/worker.h"

enum {
	LOSSES_MAX = 2,          /* a part is given up after this number of lost GPUs */
	ADDED_ARGUMENTS_MAX = 16 /* added to the command line of this process */
};

/* The anchor's time depends only on the clock: 1160.6 to 1171.0 us (0.9%) in 103 runs on 27
 * H200s. */
static const double anchor_tolerance = 0.015;
/* Interrupted processes have this long to save their results before they are killed. */
static const double interrupted_s = 5, wait_s = 0.2;

struct gpu_part {
	unsigned losses;
	bool is_waiting;
};

struct gpu {
	struct device_listing listing;
	bool is_lost;
	struct worker process; /* pid is 0 if it is not running */
	struct gpu_part *part; /* the part that the process tunes */
	off_t stderr_read;
	struct text stderr_line, message; /* message: how the process explains its failure */
};

struct gpus_run {
	struct tuning *tuning;
	FILE *out;
	struct gpu *gpus;
	struct gpu_part *parts;
	size_t gpu_count, part_count;
	struct text command; /* arguments of this process, each terminated by a zero byte */
	const char *tuned,
		*wrote; /* the processes' tuned file, and the last line that each prints */
	bool progress;
	struct name_set said; /* lines printed on stderr so far; each is printed once */
	struct error err;     /* the first error, if any */
	bool ends;            /* start no further processes */
	bool interrupted;
};

static size_t running(const struct gpus_run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->gpu_count; i++)
		count += run->gpus[i].process.pid > 0;
	return count;
}

static unsigned workers_of(const struct gpus_run *run)
{
	const unsigned asked = run->tuning->options->device.compiler.workers;
	const unsigned all = asked ? asked : host_workers("/");

	return all > run->part_count ? all / (unsigned)run->part_count : 1;
}

/* Returns the arguments of this process with `replacing` inserted, before "--" if there is one. If
 * an option is repeated, the last value counts. The caller frees the array. */
static const char **arguments_of(const struct gpus_run *run, const char *const *replacing)
{
	const struct text *command = &run->command;
	const char **items =
		memory_zeroed(command->length + ADDED_ARGUMENTS_MAX + 1, sizeof(*items));
	size_t count = 0, at = 0;

	for (; at < command->length && strcmp(command->data + at, "--") != 0;
		at += strlen(command->data + at) + 1)
		items[count++] = command->data + at;
	for (size_t i = 0; replacing[i]; i++)
		items[count++] = replacing[i];
	for (; at < command->length; at += strlen(command->data + at) + 1)
		items[count++] = command->data + at;
	return items;
}

static void gpus_start(struct gpus_run *run, struct gpu *gpu, struct gpu_part *part)
{
	const struct tuning *tuning = run->tuning;
	const char *outer = tuning->options->shard;
	CLEANUP(memory_free) char *executable = path_executable();
	CLEANUP(memory_free) char *device = string_format("cuda:%s", gpu->listing.identity.uuid);
	CLEANUP(memory_free)
	char *shard = string_format("%s%s%zu/%zu", outer ? outer : "", outer ? "," : "",
		(size_t)(part - run->parts) + 1, run->part_count);
	CLEANUP(memory_free) char *workers = string_format("%u", workers_of(run));
	const char *replacing[ADDED_ARGUMENTS_MAX] = {"--device", device, "--shard", shard,
		"--output", run->tuned, "--workers", workers, "--no-json",
		run->progress ? "--progress" : "--no-progress",
		tuning->journal_path ? "--journal" : NULL, tuning->journal_path};
	CLEANUP(memory_free) const char **arguments = arguments_of(run, replacing);

	arguments[0] = executable;
	gpu->part = part;
	part->is_waiting = false;
	if (worker_start_program(&gpu->process, common_worker(), arguments, NULL,
		    memfd_create("gpu-stderr", MFD_CLOEXEC), &run->err) != STATUS_OK)
		run->ends = true;
}

static void print_stderr(struct gpus_run *run, struct gpu *gpu, const char *piece)
{
	const size_t known = run->said.count;

	if (string_starts_with(piece, "tiletune: ") || gpu->message.length) {
		text_append(&gpu->message, piece);
		return;
	}
	if (string_ends_with(piece, "\n"))
		name_set_add(&run->said, piece, strlen(piece));
	if (run->said.count > known || !string_ends_with(piece, "\n"))
		fputs(piece, stderr);
}

/* Prints complete lines that arrived since the last call. Progress lines end with a carriage
 * return. */
static void forward_stderr(struct gpus_run *run, struct gpu *gpu)
{
	char bytes[4096];
	ssize_t got;

	while ((got = pread(gpu->process.stderr_fd, bytes, sizeof(bytes), gpu->stderr_read)) > 0) {
		gpu->stderr_read += got;
		for (ssize_t i = 0; i < got; i++) {
			text_append_char(&gpu->stderr_line, bytes[i]);
			if (bytes[i] != '\n' && bytes[i] != '\r')
				continue;
			print_stderr(run, gpu, text_string(&gpu->stderr_line));
			text_clear(&gpu->stderr_line);
		}
	}
}

/* Returns false if the process closed its output. */
static bool forward_stdout(struct gpus_run *run, struct gpu *gpu)
{
	for (;;) {
		CLEANUP(text_release) struct text line = {0};
		const enum message_result result =
			line_receive(gpu->process.from_fd, &gpu->process.pending, 0, &line);

		if (result == MESSAGE_READY && strcmp(text_string(&line), run->wrote) != 0)
			fprintf(run->out, "%s\n", text_string(&line));
		else if (result != MESSAGE_READY) {
			fflush(run->out);
			return result == MESSAGE_NONE;
		}
	}
}

static void keep_error(struct gpus_run *run, enum status status, const char *message)
{
	if (run->err.status != STATUS_OK)
		return;
	error_set(&run->err, status, "%s", "");
	error_lines(&run->err, message); /* its last line may be a hint */
}

/* Moves the part to another GPU, unless the part itself may cause the losses. */
static void lose(struct gpus_run *run, struct gpu *gpu, const char *message)
{
	common_notice("%s takes no more problems: %.*s", gpu->listing.identity.uuid,
		(int)strcspn(message, "\n"), message);
	gpu->is_lost = true;
	gpu->part->is_waiting = ++gpu->part->losses < LOSSES_MAX;
	if (!gpu->part->is_waiting)
		keep_error(run, STATUS_NO_DEVICE, message);
}

static void gpus_finish(struct gpus_run *run, struct gpu *gpu)
{
	CLEANUP(text_release) struct text how = {0};
	const char *message;
	int code;

	forward_stderr(run, gpu);
	if (gpu->stderr_line.length) {
		text_append_char(&gpu->stderr_line, '\n');
		print_stderr(run, gpu, text_string(&gpu->stderr_line));
	}
	code = worker_end(&gpu->process, &how);
	while (gpu->message.length && gpu->message.data[gpu->message.length - 1] == '\n')
		gpu->message.data[--gpu->message.length] = '\0';
	message = gpu->message.length ? gpu->message.data + strlen("tiletune: ") : NULL;
	if (code == STATUS_INTERRUPTED)
		run->interrupted = true;
	else if (code == STATUS_NO_DEVICE || code < 0)
		lose(run, gpu, message ? message : text_string(&how));
	else if (code != STATUS_OK) {
		keep_error(run, (enum status)code, message ? message : text_string(&how));
		run->ends |= code == STATUS_BAD_INPUT;
	}
	text_release(&gpu->message);
	text_release(&gpu->stderr_line);
	gpu->stderr_read = 0;
}

static void start_all(struct gpus_run *run)
{
	for (size_t g = 0; g < run->gpu_count; g++)
		for (size_t p = 0; p < run->part_count && !run->ends; p++)
			if (run->parts[p].is_waiting && !run->gpus[g].is_lost &&
				!run->gpus[g].process.pid)
				gpus_start(run, &run->gpus[g], &run->parts[p]);
}

static void wait_for_output(const struct gpus_run *run)
{
	CLEANUP(memory_free) struct pollfd *fds = memory_zeroed(run->gpu_count + 1, sizeof(*fds));
	nfds_t count = 0;

	for (size_t i = 0; i < run->gpu_count; i++)
		if (run->gpus[i].process.pid)
			fds[count++] = (struct pollfd){
				.fd = run->gpus[i].process.from_fd, .events = POLLIN};
	poll(fds, count, (int)(1e3 * wait_s));
}

static void forward_all(struct gpus_run *run)
{
	wait_for_output(run);
	for (size_t i = 0; i < run->gpu_count; i++) {
		struct gpu *gpu = &run->gpus[i];

		if (!gpu->process.pid)
			continue;
		forward_stderr(run, gpu);
		if (!forward_stdout(run, gpu))
			gpus_finish(run, gpu);
	}
}

/* Ends all processes, and kills those that do not end in time. */
static void end_all(struct gpus_run *run)
{
	const double end_s = clock_seconds() + interrupted_s;

	for (size_t i = 0; i < run->gpu_count && run->interrupted; i++)
		if (run->gpus[i].process.pid)
			kill(-run->gpus[i].process.pid, SIGINT);
	while (run->interrupted && running(run) && clock_seconds() < end_s)
		forward_all(run);
	for (size_t i = 0; i < run->gpu_count; i++)
		worker_end(&run->gpus[i].process, NULL);
}

static void watch(struct gpus_run *run)
{
	start_all(run);
	while (running(run) && !run->ends && !run->interrupted) {
		forward_all(run);
		run->interrupted |= common_interrupted;
		if (!run->interrupted)
			start_all(run);
	}
	end_all(run);
}

static enum status outcome(const struct gpus_run *run, struct error *err)
{
	size_t waiting = 0;

	if (run->interrupted)
		return error_set(err, STATUS_INTERRUPTED,
			"interrupted; run the same command again to resume");
	for (size_t i = 0; i < run->part_count; i++)
		waiting += run->parts[i].is_waiting;
	if (run->err.status == STATUS_OK && waiting) {
		error_set(err, STATUS_NO_DEVICE, "all GPUs failed; %zu of %zu parts were not tuned",
			waiting, run->part_count);
		return error_hint(err, "all measurements are in the journal; run the same command "
				       "again to resume");
	}
	if (run->err.status != STATUS_OK)
		*err = run->err;
	return run->err.status;
}

/* Leaves out GPUs that other processes use, unless the user wants to wait for them. */
static enum status choose_gpus(
	struct gpus_run *run, const struct gpu_selection *selection, struct error *err)
{
	const char *busy = NULL;

	run->gpus = memory_zeroed(selection->chosen_count + 1, sizeof(*run->gpus));
	for (size_t i = 0; i < selection->chosen_count; i++) {
		const size_t index = selection->chosen[i];
		const struct device_listing *listing = &selection->list[index];

		if (listing->busy_by[0] && run->tuning->options->device.machine.wait_s <= 0) {
			common_notice("cuda:%zu is left out: %s is measuring on it", index,
				listing->busy_by);
			busy = listing->busy_by;
		} else {
			run->gpus[run->gpu_count++] = (struct gpu){.listing = *listing};
		}
	}
	if (run->gpu_count || !busy)
		return STATUS_OK;
	error_set(
		err, STATUS_NO_DEVICE, "all GPUs are busy; %s is measuring on the last one", busy);
	return error_hint(err, "wait for them with --wait 10m");
}

static void compare_anchors(const struct gpus_run *run, const struct tuned *tuned)
{
	const char *first_uuid = NULL;
	double first_us = 0;

	for (size_t g = 0; g < run->gpu_count; g++) {
		const char *uuid = run->gpus[g].listing.identity.uuid;
		double anchor_us = 0, ratio;

		for (size_t i = 0; i < tuned->run_count; i++)
			if (tuned->runs[i].uuid && strcmp(tuned->runs[i].uuid, uuid) == 0)
				anchor_us = tuned->runs[i].anchor_us;
		if (!(anchor_us > 0))
			continue;
		if (!first_uuid) {
			first_uuid = uuid;
			first_us = anchor_us;
		}
		ratio = anchor_us / first_us - 1;
		if (fabs(ratio) > anchor_tolerance)
			common_notice("%s runs a fixed kernel %.0f%% %s than %s; do not compare "
				      "the times of problems that it tuned",
				uuid, 100 * fabs(ratio), ratio > 0 ? "slower" : "faster",
				first_uuid);
	}
}

static void gpus_run_release(struct gpus_run *run)
{
	for (size_t i = 0; i < run->gpu_count; i++) {
		text_release(&run->gpus[i].stderr_line);
		text_release(&run->gpus[i].message);
	}
	free(run->gpus);
	free(run->parts);
	text_release(&run->command);
	name_set_release(&run->said);
}

enum status gpus_tune(struct tuning *tuning, const char *path, const char *wrote, FILE *out,
	bool progress, struct error *err)
{
	CLEANUP(gpu_selection_release) struct gpu_selection selection = {0};
	CLEANUP(tuned_release) struct tuned tuned = {0};
	CLEANUP(gpus_run_release)
	struct gpus_run run = {
		.tuning = tuning, .out = out, .tuned = path, .wrote = wrote, .progress = progress};
	const struct device_options machine = {
		.config_folders = tuning->folders.configs, .worker_path = common_worker()};

	TRY(gpu_selection_open(&machine, tuning->options->device.device, &selection, err));
	TRY(choose_gpus(&run, &selection, err));
	TRY(file_read("/proc/self/cmdline", &run.command, err));
	run.part_count =
		run.gpu_count < tuning->problems.count ? run.gpu_count : tuning->problems.count;
	run.parts = memory_zeroed(run.part_count + 1, sizeof(*run.parts));
	for (size_t i = 0; i < run.part_count; i++)
		run.parts[i].is_waiting = true;
	common_graceful = 1;
	watch(&run);
	if (file_exists(path) && tuned_load(path, &tuned, NULL) == STATUS_OK)
		compare_anchors(&run, &tuned);
	return outcome(&run, err);
}
