/* SPDX-License-Identifier: MIT */
#include "compile/tile.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "compile/nvrtc.h"
#include "compile/nvrtc_find.h"

static const char install_hint[] =
	"pip install \"tiletune[tile]\", or name a folder of CUDA 13.3 or newer in TILETUNE_TILE";

enum part {
	PART_ASSEMBLER,
	PART_NVRTC,
	PART_COUNT = 6
};

static const struct {
	const char *pattern, *name;
} parts[PART_COUNT] = {
	[PART_ASSEMBLER] = {"/bin/tileiras", "bin/tileiras (package nvidia-cuda-tileiras)"},
	[PART_NVRTC] = {"/{lib64,lib,targets/*/lib}/libnvrtc.so.[0-9]*",
		"libnvrtc.so (package nvidia-cuda-nvrtc)"},
	{"/bin/ptxas", "bin/ptxas (package nvidia-cuda-nvcc)"},
	{"/{,nvvm/}lib{,64}/libnvvm.so.[0-9]*", "libnvvm.so (package nvidia-nvvm)"},
	{"/{include,targets/*/include}/cuda_tile.h",
		"include/cuda_tile.h (package nvidia-cuda-runtime)"},
	{"/{include,targets/*/include}/crt/cuda_tile.h",
		"include/crt/cuda_tile.h (package nvidia-cuda-crt)"},
};

/* Returns whether a build precedes CUDA 13.3, the first with tile kernels. */
static bool is_old(const char *build)
{
	int major, minor;

	return sscanf(build, "V%d.%d", &major, &minor) == 2 && 100 * major + minor < 1303;
}

/* Uses a folder with an assembler if it is complete. Otherwise appends what it lacks. */
static void take_folder(const char *folder, struct tile_toolkit *toolkit, struct text *lacks)
{
	glob_t files[PART_COUNT] = {0};
	CLEANUP(memory_free) char *nvrtc_build = NULL;
	CLEANUP(memory_free) char *build = NULL;
	size_t count = 0;

	while (count < PART_COUNT && glob_below(folder, parts[count].pattern, &files[count]))
		count++;
	if (count == PART_COUNT) {
		nvrtc_build = nvrtc_file_build(files[PART_NVRTC].gl_pathv[0]);
		build = nvrtc_file_build(files[PART_ASSEMBLER].gl_pathv[0]);
	}
	if (nvrtc_build && build && (is_old(nvrtc_build) || is_old(build)))
		text_appendf(lacks, "\n  %s is older than CUDA 13.3: NVRTC %s, tileiras %s", folder,
			nvrtc_build, build);
	else if (nvrtc_build && build)
		*toolkit = (struct tile_toolkit){.folder = string_copy(folder),
			.nvrtc = string_copy(files[PART_NVRTC].gl_pathv[0]),
			.identity = string_format("NVRTC %s, tileiras %s", nvrtc_build, build)};
	else if (count == PART_COUNT)
		text_appendf(lacks, "\n  %s: libnvrtc.so or tileiras cannot be read", folder);
	else if (count)
		text_appendf(lacks, "\n  %s has no %s", folder, parts[count].name);
	for (size_t i = 0; i < PART_COUNT; i++)
		globfree(&files[i]);
}

enum status tile_toolkit_find(
	const char *executable_folder, struct tile_toolkit *toolkit, struct error *err)
{
	const char *given = getenv("TILETUNE_TILE");
	const struct {
		const char *folder, *below;
	} places[] = {
		{given, ""},
		{getenv("CUDA_HOME"), ""},
		{getenv("CUDA_PATH"), ""},
		{executable_folder, "/.." CUDA_WHEELS},
		{executable_folder, "/{../,../../}cuda{,-tile}/{,nvidia/cu*}"},
		{getenv("VIRTUAL_ENV"), CUDA_WHEELS},
		{"", "/usr/local/{cuda,cuda-*}"},
		{"", "/opt/cuda"},
	};
	CLEANUP(text_release) struct text lacks = {0};

	*toolkit = (struct tile_toolkit){0};
	/* a place that the user names excludes all others */
	for (size_t i = 0; i < (given && *given ? 1 : ARRAY_COUNT(places)); i++) {
		glob_t folders = {0};

		if (!places[i].folder || !glob_below(places[i].folder, places[i].below, &folders))
			continue;
		/* names are sorted, so the last one is the newest */
		for (size_t k = folders.gl_pathc; k-- > 0 && !toolkit->folder;)
			take_folder(folders.gl_pathv[k], toolkit, &lacks);
		globfree(&folders);
		if (toolkit->folder)
			return STATUS_OK;
	}
	error_set(err, STATUS_NO_DEVICE, "no toolkit for CUDA Tile C++: %s%s%s",
		lacks.length ? "every toolkit found lacks files" : "tileiras was not found",
		given && *given ? " in TILETUNE_TILE=" : "", given && *given ? given : "");
	if (lacks.length)
		error_lines(err, lacks.data);
	return error_hint(err, "%s", install_hint);
}

