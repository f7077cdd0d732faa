/* SPDX-License-Identifier: MIT */
#include "compile/result.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compile/wire.h"

const char compile_result_layout[] = "result/1"
#define FLAG(id, name, summary) " " name
#include "candidate/flag.def"
#undef FLAG
	;

/* What becomes of a compilation, as it is written: independent of the enum's order. */
static const enum outcome outcome_codes[] = {
	OUTCOME_OK, OUTCOME_COMPILE_FAILED, OUTCOME_COMPILE_CRASHED, OUTCOME_COMPILE_TIMEOUT};

static uint64_t outcome_code(enum outcome outcome)
{
	for (size_t i = 0; i < ARRAY_COUNT(outcome_codes); i++)
		if (outcome_codes[i] == outcome)
			return i;
	BUG("outcome %d is not one of a compilation", (int)outcome);
}

static void pack_entry(const struct compiler_entry *entry, struct text *bytes)
{
	const struct kernel_resources *resources = &entry->resources;

	wire_put_string(bytes, entry->name);
	wire_put_u64(bytes, (uint64_t)resources->regs_per_thread);
	wire_put_u64(bytes, (uint64_t)resources->smem_static_bytes);
	wire_put_u64(bytes, (uint64_t)resources->spill_store_bytes);
	wire_put_u64(bytes, (uint64_t)resources->spill_load_bytes);
	wire_put_u64(bytes, (uint64_t)resources->stack_bytes);
	wire_put_u64(bytes, (uint64_t)resources->barriers);
	wire_put_u64(bytes, resources->flags);
}

void compile_result_pack(const struct compile_result *result, struct text *bytes)
{
	uint64_t seconds_bits;

	memcpy(&seconds_bits, &result->seconds, sizeof(seconds_bits));
	wire_put_u64(bytes, outcome_code(result->outcome));
	wire_put_u64(bytes, seconds_bits);
	wire_put_string(bytes, result->log ? result->log : "");
	wire_put_bytes(bytes, result->cubin.data, result->cubin.length);
	wire_put_u64(bytes, result->entry_count);
	for (size_t i = 0; i < result->entry_count; i++)
		pack_entry(&result->entries[i], bytes);
}

static int32_t get_amount(struct wire_reader *reader)
{
	int64_t value = (int64_t)wire_get_u64(reader);

	if (value < -1 || value > INT32_MAX) {
		reader->bad = true;
		return 0;
	}
	return (int32_t)value;
}

static void unpack_entry(struct wire_reader *reader, struct compiler_entry *entry)
{
	struct kernel_resources *resources = &entry->resources;
	uint64_t flags;

	entry->name = wire_get_string(reader);
	resources->regs_per_thread = get_amount(reader);
	resources->smem_static_bytes = get_amount(reader);
	resources->spill_store_bytes = get_amount(reader);
	resources->spill_load_bytes = get_amount(reader);
	resources->stack_bytes = get_amount(reader);
	resources->barriers = get_amount(reader);
	flags = wire_get_u64(reader);
	if (flags >> FLAG_COUNT)
		reader->bad = true;
	resources->flags = (uint32_t)flags;
	resources->blocks_per_sm = -1;
	resources->max_clusters = -1;
}

bool compile_result_unpack(const char *bytes, size_t size, struct compile_result *result)
{
	struct wire_reader reader = {.at = bytes, .left = size};
	uint64_t code = wire_get_u64(&reader);
	uint64_t seconds_bits = wire_get_u64(&reader);
	const char *cubin;
	size_t cubin_size;

	*result = (struct compile_result){0};
	memcpy(&result->seconds, &seconds_bits, sizeof(seconds_bits));
	if (code >= ARRAY_COUNT(outcome_codes) || !(result->seconds >= 0))
		reader.bad = true;
	else
		result->outcome = outcome_codes[code];
	result->log = wire_get_string(&reader);
	cubin = wire_get_bytes(&reader, &cubin_size);
	text_append_bytes(&result->cubin, cubin, cubin_size);
	/* an entry: a counted name and seven numbers */
	result->entry_count = wire_get_count(&reader, 8 * sizeof(uint64_t));
	result->entries = memory_zeroed(result->entry_count + 1, sizeof(*result->entries));
	for (size_t i = 0; i < result->entry_count; i++)
		unpack_entry(&reader, &result->entries[i]);
	if (!reader.bad && reader.left == 0)
		return true;
	compile_result_release(result);
	return false;
}

void compile_result_set(struct compile_result *result, enum outcome outcome, const char *log)
{
	*result = (struct compile_result){.outcome = outcome, .log = string_copy(log)};
}

void compile_result_release(struct compile_result *result)
{
	for (size_t i = 0; i < result->entry_count; i++)
		free(result->entries[i].name);
	free(result->entries);
	text_release(&result->cubin);
	free(result->log);
	*result = (struct compile_result){0};
}
