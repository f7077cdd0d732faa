/* SPDX-License-Identifier: MIT
 *
 * Cubins of the stand-in driver: kernels, their registers and the sizes of their arguments, read
 * from a real cubin (ELF, .nv.info) or from text.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/standin.h"

enum {
	KERNELS_MAX = 64,
	VARIABLES_MAX = 2048,  /* cooperative_groups defines about a thousand variables */
	INFO_REGISTERS = 0x2f, /* EIATTR_REGCOUNT: symbol, registers */
	INFO_PARAMETER =
		0x17, /* EIATTR_KPARAM_INFO: index, ordinal, offset, size in the bits from 18 on */
};

struct standin_library {
	struct standin_kernel kernels[KERNELS_MAX];
	int count;
	struct {
		char name[160];
		void *data;
		size_t bytes;
	} variables[VARIABLES_MAX]; /* __constant__ and __device__ variables of a cubin that NVRTC
				       made */
	int variable_count;
};

static uint64_t hash_bytes(const void *data, size_t size)
{
	const unsigned char *byte = data;
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3u;
	return hash;
}

/* Returns how many kernels with this name were loaded, including this one. */
static long count_load(const char *name)
{
	static struct {
		char name[STANDIN_NAME];
		long count;
	} loads[256];
	size_t i = 0;

	while (i < sizeof(loads) / sizeof(loads[0]) - 1 && loads[i].name[0] &&
		strcmp(loads[i].name, name) != 0)
		i++;
	snprintf(loads[i].name, sizeof(loads[i].name), "%s", name);
	return ++loads[i].count;
}

static struct standin_kernel *kernel_add(struct standin_library *library, const char *name)
{
	struct standin_kernel *kernel = &library->kernels[library->count++];

	*kernel = (struct standin_kernel){
		.regs = 32, .max_threads = 1024, .library = library, .place = standin_noise()};
	snprintf(kernel->name, sizeof(kernel->name), "%s", name);
	kernel->load = count_load(name);
	return kernel;
}

/* Applies a kernel spin_cycles_N to the other kernels of its cubin. */
static void spin(struct standin_library *library)
{
	const double clocks_per_us = 1980;
	double cycles = 0;

	for (int i = 0; i < library->count && cycles == 0; i++)
		if (sscanf(library->kernels[i].name, "spin_cycles_%lf", &cycles) != 1)
			cycles = 0;
	for (int i = 0; i < library->count; i++)
		library->kernels[i].spin_us = cycles / clocks_per_us;
}

/* ---- text ---- */
static void kernel_word(struct standin_kernel *kernel, const char *word)
{
	if (sscanf(word, "regs=%d", &kernel->regs) == 1 ||
		sscanf(word, "smem=%d", &kernel->smem_static) == 1 ||
		sscanf(word, "max_threads=%d", &kernel->max_threads) == 1)
		return;
	kernel->symbol_is_constant |= strncmp(word, "constant=", strlen("constant=")) == 0;
	if (sscanf(word, "symbol=%127[^:]:%zu", kernel->symbol, &kernel->symbol_bytes) == 2 ||
		sscanf(word, "constant=%127[^:]:%zu", kernel->symbol, &kernel->symbol_bytes) == 2)
		kernel->symbol_data = calloc(1, kernel->symbol_bytes);
	if (strncmp(word, "params=", 7) != 0)
		return;
	for (const char *at = word + 7; *at && kernel->param_count < STANDIN_PARAMS_MAX;) {
		char *end;

		kernel->param_sizes[kernel->param_count++] = (uint32_t)strtoul(at, &end, 10);
		at = *end == ',' ? end + 1 : end;
	}
}

static bool library_from_text(struct standin_library *library, const char *text)
{
	char *copy = strdup(text), *lines = NULL, *words = NULL;
	char *line = strtok_r(copy, "\n", &lines);

	while ((line = strtok_r(NULL, "\n", &lines)) != NULL && library->count < KERNELS_MAX) {
		char *word = strtok_r(line, " ", &words);

		if (!word || strcmp(word, "kernel") != 0)
			continue;
		word = strtok_r(NULL, " ", &words);
		if (word) {
			struct standin_kernel *kernel = kernel_add(library, word);

			while ((word = strtok_r(NULL, " ", &words)) != NULL)
				kernel_word(kernel, word);
		}
	}
	library->kernels[0].cubin_hash = hash_bytes(text, strlen(text));
	free(copy);
	return library->count > 0;
}

