/* SPDX-License-Identifier: MIT */
#include "learn/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_read.h"
#include "base/record_write.h"

enum {
	TIMINGS_MAX =
		10000 /* older ones are forgotten: what is fitted after each run is soon fitted */
};

static char *path_of(const char *folder, const char *device, const char *kind)
{
	return string_format("%s/learned/%s.%s", folder, device, kind);
}

enum status own_add(
	const char *folder, const char *device, const struct timings *timings, struct error *err)
{
	CLEANUP(memory_free) char *path = path_of(folder, device, "jsonl");
	CLEANUP(memory_free) char *parent = path_parent(path);
	CLEANUP(json_release) struct json *json = record_to_json(&timings_record, timings);
	CLEANUP(text_release) struct text line = {0};
	CLEANUP(file_unlock) int lock = -1;
	enum status status;
	int fd;

	json_append(json, false, &line);
	TRY(directory_make(parent, err));
	TRY(file_lock(path, &lock, err));
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_set(err, STATUS_FAILED, "%s: %s", path, strerror(errno));
	status = file_write_all(fd, line.data, line.length, err);
	close(fd);
	return status == STATUS_OK ? status : error_context(err, "%s", path);
}

/* The line that ends before `end`; NULL: there is none. */
static const char *line_before(const char *text, const char *end)
{
	if (end == text)
		return NULL;
	end--; /* its newline */
	while (end > text && end[-1] != '\n')
		end--;
	return end;
}

/* The newest timings first; *first is where those begin that are looked at. A torn line counts for
 * nothing. */
static enum status add_lines(struct training *training, const char *text, size_t length,
	const char **first, struct error *err)
{
	const char *end = text + length;
	size_t count = 0;

	for (const char *line; count < TIMINGS_MAX && (line = line_before(text, end)); end = line) {
		struct timings timings = {0};
		CLEANUP(json_release) struct json *json = NULL;
		struct json_at at;
		enum status status;

		if (json_parse(line, (size_t)(end - line), "", &json, NULL) != STATUS_OK)
			continue;
		at = json_root(json, "");
		if (record_from_json(&timings_record, &at, &timings, NULL, NULL) != STATUS_OK)
			continue;
		count += timings.count;
		status = training_add(training, &timings, err);
		record_release(&timings_record, &timings);
		TRY(status);
	}
	*first = end;
	return STATUS_OK;
}

static enum status read_timings(struct training *training, const char *path, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};
	CLEANUP(file_unlock) int lock = -1;
	const char *first;

	TRY(file_lock(path, &lock, err));
	TRY(file_read(path, &text, err));
	TRY(add_lines(training, text_string(&text), text.length, &first, err));
	/* what is too old goes */
	return first == text_string(&text)
		       ? STATUS_OK
		       : file_write(path, first, text.length - (size_t)(first - text.data), err);
}

enum status own_fit(const char *folder, const struct device_spec *device,
	const struct catalogue *catalogue, const struct learned *learned, struct error *err)
{
	const struct learned shipped = {
		.layers = {learned ? learned->layers[0] : (struct learned_file){0}}};
	struct device_spec spec = *device;
	CLEANUP(training_release)
	struct training training = {.catalogue = catalogue, .device = &spec};
	CLEANUP(learned_file_release) struct learned_file file = {0};
	CLEANUP(memory_free) char *path = path_of(folder, device->name, "json");
	CLEANUP(memory_free) char *timings = path_of(folder, device->name, "jsonl");
	CLEANUP(json_release) struct json *json = NULL;
	CLEANUP(text_release) struct text text = {0};

	spec.learned = &shipped;
	if (!file_exists(timings))
		return STATUS_OK;
	TRY(read_timings(&training, timings, err));
	training_fit(&training, false, &file);
	file.base = learned_identity(&shipped.layers[0]);
	json = record_to_json(&learned_file_record, &file);
	json_append(json, true, &text);
	return file_write(path, text.data, text.length, err);
}

enum status own_drop(const char *folder, const char *device, bool *found, struct error *err)
{
	static const char *const kinds[] = {"json", "jsonl"};

	*found = false;
	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		CLEANUP(memory_free) char *path = path_of(folder, device, kinds[i]);

		if (unlink(path) == 0)
			*found = true;
		else if (errno != ENOENT)
			return error_set(err, STATUS_FAILED, "%s: %s", path, strerror(errno));
	}
	return STATUS_OK;
}
