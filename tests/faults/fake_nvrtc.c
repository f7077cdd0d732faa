/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libnvrtc. It "compiles" by listing the kernels of a source in a small cubin, and
 * misbehaves on command. Commands are lines of the source:
 *
 *	//fake: crash                  a segmentation fault
 *	//fake: hang                   never returns
 *	//fake: exit CODE              ends the process
 *	//fake: out_of_memory          allocates until it fails, then aborts, as NVRTC does
 *	//fake: error CODE             nvrtcCompileProgram returns CODE
 *	//fake: log TEXT               a line of the log, before the report
 *	//fake: reject OPTION          does not know this option
 *	//fake: garbage                returns bytes that are not a cubin
 *	//fake: print TEXT             on standard output and standard error
 *	//fake: count FILE             appends a byte to the file for each compilation
 *	//fake: take FOLDER            removes a file of the folder, and waits for one if the folder
 *	                               is empty: limits the number of compilations
 *	//fake: pid FILE               writes the number of the process
 *	//fake: kernel NAME REGS STACK BARRIERS SMEM SPILL   reports this kernel with these figures
 *
 * Kernels without a command are found after `__global__` and get 32 registers. A name expression
 * that is not an identifier makes a kernel "_Z" with its letters and digits.
 *
 * The variable FAKE_NVRTC makes the library itself faulty: `crash_on_load`, `no_version`, `broken`
 * (every compilation is an internal error), or `builtins` (as `broken`, unless
 * libnvrtc-builtins.so.13.0 was opened before). With FAKE_NVRTC_KILLED_ONCE=FILE the library
 * creates FILE and is killed while it loads, unless FILE exists.
 */
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nvrtc.h>

#include "faults/fake_cubin.h"
#include "faults/hang.h"

struct _nvrtcProgram {
	char *source;
	char log[8192];
	bool report;
	struct fake_kernel kernels[FAKE_KERNELS_MAX];
	uint32_t spills[FAKE_KERNELS_MAX];
	size_t kernel_count;
	unsigned char image[FAKE_CUBIN_SIZE];
	size_t image_size;
	bool to_ptx;
	char expressions[FAKE_KERNELS_MAX][64];
	char lowered[FAKE_KERNELS_MAX][64];
	size_t expression_count;
};

static bool asked_for(const char *fault)
{
	const char *value = getenv("FAKE_NVRTC");

	return value && strcmp(value, fault) == 0;
}

static _Noreturn void crash(void)
{
	signal(SIGSEGV, SIG_DFL); /* so that a sanitizer does not handle it */
	raise(SIGSEGV);
	abort();
}

__attribute__((constructor)) static void on_load(void)
{
	const char *once = getenv("FAKE_NVRTC_KILLED_ONCE");

	if (once && open(once, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666) >= 0)
		raise(SIGKILL);
	if (asked_for("crash_on_load"))
		crash();
}

nvrtcResult nvrtcVersion(int *major, int *minor)
{
	*major = 13;
	*minor = 0;
	return asked_for("no_version") ? NVRTC_ERROR_INTERNAL_ERROR : NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
	return result == NVRTC_ERROR_OUT_OF_MEMORY    ? "NVRTC_ERROR_OUT_OF_MEMORY"
	       : result == NVRTC_ERROR_INTERNAL_ERROR ? "NVRTC_ERROR_INTERNAL_ERROR"
	       : result == NVRTC_ERROR_INVALID_OPTION ? "NVRTC_ERROR_INVALID_OPTION"
						      : "NVRTC_ERROR";
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
	int header_count, const char *const *headers, const char *const *include_names)
{
	(void)name;
	(void)header_count;
	(void)headers;
	(void)include_names;
	*program = calloc(1, sizeof(**program));
	if (!*program)
		return NVRTC_ERROR_OUT_OF_MEMORY;
	(*program)->source = strdup(source);
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
	free((*program)->source);
	free(*program);
	*program = NULL;
	return NVRTC_SUCCESS;
}

static void log_line(nvrtcProgram program, const char *line)
{
	size_t used = strlen(program->log);

	snprintf(program->log + used, sizeof(program->log) - used, "%s\n", line);
}

