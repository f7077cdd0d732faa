/* SPDX-License-Identifier: MIT */
#include "cli/file_device.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"

/* GPU number N of this machine. */
static enum status spec_of_gpu(
	const char *number, char *const *configs, struct device_spec **spec, struct error *err)
{
	struct device_options options = {.config_folders = (const char *const *)configs};
	struct device_listing *list = NULL;
	size_t count = 0;
	char *why = NULL, *end;
	unsigned long index = strtoul(number, &end, 10);
	enum status status = device_list_cuda(&options, &list, &count, &why, err);

	if (status == STATUS_OK && (*end || index >= count))
		status = error_set(err, STATUS_NO_DEVICE, "cuda:%s: expected one of %zu GPUs%s%s",
			number, count, why ? ": " : "", why ? why : "");
	if (status == STATUS_OK)
		status = device_spec_match(
			&list[index].facts, (const char *const *)configs, spec, err);
	free(list);
	free(why);
	return status;
}

enum status file_device_spec(const struct tuned *tuned, char *const *configs,
	struct device_spec **spec, struct error *err)
{
	struct json_at root = json_root(tuned->root, tuned->path), device;
	struct device_facts facts = {.warp_size = 32};
	const char *sheet = NULL, *name = "";
	int64_t capability = 0;

	if (json_member(&root, "device", &device, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	json_member_string(&device, "sheet", &sheet, NULL);
	if (sheet)
		return device_spec_load(sheet, (const char *const *)configs, spec, err);
	json_member_string(&device, "name", &name, NULL);
	json_member_int(&device, "compute_capability", &capability, NULL);
	json_member_int(&device, "sm_count", &facts.sm_count, NULL);
	json_member_int(&device, "l2_bytes", &facts.l2_bytes, NULL);
	json_member_int(&device, "dram_bytes", &facts.dram_bytes, NULL);
	json_member_int(&device, "smem_per_sm_bytes", &facts.smem_per_sm_bytes, NULL);
	json_member_int(&device, "smem_per_block_bytes", &facts.smem_per_block_bytes, NULL);
	json_member_int(&device, "regs_per_sm", &facts.regs_per_sm, NULL);
	string_put(facts.name, sizeof(facts.name), name);
	facts.compute_capability = (int)capability;
	return device_spec_match(&facts, (const char *const *)configs, spec, err);
}

enum status named_device_spec(
	const char *name, char *const *configs, struct device_spec **spec, struct error *err)
{
	if (string_starts_with(name, "cuda:"))
		return spec_of_gpu(name + strlen("cuda:"), configs, spec, err);
	if (string_starts_with(name, "model:"))
		return device_spec_load(
			name + strlen("model:"), (const char *const *)configs, spec, err);
	return error_set(
		err, STATUS_BAD_INPUT, "--device: expected cuda:N or model:NAME, found %s", name);
}
