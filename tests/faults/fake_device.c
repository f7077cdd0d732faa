/* SPDX-License-Identifier: MIT
 *
 * Devices, contexts and entry points of the stand-in driver.
 */
#include <stdio.h>
#include <string.h>

#include "faults/standin.h"

CUresult cuInit(unsigned int flags)
{
	if (flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	standin_killed_once(standin_script()->killed_once);
	if (standin_is_lost())
		return CUDA_ERROR_NO_DEVICE;
	return (CUresult)standin_script()->init;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = standin_script()->driver_version;
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	*name = error == CUDA_ERROR_ILLEGAL_ADDRESS           ? "CUDA_ERROR_ILLEGAL_ADDRESS"
		: error == CUDA_ERROR_OUT_OF_MEMORY           ? "CUDA_ERROR_OUT_OF_MEMORY"
		: error == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
		: error == CUDA_ERROR_NOT_FOUND               ? "CUDA_ERROR_NOT_FOUND"
							      : "CUDA_ERROR_OF_THE_STANDIN";
	return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **words)
{
	*words = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
						     : "the script says so";
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	*count = standin_script()->devices;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	if (ordinal < 0 || ordinal >= standin_script()->devices)
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
	snprintf(name, (size_t)length, "%s", standin_name(device));
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	memset(uuid->bytes, 0x5d, sizeof(uuid->bytes));
	uuid->bytes[0] = (char)(0x10 + device);
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	(void)device;
	*bytes = standin_script()->memory_bytes;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	const struct standin_script *script = standin_script();
	const struct {
		CUdevice_attribute attribute;
		int value;
	} attributes[] = {
		{CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
		{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
		{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
		{CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
		{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
		{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
		{CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
		{CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
		{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
		{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
		{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, script->compute_capability / 10},
		{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, script->compute_capability % 10},
		{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, script->sm_count},
		{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, script->l2_bytes},
		{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
			script->compute_capability == 80 ? 166912 : 232448},
		{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
			script->compute_capability == 80 ? 167936 : 233472},
	};

	(void)device;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (attributes[i].attribute == attribute) {
			*value = attributes[i].value;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	static int only;

	standin_take_device(device);
	if (standin_is_lost())
		return CUDA_ERROR_NO_DEVICE;
	standin_killed_once(standin_script()->killed_later);
	*context = (CUcontext)&only;
	return (CUresult)standin_script()->context;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	(void)device;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = 0;
	return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **address, int version, cuuint64_t flags,
	CUdriverProcAddressQueryResult *found)
{
	static const struct {
		const char *name;
		void *address;
	} entries[] = {
#define CUDA_CALL(name) {#name, (void *)(uintptr_t)name},
#include "spec/cuda_call.def"
		/* programs that launch from bundles call this function */
		CUDA_CALL(cuCtxGetDevice) CUDA_CALL(cuFuncGetParamInfo) CUDA_CALL(cuFuncLoad)
#undef CUDA_CALL
	};
	const struct standin_script *script = standin_script();
	CUdriverProcAddressQueryResult ignored;

	(void)flags;
	found = found ? found : &ignored; /* the caller may pass NULL */
	*address = NULL;
	*found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	if (version > script->driver_version)
		return CUDA_ERROR_INVALID_VALUE;
	for (int i = 0; i < script->missing_count; i++)
		if (strcmp(script->missing[i], symbol) == 0)
			return CUDA_SUCCESS;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strcmp(entries[i].name, symbol) == 0) {
			*address = entries[i].address;
			*found = CU_GET_PROC_ADDRESS_SUCCESS;
		}
	return CUDA_SUCCESS;
}
