/* main BUNDLE { OPERATION PROBLEM FOLDER }*: launches kernels on tensors in files FOLDER/NAME. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#define TTL_IMPLEMENTATION
#include <tiletune_launch.h>
#define TRY(call) ((call) ? (fprintf(stderr, "%s: %s\n", #call, err.text), exit(1)) : (void)0)

int main(int argc, char **argv)
{
	struct ttl_error err = {TTL_OK, CUDA_SUCCESS, "failed"};
	struct ttl_bundle *bundle;
	CUcontext context;

	TRY(cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context));
	TRY(ttl_open(argv[1], &bundle, &err));
	for (int i = 2; i + 2 < argc; i += 3) {
		const struct ttl_buffer *buffers;
		const struct ttl_entry *entry;
		struct ttl_tensor tensors[16];
		struct ttl_kernel *kernel;
		struct ttl_run *run;
		void *files[16];

		TRY(ttl_find(bundle, argv[i], argv[i + 1], &entry, &err));
		TRY(ttl_load(bundle, entry, &kernel, &err) || chdir(argv[i + 2]));
		buffers = ttl_buffers(bundle, entry);
		for (uint32_t k = 0; k < entry->tensor_count; k++) {
			tensors[k].name = ttl_string(bundle, buffers[k].name);
			files[k] = mmap(NULL, buffers[k].bytes + 1, PROT_READ | PROT_WRITE,
				MAP_SHARED, open(tensors[k].name, O_RDWR), 0);
			TRY(cuMemAlloc(&tensors[k].address, buffers[k].bytes + 1) ||
				cuMemcpyHtoD(tensors[k].address, files[k], buffers[k].bytes));
		}
		TRY(ttl_bind(kernel, tensors, entry->tensor_count, NULL, &run, &err) ||
			ttl_launch(run, NULL, &err));
		for (uint32_t k = 0; k < entry->tensor_count; k++)
			TRY(cuMemcpyDtoH(files[k], tensors[k].address, buffers[k].bytes));
	}
}
