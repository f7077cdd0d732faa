/* SPDX-License-Identifier: MIT */
#include "cli/tuning.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "record/record_write.h"

static struct json *options_json(const struct tuning *tuning)
{
	const struct tune_options *request = &tuning->request;
	struct json *options = json_new_object();

	json_put_string(options, "effort", request->effort->name);
	json_put_string(options, "where", request->candidates.where);
	if (request->candidates.config)
		json_put_string(options, "config", request->candidates.config);
	json_put_string(options, "strategy", request->strategy);
	if (tuning->options->bits)
		json_put_string(options, "bits", tuning->options->bits);
	json_put_double(options, "budget_s", request->budget_s);
	json_put_int(options, "seed", (int64_t)request->seed);
	return options;
}

void tuning_sign(struct tuning *tuning)
{
	const struct tune_options *request = &tuning->request;
	const struct context *context = &tuning->context;
	const struct device_identity *device = &context->device->identity;
	const struct tune_command *options = tuning->options;
	CLEANUP(json_release) struct json *given = options_json(tuning);
	CLEANUP(memory_free) char *printed = json_print(given, false);
	struct hash *hash = hash_new();

	hash_add_string(hash, tuning->operation->name);
	for (size_t i = 0; i < tuning->problems.count; i++)
		hash_add_string(hash, tuning->problems.items[i]->text);
	for (size_t i = 0; request->candidates.families && request->candidates.families[i]; i++)
		hash_add_string(hash, request->candidates.families[i]);
	hash_add_string(hash, objective_names[request->objective]);
	hash_add_string(hash, printed);
	hash_add_string(hash, device->kind);
	hash_add_string(hash, device->name);
	/* a shard may be continued on another GPU */
	hash_add_string(hash, options->shard ? "" : device->uuid);
	if (options->shard)
		hash_add_string(hash, options->shard);
	hash_add_string(hash, device->driver);
	if (context->compiler)
		hash_add_string(hash, compiler_identity(context->compiler));
	catalogue_hash(&context->catalogue, hash);
	hash_finish(hash, tuning->signature);
}

bool tuning_to_stdout(const struct tuning *tuning)
{
	return strcmp(tuning->output, "-") == 0;
}

void tuning_choose_files(struct tuning *tuning)
{
	const struct tune_command *options = tuning->options;

	tuning->output = string_copy(options->output ? options->output : "tuned.json");
	if (options->journal)
		tuning->journal_path = string_copy(options->journal);
	else if (string_ends_with(tuning->output, ".json")) {
		CLEANUP(text_release) struct text part = {0};

		for (size_t i = 0; i < tuning->shard.depth; i++)
			text_appendf(&part, ".shard-%u-of-%u", tuning->shard.parts[i].number,
				tuning->shard.parts[i].count);
		tuning->journal_path = string_format("%.*s%s.journal.jsonl",
			(int)(strlen(tuning->output) - strlen(".json")), tuning->output,
			text_string(&part));
	}
}

enum status tuning_check_files(
	const struct tuning *tuning, const struct string_list *inputs, struct error *err)
{
	const char *journal = tuning->options->no_journal ? NULL : tuning->options->journal;

	if (!tuning->options->output && file_expect_no_link(tuning->output, err) != STATUS_OK)
		return error_hint(err, "write to it on purpose with -o %s", tuning->output);
	TRY(common_expect_output("output", tuning->output, inputs, err));
	if (!journal && !tuning->options->no_journal && tuning->journal_path &&
		file_expect_no_link(tuning->journal_path, err) != STATUS_OK)
		return error_hint(err,
			"write to it on purpose with --journal %s, or write no journal with "
			"--no-journal",
			tuning->journal_path);
	if (journal && file_is_same(journal, tuning->output))
		return error_set(
			err, STATUS_BAD_INPUT, "--journal: %s is also the --output file", journal);
	if (journal && !*journal)
		return error_set(err, STATUS_BAD_INPUT, "--journal: the name of the file is empty");
	return STATUS_OK;
}

const char *tuning_saved_path(const struct tuning *tuning)
{
	const bool is_stream = file_exists(tuning->output) && !file_is_regular(tuning->output);

	return tuning_to_stdout(tuning) || is_stream ? NULL : tuning->output;
}

enum status tuning_open_tuned(struct tuning *tuning, struct error *err)
{
	const struct device_spec *spec = tuning->context.device->spec;
	CLEANUP(gpu_model_release)
	struct gpu_model device = gpu_model_of(spec, tuning->context.device->identity.name);

	if (tuning_to_stdout(tuning) || !tuned_exists(tuning->output)) {
		tuned_init(&tuning->tuned, tuning->output, device);
		device = (struct gpu_model){0};
		return STATUS_OK;
	}
	if (tuned_load(tuning->output, &tuning->tuned, err) != STATUS_OK)
		return error_hint(err,
			"if this is another kind of file that should be replaced, remove it first");
	tuned_complete(&tuning->tuned, &tuning->context.catalogue);
	TRY(tuned_expect_device(&tuning->tuned, &device, err));
	for (size_t i = 0; i < tuning->tuned.entry_count && !tuning->options->output; i++) {
		if (tuning->tuned.entries[i].predicted || tuning->context.device->kind->measures)
			continue;
		error_set(err, STATUS_BAD_INPUT,
			"%s has measured entries, but this run only predicts times",
			tuning->output);
		return error_hint(err, "write predicted entries to another file with -o FILE");
	}
	return STATUS_OK;
}

enum status tuning_open_known(struct tuning *tuning, enum objective objective, struct error *err)
{
	const struct string_list *paths = &tuning->options->known;

