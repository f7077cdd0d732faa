/* SPDX-License-Identifier: MIT
 *
 * Promises of src/launch about speed on a GPU: a launch through the header compared with
 * cuLaunchKernelEx with the same arguments, and the time for opening a bundle.
 *
 *	launch_overhead BUNDLE [OPERATION PROBLEM]	without a problem no GPU is needed
 */
#include <time.h>
#define TTL_IMPLEMENTATION
#include <tiletune_launch.h>

enum {
	ROUNDS = 100,
	BATCH = 100, /* consecutive launches, fewer than the driver queues before it blocks */
	BUFFERS_MAX = 16,
};

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *samples, int count)
{
	qsort(samples, (size_t)count, sizeof(*samples), compare);
	return samples[count / 2];
}

static int promise(const char *what, double value, const char *unit, double most)
{
	printf("%s: %.3f %s (promised: at most %g) %s\n", what, value, unit, most,
		value <= most ? "ok" : "MISSED");
	return value > most;
}

static void expect(int failed, const struct ttl_error *err)
{
	if (failed) {
		fprintf(stderr, "%s\n", err->text);
		exit(1);
	}
}

/* Launches as a program written only for this kernel does. */
static int launch_directly(const struct ttl_run *run)
{
	return cuLaunchKernelEx(run->configs, run->kernel->functions[0], run->params, NULL) !=
	       CUDA_SUCCESS;
}

static double time_batch(struct ttl_run *run, CUstream stream, int directly, struct ttl_error *err)
{
	const double start = now_us();
	double taken;

	for (int i = 0; i < BATCH; i++)
		expect(directly ? launch_directly(run) : (int)ttl_launch(run, stream, err), err);
	taken = now_us() - start;
	expect(cuStreamSynchronize(stream), err);
	return taken / BATCH;
}

/* Batches of both kinds alternate; the difference is taken in each round. */
static int time_launches(struct ttl_run *run, CUstream stream, struct ttl_error *err)
{
	double ours[ROUNDS], theirs[ROUNDS], more[ROUNDS];

	for (int i = -20; i < ROUNDS; i++) {
		const double first = time_batch(run, stream, i & 1, err);
		const double second = time_batch(run, stream, !(i & 1), err);

		if (i < 0)
			continue;
		ours[i] = i & 1 ? second : first;
		theirs[i] = i & 1 ? first : second;
		more[i] = ours[i] - theirs[i];
	}
	printf("a launch: %.3f us by cuLaunchKernelEx, %.3f us through the header\n",
		median(theirs, ROUNDS), median(ours, ROUNDS));
	return promise("launch overhead", median(more, ROUNDS), "us", 1);
}

static int time_open(const char *path, struct ttl_error *err)
{
	double samples[9];

	for (int i = 0; i < 9; i++) {
		struct ttl_bundle *bundle;
		const double start = now_us();

		expect(ttl_open(path, &bundle, err), err);
		samples[i] = (now_us() - start) * 1e-3;
		ttl_close(bundle);
	}
	return promise("opening the bundle", median(samples, 9), "ms", 50);
}

int main(int argc, char **argv)
{
	struct ttl_error err = {TTL_OK, CUDA_SUCCESS, "a call of the driver failed"};
	struct ttl_tensor tensors[BUFFERS_MAX];
	const struct ttl_entry *entry;
	struct ttl_bundle *bundle;
	struct ttl_kernel *kernel;
	struct ttl_run *run;
	CUcontext context;
	CUstream stream;
	int missed;
	double start;

	if (argc < 2)
		return 2;
	missed = time_open(argv[1], &err);
	if (argc < 4)
		return missed;
	expect(cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
			cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
		&err);
	expect(ttl_open(argv[1], &bundle, &err), &err);
	start = now_us();
	expect(ttl_find(bundle, argv[2], argv[3], &entry, &err), &err);
	printf("finding an entry: %.3f us\n", now_us() - start);
	start = now_us();
	expect(ttl_load(bundle, entry, &kernel, &err), &err);
	printf("loading its kernels: %.3f ms\n", (now_us() - start) * 1e-3);
	for (uint32_t i = 0; i < entry->tensor_count && i < BUFFERS_MAX; i++) {
		const struct ttl_buffer *buffer = &ttl_buffers(bundle, entry)[i];

		tensors[i].name = ttl_string(bundle, buffer->name);
		expect(cuMemAlloc(&tensors[i].address, buffer->bytes + 1) ||
				cuMemsetD8Async(tensors[i].address, 0x3c, buffer->bytes, stream),
			&err);
	}
	start = now_us();
	expect(ttl_bind(kernel, tensors, entry->tensor_count, stream, &run, &err), &err);
	printf("binding its tensors: %.3f us\n", now_us() - start);
	missed |= time_launches(run, stream, &err);
	ttl_unbind(run);
	ttl_unload(kernel);
	ttl_close(bundle);
	return missed;
}