void tile_toolkit_release(struct tile_toolkit *toolkit)
{
	free(toolkit->folder);
	free(toolkit->nvrtc);
	free(toolkit->identity);
	*toolkit = (struct tile_toolkit){0};
}

/* The assembler takes 1 to 24 s. The limit of the compilation is longer, so that this process
 * survives an assembler that hangs. */
enum {
	limit_seconds = 100
};

/* Runs in a forked child, because posix_spawn cannot request a signal at the parent's end. */
static _Noreturn void become_assembler(
	char *const *arguments, char *const *environment, int output_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	alarm(limit_seconds);
	if (dup2(output_fd, STDOUT_FILENO) >= 0 && dup2(output_fd, STDERR_FILENO) >= 0)
		execve(arguments[0], arguments, environment);
	_exit(127);
}

static enum outcome wait_assembler(pid_t pid, struct text *log)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return OUTCOME_COMPILE_CRASHED;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return OUTCOME_OK;
	if (WIFEXITED(status) && WEXITSTATUS(status) != 127) {
		text_appendf(log, "error: tileiras ended with exit code %d\n", WEXITSTATUS(status));
		return OUTCOME_COMPILE_FAILED;
	}
	kill(-pid, SIGKILL);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
		text_appendf(log, "error: tileiras took longer than %d s\n", limit_seconds);
		return OUTCOME_COMPILE_TIMEOUT;
	}
	if (WIFSIGNALED(status))
		text_appendf(log, "error: tileiras was killed by signal %d (%s)\n",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		text_append(log, "error: tileiras did not start\n");
	return OUTCOME_COMPILE_CRASHED;
}

/* A file that the child inherits and both processes can open by path. */
struct memory_file {
	int fd;
	char path[32];
};

static struct memory_file memory_file_make(const char *name)
{
	struct memory_file file = {.fd = memfd_create(name, 0)};

	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file;
}

enum outcome tile_assemble(const char *folder, const char *arch, const struct text *tile_ir,
	struct text *cubin, struct text *log)
{
	struct memory_file files[] = {
		memory_file_make("tile_ir"), memory_file_make("cubin"), memory_file_make("output")};
	const struct memory_file *input = &files[0], *result = &files[1], *output = &files[2];
	CLEANUP(memory_free) char *program = path_join(folder, "bin/tileiras");
	CLEANUP(memory_free) char *target = string_format("--gpu-name=%s", arch);
	CLEANUP(memory_free) char *home = string_format("CUDA_HOME=%s", folder);
	CLEANUP(memory_free) char *path = string_format("PATH=%s/bin:/usr/bin:/bin", folder);
	char option_output[] = "-o";
	char *const arguments[] = {
		program, target, files[0].path, option_output, files[1].path, NULL};
	char *const environment[] = {home, path, NULL};
	enum outcome answer = OUTCOME_COMPILE_CRASHED;
	pid_t pid = -1;

	if (file_write_all(input->fd, tile_ir->data, tile_ir->length, NULL) == STATUS_OK)
		pid = fork();
	if (pid == 0)
		become_assembler(arguments, environment, output->fd);
	if (pid > 0) {
		answer = wait_assembler(pid, log);
		(void)file_read(output->path, log, NULL);
		if (answer == OUTCOME_OK && file_read(result->path, cubin, NULL) != STATUS_OK)
			answer = OUTCOME_COMPILE_CRASHED;
	} else {
		text_appendf(log, "error: tileiras did not start: %s\n", strerror(errno));
	}
	for (size_t i = 0; i < ARRAY_COUNT(files); i++)
		if (files[i].fd >= 0)
			close(files[i].fd);
	return answer;
}