/* ---- PTX: names and parameters of its entries ---- */
static bool library_from_ptx(struct standin_library *library, const char *text)
{
	const char *at = text;

	while ((at = strstr(at, ".entry ")) != NULL && library->count < KERNELS_MAX) {
		const char *end = strchr(at, ')'), *param = at;
		struct standin_kernel *kernel;
		char name[128];

		if (!end || sscanf(at, ".entry %127[^( \n]", name) != 1)
			return false;
		kernel = kernel_add(library, name);
		while ((param = strstr(param + 1, ".param ")) != NULL && param < end &&
			kernel->param_count < STANDIN_PARAMS_MAX) {
			unsigned bits = 0, count = 1;

			if (sscanf(param, ".param .align %*u .%*c%u %*[^[][%u]", &bits, &count) < 1)
				(void)sscanf(param, ".param .%*c%u", &bits);
			kernel->param_sizes[kernel->param_count++] = bits / 8 * count;
		}
		at = end;
	}
	library->kernels[0].cubin_hash = hash_bytes(text, strlen(text));
	return library->count > 0;
}

/* ---- ELF ---- */
struct elf {
	const char *bytes;
	const Elf64_Shdr *sections;
	const char *names;
	unsigned count;
	const Elf64_Sym *symbols;
	size_t symbol_count;
	const char *strings; /* names of the symbols */
};

static const char *section_name(const struct elf *elf, unsigned index)
{
	return elf->names + elf->sections[index].sh_name;
}

static struct standin_kernel *kernel_named(struct standin_library *library, const char *name)
{
	for (int i = 0; i < library->count; i++)
		if (strcmp(library->kernels[i].name, name) == 0)
			return &library->kernels[i];
	return NULL;
}

static void take_parameter(struct standin_kernel *kernel, const uint32_t *words)
{
	unsigned ordinal = words[1] & 0xffff;

	if (ordinal >= STANDIN_PARAMS_MAX)
		return;
	kernel->param_sizes[ordinal] = words[2] >> 18;
	if ((int)ordinal >= kernel->param_count)
		kernel->param_count = (int)ordinal + 1;
}

/* Reads the attributes of two or more words of a kernel, or of all kernels if it is NULL. */
static void info_read(const struct elf *elf, const Elf64_Shdr *section,
	struct standin_library *library, struct standin_kernel *kernel)
{
	const unsigned char *at = (const unsigned char *)elf->bytes + section->sh_offset;
	const unsigned char *end = at + section->sh_size;

	while (at + 4 <= end) {
		unsigned format = at[0], attribute = at[1], size = at[2] | (unsigned)at[3] << 8;

		at += 4;
		if (format != 4) /* the header itself contains the value */
			continue;
		if (size >= 8 && at + size <= end) {
			uint32_t words[4] = {0};
			struct standin_kernel *named;

			memcpy(words, at, size < sizeof(words) ? size : sizeof(words));
			if (attribute == INFO_PARAMETER && kernel)
				take_parameter(kernel, words);
			named = attribute == INFO_REGISTERS && words[0] < elf->symbol_count
					? kernel_named(library,
						  elf->strings + elf->symbols[words[0]].st_name)
					: NULL;
			if (named)
				named->regs = (int)words[1];
		}
		at += size;
	}
}

static void variables_read(struct standin_library *library, const struct elf *elf)
{
	for (size_t i = 0; i < elf->symbol_count; i++) {
		const Elf64_Sym *symbol = &elf->symbols[i];
		const int count = library->variable_count;

		if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !symbol->st_size ||
			count == VARIABLES_MAX)
			continue;
		snprintf(library->variables[count].name, sizeof(library->variables[count].name),
			"%s", elf->strings + symbol->st_name);
		library->variables[count].bytes = symbol->st_size;
		library->variables[count].data = calloc(1, symbol->st_size);
		library->variable_count++;
	}
}

