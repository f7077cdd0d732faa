/* SPDX-License-Identifier: MIT
 *
 * The main program: finds the command, parses its options, runs it and reports errors.
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
	/* a command that does not check for interrupts ends at once; each line of the journal is
	 * already written */
	if (common_interrupted || !common_graceful)
		_Exit(STATUS_INTERRUPTED);
	common_interrupted = 1;
}

/* Ensures that no file gets the number of a standard descriptor, because messages would then be
 * written to it. A closed descriptor is replaced by one that can be neither read nor written. */
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
	signal(SIGXFSZ, SIG_IGN); /* exceeding a file size limit is reported as a full disk */
	signal(SIGPIPE, SIG_IGN); /* the end of a worker or reader must not end this process */
}

static void report(const struct error *err)
{
	CLEANUP(text_release) struct text shown = {0};

	fflush(stdout);
	text_append(&shown, "tiletune: ");
	text_append_shown(&shown, err->message, "\n\t"); /* may have several lines */
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
	/* worker processes are started with this word */
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
	/* commands that answer only by the exit code (check) have no message */
	if (status != STATUS_OK && err.message[0])
		report(&err);
	if (fflush(stdout) != 0 && status == STATUS_OK) {
		fprintf(stderr, "tiletune: cannot write to standard output: %s\n", strerror(errno));
		status = STATUS_FAILED;
	}
	return (int)status;
}
