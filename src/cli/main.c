/* SPDX-License-Identifier: MIT
 *
 * tiletune: finds the command, parses its options, runs it, says what went wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/common.h"
#include "compile/worker.h"
#include "measure/worker.h"
#include "process/worker.h"

static void interrupt(int signal_number)
{
	(void)signal_number;
	/* the command does not look at it: the process ends at once; the journal is written line by
	 * line anyway */
	if (common_interrupted || !common_graceful)
		_Exit(STATUS_INTERRUPTED);
	common_interrupted = 1;
}

/* A file that is opened must not take a standard descriptor's number: console text would go into
 * it. A closed descriptor becomes one that can be neither read nor written. */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_Exit(STATUS_FAILED);
}

static void handle_signals(void)
{
	struct sigaction action = {.sa_handler = interrupt};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGXFSZ, SIG_IGN); /* a file at its limit is a full disk */
	signal(SIGPIPE, SIG_IGN); /* a worker or a reader that is gone is an error, not our end */
}

static void report(const struct error *err)
{
	CLEANUP(text_release) struct text shown = {0};

	fflush(stdout);
	text_append(&shown, "tiletune: ");
	text_append_shown(&shown, err->message, "\n\t"); /* a compiler's words have lines */
	text_append(&shown, err->hint[0] ? "\nhint: " : "");
	text_append_shown(&shown, err->hint, "\n\t");
	fprintf(stderr, "%s\n", shown.data);
}

static enum status run_command(
	const struct command *command, int count, char **arguments, struct error *err)
{
	CLEANUP(memory_free) void *options = memory_zeroed(1, command->options_size);
	CLEANUP(string_list_release) struct string_list positional = {0};
	CLEANUP(text_release) struct text help_text = {0};
	bool help;
	enum status status =
		option_parse(command, count, arguments, options, &positional, &help, err);

	if (status == STATUS_OK && help) {
		option_help(command, &help_text);
		status = common_write("-", &help_text, err);
	} else if (status == STATUS_OK) {
		status = command->run(options, &positional, err);
	}
	option_release(command, options);
	return status;
}

int main(int count, char **arguments)
{
	struct error err = {0};
	const char *name = count > 1 ? arguments[1] : "help";
	const struct command *command;
	enum status status;

	hold_standard_descriptors();
	handle_signals();
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	if (strcmp(name, "--version") == 0) {
		printf("tiletune %s%s%s\n", tiletune_version, tiletune_commit[0] ? " " : "",
			tiletune_commit);
		return fflush(stdout) == 0 ? STATUS_OK : STATUS_FAILED;
	}
	/* what worker processes are started with */
	if (strcmp(name, "worker-compile") == 0)
		return compile_worker_main();
	if (strcmp(name, "worker-measure") == 0)
		return measure_worker_main();
	if (strcmp(name, worker_program_command) == 0)
		return worker_program_main(count - 2, arguments + 2);
	command = command_find(name);
	if (command)
		status = run_command(command, count > 2 ? count - 2 : 0, arguments + 2, &err);
	else
		status = command_unknown(name, &err);
	/* a command that answers by its exit code alone (check) leaves no message */
	if (status != STATUS_OK && err.message[0])
		report(&err);
	if (fflush(stdout) != 0 && status == STATUS_OK) {
		fprintf(stderr, "tiletune: writing to standard output: %s\n", strerror(errno));
		status = STATUS_FAILED;
	}
	return (int)status;
}
