/* SPDX-License-Identifier: MIT */
#include "engine/kernel_store.h"

#include <math.h>

#include "compile/cubin.h"

struct kernel_store {
	struct compiler *compiler;
	char *arch;
	struct name_set hashes;          /* hashes of the units of `kernels` */
	struct compile_result **kernels; /* each has a fixed address */
	size_t count, capacity;
};

struct kernel_store *kernel_store_new(struct compiler *compiler, const char *arch)
{
	struct kernel_store *store = memory_zeroed(1, sizeof(*store));

	store->compiler = compiler;
	store->arch = string_copy(arch);
	return store;
}

void kernel_store_free(struct kernel_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->count; i++) {
		compile_result_release(store->kernels[i]);
		free(store->kernels[i]);
	}
	free(store->kernels);
	name_set_release(&store->hashes);
	free(store->arch);
	free(store);
}

enum status kernel_store_request(struct kernel_store *store, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err)
{
	const size_t length = strlen(unit->hash);
	struct compile_result *added;

	if (!name_set_has(&store->hashes, unit->hash, length)) {
		added = memory_zeroed(1, sizeof(*added));
		if (compiler_submit(store->compiler, unit, store->arch, added, err) != STATUS_OK) {
			free(added);
			return error_context(err, "submitting %s", unit->name);
		}
		ARRAY_GROW(store->kernels, store->count, store->capacity);
		store->kernels[store->count++] = added;
	}
	*kernel = store->kernels[name_set_add(&store->hashes, unit->hash, length)];
	return STATUS_OK;
}

bool kernel_store_poll(struct kernel_store *store, double timeout_s)
{
	return compiler_poll(store->compiler, timeout_s);
}

struct kernel_counts kernel_store_count(const struct kernel_store *store)
{
	struct kernel_counts counts = {.kernels = store->count};

	for (size_t i = 0; i < store->count; i++) {
		const struct compile_result *kernel = store->kernels[i];

		if (!kernel->from_cache) {
			counts.compiled += compile_is_done(kernel);
			counts.seconds += kernel->seconds;
		}
		if (kernel->outcome != OUTCOME_OK && !counts.failed++)
			counts.first_failed = kernel;
	}
	return counts;
}

enum status kernel_store_wait(struct kernel_store *store, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err)
{
	TRY(kernel_store_request(store, unit, kernel, err));
	while (!compile_is_done(*kernel) && compiler_pending(store->compiler))
		compiler_poll(store->compiler, INFINITY);
	if (!compile_is_done(*kernel))
		BUG("%s was submitted and never answered", unit->name);
	if ((*kernel)->outcome == OUTCOME_OK)
		return STATUS_OK;
	error_set(err, STATUS_FAILED, "%s: the kernel does not compile (%s): ", unit->name,
		outcome_name((*kernel)->outcome));
	return error_lines(err, (*kernel)->log);
}

struct kernel_resources kernel_take_entry(
	const struct compile_result *kernel, struct plan_launch *launch)
{
	for (size_t i = 0; i < kernel->entry_count; i++) {
		const struct compiler_entry *entry = &kernel->entries[i];

		if (strcmp(entry->name, launch->entry) != 0)
			continue;
		free(launch->entry);
		launch->entry = string_copy(entry->symbol);
		return entry->resources;
	}
	BUG("%s is no entry of its unit", launch->entry);
}

/* ---- symbols ---- */
/* Returns whether the name matches: "table" and "b::table" match "a::b::table". */
static bool is_meant(const char *variable, const char *name)
{
	const size_t length = strlen(variable), end = strlen(name);

	return end <= length && strcmp(variable + length - end, name) == 0 &&
	       (end == length || variable[length - end - 1] == ':');
}

/* Leaves variable->name NULL if none or several match; lists them in `several`. */
static void variable_find(const struct cubin *cubin, const char *name,
	struct cubin_variable *variable, struct text *several)
{
	struct cubin_variable found;
	CLEANUP(text_release) struct text names = {0};
	size_t count = 0;

	variable->name = NULL;
	for (size_t i = 0; cubin_variable_at(cubin, i, &found); i++) {
		CLEANUP(text_release) struct text full = {0};

		cubin_append_demangled(found.name, &full);
		if (!is_meant(text_string(&full), name))
			continue;
		if (strcmp(text_string(&full), name) == 0) {
			*variable = found;
			return;
		}
		count++;
		*variable = found;
		text_append_listed(&names, text_string(&full));
	}
	if (count > 1) {
		text_append_listed(several, text_string(&names));
		variable->name = NULL;
	}
}

/* names[i] is the name of symbol i in the code, or NULL. */
static enum status symbols_check(
	const struct plan *plan, const char *const *names, const char *several, struct error *err)
{
	for (size_t i = 0; i < plan->symbol_count; i++) {
		const char *name = plan->symbols[i].name;
		bool is_found = false;

		for (size_t k = 0; k < plan->symbol_count; k++)
			is_found |= names[k] && strcmp(plan->symbols[k].name, name) == 0;
		if (is_found)
			continue;
		if (!several[0])
			return error_set(err, STATUS_BAD_INPUT,
				"no kernel uses a __constant__ or __device__ variable named %s",
				name);
		return error_set(err, STATUS_BAD_INPUT,
			"the symbol %s needs its namespace, because there are several: %s", name,
			several);
	}
	return STATUS_OK;
}

enum status kernel_take_symbols(
	const struct compile_result *const *kernels, struct plan *plan, struct error *err)
{
	CLEANUP(memory_free)
	const char **names = memory_zeroed(plan->symbol_count + 1, sizeof(*names));
	CLEANUP(text_release) struct text several = {0};
	size_t kept = 0;

	for (size_t i = 0; i < plan->symbol_count; i++) {
		const struct plan_symbol *symbol = &plan->symbols[i];
		const struct plan_buffer *tensor = &plan->buffers[symbol->buffer];
		const struct text *code = &kernels[symbol->unit]->cubin;
		struct cubin_variable variable = {0};
		struct cubin cubin;

		if (cubin_open(&cubin, code->data, code->length, NULL) != STATUS_OK)
			return STATUS_OK; /* PTX */
		variable_find(&cubin, symbol->name, &variable, &several);
		names[i] = variable.name;
		if (variable.name && variable.bytes < tensor->bytes)
			return error_set(err, STATUS_BAD_INPUT,
				"tensor %s has %llu bytes, but the variable %s has only %llu",
				tensor->name, (unsigned long long)tensor->bytes, symbol->name,
				(unsigned long long)variable.bytes);
	}
	TRY(symbols_check(plan, names, text_string(&several), err));
	for (size_t i = 0; i < plan->symbol_count; i++) {
		struct plan_symbol *symbol = &plan->symbols[i];

		free(symbol->name);
		symbol->name = NULL;
		if (!names[i])
			continue;
		symbol->name = string_copy(names[i]);
		plan->symbols[kept++] = *symbol;
	}
	plan->symbol_count = kept;
	return STATUS_OK;
}
