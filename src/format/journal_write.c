/* SPDX-License-Identifier: MIT
 *
 * The writing half of format/journal.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "format/journal.h"

struct journal {
	int fd;
	char *path;
	bool regular; /* else a pipe or a device: nothing to repair or truncate */
	bool failed;  /* a line could not be written */
};

/* Ends a torn line, so that the next one stands alone. Refuses gzip. */
static enum status repair_tail(int fd, const char *path, struct error *err)
{
	unsigned char magic[2];
	struct stat info;
	char last;

	if (fstat(fd, &info) != 0 || info.st_size == 0)
		return STATUS_OK;
	if (pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a plain journal to append to, found a compressed one", path);
	if (pread(fd, &last, 1, info.st_size - 1) == 1 && last != '\n')
		return file_write_all(fd, "\n", 1, err);
	return STATUS_OK;
}

enum status journal_open(const char *path, struct journal **journal, struct error *err)
{
	char *folder = path_parent(path);
	enum status status = directory_make(folder, err);
	struct stat info;
	int fd = -1;

	*journal = NULL;
	free(folder);
	if (status != STATUS_OK)
		return error_context(err, "journal %s", path);
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_set(
			err, STATUS_BAD_INPUT, "journal %s: opening: %s", path, strerror(errno));
	status = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? repair_tail(fd, path, err)
								: STATUS_OK;
	if (status != STATUS_OK) {
		close(fd);
		return status;
	}
	*journal = memory_zeroed(1, sizeof(**journal));
	(*journal)->fd = fd;
	(*journal)->path = string_copy(path);
	(*journal)->regular = S_ISREG(info.st_mode);
	return STATUS_OK;
}

enum status journal_write(
	struct journal *journal, const char *event, struct json *line, struct error *err)
{
	struct json_at members = json_root(line, journal->path);
	struct json *whole = json_new_object();
	char *printed;
	struct text text = {0};
	off_t before = journal->regular ? lseek(journal->fd, 0, SEEK_END) : 0;
	enum status status;

	if (journal->failed) {
		json_free(whole);
		json_free(line);
		return error_set(err, STATUS_FAILED,
			"journal %s: nothing more is written after a failure", journal->path);
	}
	json_put_string(whole, "event", event);
	for (size_t i = 0; i < json_count(&members); i++) {
		struct json_at member = json_item(&members, i);

		json_put(whole, member.key, json_copy(member.node));
	}
	printed = json_print(whole, false);
	text_appendf(&text, "%s\n", printed);
	status = file_write_all(journal->fd, text.data, text.length, err);
	if (status != STATUS_OK) {
		journal->failed = true;
		/* half a line on a full disk: take it back, the rest stays readable either way */
		if (journal->regular && ftruncate(journal->fd, before) != 0)
			error_context(err, "a torn last line is left");
		error_context(err, "journal %s", journal->path);
		error_hint(err, "what was written before is intact; run again to resume");
	}
	free(printed);
	text_release(&text);
	json_free(whole);
	json_free(line);
	return status;
}

const char *journal_path(const struct journal *journal)
{
	return journal->path;
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	fdatasync(journal->fd);
	close(journal->fd);
	free(journal->path);
	free(journal);
}
