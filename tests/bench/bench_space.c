/* SPDX-License-Identifier: MIT
 *
 * What we promise of expressions and spaces: evaluations a second on one core, and time and memory
 * to enumerate the space of templates/gemm/mma.json as it is. Times are the process's own (CPU).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/bench.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "space/enumerate.h"

static bool promise(const char *name, double value, const char *unit, double promised, bool least)
{
	bool kept = least ? value >= promised : value <= promised;
	printf("%s: %.3g %s (promised: %s%.3g) %s\n", name, value, unit,
		least ? ">= " : "<= ", promised, kept ? "ok" : "MISSED");
	return kept;
}

/* ---- evaluations ---- */
static double evaluations_per_s(const char *text)
{
	enum {
		ROWS = 4096,
		ROUNDS = 1024,
		TURNS = 3
	};
	const char *names[] = {"BM", "BN", "WM", "WN"};
	const struct name_table table = {.names = names, .count = 4};
	struct value(*rows)[4] = memory_zeroed(ROWS, sizeof(*rows));
	struct random_state random;
	struct expression *expression;
	struct error err = {0};
	double best = 0;
	size_t legal = 0;
	random_seed(&random, 1);
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < 4; j++)
			rows[i][j] = value_int(j < 2 ? 16 * (1 + (int64_t)random_below(&random, 16))
						     : 16 << random_below(&random, 3));
	expect(expression_compile(text, "bench", &table, &expression, &err), &err);
	for (int turn = 0; turn < TURNS; turn++) {
		double start = cpu_seconds();
		for (size_t round = 0; round < ROUNDS; round++)
			for (size_t i = 0; i < ROWS; i++) {
				bool truth;
				expect(expression_test(expression, rows[i], &truth, &err), &err);
				legal += truth;
			}
		double rate = (double)ROWS * ROUNDS / (cpu_seconds() - start);
		best = rate > best ? rate : best;
	}
	if (legal == 0 || legal == (size_t)ROWS * ROUNDS * TURNS)
		expect(error_set(&err, STATUS_FAILED, "a constraint that is always the same"),
			&err);
	expression_free(expression);
	free(rows);
	return best;
}

/* ---- the space of a family ---- */
static const struct {
	const char *name;
	int64_t integer;
	const char *string;
} fixed_names[] = {
	{"M", 4096, NULL},
	{"N", 4096, NULL},
	{"K", 4096, NULL},
	{"dtype", 0, "bf16"},
	{"b_layout", 0, "nk"},
	{"lda", 4096, NULL},
	{"ldb", 4096, NULL},
	{"ldc", 4096, NULL},
	{"out_dtype", 0, "bf16"},
	{"act", 0, "none"},
	{"accum", 0, "fast"},
	{"scale", 0, "none"},
	{"bias", 0, "none"},
	{"alpha", 1, NULL},
	{"beta", 0, NULL},
	{"residual", 0, NULL},
	{"batch", 1, NULL},
	{"rows_a", 4096, NULL},
	{"rows_b", 4096, NULL},
	{"compute_capability", 90, NULL},
	{"sm_count", 132, NULL},
	{"warp_size", 32, NULL},
	{"max_threads_per_block", 1024, NULL},
	{"max_threads_per_sm", 2048, NULL},
	{"max_blocks_per_sm", 32, NULL},
	{"max_warps_per_sm", 64, NULL},
	{"regs_per_block", 65536, NULL},
	{"regs_per_sm", 65536, NULL},
	{"smem_per_block_bytes", 232448, NULL},
	{"smem_per_sm_bytes", 233472, NULL},
	{"smem_reserved_bytes", 1024, NULL},
	{"l2_bytes", 50 << 20, NULL},
	{"dram_bytes", 141LL << 30, NULL},
};

/* A list expression: as it stands, or a JSON list of numbers and strings. */
static char *list_text(const struct json_at *at)
{
	struct json_at values = *at;
	struct error err = {0};
	const char *string;
	if (json_type(&values) == JSON_OBJECT)
		expect(json_member(at, "values", &values, &err), &err);
	if (json_type(&values) == JSON_STRING) {
		expect(json_get_string(&values, &string, &err), &err);
		return string_copy(string);
	}
	struct text text = {0};
	text_append(&text, "[");
	for (size_t i = 0; i < json_count(&values); i++) {
		struct json_at item = json_item(&values, i);
		int64_t integer;
		if (json_type(&item) == JSON_STRING) {
			expect(json_get_string(&item, &string, &err), &err);
			text_appendf(&text, "'%s',", string);
		} else {
			expect(json_get_int(&item, &integer, &err), &err);
			text_appendf(&text, "%" PRId64 ",", integer);
		}
	}
	text_append(&text, "]");
	return text_detach(&text);
}