static void symbols_find(struct elf *elf)
{
	for (unsigned i = 0; i < elf->count; i++) {
		const Elf64_Shdr *section = &elf->sections[i];

		if (section->sh_type != SHT_SYMTAB)
			continue;
		elf->symbols = (const Elf64_Sym *)(const void *)(elf->bytes + section->sh_offset);
		elf->symbol_count = section->sh_size / sizeof(*elf->symbols);
		elf->strings = elf->bytes + elf->sections[section->sh_link].sh_offset;
	}
}

static bool library_from_elf(struct standin_library *library, const void *image)
{
	const Elf64_Ehdr *header = image;
	struct elf elf = {.bytes = image, .count = header->e_shnum};
	uint64_t hash = 0;
	int reserved = 0; /* from sm_90 on, the section's size includes 1 KiB for the system */

	elf.sections = (const Elf64_Shdr *)(const void *)(elf.bytes + header->e_shoff);
	elf.names = elf.bytes + elf.sections[header->e_shstrndx].sh_offset;
	symbols_find(&elf);
	for (unsigned i = 0; i < elf.count && library->count < KERNELS_MAX; i++)
		if (strncmp(section_name(&elf, i), ".text.", 6) == 0) {
			kernel_add(library, section_name(&elf, i) + 6);
			hash ^= hash_bytes(
				elf.bytes + elf.sections[i].sh_offset, elf.sections[i].sh_size);
		}
	for (unsigned i = 0; i < elf.count; i++) {
		const char *name = section_name(&elf, i);
		struct standin_kernel *kernel;

		if (strcmp(name, ".nv.info") == 0)
			info_read(&elf, &elf.sections[i], library, NULL);
		if (strncmp(name, ".nv.info.", 9) == 0 &&
			(kernel = kernel_named(library, name + 9)) != NULL)
			info_read(&elf, &elf.sections[i], library, kernel);
		if (strncmp(name, ".nv.shared.", 11) == 0 &&
			(kernel = kernel_named(library, name + 11)) != NULL)
			kernel->smem_static = (int)elf.sections[i].sh_size;
		if (strcmp(name, ".nv.shared.reserved.0") == 0)
			reserved = 1024;
	}
	for (int i = 0; i < library->count; i++)
		if (library->kernels[i].smem_static >= reserved)
			library->kernels[i].smem_static -= reserved;
	variables_read(library, &elf);
	spin(library);
	library->kernels[0].cubin_hash = hash;
	return library->count > 0;
}

/* ---- driver calls ---- */
int standin_library_count; /* number of loaded libraries, read by tests/checks/launch.py */

CUresult cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *jit_options,
	void **jit_values, unsigned int jit_count, CUlibraryOption *options, void **values,
	unsigned int count)
{
	const struct standin_script *script = standin_script();
	struct standin_library *library;
	bool done = false;

	(void)jit_options, (void)jit_values, (void)jit_count;
	(void)options, (void)values, (void)count;
	if (script->libraries_max > 0 && standin_library_count >= script->libraries_max)
		return CUDA_ERROR_OUT_OF_MEMORY;
	library = calloc(1, sizeof(*library));
	if (memcmp(code, ELFMAG, SELFMAG) == 0)
		done = library_from_elf(library, code);
	else if (strncmp(code, "standin cubin\n", 14) == 0)
		done = library_from_text(library, code);
	else if (strstr(code, ".version "))
		done = library_from_ptx(library, code);
	for (int i = 0; i < library->count; i++) {
		library->kernels[i].cubin_hash = library->kernels[0].cubin_hash;
		for (int j = 0; j < script->rule_count; j++)
			if (script->rules[j].behaviour == BEHAVIOUR_REFUSE_LOAD &&
				strcmp(script->rules[j].glob, library->kernels[i].name) == 0)
				done = false;
	}
	if (!done) {
		free(library);
		return CUDA_ERROR_INVALID_IMAGE;
	}
	*out = (CUlibrary)library;
	standin_library_count++;
	return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library)
{
	standin_library_count--;
	free(library);
	return CUDA_SUCCESS;
}

