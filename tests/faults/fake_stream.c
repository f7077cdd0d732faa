/* SPDX-License-Identifier: MIT
 *
 * Streams, events and graphs of the stand-in driver. Work is executed when it is queued, on a
 * virtual clock. A graph is a list of launches.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults/hang.h"
#include "faults/standin.h"

/* Cost of each additional piece of work, whether queued separately or inside a graph. */
static const double launch_gap_us = 2, graph_gap_us = 0.1;

struct standin_graph {
	struct standin_launch *launches;
	size_t count, capacity;
};

static double clock_us, energy_mj;
static struct standin_graph *capturing;

static void launch_release(struct standin_launch *launch)
{
	for (int i = 0; launch->kernel && i < launch->kernel->param_count; i++)
		free(launch->params[i]);
}

static struct standin_launch launch_copy(const struct standin_launch *launch)
{
	struct standin_launch copy = *launch;

	for (int i = 0; launch->kernel && i < launch->kernel->param_count; i++) {
		size_t size = launch->kernel->param_sizes[i];

		copy.params[i] = malloc(size ? size : 1);
		memcpy(copy.params[i], launch->params[i], size);
	}
	return copy;
}

/* Applies the drift of the GPU's clock. */
static double paced(double us)
{
	const struct standin_script *script = standin_script();

	return us * script->pace *
	       (1 + script->drift * sin(6.283185307179586 * clock_us / script->drift_period_us));
}

static void advance(double us, double watts)
{
	clock_us += us;
	energy_mj += us * watts * 1e-3;
}

/* A kernel whose power exceeds the limit is slowed down after it has run by itself for this
 * long. */
static const double settle_us = 20000;
static double alone_us, alone_watts;

double standin_clock_us(void)
{
	return clock_us;
}

bool standin_at_power_limit(void)
{
	const double limit_w = standin_script()->power_limit_w;

	return limit_w > 0 && alone_us > settle_us && alone_watts > limit_w;
}

/* Returns the duration of a run under the power limit. */
static double limited(double us, double watts)
{
	if (watts < alone_watts || watts > alone_watts)
		alone_us = 0;
	alone_us += us;
	alone_watts = watts;
	return standin_at_power_limit() ? us * watts / standin_script()->power_limit_w : us;
}

double standin_energy_mj(void)
{
	return energy_mj;
}

static CUresult queue(const struct standin_launch *launch)
{
	double us = 0, watts = 0;
	CUresult result;

	if (standin_sticky != CUDA_SUCCESS)
		return standin_sticky;
	if (capturing) {
		if (capturing->count == capturing->capacity) {
			capturing->capacity = 2 * capturing->capacity + 16;
			capturing->launches = realloc(capturing->launches,
				capturing->capacity * sizeof(*capturing->launches));
		}
		capturing->launches[capturing->count++] = launch_copy(launch);
		return CUDA_SUCCESS;
	}
	result = standin_execute(launch, &us, &watts);
	advance(paced(limited(us, watts)) + launch_gap_us, watts);
	return result;
}

/* ---- the log ---- */
static void log_list(FILE *file, const char *name, const uint64_t *items, unsigned count)
{
	fprintf(file, ", \"%s\": [", name);
	for (unsigned i = 0; i < count; i++)
		fprintf(file, "%s%" PRIu64, i ? ", " : "", items[i]);
	fputc(']', file);
}

static void log_map(FILE *file, const struct standin_map *map)
{
	const uint64_t box[5] = {map->box[0], map->box[1], map->box[2], map->box[3], map->box[4]};

	fprintf(file, "{\"address\": %" PRIu64 ", \"type\": %u, \"swizzle\": %u, \"promotion\": %u",
		(uint64_t)map->address, map->type, map->swizzle, map->promotion);
	log_list(file, "dims", map->dims, map->rank);
	log_list(file, "strides", map->strides, map->rank ? map->rank - 1u : 0);
	log_list(file, "box", box, map->rank);
	fputc('}', file);
}

static void log_launch(const struct standin_launch *launch)
{
	const struct {
		const char *name;
		const uint32_t *size;
	} shapes[] = {
		{"grid", launch->grid}, {"block", launch->block}, {"cluster", launch->cluster}};
	FILE *file = standin_script()->log[0] ? fopen(standin_script()->log, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "{\"entry\": \"%s\", \"smem\": %u",
		launch->kernel ? launch->kernel->name : "memset", launch->smem);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		fprintf(file, ", \"%s\": [%u, %u, %u]", shapes[i].name, shapes[i].size[0],
			shapes[i].size[1], shapes[i].size[2]);
	if (launch->is_cooperative)
		fputs(", \"cooperative\": true", file);
	if (!launch->kernel)
		fprintf(file, ", \"address\": %" PRIu64 ", \"bytes\": %" PRIu64,
			(uint64_t)launch->memset_data, launch->memset_bytes);
	fputs(", \"args\": [", file);
	for (int i = 0; launch->kernel && i < launch->kernel->param_count; i++) {
		const size_t size = launch->kernel->param_sizes[i];
		uint64_t value = 0;

		fputs(i ? ", " : "", file);
		memcpy(&value, launch->params[i], size < 8 ? size : 8);
		if (size == sizeof(CUtensorMap))
			log_map(file, launch->params[i]);
		else
			fprintf(file, "%" PRIu64, value);
	}
	fputs("]}\n", file);
	fclose(file);
}