static struct space *family_space(const char *path)
{
	struct space *space = space_new();
	struct json *root;
	struct error err = {0};
	struct json_at at, member;
	const char *string, *why;
	expect(json_load(path, &root, &err), &err);
	at = json_root(root, path);
	for (size_t i = 0; i < ARRAY_COUNT(fixed_names); i++)
		expect(space_add_fixed(space, fixed_names[i].name, &err), &err);
	expect(json_member(&at, "parameters", &member, &err), &err);
	for (size_t i = 0; i < json_count(&member); i++) {
		struct json_at item = json_item(&member, i);
		char *list = list_text(&item);
		expect(space_add_parameter(space, item.key, list, path, &err), &err);
		free(list);
	}
	expect(json_member(&at, "constants", &member, &err), &err);
	for (size_t i = 0; i < json_count(&member); i++) {
		struct json_at item = json_item(&member, i);
		/* an expression, or an object with it */
		if (json_type(&item) != JSON_OBJECT)
			expect(json_get_string(&item, &string, &err), &err);
		else
			expect(json_member_string(&item, "value", &string, &err), &err);
		expect(space_add_derived(space, item.key, string, path, &err), &err);
	}
	expect(json_member(&at, "constraints", &member, &err), &err);
	for (size_t i = 0; i < json_count(&member); i++) {
		struct json_at item = json_item(&member, i);
		expect(json_member_string(&item, "expr", &string, &err), &err);
		expect(json_member_string(&item, "why", &why, &err), &err);
		expect(space_add_constraint(space, string, why, path, &err), &err);
	}
	json_free(root);
	struct value fixed[ARRAY_COUNT(fixed_names)];
	for (size_t i = 0; i < ARRAY_COUNT(fixed_names); i++)
		fixed[i] = fixed_names[i].string ? value_string(fixed_names[i].string)
						 : value_int(fixed_names[i].integer);
	expect(space_bind(space, fixed, &err), &err);
	return space;
}

static bool count_visit(const choice *configuration, void *context)
{
	(void)configuration;
	++*(uint64_t *)context;
	return true;
}

/* Seconds to enumerate it, calling visit or only counting; checks that the counts add up. */
static double enumerate(struct space *space, space_visit *visit, double *legal)
{
	struct error err = {0};
	struct space_removed removed = {
		.by_constraint = memory_zeroed(space->constraint_count, sizeof(double))};
	uint64_t visited = 0;
	double start = cpu_seconds();
	expect(space_enumerate(space, visit, &visited, &removed, &err), &err);
	double seconds = cpu_seconds() - start, sum = removed.legal;
	for (size_t i = 0; i < space->constraint_count; i++)
		sum += removed.by_constraint[i];
	if (sum != space->tail[0] || (visit && (double)visited != removed.legal))
		expect(error_set(&err, STATUS_FAILED, "the counts do not add up"), &err);
	*legal = removed.legal;
	free(removed.by_constraint);
	return seconds;
}

int main(void)
{
	struct rusage usage;
	bool kept = true;
	kept &= promise("expressions",
		evaluations_per_s("BM % WM == 0 and 32*(BM//WM)*(BN//WN) <= 1024") * 1e-6,
		"million evaluations/s", 10, true);
	struct space *space = family_space("templates/gemm/mma.json");
	double legal, seconds = enumerate(space, count_visit, &legal);
	printf("space of gemm/mma: %.3g configurations, %.3g legal, visited in %.3g s, "
	       "%.3g us per legal one\n",
		space->tail[0], legal, seconds, 1e6 * seconds / legal);
	printf("space of gemm/mma, counted: %.3g s\n", enumerate(space, NULL, &legal));
	kept &= promise("enumeration of 10^7 configurations", seconds * 1e7 / space->tail[0], "s",
		2, false);
	getrusage(RUSAGE_SELF, &usage);
	kept &= promise("peak memory", (double)usage.ru_maxrss / 1024, "MiB", 200, false);
	space_free(space);
	return kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
