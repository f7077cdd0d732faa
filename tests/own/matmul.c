/* SPDX-License-Identifier: MIT
 *
 * A blocked product of matrices on the CPU, as a program that tiletune tunes
 * (templates/programs.md). It reads requests from standard input, one line of JSON each, and
 * answers on standard output. Build: cc -O3 -o matmul matmul.c
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	JOBS_MAX = 64,
	ROUNDS_MAX = 200
};

struct job {
	int m, n, k, bi, bj, bk;
	double samples_us[ROUNDS_MAX];
	int count;
	double worst; /* largest difference from the reference; negative: not compared */
	long violations;
};

static float *a, *b, *c;
static double *expected;
static int size_m, size_n, size_k;

/* Processor time, so that other programs on the machine matter less. */
static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static int least(int x, int y)
{
	return x < y ? x : y;
}

/* ---- the tuned function ---- */
static void multiply(const struct job *job)
{
	const int m = job->m, n = job->n, k = job->k;

	memset(c, 0, (size_t)m * n * sizeof(*c));
	for (int i0 = 0; i0 < m; i0 += job->bi)
		for (int k0 = 0; k0 < k; k0 += job->bk)
			for (int j0 = 0; j0 < n; j0 += job->bj) {
				const int i1 = least(i0 + job->bi, m), j1 = least(j0 + job->bj, n),
					  k1 = least(k0 + job->bk, k);

				for (int i = i0; i < i1; i++)
					for (int x = k0; x < k1; x++) {
						const float factor = a[(size_t)i * k + x];

						for (int j = j0; j < j1; j++)
							c[(size_t)i * n + j] +=
								factor * b[(size_t)x * n + j];
					}
			}
}

/* ---- inputs and expected outputs ---- */
static void fill(float *matrix, size_t count)
{
	for (size_t i = 0; i < count; i++)
		matrix[i] = 2.0f * (float)rand() / (float)RAND_MAX - 1.0f;
}

static void take_problem(const struct job *job)
{
	if (job->m == size_m && job->n == size_n && job->k == size_k)
		return;
	size_m = job->m, size_n = job->n, size_k = job->k;
	a = realloc(a, (size_t)size_m * size_k * sizeof(*a));
	b = realloc(b, (size_t)size_k * size_n * sizeof(*b));
	c = realloc(c, (size_t)size_m * size_n * sizeof(*c));
	expected = realloc(expected, (size_t)size_m * size_n * sizeof(*expected));
	fill(a, (size_t)size_m * size_k);
	fill(b, (size_t)size_k * size_n);
	memset(expected, 0, (size_t)size_m * size_n * sizeof(*expected));
	for (int i = 0; i < size_m; i++)
		for (int x = 0; x < size_k; x++)
			for (int j = 0; j < size_n; j++)
				expected[(size_t)i * size_n + j] +=
					(double)a[(size_t)i * size_k + x] *
					b[(size_t)x * size_n + j];
}

static void verify(struct job *job)
{
	memset(c, 0xff, (size_t)size_m * size_n * sizeof(*c)); /* not a number */
	multiply(job);
	job->worst = 0;
	for (size_t i = 0; i < (size_t)size_m * size_n; i++) {
		const double difference = fabs(c[i] - expected[i]);

		job->violations += !(difference <= 1e-6 * size_k);
		job->worst = fmax(job->worst, difference);
	}
}

/* ---- the protocol ---- */
/* Finds the number of the next member `key`. */
static double number(const char *at, const char *key)
{
	char quoted[64];

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = strstr(at, quoted);
	return at ? strtod(at + strlen(quoted), NULL) : 0;
}

static void answer(long id, int index, const struct job *job)
{
	printf("{\"id\":%ld,\"job\":%d,\"outcome\":\"%s\"", id, index,
		job->violations ? "wrong_result" : "ok");
	for (int i = 0; i < job->count; i++)
		printf("%s%.3f", i ? "," : ",\"samples_us\":[", job->samples_us[i]);
	printf("%s", job->count ? "]" : "");
	if (job->worst >= 0)
		printf(",\"verification\":{\"points\":%ld,\"violations\":%ld,\"max_abs_error\":%g,"
		       "\"max_rel_error\":null}",
			(long)size_m * size_n, job->violations, job->worst);
	printf("}\n");
	fflush(stdout);
}

static void measure(long id, const char *line)
{
	static struct job jobs[JOBS_MAX];
	const int verifies = strstr(line, "\"verify\":true") != NULL;
	const double seconds = number(line, "seconds"), begun = now_us();
	const int rounds = least((int)number(line, "rounds"), ROUNDS_MAX);
	int count = 0;

	for (const char *at = line; count < JOBS_MAX && (at = strstr(at, "\"problem\":")); at++) {
		const char *configuration = strstr(at, "\"configuration\":");

		jobs[count++] = (struct job){.m = (int)number(at, "M"),
			.n = (int)number(at, "N"),
			.k = (int)number(at, "K"),
			.worst = -1,
			.bi = (int)number(configuration, "BI"),
			.bj = (int)number(configuration, "BJ"),
			.bk = (int)number(configuration, "BK")};
	}
	for (int round = 0;
		round < rounds && (round < 3 || seconds <= 0 || now_us() - begun < 1e6 * seconds);
		round++)
		for (int i = 0; i < count; i++) {
			double started;

			printf("{\"id\":%ld,\"progress\":%d}\n", id, i);
			fflush(stdout);
			take_problem(&jobs[i]);
			if (verifies && round == 0)
				verify(&jobs[i]);
			started = now_us();
			multiply(&jobs[i]);
			jobs[i].samples_us[jobs[i].count++] = now_us() - started;
		}
	for (int i = 0; i < count; i++)
		answer(id, i, &jobs[i]);
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		const long id = (long)number(line, "id");

		if (strstr(line, "\"request\":\"hello\"")) {
			printf("{\"id\":%ld,\"protocol\":\"tiletune.program/"
			       "1\",\"versions\":{\"compiler\":\"%s\"},\"device\":{\"name\":"
			       "\"processor\"}}\n",
				id, __VERSION__);
			fflush(stdout);
			srand((unsigned)number(line, "seed"));
		} else {
			measure(id, line);
		}
	}
	free(line);
	return 0;
}
