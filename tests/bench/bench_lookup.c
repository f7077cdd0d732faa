/* SPDX-License-Identifier: MIT
 *
 * Measures the cost of `lookup` for a problem of a tuned file with 1e4 entries: processor time and
 * memory of the program, and the memory of a reader of all entries. The entries are those of a real
 * file with other values of M.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "bench/bench.h"
#include "format/tuned.h"

enum {
	ENTRIES = 10000
};

static void put_shifted(struct tuned *tuned, const struct tuned_entry *from, int64_t shift)
{
	struct tuned_entry entry = tuned_entry_copy(from);
	const char *kept;

	for (size_t i = 0; i < entry.problem.count; i++)
		if (strcmp(entry.problem.items[i].name, "M") == 0)
			entry.problem.items[i].value.integer += shift;
	tuned_put_entry(tuned, &entry, NULL, &kept);
	tuned_entry_release(&entry);
}

/* Runs in a child process, because the memory of the parent counts for the program, too. */
static void make_file(const char *path)
{
	struct tuned tuned;
	struct error err = {0};
	size_t count;
	int state = -1;
	const pid_t child = fork();

	if (child != 0) {
		if (child < 0 || waitpid(child, &state, 0) != child || state != 0)
			exit(EXIT_FAILURE);
		return;
	}
	expect(tuned_load("results/nvidia-h200/tuned.json", &tuned, &err), &err);
	count = tuned.entry_count;
	for (size_t i = 0; tuned.entry_count < ENTRIES; i++)
		put_shifted(&tuned, &tuned.entries[i % count], 1 + (int64_t)(i / count));
	expect(tuned_replace(&tuned, path, &err), &err);
	_exit(EXIT_SUCCESS);
}

/* Returns the resource usage of a child process. */
static struct rusage run(const char *program, const char *command, const char *path)
{
	struct rusage usage;
	const pid_t child = fork();
	int state = -1;

	if (child == 0) {
		if (freopen("/dev/null", "w", stdout) && strcmp(command, "lookup") == 0)
			execl(program, program, command, path, "gemm", "-p",
				"M=4096,N=4096,K=4096,dtype=bf16", "--path", ".", (char *)NULL);
		execl(program, program, command, path, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || wait4(child, &state, 0, &usage) != child || state != 0) {
		fprintf(stderr, "bench_lookup: %s %s %s failed\n", program, command, path);
		exit(EXIT_FAILURE);
	}
	return usage;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

int main(void)
{
	const double promised_s = 2, promised_mb = 300;
	CLEANUP(memory_free) char *self = path_executable();
	CLEANUP(memory_free) char *folder = path_parent(self);
	CLEANUP(memory_free) char *program = path_join(folder, "../tiletune");
	CLEANUP(memory_free) char *path = path_join(folder, "bench_lookup.json");
	struct rusage usage;
	double time_s = INFINITY, memory_mb, whole_mb;

	make_file(path);
	for (int turn = 0; turn < 3;
		turn++) { /* the best run, because other processes may use the machine */
		usage = run(program, "lookup", path);
		time_s = fmin(time_s, seconds(usage.ru_utime) + seconds(usage.ru_stime));
	}
	memory_mb = (double)usage.ru_maxrss / 1024;
	usage = run(program, "validate", path);
	unlink(path);
	whole_mb = (double)usage.ru_maxrss / 1024;
	printf("lookup among %d entries: %.2f s (promised: <= %.1f) %s\n", ENTRIES, time_s,
		promised_s, time_s <= promised_s ? "ok" : "MISSED");
	printf("lookup among %d entries: %.0f MiB (promised: <= %.0f) %s\n", ENTRIES, memory_mb,
		promised_mb, memory_mb <= promised_mb ? "ok" : "MISSED");
	printf("%d entries loaded: %.0f MiB (promised: <= %.0f) %s\n", ENTRIES, whole_mb,
		promised_mb, whole_mb <= promised_mb ? "ok" : "MISSED");
	return time_s <= promised_s && fmax(memory_mb, whole_mb) <= promised_mb ? EXIT_SUCCESS
										: EXIT_FAILURE;
}
