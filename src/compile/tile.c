/* SPDX-License-Identifier: MIT */
#include "compile/tile.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "compile/nvrtc.h"

/* ---- finding the toolkit ---- */
/* Pattern below a folder with Python packages. */
#define WHEELS "/lib/python3*/{site,dist}-packages/nvidia/cu*"

static const char install_hint[] =
	"pip install \"tiletune[tile]\", or name a folder of CUDA 13.3 or newer in TILETUNE_TILE";

/* The first match of a pattern below the folder, or NULL. The caller frees it. */
static char *find_file(const char *folder, const char *pattern)
{
	CLEANUP(memory_free) char *all = path_join(folder, pattern);
	glob_t files = {0};
	char *found = NULL;

	if (glob(all, GLOB_BRACE, NULL, &files) == 0)
		found = string_copy(files.gl_pathv[0]);
	globfree(&files);
	return found;
}

/* Fills in the toolkit if the folder is complete. Otherwise appends a line with the missing
 * files to `lacks`, unless the folder has no assembler at all. */
static bool take_folder(const char *folder, struct tile_toolkit *toolkit, struct text *lacks)
{
	static const struct {
		const char *pattern, *name;
	} parts[] = {
		{"bin/tileiras", "bin/tileiras (package nvidia-cuda-tileiras)"},
		{"bin/ptxas", "bin/ptxas (package nvidia-cuda-nvcc)"},
		{"{,nvvm/}lib{,64}/libnvvm.so.[0-9]*", "libnvvm.so (package nvidia-nvvm)"},
		{"{include,targets/*/include}/cuda_tile.h",
			"include/cuda_tile.h (package nvidia-cuda-runtime)"},
		{"{include,targets/*/include}/crt/cuda_tile.h",
			"include/crt/cuda_tile.h (package nvidia-cuda-crt)"},
	};
	CLEANUP(memory_free) char *nvrtc = NULL;
	CLEANUP(memory_free) char *assembler = NULL;
	CLEANUP(memory_free) char *nvrtc_build = NULL;
	CLEANUP(memory_free) char *build = NULL;

	for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
		char *file = find_file(folder, parts[i].pattern);

		if (!file) {
			if (i > 0)
				text_appendf(lacks, "\n  %s has no %s", folder, parts[i].name);
			free(assembler);
			assembler = NULL;
			return false;
		}
		if (i == 0)
			assembler = file;
		else
			free(file);
	}
	nvrtc = find_file(folder, "{lib64,lib,targets/*/lib}/libnvrtc.so.[0-9]*");
	if (!nvrtc) {
		text_appendf(
			lacks, "\n  %s has no libnvrtc.so (package nvidia-cuda-nvrtc)", folder);
		return false;
	}
	nvrtc_build = nvrtc_file_build(nvrtc);
	build = nvrtc_file_build(assembler);
	if (!nvrtc_build || !build) {
		text_appendf(lacks, "\n  %s: libnvrtc.so or tileiras cannot be read", folder);
		return false;
	}
	*toolkit = (struct tile_toolkit){.folder = string_copy(folder),
		.nvrtc = nvrtc,
		.identity = string_format("NVRTC %s, tileiras %s", nvrtc_build, build)};
	nvrtc = NULL;
	return true;
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
		{executable_folder, "/.." WHEELS},
		{executable_folder, "/{../,../../}cuda{,-tile}/{,nvidia/cu*}"},
		{getenv("VIRTUAL_ENV"), WHEELS},
		{"", "/usr/local/{cuda,cuda-*}"},
		{"", "/opt/cuda"},
	};
	CLEANUP(text_release) struct text lacks = {0};

	*toolkit = (struct tile_toolkit){0};
	/* if the user names a folder, no other place is searched */
	for (size_t i = 0; i < (given && *given ? 1 : ARRAY_COUNT(places)); i++) {
		CLEANUP(memory_free)
		char *pattern = places[i].folder
					? string_format("%s%s", places[i].folder, places[i].below)
					: NULL;
		glob_t folders = {0};

		if (!pattern || !*pattern || glob(pattern, GLOB_BRACE, NULL, &folders) != 0)
			continue;
		/* names are sorted, so the last one is the newest */
		for (size_t k = folders.gl_pathc; k-- > 0 && !toolkit->folder;)
			take_folder(folders.gl_pathv[k], toolkit, &lacks);
		globfree(&folders);
		if (toolkit->folder)
			return STATUS_OK;
	}
	error_set(err, STATUS_NO_DEVICE, "no toolkit for CUDA Tile C++: tileiras was not found%s%s",
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

/* ---- the assembler ---- */
enum {
	IR_FD = 3, /* descriptors in the child */
	CUBIN_FD,
};

static void start_assembler(
	char *const *arguments, char *const *environment, int ir_fd, int cubin_fd, int output_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* move both above the numbers used in the child, so that dup2() cannot overwrite either */
	ir_fd = fcntl(ir_fd, F_DUPFD, 10);
	cubin_fd = fcntl(cubin_fd, F_DUPFD, 10);
	output_fd = fcntl(output_fd, F_DUPFD, 10);
	if (dup2(output_fd, STDOUT_FILENO) < 0 || dup2(output_fd, STDERR_FILENO) < 0 ||
		dup2(ir_fd, IR_FD) < 0 || dup2(cubin_fd, CUBIN_FD) < 0)
		_exit(127);
	execve(arguments[0], arguments, environment);
	_exit(127);
}

static int memory_file(const char *name, const struct text *content)
{
	const int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd >= 0 && content &&
		file_write_all(fd, content->data, content->length, NULL) != STATUS_OK) {
		close(fd);
		return -1;
	}
	return fd;
}