CUresult cuLaunchKernelEx(
	const CUlaunchConfig *config, CUfunction function, void **params, void **extra)
{
	struct standin_launch launch = {
		.kernel = (struct standin_kernel *)function,
		.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
		.block = {config->blockDimX, config->blockDimY, config->blockDimZ},
		.cluster = {1, 1, 1},
		.smem = config->sharedMemBytes,
	};
	int blocks = 0;
	uint64_t threads = (uint64_t)launch.block[0] * launch.block[1] * launch.block[2];

	(void)extra;
	if (threads < 1 || threads > (uint64_t)launch.kernel->max_threads || !launch.grid[0] ||
		!launch.grid[1] || !launch.grid[2])
		return CUDA_ERROR_INVALID_VALUE;
	/* without opt-in a block gets at most 48 KiB */
	if (launch.smem + (uint32_t)launch.kernel->smem_static > 49152 &&
		launch.smem > (uint32_t)launch.kernel->smem_dynamic_max)
		return CUDA_ERROR_INVALID_VALUE;
	for (int i = 0; i < launch.kernel->param_count; i++)
		launch.params[i] = params[i];
	for (unsigned i = 0; i < config->numAttrs; i++) {
		launch.is_cooperative |= config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
					 config->attrs[i].value.cooperative;
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
			launch.cluster[0] = config->attrs[i].value.clusterDim.x;
			launch.cluster[1] = config->attrs[i].value.clusterDim.y;
			launch.cluster[2] = config->attrs[i].value.clusterDim.z;
		}
	}
	if (launch.is_cooperative) {
		cuOccupancyMaxActiveBlocksPerMultiprocessor(
			&blocks, function, (int)threads, launch.smem);
		if ((uint64_t)launch.grid[0] * launch.grid[1] * launch.grid[2] >
			(uint64_t)blocks * (uint64_t)standin_script()->sm_count)
			return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	}
	log_launch(&launch);
	return queue(&launch);
}

CUresult cuMemsetD8Async(CUdeviceptr data, unsigned char value, size_t bytes, CUstream stream)
{
	struct standin_launch launch = {
		.memset_data = data, .memset_bytes = bytes, .memset_value = value};

	(void)stream;
	log_launch(&launch);
	return queue(&launch);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	static int only;

	(void)flags;
	*stream = (CUstream)&only;
	return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
	(void)stream;
	return CUDA_SUCCESS;
}

static CUresult synchronize(void)
{
	if (standin_hanging)
		hang();
	return standin_sticky;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	(void)stream;
	return synchronize();
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	(void)flags;
	*event = calloc(1, sizeof(double));
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
	free(event);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	(void)stream;
	memcpy(event, &clock_us, sizeof(clock_us));
	return standin_sticky;
}

CUresult cuEventSynchronize(CUevent event)
{
	(void)event;
	return synchronize();
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
	double from, to;

	memcpy(&from, start, sizeof(from));
	memcpy(&to, end, sizeof(to));
	*milliseconds = (float)((to - from) * 1e-3);
	return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	(void)stream, (void)mode;
	if (capturing)
		return CUDA_ERROR_ILLEGAL_STATE;
	capturing = calloc(1, sizeof(*capturing));
	return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
	CUgraph *graph, const CUgraphNode **nodes, size_t *count)
{
	(void)stream, (void)graph, (void)nodes, (void)count;
	*status = capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
	*id = (cuuint64_t)(uintptr_t)capturing;
	return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	(void)stream;
	if (!capturing)
		return CUDA_ERROR_ILLEGAL_STATE;
	*graph = (CUgraph)capturing;
	capturing = NULL;
	return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph in, unsigned long long flags)
{
	const struct standin_graph *graph = (const struct standin_graph *)in;
	struct standin_graph *copy = calloc(1, sizeof(*copy));

	(void)flags;
	copy->launches = calloc(graph->count + 1, sizeof(*copy->launches));
	for (size_t i = 0; i < graph->count; i++)
		copy->launches[copy->count++] = launch_copy(&graph->launches[i]);
	*out = (CUgraphExec)copy;
	return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec graph, CUstream stream)
{
	(void)graph, (void)stream;
	return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec in, CUstream stream)
{
	const struct standin_graph *graph = (const struct standin_graph *)in;
	CUresult result = standin_sticky;

	(void)stream;
	for (size_t i = 0; result == CUDA_SUCCESS && i < graph->count; i++) {
		double us = 0, watts = 0;

		result = standin_execute(&graph->launches[i], &us, &watts);
		advance(paced(limited(us, watts)) + graph_gap_us, watts);
	}
	return result;
}

static CUresult graph_free(struct standin_graph *graph)
{
	for (size_t i = 0; i < graph->count; i++)
		launch_release(&graph->launches[i]);
	free(graph->launches);
	free(graph);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec graph)
{
	return graph_free((struct standin_graph *)graph);
}

CUresult cuGraphDestroy(CUgraph graph)
{
	return graph_free((struct standin_graph *)graph);
}