	for (size_t i = 0; i < paths->count; i++) {
		if (common_expect_tuned(paths->items[i], err) != STATUS_OK)
			return error_context(err, "--known");
		TRY(known_load(&tuning->known, paths->items[i], &tuning->context, err));
	}
	/* entries that were tuned without --bits and --shared do not answer runs with these options
	 */
	if (!tuning->options->bits && !tuning->options->shared)
		known_take(&tuning->known, &tuning->context, objective, tuning->request.seed,
			&tuning->problems, &tuning->taken, &tuning->tuned);
	return STATUS_OK;
}

/* Without a named file that a journal could be next to, runs of one signature share a journal in
 * the cache folder, so that an interrupted run is found again. */
static enum status choose_journal(struct tuning *tuning, struct error *err)
{
	CLEANUP(memory_free) char *cache = NULL, *folder = NULL;

	if (tuning->journal_path)
		return STATUS_OK;
	TRY(path_cache_folder(NULL, &cache, err));
	folder = path_join(cache, "journals");
	TRY(directory_make_own(folder, err));
	tuning->journal_path = string_format("%s/%s.journal.jsonl", folder, tuning->signature);
	TRY(file_expect_no_link(tuning->journal_path, err));
	tuning->journal_is_hidden = true;
	tuning->journal_lock =
		open(tuning->journal_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	flock(tuning->journal_lock, LOCK_SH);
	return STATUS_OK;
}

static enum status open_journal(
	struct tuning *tuning, const struct journal_run **resume, struct error *err)
{
	TRY(choose_journal(tuning, err));
	/* a pipe or device has no earlier run */
	if (!tuning->options->fresh && file_is_regular(tuning->journal_path)) {
		TRY(journal_read(tuning->journal_path, &tuning->record, err));
		common_journal_notice(&tuning->record);
		*resume = journal_resumable(&tuning->record, tuning->signature);
		if (*resume && journal_run_lives(tuning->journal_path, (*resume)->run.id))
			*resume = NULL;
	}
	return journal_open(tuning->journal_path, &tuning->journal, err);
}

static struct json *run_journal_line(const struct tuning *tuning)
{
	const struct context *context = &tuning->context;
	const struct device_identity *identity = &context->device->identity;
	struct json *json = json_new_object();
	struct run head = run_of(context, tuning->run_id);

	json_put_string(json, "format", "tiletune.journal/1");
	record_put_json(&run_line_record, &head, json);
	run_release(&head);
	json_put_string(json, "signature", tuning->signature);
	json_put_string(json, "device_kind", identity->kind);
	json_put(json, "device", gpu_model_json(context->device->spec, identity->name));
	json_put(json, "options", options_json(tuning));
	return json;
}

enum status tuning_begin(struct tuning *tuning, struct error *err)
{
	struct tune_options *request = &tuning->request;
	struct run of_tuned;

	run_new_id(tuning->run_id);
	if (!tuning->options->no_journal &&
		open_journal(tuning, &request->resume, err) != STATUS_OK)
		return error_hint(err, "name another journal with --journal FILE, or write none "
				       "with --no-journal");
	request->record = &tuning->record;
	of_tuned = run_of(&tuning->context, tuning->run_id);
	tuned_put_run(&tuning->tuned, &of_tuned);
	tuning->run.run_id = tuning->run_id;
	tuning->run.journal = tuning->journal;
	if (tuning->journal) {
		struct json *line = run_journal_line(tuning);

		json_put_string(line, "resumes", request->resume ? request->resume->run.id : NULL);
		TRY(journal_write(tuning->journal, "run", line, err));
	}
	return STATUS_OK;
}

static double milliseconds(double seconds)
{
	return rint(1e3 * seconds) / 1e3;
}

static enum status finish_run(const struct tuning *tuning, enum status outcome, struct error *err)
{
	const struct context *context = &tuning->context;
	struct json *line = json_new_object();

	json_put_string(line, "run", tuning->run_id);
	json_put_int(line, "status", (int64_t)outcome);
	json_put_double(line, "elapsed_s", milliseconds(clock_seconds() - tuning->started));
	if (context->store) {
		json_put_double(line, "compile_s",
			milliseconds(kernel_store_count(context->store).seconds));
		json_put_int(line, "workers", compiler_worker_count(context->compiler));
	}
	if (context->device->kind->measures)
		json_put_double(
			line, "device_s", milliseconds(device_busy_seconds(context->device)));
	return journal_write(tuning->journal, "finish", line, err);
}

enum status tuning_finish(struct tuning *tuning, enum status outcome, struct error *err)
{
	/* an unfinished run gets no finish line, so that it is resumed */
	if (tuning->run.unsaved || outcome == STATUS_INTERRUPTED || outcome == STATUS_NO_DEVICE)
		return STATUS_OK;
	if (tuning->journal)
		TRY(finish_run(tuning, outcome, err));
	/* the last run that uses a hidden journal removes it, because the user does not know it */
	if (tuning->journal_is_hidden && flock(tuning->journal_lock, LOCK_EX | LOCK_NB) == 0)
		unlink(tuning->journal_path);
	return STATUS_OK;
}

void tuning_release(struct tuning *tuning)
{
	journal_close(tuning->journal);
	journal_record_release(&tuning->record);
	tuned_release(&tuning->tuned);
	problem_list_release(&tuning->problems);
	problem_list_release(&tuning->taken);
	tuned_release(&tuning->known);
	common_context_release(&tuning->context);
	suite_release(&tuning->suite);
	folders_release(&tuning->folders);
	free(tuning->output);
	free(tuning->journal_path);
	if (tuning->journal_lock >= 0)
		close(tuning->journal_lock);
}
