/* SPDX-License-Identifier: MIT */
#include "engine/kernel_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "compile/ptxas_report.h"

struct stored {
	char hash[HASH_SIZE];
	char *name;
	struct compile_result kernel; /* all zero: still compiling */
};

struct kernel_store {
	struct compiler *compiler;
	char *arch;
	struct stored **kernels; /* by ticket; pointers stay valid */
	size_t count, capacity;
	size_t *table;     /* open addressing on the hash: ticket + 1, 0 is empty */
	size_t table_size; /* a power of two, at least twice the count */
	double compile_s;
};

struct kernel_store *kernel_store_new(struct compiler *compiler, const char *arch)
{
	struct kernel_store *store = memory_zeroed(1, sizeof(*store));

	store->compiler = compiler;
	store->arch = string_copy(arch);
	store->table_size = 1024;
	store->table = memory_zeroed(store->table_size, sizeof(*store->table));
	return store;
}

void kernel_store_free(struct kernel_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->count; i++) {
		struct stored *stored = store->kernels[i];

		compile_result_release(&stored->kernel);
		free(stored->name);
		free(stored);
	}
	free(store->kernels);
	free(store->table);
	free(store->arch);
	free(store);
}

/* Where the hash is, or would go. */
static size_t *table_place(struct kernel_store *store, const char *hash)
{
	size_t at = (size_t)hash_bytes(hash, HASH_SIZE - 1, 0) & (store->table_size - 1);

	while (store->table[at] && strcmp(store->kernels[store->table[at] - 1]->hash, hash) != 0)
		at = (at + 1) & (store->table_size - 1);
	return &store->table[at];
}

static void table_grow(struct kernel_store *store)
{
	free(store->table);
	store->table_size *= 2;
	store->table = memory_zeroed(store->table_size, sizeof(*store->table));
	for (size_t i = 0; i < store->count; i++)
		*table_place(store, store->kernels[i]->hash) = i + 1;
}

enum status kernel_store_request(struct kernel_store *store, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err)
{
	size_t *place = table_place(store, unit->hash);
	struct stored *stored;

	if (*place) {
		*kernel = &store->kernels[*place - 1]->kernel;
		return STATUS_OK;
	}
	if (compiler_submit(store->compiler, unit, store->arch, store->count, err) != STATUS_OK)
		return error_context(err, "submitting %s", unit->name);
	stored = memory_zeroed(1, sizeof(*stored));
	string_put(stored->hash, sizeof(stored->hash), unit->hash);
	stored->name = string_copy(unit->name);
	ARRAY_GROW(store->kernels, store->count, store->capacity);
	store->kernels[store->count++] = stored;
	*place = store->count;
	if (2 * store->count > store->table_size)
		table_grow(store);
	*kernel = &stored->kernel;
	return STATUS_OK;
}

bool kernel_is_ready(const struct compile_result *kernel)
{
	return kernel->log != NULL; /* the compiler always says something */
}

/* The whole log goes to the file that a user named; what is shown is the part that says why. */
static void shorten_log(const char *name, struct compile_result *result)
{
	const char *path = getenv(COMPILER_LOG);
	FILE *file = path && *path ? fopen(path, "ae") : NULL;
	struct text useful = {0};

	if (file) {
		fprintf(file, "== %s: %s\n%s\n", name, outcome_name(result->outcome), result->log);
		fclose(file);
	}
	ptxas_report_shorten(result->log, &useful);
	free(result->log);
	result->log = text_detach(&useful);
}

bool kernel_store_poll(struct kernel_store *store, double timeout_s)
{
	struct compile_result result;
	bool any = false;

	while (compiler_poll(store->compiler, any ? 0 : timeout_s, &result)) {
		if (result.ticket >= store->count)
			BUG("the compiler answered a ticket that was never submitted");
		if (result.outcome != OUTCOME_OK)
			shorten_log(store->kernels[result.ticket]->name, &result);
		store->kernels[result.ticket]->kernel = result;
		if (!result.from_cache)
			store->compile_s += result.seconds;
		any = true;
	}
	return any;
}

double kernel_store_seconds(const struct kernel_store *store)
{
	return store->compile_s;
}

size_t kernel_store_count(const struct kernel_store *store, size_t *compiled)
{
	*compiled = 0;
	for (size_t i = 0; i < store->count; i++)
		*compiled += kernel_is_ready(&store->kernels[i]->kernel) &&
			     !store->kernels[i]->kernel.from_cache;
	return store->count;
}

size_t kernel_store_failed(const struct kernel_store *store, const struct compile_result **first)
{
	size_t failed = 0;

	*first = NULL;
	for (size_t i = 0; i < store->count; i++)
		if (store->kernels[i]->kernel.outcome != OUTCOME_OK && !failed++)
			*first = &store->kernels[i]->kernel;
	return failed;
}

size_t kernel_store_pending(const struct kernel_store *store)
{
	return compiler_pending(store->compiler);
}

enum status kernel_store_wait(struct kernel_store *store, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err)
{
	TRY(kernel_store_request(store, unit, kernel, err));
	while (!kernel_is_ready(*kernel) && compiler_pending(store->compiler))
		kernel_store_poll(store, 1.0);
	if (!kernel_is_ready(*kernel))
		BUG("%s was submitted and never answered", unit->name);
	if ((*kernel)->outcome == OUTCOME_OK)
		return STATUS_OK;
	error_set(err, STATUS_FAILED, "%s: expected it to compile, found %s: ", unit->name,
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