void *standin_variable(const void *kernel, const char *name)
{
	const struct standin_library *library = ((const struct standin_kernel *)kernel)->library;

	for (int i = 0; i < library->variable_count; i++)
		if (strcmp(library->variables[i].name, name) == 0)
			return library->variables[i].data;
	return NULL;
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
	*out = (CUkernel)kernel_named((struct standin_library *)library, name);
	return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *out, size_t *bytes, CUlibrary library, const char *name)
{
	const struct standin_library *loaded = (const struct standin_library *)library;

	for (int i = 0; i < loaded->count; i++)
		if (loaded->kernels[i].symbol_data &&
			strcmp(loaded->kernels[i].symbol, name) == 0) {
			*out = (CUdeviceptr)(uintptr_t)loaded->kernels[i].symbol_data;
			*bytes = loaded->kernels[i].symbol_bytes;
			return CUDA_SUCCESS;
		}
	for (int i = 0; i < loaded->variable_count; i++)
		if (strcmp(loaded->variables[i].name, name) == 0) {
			*out = (CUdeviceptr)(uintptr_t)loaded->variables[i].data;
			*bytes = loaded->variables[i].bytes;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel)
{
	*out = (CUfunction)kernel;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	const struct standin_kernel *kernel = (const struct standin_kernel *)function;

	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value = kernel->regs;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*value = kernel->smem_static;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = kernel->max_threads;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
	struct standin_kernel *kernel = (struct standin_kernel *)function;
	int most = 0;

	if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
		return CUDA_SUCCESS;
	cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0);
	if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
		value + kernel->smem_static > most)
		return CUDA_ERROR_INVALID_VALUE;
	kernel->smem_dynamic_max = value;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
	const struct standin_kernel *kernel = (const struct standin_kernel *)function;

	if (index >= (size_t)kernel->param_count)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = 0;
	*size = kernel->param_sizes[index];
	return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function)
{
	return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* The published rules: registers are allocated per warp in units of 256, shared memory in units
 * of 128 bytes with 1 KiB reserved per block; threads and blocks are limited. */
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(
	int *blocks, CUfunction function, int threads, size_t smem_dynamic)
{
	const struct standin_kernel *kernel = (const struct standin_kernel *)function;
	int warps = (threads + 31) / 32;
	int regs_per_warp = (kernel->regs * 32 + 255) / 256 * 256;
	int smem = (kernel->smem_static + (int)smem_dynamic + 1024 + 127) / 128 * 128;
	int smem_total = 0, count;

	cuDeviceGetAttribute(
		&smem_total, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 0);
	count = least(32, 64 / warps);
	if (kernel->regs > 0)
		count = least(count, 65536 / 4 / regs_per_warp * 4 / warps);
	count = least(count, smem_total / smem);
	*blocks = count;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(
	int *clusters, CUfunction function, const CUlaunchConfig *config)
{
	const CUlaunchAttribute *attribute = config->attrs;
	unsigned size = attribute->value.clusterDim.x * attribute->value.clusterDim.y *
			attribute->value.clusterDim.z;
	int blocks = 0;

	cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function,
		(int)(config->blockDimX * config->blockDimY * config->blockDimZ),
		config->sharedMemBytes);
	*clusters = blocks * standin_script()->sm_count / (int)size;
	return CUDA_SUCCESS;
}

/* Stores its arguments for the log: the address, then struct standin_map. */
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
	void *address, const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
	const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
	CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	struct standin_map kept = {.address = (CUdeviceptr)(uintptr_t)address,
		.rank = (uint8_t)rank,
		.type = (uint8_t)type,
		.swizzle = (uint8_t)swizzle,
		.promotion = (uint8_t)promotion};

	(void)element_strides, (void)interleave, (void)fill;
	if (rank < 1 || rank > 5 || (uintptr_t)map % 64 || (uintptr_t)address % 16)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < rank; i++) {
		if (box[i] < 1 || box[i] > 256 || (i + 1 < rank && strides[i] % 16))
			return CUDA_ERROR_INVALID_VALUE;
		kept.dims[i] = dims[i];
		kept.box[i] = (uint16_t)box[i];
		kept.strides[i] = i + 1 < rank ? strides[i] : 0;
	}
	memset(map, 0, sizeof(*map));
	memcpy(map, &kept, sizeof(kept));
	return CUDA_SUCCESS;
}