static void append_to_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static void write_pid(const char *path)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", (int)getpid());
	unlink(path);
	append_to_file(path, text);
}

static bool take_file(DIR *folder)
{
	const struct dirent *entry;

	while ((entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.' && unlinkat(dirfd(folder), entry->d_name, 0) == 0)
			return true;
	return false;
}

static void take(const char *path)
{
	DIR *folder;
	bool taken = false;

	while (!taken && (folder = opendir(path)) != NULL) {
		taken = take_file(folder);
		closedir(folder);
		if (!taken)
			usleep(2000);
	}
}

static void exhaust_memory(void)
{
	/* uses only address space, which is what the limit counts; the loop is bounded for
	 * builds without a limit */
	for (int i = 0; i < 400; i++)
		if (mmap(NULL, (size_t)64 << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
			break;
	fputs("terminate called after throwing an instance of 'std::bad_alloc'\n", stderr);
	abort();
}

static struct fake_kernel *add_kernel(nvrtcProgram program)
{
	if (program->kernel_count == FAKE_KERNELS_MAX)
		abort();
	return &program->kernels[program->kernel_count++];
}

static void read_kernel(nvrtcProgram program, const char *words)
{
	struct fake_kernel *kernel = add_kernel(program);

	if (sscanf(words, "%63s %9u %9u %9u %9u %9u", kernel->name, &kernel->regs,
		    &kernel->stack_bytes, &kernel->barriers, &kernel->smem_bytes,
		    &program->spills[program->kernel_count - 1]) != 6)
		abort();
}

static nvrtcResult obey(nvrtcProgram program, const char *command, const char *words,
	int option_count, const char *const *options)
{
	if (strcmp(command, "crash") == 0)
		crash();
	else if (strcmp(command, "hang") == 0)
		hang();
	else if (strcmp(command, "exit") == 0)
		_exit(atoi(words));
	else if (strcmp(command, "out_of_memory") == 0)
		exhaust_memory();
	else if (strcmp(command, "error") == 0)
		return (nvrtcResult)atoi(words);
	else if (strcmp(command, "log") == 0)
		log_line(program, words);
	else if (strcmp(command, "garbage") == 0)
		program->image_size = 100;
	else if (strcmp(command, "print") == 0) {
		puts(words);
		fflush(stdout);
		fprintf(stderr, "%s\n", words);
	} else if (strcmp(command, "count") == 0)
		append_to_file(words, "x");
	else if (strcmp(command, "take") == 0)
		take(words);
	else if (strcmp(command, "pid") == 0)
		write_pid(words);
	else if (strcmp(command, "kernel") == 0)
		read_kernel(program, words);
	else if (strcmp(command, "reject") == 0) {
		for (int i = 0; i < option_count; i++) {
			char line[256];

			if (strcmp(options[i], words) != 0)
				continue;
			snprintf(line, sizeof(line), "nvrtc: error: unrecognized option %s found",
				words);
			log_line(program, line);
			return NVRTC_ERROR_INVALID_OPTION;
		}
	} else
		abort();
	return NVRTC_SUCCESS;
}

static nvrtcResult run_commands(nvrtcProgram program, int option_count, const char *const *options)
{
	const char *at = program->source;

	while ((at = strstr(at, "//fake: "))) {
		char line[512], *words;
		nvrtcResult result;

		at += strlen("//fake: ");
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		words = line + strcspn(line, " ");
		if (*words)
			*words++ = '\0';
		result = obey(program, line, words, option_count, options);
		if (result != NVRTC_SUCCESS)
			return result;
	}
	return NVRTC_SUCCESS;
}

/* Finds the identifier before the parameter list after `__global__`, skipping __launch_bounds__. */
static void find_kernels(nvrtcProgram program)
{
	const char *at = program->source;

	while ((at = strstr(at, "__global__"))) {
		const char *open = strchr(at, '('), *start;
		struct fake_kernel kernel = {.regs = 32};
		bool known = false;

		while (open) {
			const char *end = open;

			while (end > at && isspace((unsigned char)end[-1]))
				end--;
			for (start = end; start > at &&
					  (isalnum((unsigned char)start[-1]) || start[-1] == '_');)
				start--;
			snprintf(kernel.name, sizeof(kernel.name), "%.*s", (int)(end - start),
				start);
			if (strncmp(kernel.name, "__", 2) != 0)
				break;
			open = strchr(open + 1, '(');
		}
		at += strlen("__global__");
		for (size_t i = 0; i < program->kernel_count; i++)
			known |= strcmp(program->kernels[i].name, kernel.name) == 0;
		if (open && kernel.name[0] && !known)
			*add_kernel(program) = kernel;
	}
}

static void lower(nvrtcProgram program)
{
	for (size_t i = 0; i < program->expression_count; i++) {
		const char *expression = program->expressions[i];
		char *lowered = program->lowered[i];
		const size_t length = strcspn(expression, "<");
		struct fake_kernel kernel = {.regs = 32};
		size_t count = 2;
		bool known = false;

		memcpy(lowered, "_Z", 3);
		for (const char *c = expression; *c; c++)
			if (isalnum((unsigned char)*c) || *c == '_')
				lowered[count++] = *c;
		lowered[count] = '\0';
		for (size_t k = 0; k < program->kernel_count; k++)
			if (strlen(program->kernels[k].name) == length &&
				strncmp(program->kernels[k].name, expression, length) == 0) {
				kernel = program->kernels[k];
				known = true;
			}
		if (!known || !expression[length]) {
			snprintf(lowered, sizeof(program->lowered[i]), "%s",
				known ? expression : "");
			continue;
		}
		snprintf(kernel.name, sizeof(kernel.name), "%.60s", lowered);
		*add_kernel(program) = kernel;
	}
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression)
{
	if (program->expression_count == FAKE_KERNELS_MAX)
		abort();
	snprintf(program->expressions[program->expression_count++], sizeof(program->expressions[0]),
		"%.60s", expression);
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **lowered)
{
	for (size_t i = 0; i < program->expression_count; i++)
		if (strcmp(program->expressions[i], expression) == 0 && program->lowered[i][0]) {
			*lowered = program->lowered[i];
			return NVRTC_SUCCESS;
		}
	return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

static void write_report(nvrtcProgram program)
{
	log_line(program, "ptxas info    : 0 bytes gmem");
	for (size_t i = 0; i < program->kernel_count; i++) {
		const struct fake_kernel *kernel = &program->kernels[i];
		char line[512];

		snprintf(line, sizeof(line),
			"ptxas info    : Compiling entry function '%s' for 'sm_90a'\n"
			"ptxas info    : Function properties for %s\n"
			"ptxas         .     %u bytes stack frame, %u bytes spill stores, %u bytes "
			"spill loads\n"
			"ptxas info    : Used %u registers, used %u barriers, %u bytes smem\n"
			"ptxas info    : Compile time = 1.000 ms",
			kernel->name, kernel->name, kernel->stack_bytes, program->spills[i],
			program->spills[i], kernel->regs, kernel->barriers, kernel->smem_bytes);
		log_line(program, line);
	}
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count, const char *const *options)
{
	nvrtcResult result;

	for (int i = 0; i < option_count; i++) {
		program->report |= strcmp(options[i], "--ptxas-options=-v") == 0;
		program->to_ptx |= strncmp(options[i], "-arch=compute_", 14) == 0;
	}
	if (asked_for("broken") || (asked_for("builtins") && !dlopen("libnvrtc-builtins.so.13.0",
								     RTLD_NOW | RTLD_NOLOAD)))
		return NVRTC_ERROR_INTERNAL_ERROR;
	result = run_commands(program, option_count, options);
	if (result != NVRTC_SUCCESS)
		return result;
	find_kernels(program);
	lower(program);
	if (program->report)
		write_report(program);
	if (!program->image_size)
		program->image_size =
			fake_cubin_build(program->image, program->kernels, program->kernel_count);
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size)
{
	*size = strlen(program->log) + 1;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
	strcpy(log, program->log);
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size)
{
	*size = program->to_ptx ? 0 : program->image_size;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin)
{
	memcpy(cubin, program->image, program->image_size);
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size)
{
	(void)program;
	*size = sizeof("// ptx\n");
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx)
{
	(void)program;
	strcpy(ptx, "// ptx\n");
	return NVRTC_SUCCESS;
}