static void memory_file_read(int fd, struct text *content)
{
	char bytes[4096];
	ssize_t count;

	lseek(fd, 0, SEEK_SET);
	while ((count = read(fd, bytes, sizeof(bytes))) > 0)
		text_append_bytes(content, bytes, (size_t)count);
}

static enum tile_answer wait_assembler(pid_t pid, struct text *log)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return TILE_BROKEN;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return TILE_ASSEMBLED;
	if (WIFEXITED(status) && WEXITSTATUS(status) != 127) {
		text_appendf(log, "error: tileiras ended with exit code %d\n", WEXITSTATUS(status));
		return TILE_REFUSED;
	}
	if (WIFSIGNALED(status))
		text_appendf(log, "error: tileiras was ended by signal %d (%s)\n", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		text_append(log, "error: tileiras did not start\n");
	return TILE_BROKEN;
}

enum tile_answer tile_assemble(const char *folder, const char *arch, const struct text *tile_ir,
	struct text *cubin, struct text *log)
{
	CLEANUP(memory_free) char *program = path_join(folder, "bin/tileiras");
	CLEANUP(memory_free) char *target = string_format("--gpu-name=%s", arch);
	CLEANUP(memory_free) char *input = string_format("/proc/self/fd/%d", IR_FD);
	CLEANUP(memory_free) char *output = string_format("/proc/self/fd/%d", CUBIN_FD);
	CLEANUP(memory_free) char *home = string_format("CUDA_HOME=%s", folder);
	CLEANUP(memory_free) char *path = string_format("PATH=%s/bin:/usr/bin:/bin", folder);
	char option_output[] = "-o";
	char *const arguments[] = {program, target, input, option_output, output, NULL};
	char *const environment[] = {home, path, NULL};
	const int ir_fd = memory_file("tile_ir", tile_ir), cubin_fd = memory_file("cubin", NULL),
		  output_fd = memory_file("output", NULL);
	enum tile_answer answer = TILE_BROKEN;
	const pid_t pid = ir_fd < 0 || cubin_fd < 0 || output_fd < 0 ? -1 : fork();

	if (pid == 0)
		start_assembler(arguments, environment, ir_fd, cubin_fd, output_fd);
	if (pid > 0) {
		answer = wait_assembler(pid, log);
		memory_file_read(output_fd, log);
		if (answer == TILE_ASSEMBLED)
			memory_file_read(cubin_fd, cubin);
	} else {
		text_appendf(log, "error: tileiras did not start: %s\n", strerror(errno));
	}
	for (size_t i = 0; i < 3; i++) {
		const int fd = (const int[]){ir_fd, cubin_fd, output_fd}[i];

		if (fd >= 0)
			close(fd);
	}
	return answer;
}
